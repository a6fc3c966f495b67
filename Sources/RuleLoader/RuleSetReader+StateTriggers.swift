import ButtonModel
import Expressions
import Rules

/// The trigger `state`, and the keys beside it.
extension RuleSetReader {
    mutating func readStateTrigger(_ fields: CheckedMapping) -> Trigger? {
        guard let node = fields.node("state") else { return nil }
        var states: [DeclaredState] = []
        let nodes = checker.oneOrMany(node, empty: "an empty list of states never changes")
        for node in nodes {
            guard let name = checker.plainText(node, key: "state", wanted: "the name of a state") else { continue }
            guard let state = ruleSet.states.first(where: { $0.name == name }) else {
                let near = checker.nearest(to: name, among: ruleSet.states.map(\.name))
                checker.error(
                    "E305", at: node, "unknown state \"\(checker.shown(name))\"",
                    hint: near.map { "did you mean \"\($0)\"?" } ?? "declare it under states:")
                continue
            }
            states.append(state)
        }
        var duration = Duration.zero
        if let node = fields.node("for") {
            guard let read = checker.duration(node, key: "for", .zero...StateTrigger.longestDuration) else {
                return nil
            }
            duration = read
        }
        guard let from = readValues("from", of: states, in: fields), let to = readValues("to", of: states, in: fields),
            !states.isEmpty, states.count == nodes.count
        else { return nil }
        return Trigger(
            origin: .states(StateTrigger(states.map(\.name), from: from, to: to, for: duration)),
            id: fields.string("id"), location: location(of: fields.node))
    }

    /// The values of `from` or `to`, which must have the type of the states; `nil` if one has not.
    private mutating func readValues(_ key: String, of states: [DeclaredState], in fields: CheckedMapping) -> [Value]? {
        guard let node = fields.node(key) else { return fields.isWritten(key) ? nil : [] }
        guard let type = states.first?.type else { return nil }
        if let other = states.first(where: { $0.type != type }) {
            checker.error(
                "E210", at: node,
                "\"\(key)\" needs states of one type, and \(states[0].name) is \(type), but \(other.name) \(other.type)"
            )
            return nil
        }
        let nodes = checker.oneOrMany(node, empty: "an empty list of values never matches")
        let values = nodes.compactMap { value($0, key: key, type) }
        return values.count == nodes.count && !values.isEmpty ? values : nil
    }
}
