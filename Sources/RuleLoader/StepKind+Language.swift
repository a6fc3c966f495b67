import ButtonModel
import Expressions
import JSON
import Rules

// The syntax of each kind of step in rule files. Each `switch` lists every `StepKind`, so that none is forgotten.

extension RuleSetReader {
    /// Reads the value of the key that names a step, and its companion keys.
    mutating func read(
        _ kind: StepKind, _ node: YAMLNode, _ fields: CheckedMapping, _ context: inout StepContext
    ) -> StepAction? {
        let scope = context.scope
        switch kind {
        case .publish: return readPublish(node, in: scope)
        case .run: return readRun(node, in: scope)
        case .shell: return readShell(node, in: scope)
        case .http: return readHTTP(node, in: scope)
        case .delay: return readDelay(node, in: scope)
        case .wait: return readWait(node, fields, &context)
        case .waitFor: return readWaitFor(node, fields, &context)
        case .set: return readSet(node, in: scope)
        case .cycle: return readCycle(node, &context)
        case .repeat: return repetition(node, &context)
        case .if: return branches(if: node, fields, &context)
        case .choose: return branches(choose: node, fields, &context)
        case .script: return readCall(node, fields, &context)
        case .enable: return readRules(node, key: "enable").map { .enable($0, true) }
        case .disable: return readRules(node, key: "disable").map { .enable($0, false) }
        case .cancel: return readRules(node, key: "cancel").map { .cancel($0) }
        case .log: return readLog(node, in: scope)
        case .stop:
            context.isStopped = true
            return template(node, key: "stop", in: scope).map(StepAction.stop)
        }
    }
}

extension StepKind {
    /// A key beside the key that names the step, such as `then` beside `if`.
    struct Companion {
        var key: MappingTable.Key
        var detail: KeyDetail
        var isRequired = false
    }

    private static let otherwise = Companion(
        key: .init(
            "else", .anything, "the steps otherwise; beside `wait` and `wait_for`, the steps if the time is over"),
        detail: KeyDetail(.steps, ["log": "no"]))

    private static let then = Companion(
        key: .init(
            "then", .anything, "the steps if all conditions are true; beside `wait_for`, the steps after the event"),
        detail: KeyDetail(.steps, ["log": "yes"]))

    var companions: [Companion] {
        switch self {
        case .if:
            [
                Companion(key: StepKind.then.key, detail: StepKind.then.detail, isRequired: true),
                StepKind.otherwise,
            ]
        case .choose:
            [
                Companion(
                    key: .init("default", .anything, "the steps if no branch runs"),
                    detail: KeyDetail(.steps, ["log": "neither"]))
            ]
        case .script:
            [
                Companion(
                    key: .init("with", .anything, "the inputs of the script"),
                    detail: KeyDetail(.keyed(.input, .scalar), ["lamp": "hall", "brightness": 40]))
            ]
        case .wait: [StepKind.otherwise]
        case .waitFor:
            [
                StepKind.then, StepKind.otherwise,
                Companion(
                    key: .init("claim", .boolean, "whether no rule and no other run sees the press"),
                    detail: KeyDetail(else: .value(false))),
            ]
        case .publish, .run, .shell, .http, .delay, .set, .cycle, .repeat, .enable, .disable, .cancel, .log, .stop: []
        }
    }

    private var key: MappingTable.Key {
        let (type, text): (ValueType, String) =
            switch self {
            case .publish: (.anything, "publish an MQTT message")
            case .run: (.anything, "run a program without a shell")
            case .shell: (.anything, "run a literal script with `/bin/sh`")
            case .http: (.anything, "call a web hook")
            case .delay: (.template, "wait for this time")
            case .wait: (.anything, "wait until an expression is true; with `else` beside it")
            case .waitFor:
                (
                    .anything,
                    "wait for a press, a time or a change of a state; with `timeout`, `then`, `else` and `claim` beside it"
                )
            case .set: (.anything, "assign values to variables")
            case .cycle: (.anything, "run the next entry of a list in each run")
            case .repeat: (.anything, "repeat steps while the button is held, or a fixed number of times")
            case .if: (.anything, "conditions; with `then` and `else` beside it")
            case .choose: (.anything, "run the first branch whose conditions are true; with `default` beside it")
            case .script: (.anything, "run a script; with `with` beside it")
            case .enable: (.anything, "enable rules")
            case .disable: (.anything, "disable rules")
            case .cancel: (.anything, "end the runs of rules; of its own rule, also this run")
            case .log: (.anything, "write a line into the log")
            case .stop: (.template, "end the run as completed")
            }
        return MappingTable.Key(rawValue, type, text)
    }

