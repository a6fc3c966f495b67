import Diagnostics
import Expressions
import YAMLFiles

/// Checks that several kinds of steps share.
extension Checker {
    /// Returns the key that names the action of a mapping: the only one of its keys in `names`. Reports `code` when
    /// there is none or more than one.
    mutating func action(
        of names: Set<String>, in fields: CheckedMapping, _ owner: String, code: String = "E213",
        hint: @autoclosure () -> Hint?
    ) -> YAMLNode.Key? {
        guard case .mapping(let entries) = fields.node.content else { return nil }
        var first: YAMLNode.Key?
        for entry in entries where names.contains(entry.key.text) {
            if let first {
                error(
                    code, at: first, "\(owner) needs exactly one action",
                    hint: Hint(
                        "this one has "
                            + entries.filter { names.contains($0.key.text) }.map { "\"\($0.key.text)\"" }
                            .joined(separator: " and ") + "; begin each with \"- \"",
                        dashes(before: entries, with: names)))
                return nil
            }
            first = entry.key
        }
        // An unknown key was probably meant as the action, and is already reported.
        if first == nil, fields.misspelt.isEmpty, knowsAllKeys(of: fields) {
            let (start, end) = firstKey(of: fields.node)
            error(
                code, from: start, to: end, alias: fields.node.alias, "\(owner) needs exactly one action",
                hint: hint())
        }
        return first
    }

    func knowsAllKeys(of fields: CheckedMapping) -> Bool {
        guard case .mapping(let entries) = fields.node.content else { return false }
        return entries.allSatisfy { fields.key($0.key.text) != nil }
    }

    /// Reports E114 and returns true when an argument of a program has no value.
    mutating func reportsNullArgument(_ node: YAMLNode) -> Bool {
        guard node.isNull else { return false }
        let changes = written(node) == nil ? [] : [Hint.Change(source.octets(from: node.start, to: node.end), "\"\"")]
        return reportsNullEntry(node, hint: Hint("write \"\" for an empty argument", changes))
    }

    mutating func checkPublishTopic(_ topic: String, _ node: YAMLNode) -> Bool {
        if topic.isEmpty {
            error("E508", at: node, "a publish topic cannot be empty")
        } else if let wildcard = topic.first(where: { $0 == "#" || $0 == "+" }) {
            guard !node.isSecret else {
                error("E508", at: node, "a publish topic cannot contain # or +")
                return false
            }
            let start = position(of: String(wildcard), in: node)
            error(
                "E508", from: start, to: start.advanced(by: 1), alias: node.alias,
                "a publish topic cannot contain # or +")
        } else if topic.utf8.contains(0) {
            error("E508", at: node, "a publish topic cannot contain NUL")
        } else if topic.utf8.count > 65_535 {
            error("E508", at: node, "a publish topic is at most 65535 bytes long")
        } else {
            return true
        }
        return false
    }
}
