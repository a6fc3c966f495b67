import Expressions

extension Duration {
    static let longest = DurationText.longest
}

/// The mappings of a rules file.
extension MappingTable {
    static let rulesFile = MappingTable(
        name: "the file",
        keys: [
            Key("version", .integer(0...Int.max), required: true, "the language's version: `1`"),
            Key("buttons", .anything, "the hardware, named once"),
            Key("rules", .anything, "what happens"),
        ],
        planned: ["include", "location", "defaults", "groups", "states", "variables", "scripts", "tests"],
        foreign: [
            "automation": "use rules:", "automations": "use rules:", "rule": "use rules:", "button": "use buttons:",
            "mqtt": "the broker belongs in tryck.yaml", "bluetooth": "the adapter belongs in tryck.yaml",
        ],
        ignoredPrefix: "x-")

    static let button = MappingTable(
        name: "a button",
        keys: hardwareKeys + [
            Key("model", .word(["flic2"], planned: ["duo", "twist"]), "which events the button has"),
            Key(
                "trigger_mode",
                .word(["auto", "click", "click_and_hold", "click_and_double_click", "click_and_double_click_and_hold"]),
                "`auto` derives it from the rules"),
            Key("queued", .anything, "what happens to late events"),
            Key("description", .text(.areText), "for people"),
        ],
        planned: ["hold_after", "click_gap"],
        foreign: ["name": "the name is the key: kitchen: {serial: …}", "mac": "use address:", "bdaddr": "use address:"])

    static let hardware = MappingTable(name: "a button", keys: hardwareKeys)

    private static let hardwareKeys = [
        Key("uuid", .text(.areForbidden), "32 hexadecimal digits"),
        Key("serial", .text(.areForbidden), "the serial number on the back, `BF12-C34567`"),
        Key("address", .text(.areForbidden), "the Bluetooth address, `80:E4:DA:01:02:03`"),
        Key("nickname", .text(.areForbidden), "the name stored on the button"),
    ]

    static let rule = MappingTable(
        name: "a rule",
        keys: [
            Key("id", .name, required: true, "the rule's name in logs and topics"),
            Key("alias", .text(.areForbidden), "for people"),
            Key("description", .text(.areText), "for people"),
            Key("triggers", .anything, required: true, "any of them starts the rule"),
            Key("queued", .anything, "what happens to late events"),
            Key("actions", .anything, required: true, "the steps, run in order"),
        ],
        planned: [
            "enabled", "conditions", "mode", "max", "scope", "cooldown", "rate_limit", "fallback", "on_error",
            "on_restart", "dry_run",
        ],
        foreign: [
            "on": "use triggers:", "when": "use triggers:", "trigger": "use triggers:",
            "condition": "use conditions:", "action": "use actions:", "sequence": "use actions:",
            "then": "use actions:", "name": "use alias:",
        ])

    static let trigger = MappingTable(
        name: "a trigger",
        keys: [
            Key("button", .anything, required: true, "which buttons"),
            Key("event", .anything, required: true, "what they do"),
            Key("id", .name, "tells several triggers apart"),
        ],
        planned: ["clicks", "pattern", "for", "part", "collect", "chord", "within", "mqtt", "time", "state"],
        standIns: ["clicks": "event", "pattern": "event", "chord": "button"],
        foreign: [
            "platform": "write button: and event:", "buttons": "use button:", "events": "use event:",
            "device": "use button:", "entity_id": "use button:", "type": "use event:",
        ])

    static let queued = MappingTable(
        name: "\"queued\"",
        keys: [
            Key("max_age", .duration(.zero ... .longest), required: true, "older events are ignored"),
            Key("keep", .word(["all", "last"]), "of several late events, all or only the last"),
        ])

    /// Where a key belongs that stands in the wrong mapping.
    static func place(of word: String, besides table: String) -> String? {
        for (parent, inner) in [("publish", publish), ("log", log), ("queued", queued), ("run", run), ("shell", shell)]
        where inner.name != table && inner.keys.contains(where: { $0.name == word }) {
            return "\"\(word)\" belongs inside \"\(parent)\""
        }
        if step.keys.contains(where: { $0.name == word }) && step.name != table {
            return "\"\(word)\" is a step; write it under actions:"
        }
        for other in [rule, trigger, button]
        where other.name != table && other.keys.contains(where: { $0.name == word }) {
            return "\"\(word)\" belongs in \(other.name)"
        }
        return nil
    }
}
