import Gestures
import JSON
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
    case simulatedResult = "result"
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
        case .simulatedResult: .simulatedResult
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

    /// A detail for each key of the table.
    var details: [String: KeyDetail] {
        switch self {
        case .file: SchemaMapping.fileDetails
        case .location: SchemaMapping.locationDetails
        case .defaults: SchemaMapping.defaultsDetails
        case .button: SchemaMapping.hardwareDetails.merging(SchemaMapping.buttonDetails) { first, _ in first }
        case .hardware: SchemaMapping.hardwareDetails
        case .queued: ["max_age": KeyDetail("10s"), "keep": KeyDetail(else: .value("all"))]
        case .state: SchemaMapping.stateDetails
        case .variable: SchemaMapping.variableDetails
        case .script: SchemaMapping.scriptDetails
        case .scriptInput:
            ["type": KeyDetail(), "default": KeyDetail(.scalar, else: .described("the caller must give one"), 254)]
        case .rule: SchemaMapping.ruleDetails
        case .trigger: SchemaMapping.triggerDetails
        case .time: SchemaMapping.timeDetails
        case .condition: ["time": KeyDetail(.mapping(.time), ["after": "22:00", "before": "06:00"])]
        case .step: StepKind.details.merging(SchemaMapping.commonDetails) { first, _ in first }
        case .publish: SchemaMapping.publishDetails
        case .run:
            SchemaMapping.processDetails.merging([
                "argv": KeyDetail(.arguments, ["mpc", "volume", "{{ variables.volume }}"])
            ]) { first, _ in first }
        case .shell:
            SchemaMapping.processDetails.merging([
                "script": KeyDetail(.text, #"echo "$1" >> presses"#),
                "args": KeyDetail(.list(.template, 0...Int.max), ["{{ trigger.button }}"]),
            ]) { first, _ in first }
        case .http: SchemaMapping.httpDetails
        case .wait: ["until": KeyDetail(.expression, "states.door == 'open'"), "timeout": KeyDetail("30s")]
        case .cycle:
            [
                "steps": KeyDetail(.list(.steps, 2...32), [["log": "one"], [["log": "two"], ["delay": "1s"]]]),
                "reset_after": KeyDetail(else: .described("never"), "20m"),
            ]
        case .repeat:
            [
                "while": KeyDetail(), "count": KeyDetail(3), "every": KeyDetail("200ms"),
                "limit": KeyDetail(else: .value("15s"), "10s"), "actions": KeyDetail(.steps, ["log": "again"]),
            ]
        case .branch:
            ["if": KeyDetail(.conditions, "states.lux < 20"), "then": KeyDetail(.steps, ["log": "dark"])]
        case .log: ["message": KeyDetail("{{ trigger.button }} was pressed"), "level": KeyDetail(else: .value("info"))]
        case .retry:
            [
                "count": KeyDetail(3), "delay": KeyDetail(else: .value("1s"), "500ms"),
                "backoff": KeyDetail(else: .value(2), 1),
            ]
        case .test:
            [
                "name": KeyDetail("a click at night gives a dim light"),
                "given": KeyDetail(.mapping(.given), ["now": "2026-01-10 23:15", "states": ["lux": 3]]),
                "steps": KeyDetail(
                    .list(.either([.mapping(.testStep), .oneOf(["reload", "restart"])]), 1...Int.max),
                    [["event": ["button": "hall", "event": "click"]], ["expect": []]]),
            ]
        case .given: SchemaMapping.givenDetails
        case .simulatedResult: SchemaMapping.resultDetails
        case .testStep: SchemaMapping.testStepDetails
        case .simulatedEvent: SchemaMapping.eventDetails
        case .press:
            [
                "button": KeyDetail(.reference(.button), "garage"), "times": KeyDetail(else: .value(1), 3),
                "gap": KeyDetail(else: .value("150ms"), "200ms"), "for": KeyDetail(else: .value("80ms"), "1200ms"),
            ]
        case .expectedEffect:
            StepKind.expectedDetails.merging(["at": KeyDetail(else: .described("at any time"), "200ms")]) { first, _ in
                first
            }
        case .expectedPublish:
            [
                "topic": KeyDetail("zigbee2mqtt/hall/set"), "payload": KeyDetail("open"),
                "json": KeyDetail(.json, ["state": "ON"]), "json_includes": KeyDetail(.json, ["state": "ON"]),
                "qos": KeyDetail(1), "retain": KeyDetail(),
            ]
        case .expectedRun:
            SchemaMapping.expectedProcessDetails.merging(["argv": KeyDetail(.texts, ["mpc", "next"])]) {
                first, _ in first
            }
        case .expectedShell:
            SchemaMapping.expectedProcessDetails.merging([
                "script": KeyDetail("date >> presses"), "args": KeyDetail(.texts, ["hall"]),
            ]) { first, _ in first }
        case .expectedHTTP:
            [
                "url": KeyDetail("https://example.net/press"), "method": KeyDetail(),
                "headers": KeyDetail(.matching(.header, .text), ["Accept": "text/plain"]), "body": KeyDetail("hello"),
                "json": KeyDetail(.json, ["late": false]), "json_includes": KeyDetail(.json, ["late": false]),
            ]
        case .expectedLog: ["message": KeyDetail("good night"), "level": KeyDetail()]
        }
    }

    /// A constraint between the keys of a mapping, besides required keys.
    enum KeyConstraint: Sendable {
        /// At least one key of the table.
        case some
        case exactlyOne(of: [String])
        case atMostOne(of: [String])
        /// All of these keys or none.
        case all([String])
    }

    /// A variant of a mapping, with keys of its own: a trigger with `clicks`, for example. Variants differ in their
    /// required keys.
    struct Variant: Sendable {
        var required: [String]
        var optional: [String]
        /// The required keys that no other variant has together.
        var distinctive: [String]
        /// Keys whose shape differs from that in the other variants.
        var overrides: [String: SchemaShape]

        init(_ required: String..., with optional: [String] = [], overrides: [String: SchemaShape] = [:]) {
            self.required = required
            distinctive = required
            self.optional = optional
            self.overrides = overrides
        }
    }

    var constraints: [KeyConstraint] {
        switch self {
        case .location: [.some, .all(["latitude", "longitude"])]
        case .button, .hardware: [.exactlyOne(of: MappingTable.hardware.keys.map(\.name))]
        case .time, .condition: [.some]
        case .publish: [.atMostOne(of: ["payload", "json"])]
        case .expectedPublish: [.atMostOne(of: ["payload", "json", "json_includes"])]
        case .http: [.atMostOne(of: ["body", "json"])]
        case .expectedHTTP: [.atMostOne(of: ["body", "json", "json_includes"])]
        case .repeat: [.exactlyOne(of: ["while", "count"])]
        case .simulatedEvent: [.exactlyOne(of: ["event", "clicks", "pattern"])]
        case .file, .defaults, .queued, .state, .variable, .script, .scriptInput, .rule, .trigger, .step, .run, .shell,
            .wait, .cycle, .branch, .log, .retry, .test, .given, .simulatedResult, .testStep, .press, .expectedEffect,
            .expectedRun, .expectedShell, .expectedLog:
            []
        }
    }

    /// The variants of a mapping; empty for a mapping that has only one.
    var variants: [Variant] {
        switch self {
        case .trigger: SchemaMapping.triggers
        case .step: SchemaMapping.steps
        case .simulatedResult: SchemaMapping.results
        case .testStep: table.keys.map { Variant($0.name) }
        case .expectedEffect: StepKind.expected.map { Variant($0.rawValue, with: ["at"]) }
        case .file, .location, .defaults, .button, .hardware, .queued, .state, .variable, .script, .scriptInput, .rule,
            .time, .condition, .publish, .run, .shell, .http, .wait, .cycle, .repeat, .branch, .log, .retry, .test,
            .given, .simulatedEvent, .press, .expectedPublish, .expectedRun, .expectedShell, .expectedHTTP,
            .expectedLog:
            []
        }
    }

    private static let triggers = [
        Variant("button", "event", with: ["for", "collect", "part", "id"]),
        Variant("button", "clicks", with: ["part", "id"]),
        Variant("button", "pattern", with: ["part", "id"]),
        Variant(
            "chord", with: ["event", "within", "id"], overrides: ["event": .oneOf(ChordEvent.allCases.map(\.rawValue))]),
        Variant("at", with: ["offset", "weekday", "missed", "id"]),
        Variant("state", with: ["from", "to", "for", "id"]),
    ]

    /// The variants of a step. Those with companion keys come last.
    private static let steps: [Variant] = {
        let kinds =
            StepKind.allCases.filter { $0.companions.isEmpty } + StepKind.allCases.filter { !$0.companions.isEmpty }
        return kinds.map { kind in
            var step = Variant(kind.rawValue, with: kind.companions.filter { !$0.isRequired }.map(\.key.name))
            step.required += kind.companions.filter(\.isRequired).map(\.key.name)
            if kind == .waitFor { step.required.append("timeout") }
            step.optional += ["alias", "enabled", "continue_on_error"]
            if kind.timeLimit != nil { step.optional += ["timeout", "retry"] }
            if kind.hasResult { step.optional.append("save_as") }
            return step
        }
    }()

    private static let results = [
        Variant("run", with: ["exit", "stdout", "stderr", "takes"]),
        Variant("shell", with: ["exit", "stdout", "stderr", "takes"]),
        Variant("http", with: ["status", "body", "takes"]),
    ]
}