    /// The shape of the key's value, and examples.
    private var detail: KeyDetail {
        switch self {
        case .publish:
            KeyDetail(.mapping(.publish), ["topic": "zigbee2mqtt/lamp/set", "json": ["state": "TOGGLE"]])
        case .run: KeyDetail(.either([.arguments, .mapping(.run)]), ["mpc", "next"])
        case .shell: KeyDetail(.either([.text, .mapping(.shell)]), "date >> presses")
        case .http: KeyDetail(.mapping(.http), ["url": "https://example.net/press", "method": "POST"])
        case .delay: KeyDetail(.delay, "5m", "{{ 2 * variables.pause }}")
        case .wait: KeyDetail(.mapping(.wait), ["until": "states.door == 'open'", "timeout": "30s"])
        case .waitFor:
            KeyDetail(
                .oneOrMany(.mapping(.trigger)), ["button": "garage", "event": "click"], ["state": "door", "to": "open"])
        case .set:
            KeyDetail(
                .keyed(.variable, .scalar, atLeast: 1), ["guest": true], ["volume": "{{ variables.volume + 5 }}"])
        case .cycle: KeyDetail(.mapping(.cycle), ["steps": [["log": "one"], ["log": "two"]]])
        case .repeat:
            KeyDetail(.mapping(.repeat), ["while": "held", "every": "200ms", "actions": ["log": "still held"]])
        case .if: KeyDetail(.conditions, "states.lamp == 'ON'", ["time": ["after": "22:00"]])
        case .choose:
            KeyDetail(.list(.mapping(.branch), 1...Int.max), [["if": "states.lux < 20", "then": ["log": "dark"]]])
        case .script: KeyDetail(.reference(.script), "all_off")
        case .enable: KeyDetail(.oneOrMany(.reference(.rule)), "guest_light")
        case .disable: KeyDetail(.oneOrMany(.reference(.rule)), ["guest_light", "doorbell"])
        case .cancel: KeyDetail(.oneOrMany(.reference(.rule)), "night_light")
        case .log:
            KeyDetail(
                .either([.template, .mapping(.log)]), "good night", ["message": "good night", "level": "debug"])
        case .stop: KeyDetail("nobody is at home")
        }
    }
}

// MARK: - Expectations of tests

extension RuleSetReader {
    /// Reads an expected effect; `nil` for a kind whose actions a test cannot expect.
    mutating func expected(_ kind: StepKind, _ node: YAMLNode) -> ExpectedEffect.Kind? {
        switch kind {
        case .publish: expectedPublish(node)
        case .run: expectedRun(node)
        case .shell: expectedShell(node)
        case .http: expectedHTTP(node)
        case .log: expectedLog(node)
        case .delay, .wait, .waitFor, .set, .cycle, .repeat, .if, .choose, .script, .enable, .disable, .cancel, .stop:
            nil
        }
    }
}

