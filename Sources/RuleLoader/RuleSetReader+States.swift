import Expressions
import Rules
import YAMLFiles

extension RuleSetReader {
    mutating func readStates(_ node: YAMLNode) {
        forEachDeclared(
            node, key: "states", \.stateNames, as: "state", root: .states,
            example: "hall_light: {topic: zigbee2mqtt/hall, value: /state}"
        ) { reader, entry, name in
            guard let state = reader.readState(entry, named: name) else { return false }
            reader.ruleSet.states.append(state)
            reader.contents.states.append((state.name, entry.value))
            return true
        }
    }

    private mutating func readState(_ entry: YAMLNode.Entry, named name: String?) -> DeclaredState? {
        guard let fields = checker.fields(entry.value, .state, owner: .init("state", named: entry.key.text)) else {
            return nil
        }
        let combination = fields.string("as").flatMap(DeclaredState.Combination.init(rawValue:))
        var hasRightType = !fields.isWritten("type") || fields.node("type") != nil
        var type = fields.string("type").flatMap(ExpressionType.Scalar.init(rawValue:)) ?? .string
        if combination == .count {
            type = .integer
            for name in ["type", "default"] {
                guard let key = fields.key(name) else { continue }
                checker.error(
                    "E210", at: key, "\"\(name)\" is not allowed with as: count",
                    hint: name == "type" ? "a count is an integer" : "a count is 0 while no topic has a true value")
                hasRightType = false
            }
        }
        let topicName = fields.string("topic").flatMap { topic in
            fields.node("topic").flatMap {
                checkTopicName(topic, $0, mayHaveWildcards: fields.isWritten("as"), fields.key("topic")) ? topic : nil
            }
        }
        let pointer = fields.string("value") ?? ""
        var isRight = hasRightType && (!fields.isWritten("as") || combination != nil)
        if JSONPointer(pointer) == nil, let node = fields.node("value") {
            let hint: Hint =
                pointer.hasPrefix("/")
                ? Hint("write ~0 for ~ and ~1 for / in a name", replacing: RuleSetReader.escaped(pointer))
                : .write("/\(pointer)")
            checker.error(
                "E203", at: node, "\"value\" must be a JSON Pointer, not \"\(checker.shown(pointer, of: node))\"",
                hint: node.tag == nil ? hint : nil)
            isRight = false
        }
        var fallback: Value?
        if hasRightType, let node = fields.node("default") {
            fallback = value(node, key: "default", type)
            if fallback == nil { isRight = false }
        }
        for key in ["value", "default", "max_age"] where fields.isWritten(key) && fields.node(key) == nil {
            isRight = false
        }
        guard isRight, let topicName, let name else { return nil }
        let isOptional = fallback == nil && combination != .count
        scope.states[name] = Scope.Declared(
            slot: ruleSet.states.count, type: ExpressionType(.scalar(type), isOptional: isOptional),
            location: text(of: entry.key), remedy: fields.isWritten("type") || combination == .count ? nil : .giveType)
        return DeclaredState(
            name: name, topicName: topicName, pointer: pointer, type: type, defaultValue: fallback,
            maximumAge: fields.duration("max_age"), combination: combination, location: location(of: entry.key))
    }

    /// A JSON Pointer in which each `~` is one of `~0` and `~1`.
    private static func escaped(_ pointer: String) -> String {
        let parts = pointer.split(separator: "~", omittingEmptySubsequences: false)
        return parts.dropFirst().reduce(String(parts.first ?? "")) { text, part in
            text + (part.first == "0" || part.first == "1" ? "~" : "~0") + part
        }
    }

    /// - Parameter key: the key of the topic, before which an entry can be added.
    private mutating func checkTopicName(
        _ topic: String, _ node: YAMLNode, mayHaveWildcards: Bool, _ key: YAMLNode.Key?
    ) -> Bool {
        if topic.isEmpty {
            checker.error("E508", at: node, "a state's topic cannot be empty")
        } else if mayHaveWildcards, let level = TopicFilter.misplacedLevel(of: topic) {
            let start = checker.position(of: level, in: node)
            let corrected = topic.split(separator: "/", omittingEmptySubsequences: false).map { $0 == level ? "+" : $0 }
            checker.error(
                "E508", from: start, to: start.advanced(by: level.utf8.count), alias: node.alias,
                level == "#" ? "# is allowed only at the end of a topic" : "+ and # stand for whole levels of a topic",
                hint: level == "#"
                    ? nil : Hint("write \(checker.shown(corrected.joined(separator: "/")))", replacing: "+"))
        } else if !mayHaveWildcards, let wildcard = topic.first(where: { $0 == "#" || $0 == "+" }) {
            let start = checker.position(of: String(wildcard), in: node)
            checker.error(
                "E508", from: start, to: start.advanced(by: 1), alias: node.alias,
                "a state's topic cannot contain # or +",
                hint: Hint(
                    "declare a state for each topic, or add as: last or as: count",
                    ["as: last", "as: count"].flatMap { entry in
                        key.map { checker.insertion(of: entry, before: $0.start) } ?? []
                    }))
        } else if topic.utf8.contains(0) {
            checker.error("E508", at: node, "a state's topic cannot contain NUL")
        } else if topic.utf8.count > 65_535 {
            checker.error("E508", at: node, "a state's topic is at most 65535 bytes long")
        } else {
            return true
        }
        return false
    }
}
