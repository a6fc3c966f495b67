import Diagnostics

/// A piece of a YAML file and where it stands.
struct YAMLNode: Sendable {
    enum Style: Sendable {
        case plain
        case quoted
        case block
    }

    enum Content: Sendable {
        case scalar(String, Style)
        case sequence([YAMLNode])
        case mapping([Entry])
        /// Already reported; whoever meets it says nothing more.
        case invalid
    }

    struct Entry: Sendable {
        var key: Key
        var value: YAMLNode
    }

    struct Key: Sendable {
        var text: String
        var isPlain: Bool
        var start, end: SourcePosition
        /// The key came into this mapping through an alias.
        var alias: Alias?
    }

    enum Tag: String, Sendable {
        case secret = "!secret"
        case environmentVariable = "!env_var"
        case literal = "!literal"
    }

    /// Where a node that was written elsewhere is used. One object for all that is below the node, which has room for
    /// no more than a reference.
    final class Alias: Sendable {
        let name: String
        let start, end: SourcePosition

        init(name: String, start: SourcePosition, end: SourcePosition) {
            self.name = name
            self.start = start
            self.end = end
        }
    }

    var content: Content
    var tag: Tag?
    var start, end: SourcePosition
    /// The positions are those of the definition.
    var alias: Alias?

    /// What stands under a key of a mapping.
    subscript(key: String) -> YAMLNode? {
        guard case .mapping(let entries) = content else { return nil }
        return entries.first { $0.key.text == key }?.value
    }

    /// The entries of a list; none of anything else.
    var elements: [YAMLNode] {
        if case .sequence(let nodes) = content { nodes } else { [] }
    }

    /// A key without a value, or a null spelled out.
    var isNull: Bool {
        guard case .scalar(let text, .plain) = content, tag == nil else { return false }
        return ["", "null", "Null", "NULL"].contains(text)
    }

    var scalar: String? {
        if case .scalar(let text, _) = content { text } else { nil }
    }

    var isInvalid: Bool {
        if case .invalid = content { true } else { false }
    }

    /// The same node, and everything in it, as used through an alias.
    func used(through alias: Alias) -> YAMLNode {
        var node = self
        node.alias = alias
        switch content {
        case .scalar, .invalid: break
        case .sequence(let nodes): node.content = .sequence(nodes.map { $0.used(through: alias) })
        case .mapping(let entries):
            node.content = .mapping(
                entries.map { entry in
                    var key = entry.key
                    key.alias = alias
                    return Entry(key: key, value: entry.value.used(through: alias))
                })
        }
        return node
    }
}
