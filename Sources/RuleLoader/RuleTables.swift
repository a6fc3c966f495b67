import ButtonModel
import Expressions
import Gestures
import Rules
import YAMLFiles

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
            Key(
                "version", .integer(0...Int.max),
                "the version of the language; required in the entry file, not allowed in others"),
            Key("include", .anything, "files to include: paths or glob patterns"),
            Key("location", .anything, "the position and time zone of the house, for the sun and times of day"),
            Key("defaults", .anything, "defaults for keys that rules and steps do not have"),
            Key("buttons", .anything, "names of the buttons"),
            Key("groups", .anything, "names for sets of buttons"),
            Key("states", .anything, "MQTT topics whose last value rules can read"),
            Key("variables", .anything, "values that rules can read and write"),
            Key("scripts", .anything, "named lists of steps, with inputs"),
            Key("rules", .anything, "the rules"),
            Key("tests", .anything, "tests of the rules"),
        ],
        foreignHints: [
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
            Key("timezone", .text(.areForbidden), "the time zone of all times of day"),
        ],
        foreignHints: [
            "lat": "use latitude:", "lon": "use longitude:", "lng": "use longitude:", "time_zone": "use timezone:",
        ])

    static let defaults = MappingTable(
        name: "\"defaults\"",
        keys: [
            queuedKey, modeKey, cooldownKey, rateLimitKey,
            Key("qos", .integer(0...2), "the `qos` of `publish`"),
            Key("retain", .boolean, "the `retain` of `publish`"),
            Key("max_age", .duration(.zero ... .longest), "the `max_age` of `publish`"),
            Key("timeout", .duration(.zero ... .longest), "the timeout of every step that can have one"),
        ])

    static let button = MappingTable(
        name: "a button",
        keys: hardwareKeys + [
            Key(
                "model", .oneOf(FlicModel.pairable.map(\.rawValue)), "the model, which determines the events and parts"),
            Key(
                "trigger_mode",
                .oneOf(["auto"] + TriggerMode.allCases.map(\.rawValue)),
                "the gestures that the button reports; `auto` derives them from the rules"),
            Key("hold_after", .duration(.milliseconds(200) ... .seconds(10)), "the shortest duration of a long press"),
            Key(
                "click_gap", .duration(.milliseconds(100) ... .seconds(2)),
                "the longest time between two presses of one gesture"),
            queuedKey,
            Key("description", .text(.areText), "a comment"),
        ],
        foreignHints: [
            "name": "the name is the key: kitchen: {serial: …}", "mac": "use address:", "bdaddr": "use address:",
            "type": "use model:", "long_press": "use hold_after:", "double_click": "use click_gap:",
        ])

    static let hardware = MappingTable(name: "a button", keys: hardwareKeys)

    private static let hardwareKeys = [
        Key("uuid", .text(.areForbidden), "the uuid, 32 hexadecimal digits"),
        Key("serial", .text(.areForbidden), "the serial number on the back, `BF12-C34567`"),
        Key("address", .text(.areForbidden), "the Bluetooth address, `80:E4:DA:01:02:03`"),
        Key("nickname", .text(.areForbidden), "the name stored on the button"),
    ]

    static let state = MappingTable(
        name: "a state",
        keys: [
            Key(
                "topic", .text(.areForbidden), required: true,
                "the topic; with `as` it may have the wildcards `+` and `#`"),
            Key(
                "as", .oneOf(DeclaredState.Combination.allCases.map(\.rawValue)),
                "how the values of several topics become one: the last one, or the number of those that are true"),
            Key("value", .text(.areForbidden), "a JSON Pointer to the value in a JSON payload"),
            Key("type", .oneOf(ExpressionType.Scalar.declarable), "the type of the value"),
            Key("default", .anything, "the value while the state is unknown"),
            Key(
                "max_age", .duration(.zero ... .longest), "the state becomes unknown after this time without a message"),
        ],
        foreignHints: [
            "state_topic": "use topic:", "value_template": "use value: with a JSON Pointer such as /state",
            "json_path": "use value: with a JSON Pointer such as /state", "initial": "use default:",
            "pointer": "use value:", "aggregate": "use as:", "combine": "use as:", "expire_after": "use max_age:",
        ])

    static let variable = MappingTable(
        name: "a variable",
        keys: [
            Key("type", .oneOf(ExpressionType.Scalar.declarable), "the type; it cannot change"),
            Key("initial", .anything, required: true, "the value at the first start"),
            Key("values", .anything, "the permitted values, in order"),
            Key("min", .number(.anyNumber), "the lower limit for `set`"),
            Key("max", .number(.anyNumber), "the upper limit for `set`"),
            Key("persist", .boolean, "whether the value is kept over a restart"),
            Key("reset", .anything, "the time of day at which the variable returns to `initial`"),
        ],
        foreignHints: [
            "default": "use initial:", "value": "use initial:", "options": "use values:", "minimum": "use min:",
            "maximum": "use max:",
        ])

    static let rule = MappingTable(
        name: "a rule",
        keys: [
            Key("id", .name, required: true, "the rule's name in logs and topics"),
            Key("alias", .text(.areForbidden), "a name for display"),
            Key("description", .text(.areText), "a comment"),
            Key(
                "enabled", .boolean,
                "whether the rule is enabled; a change at run time has priority until this key is changed"),
            Key("triggers", .anything, required: true, "the triggers; any of them starts the rule"),
            Key("conditions", .anything, "the conditions; all must be true"),
            Key("actions", .anything, required: true, "the steps, run in order"),
            modeKey,
            Key(
                "max", .integer(1...100), "for `queued` and `parallel`: the limit for running and waiting runs together"
            ),
            Key(
                "scope", .oneOf(Rule.LimitScope.allCases.map(\.rawValue)),
                "whether `mode`, `cooldown` and `rate_limit` apply to the rule or to each button"
            ),
            queuedKey, cooldownKey, rateLimitKey,
            Key("fallback", .boolean, "run only if no rule without fallback handles the press"),
            Key("on_error", .anything, "the steps to run after a failure"),
            Key(
                "on_restart", .oneOf(Rule.AfterRestart.allCases.map(\.rawValue)),
                "whether a run that waits is dropped or resumed when the program restarts"),
            Key("dry_run", .boolean, "decide and trace everything, but perform no action"),
        ],
        foreignHints: [
            "on": "use triggers:", "when": "use triggers:", "trigger": "use triggers:",
            "condition": "use conditions:", "if": "use conditions:", "action": "use actions:",
            "sequence": "use actions:", "then": "use actions:", "do": "use actions:", "name": "use alias:",
            "throttle": "use cooldown:", "debounce": "use cooldown:",
            "max_exceeded": "there is no such key; dropped runs are counted",
        ])

    private static let queuedKey = Key("queued", .anything, "which late events trigger rules")
    private static let modeKey = Key(
        "mode", .oneOf(Rule.Mode.allCases.map(\.rawValue)), "what happens if the rule matches during a run")
    private static let cooldownKey = Key(
        "cooldown", .duration(.zero ... .longest), "matches are ignored for this time after the start of a run")
    private static let rateLimitKey = Key("rate_limit", .anything, "the maximum number of runs in a period")

    static let trigger = MappingTable(
        name: "a trigger",
        keys: [
            Key("button", .anything, "the buttons"),
            Key("event", .anything, "the events"),
            Key("clicks", .integer(1...8), "this number of short presses"),
            Key("pattern", .anything, "a sequence of short and long presses"),
            Key(
                "for", .duration(.zero...StateTrigger.longestDuration),
                "for `hold`: the time after which it fires, 1ms to 30s; for `state`: how long the value must last"),
            Key("part", .anything, "the part of the button: `big` or `small` of a Duo, `dial` or `push` of a Twist"),
            Key("collect", .duration(.zero ... .seconds(2)), "for rotations: the time over which steps are summed"),
            Key("chord", .anything, "two to four buttons that are pressed together"),
            Key(
                "within", .duration(.milliseconds(50) ... .seconds(1)),
                "for a chord: the longest time from the first press to the last"),
            Key("at", .anything, "the local times at which it fires"),
            Key("offset", .anything, "for a time of the sun: how much later it fires, or earlier with a minus"),
            Key("weekday", .anything, "for `at`: the days on which it fires"),
            Key(
                "missed", .duration(.zero...TimeTrigger.longestOffset),
                "for `at`: how late it still fires if the program was stopped at the time"),
            Key("state", .anything, "the states whose changes fire it"),
            Key("from", .anything, "for `state`: the values before the change, or conditions on `old` and `new`"),
            Key("to", .anything, "for `state`: the values after the change, or conditions on `old` and `new`"),
            Key("id", .name, "a name for the trigger, read as `trigger.id`"),
        ],
        planned: ["mqtt", "sequence"],
        replacedKeys: ["mqtt": "button", "sequence": "button"],
        foreignHints: [
            "time": "use at:", "after": "use at:", "weekdays": "use weekday:", "days": "use weekday:",
            "every": "use at:, with a list of times", "cron": "use at:, with a list of times",
            "variable": "use state:, because a change of a variable starts no rule",
            "platform": "write button: and event:", "trigger": "write button: and event:", "buttons": "use button:",
            "events": "use event:", "device": "use button:", "device_id": "use button:", "entity_id": "use button:",
            "type": "use event:", "subtype": "use event:", "duration": "use for:", "count": "use clicks:",
            "gesture": "use event:", "action": "use event:",
            "above": "write to: new > 25, and from: old <= 25 to run only when the value rises above it",
            "below": "write to: new < 25, and from: old >= 25 to run only when the value falls below it",
            "not_to": "write the other values under to:, or to: new != 'VALUE'",
        ],
        foreignEntries: [
            "above": "to: new > VALUE", "below": "to: new < VALUE", "not_to": "to: new != LITERAL",
            "entity_id": "state: VALUE",
        ])

    static let queued = MappingTable(
        name: "\"queued\"",
        keys: [
            Key(
                "max_age", .duration(.zero ... .longest), required: true,
                "the age up to which late events trigger rules"),
            Key("keep", .oneOf(["all", "last"]), "whether all late events trigger rules, or only the last"),
        ])

    static let time = MappingTable(
        name: "\"time\"",
        keys: [
            Key("after", .anything, "the start of the window"),
            Key("before", .anything, "the end of the window"),
            Key("weekday", .anything, "the days on which the window starts"),
        ],
        foreignHints: [
            "from": "use after:", "to": "use before:", "until": "use before:", "start": "use after:",
            "end": "use before:", "weekdays": "use weekday:", "days": "use weekday:", "day": "use weekday:",
        ])

    /// The place of a key that is written in the wrong mapping; `nil` if no mapping has it.
    fileprivate static func place(ofMisplacedKey key: String, in table: String) -> KeyPlace? {
        for (parent, inner) in [("publish", publish), ("log", log), ("queued", queued), ("run", run), ("shell", shell)]
        where inner.name != table && inner.key(key) != nil {
            return .inside(key: parent)
        }
        if let place = place(ofMisplacedStepKey: key, in: table) { return place }
        for other in [rule, trigger, button, state, variable, location, rulesFile]
        where other.name != table && other.key(key) != nil {
            return other.name == rulesFile.name ? .file : .elsewhere("belongs in \(other.name)")
        }
        return nil
    }
}

extension FileLanguage {
    static let rules = FileLanguage(
        file: .rulesFile, expressionKeys: ["conditions", "if", "until"],
        tagHints: ["!include": "use the top-level include: list"], statementHint: .statements,
        place: MappingTable.place(ofMisplacedKey:in:))
}
