package import Diagnostics

/// A text in a file that stands in one line and has no tag.
package struct ScalarInFile: Sendable {
    /// The text without quotes.
    package var text: String
    /// The keys above it, the outermost first.
    package var keys: [String]
    package var start, end: SourcePosition
}

extension FileOutline {
    /// The values of keys that begin in a line, as far as they are texts in this line without a tag.
    ///
    /// - Parameter line: from 1.
    package func scalars(inLine line: Int) -> [ScalarInFile] {
        var found: [ScalarInFile] = []
        FileOutline.collect(root, line, [], &found)
        return found
    }

    private static func collect(_ node: YAMLNode, _ line: Int, _ keys: [String], _ found: inout [ScalarInFile]) {
        guard node.alias == nil, node.start.line <= line, line <= node.end.line else { return }
        switch node.content {
        case .invalid: break
        case .scalar(let text, let style):
            guard node.tag == nil, style != .block, node.start.line == line, node.end.line == line, !keys.isEmpty else {
                return
            }
            found.append(ScalarInFile(text: text, keys: keys, start: node.start, end: node.end))
        case .sequence(let nodes):
            for node in nodes { collect(node, line, keys, &found) }
        case .mapping(let entries):
            for entry in entries where entry.key.alias == nil {
                collect(entry.value, line, keys + [entry.key.text], &found)
            }
        }
    }
}
