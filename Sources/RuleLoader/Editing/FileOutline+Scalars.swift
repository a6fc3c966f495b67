package import Diagnostics
import YAMLFiles

/// A scalar without a tag in one line of a file.
package struct ScalarInFile: Sendable {
    /// The text without quotes.
    package var text: String
    /// The keys of the mappings that contain the scalar, the outermost first.
    package var keys: [String]
    package var start, end: SourcePosition
}

extension FileOutline {
    /// The values of keys that are scalars without a tag and lie completely in a line.
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
