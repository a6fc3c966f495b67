import Expressions
package import JSON
package import Rules

/// The present values of states and variables in a running daemon, and which of its rules are disabled.
package struct LiveValues {
    /// The answers of the daemon: objects with `name` and `value`, and rules with `id` and `enabled`.
    private let states, variables, rules: [JSONValue]

    package init(states: [JSONValue], variables: [JSONValue], rules: [JSONValue]) {
        (self.states, self.variables, self.rules) = (states, variables, rules)
    }

    fileprivate func state(_ name: String) -> JSONValue? { Self.value(name, in: states) }
    fileprivate func variable(_ name: String) -> JSONValue? { Self.value(name, in: variables) }
    fileprivate var disabled: Set<String> {
        Set(rules.filter { $0["enabled"] == false }.compactMap { $0["id"]?.stringValue })
    }

    private static func value(_ name: String, in values: [JSONValue]) -> JSONValue? {
        values.first { $0["name"] == .string(name) }?["value"]
    }
}

extension RuleTest.Given {
    /// Adds the daemon's values of states and variables that are not given. A value of another type than in this set is left
    /// out, because the daemon may have other rules.
    package mutating func complete(with live: LiveValues, in set: RuleSet) {
        for state in set.states where !states.contains(where: { $0.name == state.name }) {
            if let value = live.state(state.name).flatMap(state.type.value) { states.append(.init(state.name, value)) }
        }
        for variable in set.variables where !variables.contains(where: { $0.name == variable.name }) {
            if let value = live.variable(variable.name).flatMap(variable.type.value) {
                variables.append(.init(variable.name, value))
            }
        }
        let ids = live.disabled
        disabled = set.rules.map(\.id).filter(ids.contains)
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
