import JSON

extension Checker {
    /// Any YAML as JSON. Plain numbers, `true`, `false` and `null` keep their type; everything else is text.
    mutating func json(_ node: YAMLNode) -> JSONValue? {
        switch node.content {
        case .invalid: return nil
        case .sequence(let nodes):
            let values = nodes.map { json($0) }
            return values.contains(nil) ? nil : .array(values.compactMap(\.self))
        case .mapping(let entries):
            var members: [JSONValue.Member] = []
            var isComplete = true
            for entry in entries {
                if let mark = ["{{", "{%"].first(where: entry.key.text.contains) {
                    let start = source.find(mark, from: entry.key.start, to: entry.key.end) ?? entry.key.start
                    error(
                        "E407", from: start, to: start.advanced(by: 2), alias: entry.key.alias,
                        "no template is allowed in a key")
                    isComplete = false
                } else if let value = json(entry.value) {
                    members.append(.init(entry.key.text, value))
                } else {
                    isComplete = false
                }
            }
            return isComplete ? .object(members) : nil
        case .scalar(let text, .plain) where node.tag == nil: return plainLeaf(text, node)
        case .scalar: return self.text(node, key: "json", .arePlanned).map { .string($0.string) }
        }
    }

    private mutating func plainLeaf(_ text: String, _ node: YAMLNode) -> JSONValue? {
        switch text {
        case "true": return true
        case "false": return false
        case _ where node.isNull: return .null
        default: break
        }
        if YAMLNumber.isInteger(text), let value = Int64(text) { return .integer(value) }
        if YAMLNumber.isInteger(text) || YAMLNumber.isDecimal(text) {
            if let value = Double(text), value.isFinite, !YAMLNumber.isInteger(text) { return .number(value) }
            error("E205", at: node, "\(shown(text)) is too large for a number", hint: "quote it to send it as text")
            return nil
        }
        if let meaning = NameRules.otherMeaning(of: text) {
            error(
                "E208", at: node, "\(text) could be text or \(meaning) here",
                hint: "write \"\(text)\" in quotes, or \(meaning)")
            return nil
        }
        if YAMLNumber.looksLikeNumber(text) {
            error(
                "E208", at: node, "\(shown(text)) could be text or a number here",
                hint: "quote it, or write it with decimal digits only")
            return nil
        }
        return self.text(node, key: "json", .arePlanned).map { .string($0.string) }
    }
}
