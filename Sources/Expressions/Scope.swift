/// Which names there are at one place of the rules file, and their types.
///
/// The loader fills one for the whole set and changes a copy where a place has more or less: copies share what they
/// have in common.
package struct Scope: Sendable {
    /// A state, a variable or an input.
    package struct Declared: Hashable, Sendable {
        /// Where `Environment` has the value.
        package var slot: Int
        package var type: ExpressionType
        /// What a variable may hold, in order; empty for anything.
        package var values: [Value]
        /// Line and column of the declaration, such as `7:3`.
        package var place: String?
        /// How the declaration would make a number of what is a text now.
        package var remedy: Remedy?

        package init(
            slot: Int, type: ExpressionType, values: [Value] = [], place: String? = nil, remedy: Remedy? = nil
        ) {
            self.slot = slot
            self.type = type
            self.values = values
            self.place = place
            self.remedy = remedy
        }
    }

    package enum Remedy: Hashable, Sendable {
        /// A state without `type`.
        case giveType
        /// An initial value such as `"0"`.
        case removeQuotes
    }

    package enum Saved: Hashable, Sendable {
        case always(slot: Int)
        /// Some way to this step goes past the step that saves it.
        case notOnEveryPath
    }

    package var states: [String: Declared] = [:]
    package var variables: [String: Declared] = [:]
    package var inputs: [String: Declared] = [:]
    /// Slots by name; so are `rules`.
    package var buttons: [String: Int] = [:]
    package var rules: [String: Int] = [:]
    package var results: [String: Saved] = [:]
    /// Roots that cannot be used here, each with the reason as a sentence for the user.
    package var absent: [Root: String]

    /// Whether messages look for the name that was meant. Where there are many names and many mistakes that takes long.
    package var suggestsNames = true
    /// Names whose declarations are wrong, which was said there: nothing is said of an expression for naming one.
    private var left: [Root: LeftOut] = [:]

    private enum LeftOut {
        case names(Set<String>)
        case everything
    }

    /// The scope of a rule's conditions in a file without `location`.
    package init() {
        absent = [
            .inputs: "inputs belong inside a script",
            .error: "error belongs inside on_error",
            .repeat: "repeat belongs inside the actions of a repeat",
            .sun: "needs location: with latitude and longitude",
        ]
    }

    /// A name whose declaration is wrong.
    package mutating func leaveOut(_ name: String, of root: Root) {
        switch left[root] {
        case nil: left[root] = .names([name])
        case .names(var names):
            left[root] = nil
            names.insert(name)
            left[root] = .names(names)
        case .everything: break
        }
    }

    /// The declarations of a root could not be read, or not all: no name is unknown.
    package mutating func leaveOutAll(of root: Root) { left[root] = .everything }

    /// Whether a name that is not here may be one that could not be declared.
    package func isLeftOut(_ name: String, of root: Root) -> Bool {
        switch left[root] {
        case nil: false
        case .names(let names): names.contains(name)
        case .everything: true
        }
    }

    /// The declared names of a root that a mistake may have meant, sorted.
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
