import ButtonModel
import Rules

/// The keys of tests and of the mappings inside them.
extension MappingTable {
    static let test = MappingTable(
        name: "a test",
        keys: [
            Key("name", .text(.areText), required: true, "what it shows"),
            Key("given", .anything, "how things are when it begins"),
            Key("steps", .anything, required: true, "what happens and what is expected, in order"),
        ],
        foreign: [
            "id": "use name:", "alias": "use name:", "description": "use name:", "setup": "use given:",
            "actions": "use steps:", "when": "use steps:", "then": "write - expect: under steps",
            "expect": "write - expect: under steps:",
        ])

    static let given = MappingTable(
        name: "\"given\"",
        keys: [
            Key("now", .anything, "local time"),
            Key("fold", .integer(0...1), "`1`: the second pass of an hour that is repeated"),
            Key("states", .anything, "by name"),
            Key("variables", .anything, "by name"),
            Key("broker", .word(["online", "offline"]), "the connection to the broker"),
            Key("disabled", .anything, "ids of rules"),
            Key("results", .anything, "what programs and web servers answer"),
        ],
        foreign: ["time": "use now:", "state": "use states:", "variable": "use variables:", "rules": "use disabled:"])

    static let outsideResult = MappingTable(
        name: "a result",
        keys: [
            Key("run", .text(.areText), "the beginning of the arguments, joined with spaces"),
            Key("shell", .text(.areText), "the beginning of the script"),
            Key("http", .text(.areText), "the beginning of the URL"),
            Key("exit", .integer(0...255), "exit status"),
            Key("stdout", .text(.areText), "what a program writes"),
            Key("stderr", .text(.areText), "what a program complains"),
            Key("status", .integer(100...599), "of `http`"),
            Key("body", .text(.areText), "of `http`"),
            Key("takes", .duration(.zero ... .longest), "how long it takes"),
        ])

    static let testStep = MappingTable(
        name: "a step of a test",
        keys: [
            Key("event", .anything, "a gesture or an event, as if it had been recognised"),
            Key("down", .anything, "a button goes down"),
            Key("up", .anything, "a button is let go"),
            Key("press", .anything, "down and up, once or several times"),
            Key("chord", .anything, "several buttons at once"),
            Key("advance", .duration(.zero ... .longest), "time goes by"),
            Key("state", .anything, "messages arrive: states by name"),
            Key("broker", .word(["online", "offline"]), "the connection to the broker"),
            Key("run", .anything, "a rule is run by hand"),
            Key("reload", .anything, "the files are read again, or another entry file"),
            Key("restart", .duration(.zero ... .longest), "the program is stopped, so long"),
            Key("expect", .anything, "all that happened since the last `expect`"),
            Key("expect_variables", .anything, "by name"),
            Key("expect_rules", .anything, "the latest outcome, by id"),
        ],
        foreign: [
            "delay": "use advance:", "wait": "use advance:", "sleep": "use advance:", "click": "use event: or press:",
            "hold": "use event:", "hold_release": "use event:", "states": "use state:", "release": "use up:",
            "publish": "write it under expect:", "log": "write it under expect:", "set": "use given: of the test",
            "trigger": "use event: or press:", "clicks": "use event: with clicks inside",
        ])

    static let simulatedEvent = MappingTable(
        name: "\"event\"",
        keys: [
            Key("button", .anything, required: true, "its name"),
            Key("event", .anything, "what it does"),
            Key("clicks", .integer(1...8), "so many short presses"),
            Key("pattern", .anything, "a train of short and long presses"),
            Key("part", .word(["big", "small", "dial", "push"]), "of a Duo or a Twist"),
            Key("steps", .integer(-1000...1000), "of a rotation"),
            Key("position", .integer(0...100), "of a rotation: where the dial stands then"),
            Key("slot", .integer(1...12), "of a rotation of a Twist"),
            Key("held_for", .duration(.zero ... .longest), "of `hold` and `hold_release`"),
            Key("queued", .boolean, "it comes late"),
            Key("age", .duration(.zero ... .longest), "how late"),
            Key("last", .boolean, "of several late ones, the last"),
        ])

    static let press = MappingTable(
        name: "\"press\"",
        keys: [
            Key("button", .anything, required: true, "its name"),
            Key("times", .integer(1...100), "how often"),
            Key("gap", .duration(.zero ... .longest), "from up to down"),
            Key("for", .duration(.zero ... .longest), "from down to up"),
        ],
        foreign: ["clicks": "use times:", "count": "use times:", "held_for": "use for:", "duration": "use for:"])

    // MARK: Expectations

    static let expectedEffect = MappingTable(
        name: "an expected effect",
        keys: StepKind.expectedKeys + [
            Key("at", .duration(.zero ... .longest), "when, counted from the last `expect`")
        ],
        foreign: ["set": "use expect_variables:", "enable": "use expect_rules:", "disable": "use expect_rules:"])

    static let expectedPublish = MappingTable(
        name: "an expected \"publish\"",
        keys: [
            Key("topic", .text(.areForbidden), "the whole topic"), Key("payload", .text(.areForbidden), "as text"),
            Key("json", .anything, "as values"), Key("qos", .integer(0...2), "quality of service"),
            Key("retain", .boolean, "kept by the broker"),
        ])

    static let expectedRun = MappingTable(
        name: "an expected \"run\"", keys: [Key("argv", .anything, "all arguments")] + expectedProcessKeys)

    static let expectedShell = MappingTable(
        name: "an expected \"shell\"",
        keys: [Key("script", .text(.areText), "the whole script"), Key("args", .anything, "all arguments")]
            + expectedProcessKeys)

    private static let expectedProcessKeys = [
        Key("env", .anything, "any variable of the program"), Key("cwd", .text(.areForbidden), "where it runs"),
        Key("stdin", .text(.areForbidden), "what it reads"),
    ]

    static let expectedHTTP = MappingTable(
        name: "an expected \"http\"",
        keys: [
            Key("url", .text(.areForbidden), "the whole URL"), Key("method", .word(httpMethods), "of the request"),
            Key("headers", .anything, "by name"), Key("body", .text(.areForbidden), "as text"),
            Key("json", .anything, "as values"),
        ])

    static let expectedLog = MappingTable(
        name: "an expected \"log\"",
        keys: [
            Key("message", .text(.areForbidden), "the line"),
            Key("level", .word(LogLevel.allCases.map(\.rawValue)), "how loud"),
        ])
}
