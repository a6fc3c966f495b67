import ButtonModel
import Expressions
import Gestures
import Rules

extension Duration {
    static let longest = DurationText.longest
}

extension ClosedRange<Double> {
    static let anyNumber = -Double.greatestFiniteMagnitude ... .greatestFiniteMagnitude
}

/// The keys of a rules file, of its declarations, and of a rule down to its steps.
extension MappingTable {
    static let rulesFile = MappingTable(
        name: "the file",
        keys: [
            Key("version", .integer(0...Int.max), "the language's version; required in the entry file, and only there"),
            Key("include", .anything, "further files, paths or globs"),
            Key("location", .anything, "where the house stands, for the sun and the clocks"),
            Key("defaults", .anything, "what rules and steps have that say nothing"),
            Key("buttons", .anything, "the hardware, named once"),
            Key("groups", .anything, "sets of buttons"),
            Key("states", .anything, "MQTT topics whose last value rules may read"),
            Key("variables", .anything, "values rules may read and write"),
            Key("scripts", .anything, "steps with a name, and with inputs"),
            Key("rules", .anything, "what happens"),
            Key("tests", .anything, "what the rules are expected to do"),
        ],
        foreign: [
            "automation": "use rules:", "automations": "use rules:", "rule": "use rules:", "button": "use buttons:",
            "group": "use groups:", "state": "use states:", "variable": "use variables:", "script": "use scripts:",
            "test": "use tests:", "input_boolean": "use variables:", "input_number": "use variables:",
            "includes": "use include:", "packages": "use include:", "homeassistant": "use location: and include:",
            "mqtt": "the broker belongs in tryck.yaml", "bluetooth": "the adapter belongs in tryck.yaml",
            "secrets": "secrets belong in secrets.yaml, and are read with !secret name",
        ],
        ignoredPrefix: "x-")

    static let location = MappingTable(
        name: "\"location\"",
        keys: [
            Key("latitude", .number(-90...90), "degrees, north positive"),
            Key("longitude", .number(-180...180), "degrees, east positive"),
            Key("timezone", .text(.areForbidden), "the time zone"),
        ],
        foreign: [
            "lat": "use latitude:", "lon": "use longitude:", "lng": "use longitude:", "time_zone": "use timezone:",
        ])

    static let defaults = MappingTable(
        name: "\"defaults\"",
        keys: [
            queuedKey, modeKey, cooldownKey, rateLimitKey,
            Key("qos", .integer(0...2), "of a `publish`"),
            Key("retain", .boolean, "of a `publish`"),
            Key("max_age", .duration(.zero ... .longest), "of a `publish`"),
            Key("timeout", .duration(.zero ... .longest), "of every step that can wait"),
        ])

    static let button = MappingTable(
        name: "a button",
        keys: hardwareKeys + [
            Key(
                "model", .word(DeclaredButton.Model.allCases.map(\.rawValue)),
                "which events and parts it has"),
            Key(
                "trigger_mode",
                .word(["auto", "click", "click_and_hold", "click_and_double_click", "click_and_double_click_and_hold"]),
                "`auto` derives it from the rules"),
            Key("hold_after", .duration(.milliseconds(200) ... .seconds(10)), "a press this long is long"),
            Key(
                "click_gap", .duration(.milliseconds(100) ... .seconds(2)),
                "the longest time between two presses that belong together"),
            queuedKey,
            Key("description", .text(.areText), "for people"),
        ],
        foreign: [
            "name": "the name is the key: kitchen: {serial: …}", "mac": "use address:", "bdaddr": "use address:",
            "type": "use model:", "long_press": "use hold_after:", "double_click": "use click_gap:",
        ])

    static let hardware = MappingTable(name: "a button", keys: hardwareKeys)

    private static let hardwareKeys = [
        Key("uuid", .text(.areForbidden), "its 32 hexadecimal digits"),
        Key("serial", .text(.areForbidden), "the serial number on the back, `BF12-C34567`"),
        Key("address", .text(.areForbidden), "the Bluetooth address, `80:E4:DA:01:02:03`"),
        Key("nickname", .text(.areForbidden), "the name stored on the button"),
    ]

    static let state = MappingTable(
        name: "a state",
        keys: [
            Key("topic", .text(.areForbidden), required: true, "without wildcards"),
            Key("value", .text(.areForbidden), "where it is in a JSON payload: a JSON Pointer"),
            Key("type", .word(ExpressionType.Scalar.declarable), "what is made of it"),
            Key("default", .anything, "in place of what is not known"),
            Key("max_age", .duration(.zero ... .longest), "after this long without a message it is not known"),
        ],
        foreign: [
            "state_topic": "use topic:", "value_template": "use value: with a JSON Pointer such as /state",
            "json_path": "use value: with a JSON Pointer such as /state", "initial": "use default:",
            "pointer": "use value:", "expire_after": "use max_age:",
        ])

