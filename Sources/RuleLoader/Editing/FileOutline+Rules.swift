package import Diagnostics
import YAMLFiles

/// A rule in a file, for changes that an editor offers.
package struct RuleInFile: Sendable {
    package var id: String
    /// The column of its keys, from 1.
    package var column: Int
    /// The last line of its first key and value, from 1. Another key can be written below it.
    package var firstKeyLine: Int
    package var hasQueued: Bool
}

/// Where a test can be added to a file.
package enum TestsPlace: Hashable, Sendable {
    /// There is no `tests`; it can be added at the end of the file.
    case missing
    /// `tests` is the last section, and its list has its dashes in this column, from 1.
    case atEnd(column: Int)
}

extension FileOutline {
    /// The rule at a position, if each of its keys is in a line of its own.
    package func rule(at position: SourcePosition) -> RuleInFile? {
        for node in root["rules"]?.elements ?? [] where node.start <= position && position.line < node.end.line {
            guard node.alias == nil, case .mapping(let entries) = node.content, entries.count > 1,
                let id = entries.first(where: { $0.key.text == "id" })?.value.scalar
            else { return nil }
            let (first, second) = (entries[0], entries[1])
            let columns = Set(entries.map(\.key.start.column))
            guard columns.count == 1, first.value.scalar != nil, first.value.end.line == first.key.start.line,
                second.key.start.line > first.key.start.line
            else { return nil }
            return RuleInFile(
                id: id, column: first.key.start.column, firstKeyLine: first.key.start.line,
                hasQueued: entries.contains { $0.key.text == "queued" })
        }
        return nil
    }

    /// `nil` if a test cannot simply be added.
    package var testsPlace: TestsPlace? {
        guard case .mapping(let entries) = root.content, root.start.column == 1 else { return nil }
        guard let tests = entries.first(where: { $0.key.text == "tests" }) else {
            // In braces, a section cannot be added at the end.
            return entries.allSatisfy { $0.key.start.column == 1 } ? .missing : nil
        }
        guard tests.key.start == entries.last?.key.start, tests.value.alias == nil,
            let first = tests.value.elements.first,
            tests.value.start.line > tests.key.start.line, first.start.column >= tests.value.start.column + 2
        else { return nil }
        return .atEnd(column: tests.value.start.column)
    }
}
