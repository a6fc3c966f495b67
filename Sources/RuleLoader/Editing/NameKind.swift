package import Diagnostics
package import Expressions
import YAMLFiles

/// The kinds of names that a rule set declares and that its files refer to.
package enum NameKind: String, CaseIterable, Hashable, Sendable {
    /// A button or a group, which share one namespace.
    case button
    case state, variable, script, rule
    /// An input of a script.
    case input
    /// The result of a step, named with `save_as`.
    case result
    /// An entry of `secrets.yaml`.
    case secret

    /// The kind of the names after a root of an expression; `nil` for a root with fields only.
    package init?(root: Root) {
        switch root {
        case .states: self = .state
        case .variables: self = .variable
        case .buttons: self = .button
        case .rules: self = .rule
        case .results: self = .result
        case .inputs: self = .input
        case .trigger, .error, .now, .sun, .broker, .repeat: return nil
        }
    }

    init(_ names: SchemaShape.Names) {
        switch names {
        case .button, .member, .source: self = .button
        case .state: self = .state
        case .variable: self = .variable
        case .script: self = .script
        case .input: self = .input
        case .rule: self = .rule
        }
    }

    /// The kind of the names that a key of a mapping declares.
    init?(declaredBy key: String, of mapping: SchemaMapping) {
        switch mapping {
        case .file:
            switch key {
            case "buttons", "groups": self = .button
            case "states": self = .state
            case "variables": self = .variable
            case "scripts": self = .script
            default: return nil
            }
        case .script:
            guard key == "inputs" else { return nil }
            self = .input
        case .location, .defaults, .button, .hardware, .queued, .state, .variable, .scriptInput, .rule, .trigger, .time,
            .condition, .step, .retry, .fields, .test, .given, .simulatedResult, .testStep, .simulatedEvent, .press,
            .expectedEffect, .expectation:
            return nil
        }
    }
}

/// A name where a file declares or uses it.
package struct NameInFile: Hashable, Sendable {
    package var kind: NameKind
    package var name: String
    /// For an input, the name of its script; for a result, the rule or script in which it is saved.
    package var owner: String?
    /// The place of the name itself, without quotes.
    package var start, end: SourcePosition
    package var isDeclaration: Bool

    /// True if both are the same declared thing.
    package func means(_ other: NameInFile) -> Bool {
        kind == other.kind && name == other.name && owner == other.owner
    }

    /// True if a text may be declared as a name.
    package static func isDeclarable(_ text: String) -> Bool { NameRules.isDeclarable(text) }
}