    static let variable = MappingTable(
        name: "a variable",
        keys: [
            Key("type", .word(ExpressionType.Scalar.declarable), "fixed for good"),
            Key("initial", .anything, required: true, "its value at the first start"),
            Key("values", .anything, "what it may hold, in order"),
            Key("min", .number(.anyNumber), "`set` gives no less"),
            Key("max", .number(.anyNumber), "`set` gives no more"),
            Key("persist", .boolean, "survives a restart"),
        ],
        foreign: [
            "default": "use initial:", "value": "use initial:", "options": "use values:", "minimum": "use min:",
            "maximum": "use max:",
        ])

    static let rule = MappingTable(
        name: "a rule",
        keys: [
            Key("id", .name, required: true, "the rule's name in logs and topics"),
            Key("alias", .text(.areForbidden), "for people"),
            Key("description", .text(.areText), "for people"),
            Key("enabled", .boolean, "what people set while it runs wins, until this changes"),
            Key("triggers", .anything, required: true, "any of them starts the rule"),
            Key("conditions", .anything, "all must hold"),
            Key("actions", .anything, required: true, "the steps, run in order"),
            modeKey,
            Key("max", .integer(1...100), "of `queued` and `parallel`: running and waiting together"),
            Key(
                "scope", .word(Rule.Scope.allCases.map(\.rawValue)), "what `mode`, `cooldown` and `rate_limit` count by"
            ),
            queuedKey, cooldownKey, rateLimitKey,
            Key("fallback", .boolean, "only if no ordinary rule took the press"),
            Key("on_error", .anything, "steps for when a step fails"),
            Key(
                "on_restart", .word(Rule.AfterRestart.allCases.map(\.rawValue)),
                "what becomes of a run that waits when the program stops"),
            Key("dry_run", .boolean, "everything is decided and nothing done"),
        ],
        foreign: [
            "on": "use triggers:", "when": "use triggers:", "trigger": "use triggers:",
            "condition": "use conditions:", "if": "use conditions:", "action": "use actions:",
            "sequence": "use actions:", "then": "use actions:", "do": "use actions:", "name": "use alias:",
            "throttle": "use cooldown:", "debounce": "use cooldown:", "max_exceeded": "what is dropped is counted",
        ])

    private static let queuedKey = Key("queued", .anything, "what happens to late events")
    private static let modeKey = Key(
        "mode", .word(Rule.Mode.allCases.map(\.rawValue)), "what a match does while a run goes on")
    private static let cooldownKey = Key(
        "cooldown", .duration(.zero ... .longest), "how long after a run began matches are ignored")
    private static let rateLimitKey = Key("rate_limit", .anything, "at most so many runs in a time")

    static let trigger = MappingTable(
        name: "a trigger",
        keys: [
            Key("button", .anything, "which buttons"),
            Key("event", .anything, "what they do"),
            Key("clicks", .integer(1...8), "exactly that many short presses"),
            Key("pattern", .anything, "a train of short and long presses"),
            Key("for", .duration(.milliseconds(1) ... .seconds(30)), "of `hold`: fires after so long"),
            Key("part", .anything, "of a Duo `big`, `small`; of a Twist `dial`, `push`"),
            Key("collect", .duration(.zero ... .seconds(2)), "of a rotation: summed for so long"),
            Key("chord", .anything, "two to four buttons, pressed together"),
            Key(
                "within", .duration(.milliseconds(50) ... .seconds(1)),
                "of a chord: from the first press to the last"),
            Key("id", .name, "tells several triggers apart"),
        ],
        planned: ["mqtt", "time", "state", "sequence"],
        standIns: ["mqtt": "button", "time": "button", "state": "button", "sequence": "button"],
        foreign: [
            "platform": "write button: and event:", "trigger": "write button: and event:", "buttons": "use button:",
            "events": "use event:", "device": "use button:", "device_id": "use button:", "entity_id": "use button:",
            "type": "use event:", "subtype": "use event:", "duration": "use for:", "count": "use clicks:",
            "gesture": "use event:", "action": "use event:",
        ])

    static let queued = MappingTable(
        name: "\"queued\"",
        keys: [
            Key("max_age", .duration(.zero ... .longest), required: true, "older events are ignored"),
            Key("keep", .word(["all", "last"]), "of several late events, all or only the last"),
        ])

    static let time = MappingTable(
        name: "\"time\"",
        keys: [
            Key("after", .anything, "from then on"),
            Key("before", .anything, "until then"),
            Key("weekday", .anything, "the days on which the time begins"),
        ],
        foreign: [
            "from": "use after:", "to": "use before:", "until": "use before:", "start": "use after:",
            "end": "use before:", "weekdays": "use weekday:", "days": "use weekday:", "day": "use weekday:",
        ])

    /// A hint where a key belongs that stands in the wrong mapping; `nil` when no mapping has it.
    static func place(of word: String, besides table: String) -> String? {
        for (parent, inner) in [("publish", publish), ("log", log), ("queued", queued), ("run", run), ("shell", shell)]
        where inner.name != table && inner.key(word) != nil {
            return "\"\(word)\" belongs inside \"\(parent)\""
        }
        if let place = place(ofStepKey: word, besides: table) { return place }
        for other in [rule, trigger, button, state, variable, location, rulesFile]
        where other.name != table && other.key(word) != nil {
            return "\"\(word)\" belongs in \(other.name)"
        }
        return nil
    }
}
