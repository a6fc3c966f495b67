import JSON
import Rules
import YAMLFiles

// Steps that control the run, or rules. Their readers are in `RuleSetReader+StepValues.swift`,
// `RuleSetReader+StepBranches.swift` and `RuleSetReader+WaitFor.swift`.
extension StepLanguage {
    private static let otherwise = Companion(
        "else", "the steps otherwise; beside `wait` and `wait_for`, the steps if the time is over",
        KeyDetail(.steps, ["log": "no"]))

    private static let then = Companion(
        "then", "the steps if all conditions are true; beside `wait_for`, the steps after the event",
        KeyDetail(.steps, ["log": "yes"]))

    static let delay = StepLanguage(
        summary: "wait for this time", type: .template, detail: KeyDetail(.delay, "5m", "{{ 2 * variables.pause }}"),
        snippet: "delay: ${0:5s}"
    ) { reader, node, _, context in reader.readDelay(node, in: context.scope) }

    static let wait = StepLanguage(
        summary: "wait until an expression is true; with `else` beside it",
        detail: KeyDetail(.mapping(.fields(of: .wait)), ["until": "states.door == 'open'", "timeout": "30s"]),
        snippet: "wait:\n    until: ${1:condition}\n    timeout: ${0:30s}",
        companions: [otherwise], innerLimit: ("timeout", "write it inside wait, beside until:"),
        fields: .init(
            name: "wait", table: .wait,
            details: ["until": KeyDetail(.expression, "states.door == 'open'"), "timeout": KeyDetail("30s")])
    ) { $0.readWait($1, $2, &$3) }

    static let waitFor = StepLanguage(
        summary:
            "wait for a press, a time or a change of a state; with `timeout`, `then`, `else` and `claim` beside it",
        detail: KeyDetail(
            .oneOrMany(.mapping(.trigger)), ["button": "garage", "event": "click"], ["state": "door", "to": "open"]),
        snippet: "wait_for: {button: ${1:button}, event: ${2:click}}\n  timeout: ${3:5s}\n  then:\n    - ${0:log: yes}",
        companions: [
            then, otherwise,
            Companion(
                "claim", "whether no rule and no other run sees the press", KeyDetail(else: .value(false)),
                type: .boolean),
        ]
    ) { $0.readWaitFor($1, $2, &$3) }

    static let set = StepLanguage(
        summary: "assign values to variables",
        detail: KeyDetail(
            .keyed(.variable, .scalar, atLeast: 1), ["guest": true], ["volume": "{{ variables.volume + 5 }}"]),
        snippet: "set: {${1:variable}: ${2:value}}"
    ) { reader, node, _, context in reader.readSet(node, in: context.scope) }

    static let cycle = StepLanguage(
        summary: "run the next entry of a list in each run",
        detail: KeyDetail(.mapping(.fields(of: .cycle)), ["steps": [["log": "one"], ["log": "two"]]]),
        snippet: "cycle:\n    steps:\n      - ${1:log: one}\n      - ${0:log: two}",
        fields: .init(
            name: "cycle", table: .cycle,
            details: [
                "steps": KeyDetail(.list(.steps, 2...32), [["log": "one"], [["log": "two"], ["delay": "1s"]]]),
                "reset_after": KeyDetail(else: .described("never"), "20m"),
            ])
    ) { reader, node, _, context in reader.readCycle(node, &context) }

    static let `repeat` = StepLanguage(
        summary: "repeat steps while the button is held, or a fixed number of times",
        detail: KeyDetail(
            .mapping(.fields(of: .repeat)), ["while": "held", "every": "200ms", "actions": ["log": "still held"]]),
        snippet: "repeat:\n    while: held\n    every: ${1:200ms}\n    actions:\n      - ${0:log: still held}",
        innerLimit: ("limit", "use limit: inside repeat"),
        fields: .init(
            name: "repeat", table: .repeat,
            details: [
                "while": KeyDetail(), "count": KeyDetail(3), "every": KeyDetail("200ms"),
                "limit": KeyDetail(else: .value("15s"), "10s"), "actions": KeyDetail(.steps, ["log": "again"]),
            ], constraints: [.exactlyOne(of: ["while", "count"])])
    ) { reader, node, _, context in reader.repetition(node, &context) }

    static let `if` = StepLanguage(
        summary: "conditions; with `then` and `else` beside it",
        detail: KeyDetail(.conditions, "states.lamp == 'ON'", ["time": ["after": "22:00"]]),
        snippet: "if: ${1:condition}\n  then:\n    - ${0:log: yes}",
        companions: [then.required, otherwise]
    ) { $0.branches(if: $1, $2, &$3) }

    static let choose = StepLanguage(
        summary: "run the first branch whose conditions are true; with `default` beside it",
        detail: KeyDetail(
            .list(.mapping(.fields(of: .choose)), 1...Int.max), [["if": "states.lux < 20", "then": ["log": "dark"]]]),
        snippet:
            "choose:\n    - if: ${1:condition}\n      then:\n        - ${2:log: yes}\n  default:\n    - ${0:log: no}",
        companions: [
            Companion("default", "the steps if no branch runs", KeyDetail(.steps, ["log": "neither"]))
        ],
        fields: .init(
            name: "branch", table: .branch,
            details: ["if": KeyDetail(.conditions, "states.lux < 20"), "then": KeyDetail(.steps, ["log": "dark"])])
    ) { $0.branches(choose: $1, $2, &$3) }

    static let script = StepLanguage(
        summary: "run a script; with `with` beside it", detail: KeyDetail(.reference(.script), "all_off"),
        snippet: "script: ${0:script}",
        companions: [
            Companion(
                "with", "the inputs of the script",
                KeyDetail(.keyed(.input, .scalar), ["lamp": "hall", "brightness": 40]))
        ]
    ) { $0.readCall($1, $2, &$3) }

    static let enable = StepLanguage(
        summary: "enable rules", detail: KeyDetail(.oneOrMany(.reference(.rule)), "guest_light"),
        snippet: "enable: ${0:rule}"
    ) { reader, node, _, _ in reader.readRules(node, key: "enable").map { .enable($0, true) } }

    static let disable = StepLanguage(
        summary: "disable rules", detail: KeyDetail(.oneOrMany(.reference(.rule)), ["guest_light", "doorbell"]),
        snippet: "disable: ${0:rule}"
    ) { reader, node, _, _ in reader.readRules(node, key: "disable").map { .enable($0, false) } }

    static let cancel = StepLanguage(
        summary: "end the runs of rules; of its own rule, also this run",
        detail: KeyDetail(.oneOrMany(.reference(.rule)), "night_light"), snippet: "cancel: ${0:rule}"
    ) { reader, node, _, context in
        guard let rules = reader.readRules(node, key: "cancel") else { return nil }
        if case .rule(let id) = context.owner, rules.contains(where: { reader.ruleSet.rules[$0].id == id }) {
            context.isStopped = true
        }
        return .cancel(rules)
    }

    static let stop = StepLanguage(
        summary: "end the run as completed", type: .template, detail: KeyDetail("nobody is at home"),
        snippet: "stop: ${0:reason}"
    ) { reader, node, _, context in
        context.isStopped = true
        return reader.template(node, key: "stop", in: context.scope).map(StepAction.stop)
    }
}
