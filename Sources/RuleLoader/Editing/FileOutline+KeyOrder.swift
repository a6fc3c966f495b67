package import Diagnostics
import YAMLFiles

/// A rule whose keys can be put into another order by moving lines.
package struct RuleLines: Sendable {
    /// A key of the rule.
    package struct Key: Sendable {
        package var name: String
        /// The line of the key, from 1.
        package var line: Int
    }

    /// The column of the keys, from 1.
    package var column: Int
    /// The keys in the order of the file.
    package var keys: [Key]
    /// The line after the rule, from 1. Comments and empty lines before it may belong to what follows.
    package var end: Int

    /// The keys in the order of the reference. Unknown keys are the last, in the order of the file.
    package var sortedKeys: [Key] {
        let order = MappingTable.rule.keys.map(\.name)
        return keys.enumerated().sorted { left, right in
            let first = order.firstIndex(of: left.element.name) ?? order.count
            let second = order.firstIndex(of: right.element.name) ?? order.count
            return (first, left.offset) < (second, right.offset)
        }.map(\.element)
    }
}

extension FileOutline {
    /// The rule at a position; `nil` if there is none, or if one of its keys shares a line with another.
    package func ruleLines(at position: SourcePosition) -> RuleLines? {
        guard
            let node = root["rules"]?.elements.first(where: {
                $0.start.line <= position.line && position.line < $0.end.line
            }), node.alias == nil, case .mapping(let entries) = node.content, let first = entries.first
        else { return nil }
        let column = first.key.start.column
        let lines = entries.map(\.key.start.line)
        guard entries.allSatisfy({ $0.key.alias == nil && $0.key.start.column == column }),
            zip(lines, lines.dropFirst()).allSatisfy({ $0 < $1 })
        else { return nil }
        // If the file does not end with a line feed, its last line is part of the rule.
        let isUnended = node.end == root.end && node.end.column > 1
        return RuleLines(
            column: column, keys: entries.map { RuleLines.Key(name: $0.key.text, line: $0.key.start.line) },
            end: node.end.line + (isUnended ? 1 : 0))
    }

    /// A text that is equal for two files that differ only in the order of the keys of their rules, which has no meaning.
    package var contentWithoutKeyOrder: String {
        guard case .mapping(let entries) = root.content else { return root.fingerprint.text }
        let sorted = entries.map { entry in
            guard entry.key.text == "rules", case .sequence(let rules) = entry.value.content else { return entry }
            var entry = entry
            entry.value.content = .sequence(
                rules.map { rule in
                    guard case .mapping(let keys) = rule.content else { return rule }
                    var rule = rule
                    rule.content = .mapping(keys.sorted { $0.key.text < $1.key.text })
                    return rule
                })
            return entry
        }
        var node = root
        node.content = .mapping(sorted)
        return node.fingerprint.text
    }
}
