import ButtonModel
import Expressions
import Rules
import YAMLFiles

/// The keys of steps and of the mappings inside them.
extension MappingTable {
    static let step = MappingTable(
        name: "a step",
        keys: StepKind.keys + [
            Key("alias", .text(.areForbidden), "the name of the step in traces"),
            Key("enabled", .boolean, "`false` skips the step"),
            Key("timeout", .duration(.zero ... .longest), "the time after which the step fails"),
            Key("retry", .anything, "further attempts after a failure"),
            Key("continue_on_error", .boolean, "continue the run after a failure"),
            Key("save_as", .name, "the name under which later steps read the result, as `results.NAME`"),
        ],
        planned: ["parallel"],
        foreignHints: [
            "service": "use publish:, run: or shell:", "command": "use run: or shell:", "mqtt": "use publish:",
            "entity_id": "use publish: with the topic of the device", "wait_template": "use wait:",
            "wait_for_trigger": "use wait_for:", "exec": "use run:", "on_timeout": "use else:",
            "continue_on_timeout": "write else: with the steps for that case; the run then continues after them",
            "elif": "use choose:, one branch for each condition",
            "sequence": "write the steps one after another, or use script:", "while": "use repeat: with while: held",
            "until": "use wait: with until: and timeout:", "condition": "use if: and then:",
            "conditions": "use if: and then:", "action": "use publish:, run: or shell:", "name": "use alias:",
            "user": processHints["user"] ?? "",
        ])

    /// Keys that several or all kinds of steps may have.
    private static let commonKeys = ["alias", "enabled", "timeout", "retry", "continue_on_error", "save_as"]

    /// The place of a key of a step that is written in another mapping.
    static func place(ofMisplacedStepKey key: String, in table: String) -> KeyPlace? {
        guard step.key(key) != nil, step.name != table else { return nil }
        guard commonKeys.contains(key) else { return .elsewhere("is a step; write it under actions:") }
        // Tables for mappings inside an action have quoted names.
        return table.hasPrefix("\"") ? .besideMapping : .elsewhere("belongs in a step")
    }

    static let wait = MappingTable(
        name: "\"wait\"",
        keys: [
            Key("until", .anything, required: true, "the expression to wait for"),
            Key("timeout", .duration(.zero ... .longest), required: true, "the time after which the step fails"),
        ],
        foreignHints: [
            "seconds": "for a time write delay: 10s; a wait has until: and timeout:",
            "minutes": "for a time write delay: 5m; a wait has until: and timeout:",
            "milliseconds": "for a time write delay: 500ms; a wait has until: and timeout:",
            "for": "use until: and timeout:", "condition": "use until:",
            "else": "write else: beside wait:, not in it",
        ], outerKeys: ["else"])

    /// The table of a `wait` whose `timeout` stands beside it, which is reported there.
    static let waitWithoutTimeout = MappingTable(
        name: wait.name,
        keys: wait.keys.map { key in
            var key = key
            key.isRequired = key.isRequired && key.name != "timeout"
            return key
        },
        foreignHints: wait.foreignHints, outerKeys: wait.outerKeys)

    static let cycle = MappingTable(
        name: "\"cycle\"",
        keys: [
            Key("steps", .anything, required: true, "the entries; each is a step or a list of steps"),
            Key(
                "reset_after", .duration(.zero ... .longest),
                "the time after which the cycle starts again with the first entry"),
        ],
        foreignHints: ["actions": "use steps:"])

    static let `repeat` = MappingTable(
        name: "\"repeat\"",
        keys: [
            Key("while", .oneOf(["held"]), "repeat as long as the button is held"),
            Key("count", .integer(1...1000), "repeat this number of times"),
            Key(
                "every", .duration(.milliseconds(20) ... .longest), required: true,
                "the time from the start of one iteration to the start of the next"),
            Key("limit", .duration(.zero ... .seconds(600)), "the longest time for all iterations"),
            Key("actions", .anything, required: true, "the steps of each iteration"),
        ],
        foreignHints: [
            "until": "use while: held or count:; to wait for something, use a wait step", "steps": "use actions:",
            "sequence": "use actions:", "times": "use count:", "delay": "use every:", "interval": "use every:",
            "for_each": "there are no loops over data; use count:",
        ])

    static let branch = MappingTable(
        name: "a branch",
        keys: [
            Key("if", .anything, required: true, "the conditions"),
            Key("then", .anything, required: true, "the steps if all conditions are true"),
        ],
        foreignHints: [
            "else": "use default: beside choose", "elif": "write another branch with if: and then:",
            "condition": "use if:", "conditions": "use if:", "sequence": "use then:", "actions": "use then:",
            "default": "write default: beside choose, not in a branch",
        ], outerKeys: ["default"])

    static let retry = MappingTable(
        name: "\"retry\"",
        keys: [
            Key("count", .integer(1...10), required: true, "the number of further attempts"),
            Key("delay", .duration(.zero ... .longest), "the wait before the first further attempt"),
            Key("backoff", .number(1...10), "the factor by which the wait grows with each attempt"),
        ],
        foreignHints: ["times": "use count:", "attempts": "use count:", "max": "use count:", "interval": "use delay:"])

    static let condition = MappingTable(
        name: "a condition",
        keys: [Key("time", .anything, "a time window")],
        foreignHints: [
            "and": "all conditions of a list must be true; inside an expression write a and b",
            "or": "write it as one expression: a or b, with in_time(…) for a time window",
            "not": "write it as an expression: not a",
            // `RuleSetReader.conditionTable` puts a state of the file in place of NAME.
            "condition": "write an expression such as states.NAME == 'ON'",
            "state": "write an expression such as states.NAME == 'ON'",
            "numeric_state": "write an expression such as states.NAME < 20",
            "entity_id": "write an expression such as states.NAME == 'ON'",
            "template": "write the expression itself, without braces",
            "value_template": "write the expression itself, without braces",
            "sun": "use time: with after: sunset",
            "after": "use time: {after: …}", "before": "use time: {before: …}", "weekday": "use time: {weekday: …}",
        ],
        foreignEntries: [
            "after": "time: {after: VALUE}", "before": "time: {before: VALUE}", "weekday": "time: {weekday: VALUE}",
            "not": "not EXPRESSION",
        ])

    static let script = MappingTable(
        name: "a script",
        keys: [
            Key("description", .text(.areText), "a comment"),
            Key("inputs", .anything, "the inputs"),
            Key("actions", .anything, required: true, "the steps, run in order"),
        ],
        foreignHints: [
            "sequence": "use actions:", "action": "use actions:", "steps": "use actions:", "fields": "use inputs:",
            "variables": "use inputs:", "alias": "use description:", "mode": "write mode: in the rule",
        ])

    static let scriptInput = MappingTable(
        name: "an input",
        keys: [
            Key("type", .oneOf(ExpressionType.Scalar.declarable), required: true, "the type of the input"),
            Key("default", .anything, "the value if the caller gives none"),
        ])
}

extension ExpressionType.Scalar {
    /// The types with which a state, a variable or an input can be declared.
    static let declarable = ["string", "integer", "number", "boolean"]
}
