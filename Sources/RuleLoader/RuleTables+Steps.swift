import ButtonModel
import Expressions
import Rules

/// The keys of steps and of the mappings inside them.
extension MappingTable {
    static let step = MappingTable(
        name: "a step",
        keys: StepKind.keys + [
            Key("alias", .text(.areForbidden), "its name in traces"),
            Key("enabled", .boolean, "`false`: skip the step"),
            Key("timeout", .duration(.zero ... .longest), "then the step fails"),
            Key("retry", .anything, "further attempts"),
            Key("continue_on_error", .boolean, "a failure does not end the run"),
            Key("save_as", .name, "`results.<name>` for later steps"),
        ],
        planned: ["parallel", "wait_for"],
        foreign: [
            "service": "use publish:, run: or shell:", "command": "use run: or shell:", "mqtt": "use publish:",
            "entity_id": "use publish: with the topic of the device", "wait_template": "use wait:",
            "wait_for_trigger": "use wait:", "exec": "use run:", "elif": "use choose:, one branch for each condition",
            "sequence": "write the steps one after another, or use script:", "while": "use repeat: with while: held",
            "until": "use wait: with until: and timeout:", "condition": "use if: and then:",
            "conditions": "use if: and then:", "action": "use publish:, run: or shell:", "name": "use alias:",
            "user": processHints["user"] ?? "",
        ])

    /// Keys that all kinds of steps may have, or several of them.
    private static let commonKeys = ["alias", "enabled", "timeout", "retry", "continue_on_error", "save_as"]

    /// A hint where a step's key belongs that stands in another mapping.
    static func place(ofStepKey word: String, besides table: String) -> String? {
        guard step.key(word) != nil, step.name != table else { return nil }
        // Tables for mappings inside an action have quoted names.
        if commonKeys.contains(word) {
            return table.hasPrefix("\"") ? "\"\(word)\" belongs beside \(table)" : "\"\(word)\" belongs in a step"
        }
        return "\"\(word)\" is a step; write it under actions:"
    }

    static let publish = MappingTable(
        name: "\"publish\"",
        keys: [
            Key("topic", .template, required: true, "without wildcards"),
            Key("payload", .template, "the text to send"),
            Key("json", .anything, "any YAML, sent as JSON"),
            Key("qos", .integer(0...2), "quality of service"),
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
        Key("cwd", .text(.areForbidden), "where it runs"),
        Key("stdin", .template, "what it reads"),
    ]

    private static let processHints = [
        "user": "write run: [sudo, -n, -u, NAME, --, …] and allow exactly that in sudoers",
        "command": "use argv: or script:",
    ]

    static let http = MappingTable(
        name: "\"http\"",
        keys: [
            Key("url", .template, required: true, "scheme and host are literal"),
            Key("method", .word(httpMethods), "of the request"),
            Key("headers", .anything, "by name"),
            Key("body", .template, "the text to send"),
            Key("json", .anything, "any YAML, sent as JSON"),
            Key("expect", .anything, "the statuses that are a success"),
        ],
        foreign: [
            "payload": "use body:", "data": "use json:", "header": "use headers:", "content_type": "use headers:",
        ])

    static let httpMethods = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"]

    static let wait = MappingTable(
        name: "\"wait\"",
        keys: [
            Key("until", .anything, required: true, "what is waited for"),
            Key("timeout", .duration(.zero ... .longest), required: true, "then the step fails"),
        ],
        foreign: [
            "seconds": "for a time write delay: 10s; a wait has until: and timeout:",
            "minutes": "for a time write delay: 5m; a wait has until: and timeout:",
            "milliseconds": "for a time write delay: 500ms; a wait has until: and timeout:",
            "for": "use until: and timeout:", "condition": "use until:",
        ])

    static let cycle = MappingTable(
        name: "\"cycle\"",
        keys: [
            Key("steps", .anything, required: true, "the entries, each a step or a list of steps"),
            Key("reset_after", .duration(.zero ... .longest), "begin with the first again after so long"),
        ],
        foreign: ["actions": "use steps:"])

    static let `repeat` = MappingTable(
        name: "\"repeat\"",
        keys: [
            Key("while", .word(["held"]), "as long as the button is held"),
            Key("count", .integer(1...1000), "so many times"),
            Key("every", .duration(.milliseconds(20) ... .longest), required: true, "from start to start"),
            Key("limit", .duration(.zero ... .seconds(600)), "at most so long"),
            Key("actions", .anything, required: true, "the steps"),
        ],
        foreign: [
            "until": "use while: held or count:; to wait for something, use a wait step", "steps": "use actions:",
            "sequence": "use actions:", "times": "use count:", "delay": "use every:", "interval": "use every:",
            "for_each": "there are no loops over data; use count:",
        ])

    static let branch = MappingTable(
        name: "a branch",
        keys: [
            Key("if", .anything, required: true, "conditions"),
            Key("then", .anything, required: true, "the steps if they hold"),
        ],
        foreign: [
            "else": "use default: beside choose", "elif": "write another branch with if: and then:",
            "condition": "use if:", "conditions": "use if:", "sequence": "use then:", "actions": "use then:",
            "default": "write default: beside choose, not in a branch",
        ])

    static let log = MappingTable(
        name: "\"log\"",
        keys: [
            Key("message", .template, required: true, "the line"),
            Key("level", .word(LogLevel.allCases.map(\.rawValue)), "how much it matters"),
        ])

    static let retry = MappingTable(
        name: "\"retry\"",
        keys: [
            Key("count", .integer(1...10), required: true, "further attempts"),
            Key("delay", .duration(.zero ... .longest), "before the first of them"),
            Key("backoff", .number(1...10), "each wait is so many times the one before"),
        ],
        foreign: ["times": "use count:", "attempts": "use count:", "max": "use count:", "interval": "use delay:"])

    static let condition = MappingTable(
        name: "a condition",
        keys: [Key("time", .anything, "a window of the day")],
        foreign: [
            "and": "a list of conditions must hold altogether; inside an expression write a and b",
            "or": "write it as one expression: a or b, with in_time(…) for a window of the day",
            "not": "write it as an expression: not a",
            "condition": "write an expression such as states.lamp == 'ON'",
            "state": "write an expression such as states.lamp == 'ON'",
            "numeric_state": "write an expression such as states.lux < 20",
            "entity_id": "write an expression such as states.lamp == 'ON'",
            "template": "write the expression itself, without braces",
            "value_template": "write the expression itself, without braces",
            "sun": "use time: with after: sunset",
            "after": "use time: {after: …}", "before": "use time: {before: …}", "weekday": "use time: {weekday: …}",
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
    /// The types with which a state, a variable or an input can be declared.
    static let declarable = ["string", "integer", "number", "boolean"]
}
