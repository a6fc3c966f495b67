/// The names that are available at one point of the rules file, with their types.
///
/// The loader fills one scope for the whole rule set, and modifies copies where more or fewer names are available.
/// Copies share storage with the original.
package struct Scope: Sendable {
    /// The declaration of a state, a variable or an input.
    package struct Declared: Hashable, Sendable {
        /// The index of the value in `EvaluationContext`.
        package var slot: Int
        package var type: ExpressionType
        /// The permitted values of a variable, in order; empty if any value is permitted.
        package var values: [Value]
        /// The position of the declaration for messages: `7:3`, with the file if the rule set has several.
        package var location: String?
        /// How to change the declaration so that a value that is text now becomes a number.
        package var remedy: Remedy?

        package init(
            slot: Int, type: ExpressionType, values: [Value] = [], location: String? = nil, remedy: Remedy? = nil
        ) {
            self.slot = slot
            self.type = type
            self.values = values
            self.location = location
            self.remedy = remedy
        }
    }

    package enum Remedy: Hashable, Sendable {
        /// Add `type` to a state.
        case giveType
        /// Remove the quotes of an initial value such as `"0"`.
        case removeQuotes
    }

    /// How certain it is that a step before this one saved a result.
    package enum Saved: Hashable, Sendable {
        case always(slot: Int)
        /// The result of a `wait_for`, which has other fields.
        case awaited(slot: Int)
        /// The step that saves the result is not executed on every path to this step.
        case notOnEveryPath
    }

    package var states: [String: Declared] = [:]
    package var variables: [String: Declared] = [:]
    package var inputs: [String: Declared] = [:]
    /// The indices of the buttons and rules in `EvaluationContext`.
    package var buttons: [String: Int] = [:]
    package var rules: [String: Int] = [:]
    package var results: [String: Saved] = [:]
    /// The type of `old` and `new` in `from` and `to` of a trigger; `nil` for other expressions, which do not have these
    /// names.
    package var change: ExpressionType?
    /// The state whose values `old` and `new` are, to suggest another type for it; the first one if there are several.
    package var changedState: String?
    /// Roots that are not available here, each with the reason as a sentence for the user.
    package var absent: [Root: String]

    /// False to report unknown names without suggestions, because the search is slow with many names and mistakes.
    package var suggestsNames = true
    /// Names with an invalid declaration. The declaration was reported already, so expressions with these names are
    /// not.
    private var leftOut: [Root: LeftOut] = [:]

    private enum LeftOut {
        case names(Set<String>)
        case everything
    }

    /// Creates the scope of a rule's conditions in a file without `location`.
    package init() {
        absent = [
            .inputs: "inputs belong inside a script",
            .error: "error belongs inside on_error",
            .repeat: "repeat belongs inside the actions of a repeat",
            .sun: "needs location: with latitude and longitude",
        ]
    }

    /// True if this scope, which began as a copy of the scope of a set, has the same names. Only names that a place adds or takes
    /// away are compared, so the set must have no new declarations since.
    package func hasNames(of set: Scope) -> Bool { results.isEmpty && change == nil && absent == set.absent }

    /// Marks a name as having an invalid declaration.
    package mutating func markInvalid(_ name: String, of root: Root) {
        switch leftOut[root] {
        case nil: leftOut[root] = .names([name])
        case .names(var names):
            leftOut[root] = nil
            names.insert(name)
            leftOut[root] = .names(names)
        case .everything: break
        }
    }

    /// Marks a root whose declarations could not be read completely, so that no name of it is reported as unknown.
    package mutating func markAllInvalid(of root: Root) { leftOut[root] = .everything }

    /// True if an unknown name may be declared, but with an invalid declaration.
    package func mayBeInvalid(_ name: String, of root: Root) -> Bool {
        switch leftOut[root] {
        case nil: false
        case .names(let names): names.contains(name)
        case .everything: true
        }
    }

    /// The declared names of a root as candidates for suggestions, sorted.
    package func names(of root: Root) -> [String] {
        guard suggestsNames else { return [] }
        return switch root {
        case .states: states.keys.sorted()
        case .variables: variables.keys.sorted()
        case .inputs: inputs.keys.sorted()
        case .buttons: buttons.keys.sorted()
        case .rules: rules.keys.sorted()
        case .results: results.keys.sorted()
        case .trigger, .error, .now, .sun, .broker, .repeat: []
        }
    }
}