extension StepKind {
    /// The key of an expected effect, the shape of its value, and an example; `nil` for a kind whose actions a test
    /// cannot expect.
    fileprivate var expectation: Companion? {
        switch self {
        case .publish:
            Companion(
                key: .init("publish", .anything, "a message"),
                detail: KeyDetail(
                    .mapping(.expectedPublish), ["topic": "zigbee2mqtt/hall/set", "json": ["state": "ON"]]))
        case .run:
            Companion(
                key: .init("run", .anything, "a program"),
                detail: KeyDetail(.either([.texts, .mapping(.expectedRun)]), ["mpc", "next"]))
        case .shell:
            Companion(
                key: .init("shell", .anything, "a script"),
                detail: KeyDetail(.either([.text, .mapping(.expectedShell)]), "date >> presses"))
        case .http:
            Companion(
                key: .init("http", .anything, "a request"),
                detail: KeyDetail(.mapping(.expectedHTTP), ["url": "https://example.net/press"]))
        case .log:
            Companion(
                key: .init("log", .anything, "a line in the log"),
                detail: KeyDetail(.either([.text, .mapping(.expectedLog)]), "good night"))
        case .delay, .wait, .waitFor, .set, .cycle, .repeat, .if, .choose, .script, .enable, .disable, .cancel, .stop:
            nil
        }
    }
}

// MARK: - Derived tables

extension StepKind {
    /// The companion keys of all kinds of steps, each with the kinds that have it.
    static let companions: [(key: String, kinds: [StepKind])] = {
        var names: [String] = []
        for name in allCases.flatMap({ $0.companions.map(\.key.name) }) where !names.contains(name) {
            names.append(name)
        }
        return names.map { name in
            (name, allCases.filter { kind in kind.companions.contains { $0.key.name == name } })
        }
    }()

    /// The message for a companion key without a step that has it: `"else" belongs beside "wait" or "if"`.
    static func place(ofCompanion key: String, _ kinds: [StepKind]) -> String {
        "\"\(key)\" belongs beside " + kinds.map { "\"\($0.rawValue)\"" }.joined(separator: " or ")
    }

    /// The keys of all kinds of steps, each with its companions.
    static let keys: [MappingTable.Key] = {
        var keys: [MappingTable.Key] = []
        for key in allCases.flatMap({ kind in [kind.key] + kind.companions.map(\.key) })
        where !keys.contains(where: { $0.name == key.name }) {
            keys.append(key)
        }
        return keys
    }()

    static let details: [String: KeyDetail] = {
        let details = allCases.flatMap { kind in
            [(kind.rawValue, kind.detail)] + kind.companions.map { ($0.key.name, $0.detail) }
        }
        return Dictionary(details) { first, _ in first }
    }()

    /// The kinds whose actions a test can expect.
    static let expected = allCases.filter { $0.expectation != nil }

    /// The keys of an expected effect, one for each kind.
    static let expectedKeys = expected.compactMap { kind in kind.expectation?.key }

    static let expectedDetails = Dictionary(
        uniqueKeysWithValues: expected.compactMap { kind in kind.expectation.map { (kind.rawValue, $0.detail) } })

    /// The kinds for which `isListed` is true, as messages list them: `run, shell and http`.
    static func listed(_ isListed: (StepKind) -> Bool) -> String { listed(allCases.filter(isListed).map(\.rawValue)) }

    private static func listed(_ names: [String]) -> String {
        guard names.count > 1, let last = names.last else { return names.first ?? "" }
        return names.dropLast().joined(separator: ", ") + " and " + last
    }

    /// What to write instead of `timeout:` beside a step that does not take it; `nil` if there is nothing like it.
    var limitHint: String? {
        switch self {
        case .wait: "write it inside wait, beside until:"
        case .repeat: "use limit: inside repeat"
        case .publish, .run, .shell, .http, .delay, .waitFor, .set, .cycle, .if, .choose, .script, .enable, .disable,
            .cancel, .log, .stop:
            nil
        }
    }

    /// The time limits as the reference lists them, from the shortest.
    static let timeLimits: String = {
        let limits = Set(allCases.compactMap(\.timeLimit)).sorted()
        return limits.map { limit in
            let names = allCases.filter { $0.timeLimit == limit }.map { "`\($0.rawValue)`" }
            return listed(names) + " `\(Expressions.DurationText.text(milliseconds: limit.milliseconds))`"
        }.joined(separator: ", ")
    }()
}
