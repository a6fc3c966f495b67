import ButtonModel
import Rules
import YAMLFiles

/// The keys of tests and of the mappings inside them.
extension MappingTable {
    static let test = MappingTable(
        name: "a test",
        keys: [
            Key("name", .text(.areText), required: true, "the name of the test"),
            Key("given", .anything, "the situation at the start"),
            Key("steps", .anything, required: true, "inputs and expectations, in order"),
        ],
        foreignHints: [
            "id": "use name:", "alias": "use name:", "description": "use name:", "setup": "use given:",
            "actions": "use steps:", "when": "use steps:", "then": "write - expect: under steps",
            "expect": "write - expect: under steps:",
        ])

    static let given = MappingTable(
        name: "\"given\"",
        keys: [
            Key("now", .anything, "the local time at the start"),
            Key(
                "fold", .integer(0...1),
                "`1` means the second pass of an hour that is repeated when the clocks are put back"),
            Key("states", .anything, "values of states"),
            Key("variables", .anything, "values of variables"),
            Key("broker", .oneOf(["online", "offline"]), "the connection to the broker at the start"),
            Key("disabled", .anything, "the ids of disabled rules"),
            Key("results", .anything, "the results of programs and web hooks"),
        ],
        foreignHints: [
            "time": "use now:", "state": "use states:", "variable": "use variables:", "rules": "use disabled:",
        ])

    static let simulatedResult = MappingTable(
        name: "a result",
        keys: [
            Key("run", .text(.areText), "the beginning of the arguments, joined with spaces"),
            Key("shell", .text(.areText), "the beginning of the script"),
            Key("http", .text(.areText), "the beginning of the URL"),
            Key("exit", .integer(0...255), "the exit status"),
            Key("stdout", .text(.areText), "the standard output"),
            Key("stderr", .text(.areText), "the standard error output"),
            Key("status", .integer(100...599), "for `http`: the status"),
            Key("body", .text(.areText), "for `http`: the body"),
            Key("takes", .duration(.zero ... .longest), "the duration"),
        ])

    static let testStep = MappingTable(
        name: "a step of a test",
        keys: [
            Key("event", .anything, "a recognised gesture or another event"),
            Key("down", .anything, "a button goes down"),
            Key("up", .anything, "a button is released"),
            Key("press", .anything, "down and up, once or several times"),
            Key("chord", .anything, "several buttons are pressed together"),
            Key("advance", .duration(.zero ... .longest), "time passes"),
            Key("time", .anything, "the clock is set to a local time"),
            Key("state", .anything, "states receive messages"),
            Key("broker", .oneOf(["online", "offline"]), "the connection to the broker changes"),
            Key("random", .anything, "the next numbers of the function random"),
            Key("run", .anything, "a rule is run by hand"),
            Key("reload", .anything, "the files, or another entry file, are loaded again"),
            Key("restart", .duration(.zero ... .longest), "the program is stopped for this time and started again"),
            Key("expect", .anything, "all effects since the last `expect`"),
            Key("expect_variables", .anything, "expected values of variables"),
            Key("expect_rules", .anything, "expected latest outcomes of rules"),
        ],
        foreignHints: [
            "delay": "use advance:", "wait": "use advance:", "sleep": "use advance:", "click": "use event: or press:",
            "hold": "use event:", "hold_release": "use event:", "states": "use state:", "release": "use up:",
            "publish": "write it under expect:", "log": "write it under expect:", "set": "use given: of the test",
            "trigger": "use event: or press:", "clicks": "use event: with clicks inside",
        ])

    static let simulatedEvent = MappingTable(
        name: "\"event\"",
        keys: [
            Key("button", .anything, required: true, "the name of the button"),
            Key("event", .anything, "the event"),
            Key("clicks", .integer(1...8), "this number of short presses"),
            Key("pattern", .anything, "a sequence of short and long presses"),
            Key("part", .oneOf(["big", "small", "dial", "push"]), "the part of a Duo or a Twist"),
            Key("steps", .integer(-1000...1000), "for a rotation: the steps"),
            Key("position", .integer(0...100), "for a rotation: the position afterwards"),
            Key("slot", .integer(1...12), "for a rotation of a Twist: the slot"),
            Key(
                "held_for", .duration(.zero ... .longest), "for `hold` and `hold_release`: how long the button was held"
            ),
            Key("queued", .boolean, "whether the event is late"),
            Key("age", .duration(.zero ... .longest), "the age of the event"),
            Key("last", .boolean, "whether it is the last of several late events"),
        ])

    static let press = MappingTable(
        name: "\"press\"",
        keys: [
            Key("button", .anything, required: true, "the name of the button"),
            Key("times", .integer(1...100), "the number of presses"),
            Key("gap", .duration(.zero ... .longest), "the time from release to the next press"),
            Key("for", .duration(.zero ... .longest), "the duration of each press"),
        ],
        foreignHints: ["clicks": "use times:", "count": "use times:", "held_for": "use for:", "duration": "use for:"])

    static let expectedEffect = MappingTable(
        name: "an expected effect",
        keys: StepKind.expectedKeys + [
            Key("at", .duration(.zero ... .longest), "the time since the last `expect`")
        ],
        foreignHints: ["set": "use expect_variables:", "enable": "use expect_rules:", "disable": "use expect_rules:"])
}

extension RuleTest.SimulatedResult.Kind {
    /// The keys of a result that are allowed only with this kind, or with the kinds that have them, too.
    var ownKeys: [String] {
        switch self {
        case .run, .shell: ["exit", "stdout", "stderr"]
        case .http: ["status", "body"]
        }
    }
}
