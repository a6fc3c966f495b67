import Gestures
import Rules

/// A kind of mapping in a rules file. The schema defines each kind once, under its raw value, and refers to the
/// definition.
enum SchemaMapping: String, CaseIterable, Sendable {
    case file, location, defaults, button, hardware, queued, state, variable
    case script
    case scriptInput = "input"
    case rule, trigger, time, condition
    case step, publish, run, shell, http, wait, cycle, `repeat`, branch, log, retry
    case test, given
    case outsideResult = "result"
    case testStep = "test_step"
    case simulatedEvent = "event"
    case press
    case expectedEffect = "effect"
    case expectedPublish = "expected_publish"
    case expectedRun = "expected_run"
    case expectedShell = "expected_shell"
    case expectedHTTP = "expected_http"
    case expectedLog = "expected_log"

    var table: MappingTable {
        switch self {
        case .file: .rulesFile
        case .location: .location
        case .defaults: .defaults
        case .button: .button
        case .hardware: .hardware
        case .queued: .queued
        case .state: .state
        case .variable: .variable
        case .script: .script
        case .scriptInput: .scriptInput
        case .rule: .rule
        case .trigger: .trigger
        case .time: .time
        case .condition: .condition
        case .step: .step
        case .publish: .publish
        case .run: .run
        case .shell: .shell
        case .http: .http
        case .wait: .wait
        case .cycle: .cycle
        case .repeat: .repeat
        case .branch: .branch
        case .log: .log
        case .retry: .retry
        case .test: .test
        case .given: .given
        case .outsideResult: .outsideResult
        case .testStep: .testStep
        case .simulatedEvent: .simulatedEvent
        case .press: .press
        case .expectedEffect: .expectedEffect
        case .expectedPublish: .expectedPublish
        case .expectedRun: .expectedRun
        case .expectedShell: .expectedShell
        case .expectedHTTP: .expectedHTTP
        case .expectedLog: .expectedLog
        }
    }

    /// How keys of a mapping depend on each other, besides those that are required.
    enum Together: Sendable {
        /// At least one key of the table.
        case some
        case exactlyOne(of: [String])
        case notBoth(String, String)
        /// All of these keys or none.
        case all([String])
    }

    /// One of several kinds of mapping under one name, each with keys of its own. Kinds are told apart by their
    /// required keys.
    struct Kind: Sendable {
        var required: [String]
        var optional: [String]
        /// Keys whose shape differs from that in the other kinds.
        var others: [String: SchemaShape]

        init(_ required: String..., with optional: [String] = [], others: [String: SchemaShape] = [:]) {
            self.required = required
            self.optional = optional
            self.others = others
        }
    }

    var together: [Together] {
        switch self {
        case .location: [.some, .all(["latitude", "longitude"])]
        case .button, .hardware: [.exactlyOne(of: MappingTable.hardware.keys.map(\.name))]
        case .time, .condition: [.some]
        case .publish, .expectedPublish: [.notBoth("payload", "json")]
        case .http, .expectedHTTP: [.notBoth("body", "json")]
        case .repeat: [.exactlyOne(of: ["while", "count"])]
        case .simulatedEvent: [.exactlyOne(of: ["event", "clicks", "pattern"])]
        case .file, .defaults, .queued, .state, .variable, .script, .scriptInput, .rule, .trigger, .step, .run, .shell,
            .wait, .cycle, .branch, .log, .retry, .test, .given, .outsideResult, .testStep, .press, .expectedEffect,
            .expectedRun, .expectedShell, .expectedLog:
            []
        }
    }

    /// The kinds of a mapping; empty for a mapping that has only one.
    var kinds: [Kind] {
        switch self {
        case .trigger: SchemaMapping.triggers
        case .step: SchemaMapping.steps
        case .outsideResult: SchemaMapping.results
        case .testStep: table.keys.map { Kind($0.name) }
        case .expectedEffect: ["publish", "run", "shell", "http", "log"].map { Kind($0, with: ["at"]) }
        case .file, .location, .defaults, .button, .hardware, .queued, .state, .variable, .script, .scriptInput, .rule,
            .time, .condition, .publish, .run, .shell, .http, .wait, .cycle, .repeat, .branch, .log, .retry, .test,
            .given, .simulatedEvent, .press, .expectedPublish, .expectedRun, .expectedShell, .expectedHTTP,
            .expectedLog:
            []
        }
    }

    private static let triggers = [
        Kind("button", "event", with: ["for", "collect", "part", "id"]),
        Kind("button", "clicks", with: ["part", "id"]),
        Kind("button", "pattern", with: ["part", "id"]),
        Kind("chord", with: ["event", "within", "id"], others: ["event": .word(ChordEvent.allCases.map(\.rawValue))]),
    ]

    /// The kinds of steps; those with keys beside the action's key come last.
    private static let steps: [Kind] = {
        let kinds =
            StepKind.allCases.filter { $0.companions.isEmpty } + StepKind.allCases.filter { !$0.companions.isEmpty }
        return kinds.map { kind in
            var step = Kind(kind.rawValue, with: kind.companions.filter { !$0.isRequired }.map(\.key.name))
            step.required += kind.companions.filter(\.isRequired).map(\.key.name)
            step.optional += ["alias", "enabled", "continue_on_error"]
            if kind.timeLimit != nil { step.optional += ["timeout", "retry"] }
            if kind.hasResult { step.optional.append("save_as") }
            return step
        }
    }()

    private static let results = [
        Kind("run", with: ["exit", "stdout", "stderr", "takes"]),
        Kind("shell", with: ["exit", "stdout", "stderr", "takes"]),
        Kind("http", with: ["status", "body", "takes"]),
    ]
}
