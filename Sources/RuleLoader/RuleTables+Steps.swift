import Expressions

/// Steps, and what stands in them.
extension MappingTable {
    static let step = MappingTable(
        name: "a step",
        keys: [
            Key("publish", .anything, "an MQTT message"),
            Key("run", .anything, "a program, without a shell"),
            Key("shell", .anything, "a fixed script for `/bin/sh`"),
            Key("log", .anything, "a line in the log"),
            Key("alias", .text(.areForbidden), "for people"),
        ],
        planned: [
            "http", "delay", "wait", "set", "cycle", "repeat", "if", "choose", "script", "enable", "disable", "stop",
            "then", "else", "default", "with", "enabled", "timeout", "retry", "continue_on_error", "save_as",
            "parallel", "wait_for",
        ],
        foreign: [
            "service": "use publish:, run: or shell:", "command": "use run: or shell:", "mqtt": "use publish:",
            "entity_id": "use publish: with the topic of the device", "wait_template": "use wait:",
            "wait_for_trigger": "use wait:", "exec": "use run:",
        ])

    static let publish = MappingTable(
        name: "\"publish\"",
        keys: [
            Key("topic", .text(.arePlanned), required: true, "without wildcards"),
            Key("payload", .text(.arePlanned), "the text to send; nothing when absent"),
            Key("json", .anything, "any YAML, sent as JSON"),
            Key("qos", .integer(0...2), "`0`, `1` or `2`"),
            Key("retain", .boolean, "the broker keeps it for later subscribers"),
            Key("max_age", .duration(.zero ... .longest), "how long it may wait while the broker is away"),
        ],
        foreign: ["payload_template": "use payload:", "message": "use payload:", "data": "use json:"])

    static let run = MappingTable(
        name: "\"run\"", keys: [Key("argv", .anything, required: true, "the program and its arguments")] + processKeys,
        foreign: processHints)

    static let shell = MappingTable(
        name: "\"shell\"",
        keys: [
            Key("script", .anything, required: true, "the script, without templates"),
            Key("args", .anything, "`$1`, `$2`, … of the script"),
        ] + processKeys,
        foreign: processHints)

    private static let processKeys = [
        Key("env", .anything, "added to the environment"),
        Key("cwd", .text(.areForbidden), "where it runs; the state directory"),
        Key("stdin", .text(.arePlanned), "what it reads"),
    ]

    private static let processHints = [
        "user": "write run: [sudo, -n, -u, NAME, --, …] and allow exactly that in sudoers",
        "command": "use argv: or script:",
    ]

    static let log = MappingTable(
        name: "\"log\"",
        keys: [
            Key("message", .text(.arePlanned), required: true, "the line"),
            Key("level", .word(["debug", "info", "warning", "error"]), "`info` when absent"),
        ])

    static let script = MappingTable(
        name: "a script",
        keys: [
            Key("description", .text(.areText), "for people"),
            Key("inputs", .anything, "what a caller gives, by name"),
            Key("actions", .anything, required: true, "the steps, run in order"),
        ],
        foreign: [
            "sequence": "use actions:", "action": "use actions:", "steps": "use actions:", "fields": "use inputs:",
            "variables": "use inputs:", "alias": "use description:", "mode": "a run's mode is that of its rule",
        ])

    static let scriptInput = MappingTable(
        name: "an input",
        keys: [
            Key("type", .word(ExpressionType.Scalar.declarable), required: true, "what kind of value it is"),
            Key("default", .anything, "taken when the caller gives none"),
        ])
}

extension ExpressionType.Scalar {
    /// The types a state, a variable or an input can have.
    static let declarable = ["string", "integer", "number", "boolean"]
}
