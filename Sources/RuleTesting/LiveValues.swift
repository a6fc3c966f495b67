import Expressions
package import JSON
package import Rules

/// The present values of states and variables in a running daemon, and which of its rules are disabled.
package struct LiveValues {
    /// By name.
    fileprivate let states, variables: [String: JSONValue]
    /// The ids of disabled rules.
    fileprivate let disabled: Set<String>

    /// - Parameters: the answers of the daemon: objects with `name` and `value`, and rules with `id` and `enabled`.
    package init(states: [JSONValue], variables: [JSONValue], rules: [JSONValue]) {
        self.states = Self.values(states)
        self.variables = Self.values(variables)
        disabled = Set(rules.filter { $0["enabled"] == false }.compactMap { $0["id"]?.stringValue })
    }

    private static func values(_ answer: [JSONValue]) -> [String: JSONValue] {
        let pairs = answer.compactMap { object in object["name"]?.stringValue.map { ($0, object["value"] ?? .null) } }
        return Dictionary(pairs) { first, _ in first }
    }
}

extension RuleTest.Given {
    /// Adds the daemon's values of states and variables that are not given. A value of another type than in this set is left
    /// out, because the daemon may have other rules.
    package mutating func complete(with live: LiveValues, in set: RuleSet) {
        let givenStates = Set(states.map(\.name))
        for state in set.states where !givenStates.contains(state.name) {
            if let value = live.states[state.name].flatMap(state.type.value) { states.append(.init(state.name, value)) }
        }
        let givenVariables = Set(variables.map(\.name))
        for variable in set.variables where !givenVariables.contains(variable.name) {
            if let value = live.variables[variable.name].flatMap(variable.type.value) {
                variables.append(.init(variable.name, value))
            }
        }
        disabled = set.rules.map(\.id).filter(live.disabled.contains)
    }
}

extension ExpressionType.Scalar {
    /// The value of this type that the JSON is; `nil` if it is of another type.
    fileprivate func value(_ json: JSONValue) -> Value? {
        switch (self, json) {
        case (.boolean, .bool(let value)): .boolean(value)
        case (.integer, .integer(let value)): .integer(value)
        case (.number, .integer(let value)): .number(Double(value))
        case (.number, .number(let value)): .number(value)
        case (.string, .string(let text)): .string(text)
        case (.boolean, _), (.integer, _), (.number, _), (.string, _), (.duration, _): nil
        }
    }
}
