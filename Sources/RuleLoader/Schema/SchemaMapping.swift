import Gestures
import JSON
import Rules
import YAMLFiles

/// A kind of mapping in a rules file. The schema defines each kind once, under its name, and refers to the definition.
enum SchemaMapping: Hashable, Sendable {
    case file, location, defaults, button, hardware, queued, state, variable
    case script, scriptInput
    case rule, trigger, time, condition
    case step, retry
    /// The mapping that is the value of the key of a step.
    case fields(of: StepKind)
    case test, given, simulatedResult, testStep, simulatedEvent, press
    case expectedEffect
    /// The mapping that is the value of the key of an expected effect.
    case expectation(of: StepKind)

    var name: String { definition.name }
    var table: MappingTable { definition.table }
    /// A detail for each key of the table.
    var details: [String: KeyDetail] { definition.details }
    var constraints: [KeyConstraint] { definition.constraints }
    /// The variants of a mapping; empty for a mapping that has only one.
    var variants: [Variant] { definition.variants }

    /// The definition of a kind of mapping in the schema.
    struct Definition: Sendable {
        var name: String
        var table: MappingTable
        var details: [String: KeyDetail]
        var constraints: [KeyConstraint] = []
        var variants: [Variant] = []
    }

    private var definition: Definition {
        switch self {
        case .file: .file
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
        case .retry: .retry
        case .fields(let kind): kind.language.fields ?? .empty
        case .test: .test
        case .given: .given
        case .simulatedResult: .simulatedResult
        case .testStep: .testStep
        case .simulatedEvent: .simulatedEvent
        case .press: .press
        case .expectedEffect: .expectedEffect
        case .expectation(let kind): kind.language.expectation?.fields ?? .empty
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

    fileprivate static let triggers = [
        Variant("button", "event", with: ["for", "collect", "part", "id"]),
        Variant("button", "clicks", with: ["part", "id"]),
        Variant("button", "pattern", with: ["part", "id"]),
        Variant(
            "chord", with: ["event", "within", "id"], overrides: ["event": .oneOf(ChordEvent.allCases.map(\.rawValue))]),
        Variant("at", with: ["offset", "weekday", "missed", "id"]),
        Variant("state", with: ["from", "to", "for", "id"]),
    ]

    /// The variants of a step. Those with companion keys come last.
    fileprivate static let steps: [Variant] = {
        let kinds =
            StepKind.allCases.filter(\.language.companions.isEmpty)
            + StepKind.allCases.filter { !$0.language.companions.isEmpty }
        return kinds.map { kind in
            let companions = kind.language.companions
            var step = Variant(kind.rawValue, with: companions.filter { !$0.isRequired }.map(\.key.name))
            step.required += companions.filter(\.isRequired).map(\.key.name)
            if kind == .waitFor { step.required.append("timeout") }
            step.optional += ["alias", "enabled", "continue_on_error"]
            if kind.timeLimit != nil { step.optional += ["timeout", "retry"] }
            if kind.hasResult { step.optional.append("save_as") }
            return step
        }
    }()

    fileprivate static let results = [
        Variant("run", with: ["exit", "stdout", "stderr", "takes"]),
        Variant("shell", with: ["exit", "stdout", "stderr", "takes"]),
        Variant("http", with: ["status", "body", "takes"]),
    ]
}

extension SchemaMapping: CaseIterable {
    static let allCases: [SchemaMapping] =
        [
            .file, .location, .defaults, .button, .hardware, .queued, .state, .variable, .script, .scriptInput, .rule,
            .trigger, .time, .condition, .step,
        ] + StepKind.allCases.filter { $0.language.fields != nil }.map(SchemaMapping.fields)
        + [.retry, .test, .given, .simulatedResult, .testStep, .simulatedEvent, .press, .expectedEffect]
        + StepKind.expected.map(SchemaMapping.expectation)
}

extension SchemaMapping.Definition {
    /// The definition for a kind of step whose key has no mapping as its value. No shape names such a mapping.
    fileprivate static let empty = Self(name: "", table: MappingTable(name: "", keys: []), details: [:])

    fileprivate static let file = Self(name: "file", table: .rulesFile, details: SchemaMapping.fileDetails)
    fileprivate static let location = Self(
        name: "location", table: .location, details: SchemaMapping.locationDetails,
        constraints: [.some, .all(["latitude", "longitude"])])
    fileprivate static let defaults = Self(name: "defaults", table: .defaults, details: SchemaMapping.defaultsDetails)
    fileprivate static let button = Self(
        name: "button", table: .button,
        details: SchemaMapping.hardwareDetails.merging(SchemaMapping.buttonDetails) { first, _ in first },
        constraints: [.exactlyOne(of: MappingTable.hardware.keys.map(\.name))])
    fileprivate static let hardware = Self(
        name: "hardware", table: .hardware, details: SchemaMapping.hardwareDetails,
        constraints: [.exactlyOne(of: MappingTable.hardware.keys.map(\.name))])
    fileprivate static let queued = Self(
        name: "queued", table: .queued, details: ["max_age": KeyDetail("10s"), "keep": KeyDetail(else: .value("all"))])
    fileprivate static let state = Self(name: "state", table: .state, details: SchemaMapping.stateDetails)
    fileprivate static let variable = Self(name: "variable", table: .variable, details: SchemaMapping.variableDetails)
    fileprivate static let script = Self(name: "script", table: .script, details: SchemaMapping.scriptDetails)
    fileprivate static let scriptInput = Self(
        name: "input", table: .scriptInput,
        details: [
            "type": KeyDetail(), "default": KeyDetail(.scalar, else: .described("the caller must give one"), 254),
        ])
    fileprivate static let rule = Self(name: "rule", table: .rule, details: SchemaMapping.ruleDetails)
    fileprivate static let trigger = Self(
        name: "trigger", table: .trigger, details: SchemaMapping.triggerDetails, variants: SchemaMapping.triggers)
    fileprivate static let time = Self(
        name: "time", table: .time, details: SchemaMapping.timeDetails, constraints: [.some])
    fileprivate static let condition = Self(
        name: "condition", table: .condition,
        details: ["time": KeyDetail(.mapping(.time), ["after": "22:00", "before": "06:00"])], constraints: [.some])
    fileprivate static let step = Self(
        name: "step", table: .step,
        details: StepKind.details.merging(SchemaMapping.commonDetails) { first, _ in first },
        variants: SchemaMapping.steps)
    fileprivate static let retry = Self(
        name: "retry", table: .retry,
        details: [
            "count": KeyDetail(3), "delay": KeyDetail(else: .value("1s"), "500ms"),
            "backoff": KeyDetail(else: .value(2), 1),
        ])
    fileprivate static let test = Self(
        name: "test", table: .test,
        details: [
            "name": KeyDetail("a click at night gives a dim light"),
            "given": KeyDetail(.mapping(.given), ["now": "2026-01-10 23:15", "states": ["lux": 3]]),
            "steps": KeyDetail(
                .list(.either([.mapping(.testStep), .oneOf(["reload", "restart"])]), 1...Int.max),
                [["event": ["button": "hall", "event": "click"]], ["expect": []]]),
        ])
    fileprivate static let given = Self(name: "given", table: .given, details: SchemaMapping.givenDetails)
    fileprivate static let simulatedResult = Self(
        name: "result", table: .simulatedResult, details: SchemaMapping.resultDetails, variants: SchemaMapping.results)
    fileprivate static let testStep = Self(
        name: "test_step", table: .testStep, details: SchemaMapping.testStepDetails,
        variants: MappingTable.testStep.keys.map { SchemaMapping.Variant($0.name) })
    fileprivate static let simulatedEvent = Self(
        name: "event", table: .simulatedEvent, details: SchemaMapping.eventDetails,
        constraints: [.exactlyOne(of: ["event", "clicks", "pattern"])])
    fileprivate static let press = Self(
        name: "press", table: .press,
        details: [
            "button": KeyDetail(.reference(.button), "garage"), "times": KeyDetail(else: .value(1), 3),
            "gap": KeyDetail(else: .value("150ms"), "200ms"), "for": KeyDetail(else: .value("80ms"), "1200ms"),
        ])
    fileprivate static let expectedEffect = Self(
        name: "effect", table: .expectedEffect,
        details: StepKind.expectedDetails.merging(["at": KeyDetail(else: .described("at any time"), "200ms")]) {
            first, _ in
            first
        },
        variants: StepKind.expected.map { SchemaMapping.Variant($0.rawValue, with: ["at"]) })
}
