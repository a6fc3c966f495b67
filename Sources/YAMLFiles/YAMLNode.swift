package import Diagnostics

/// A node of a YAML tree and its position in the file.
package struct YAMLNode: Sendable {
    package enum ScalarStyle: Sendable {
        case plain
        case quoted
        case block
    }

    package enum Content: Sendable {
        case scalar(String, ScalarStyle)
        case sequence([YAMLNode])
        case mapping([Entry])
        /// A faulty node that is already reported. Code that reads it reports nothing more.
        case invalid
    }

    package struct Entry: Sendable {
        package var key: Key
        package var value: YAMLNode
    }

    package struct Key: Sendable {
        package var text: String
        package var isPlain: Bool
        package var start, end: SourcePosition
        /// Set if the key is used through an alias.
        package var alias: Alias?
    }

    package enum Tag: String, Sendable {
        case secret = "!secret"
        case environmentVariable = "!env_var"
        case literal = "!literal"
    }

    /// The use of a node through an alias, `*name`. It is a class to keep nodes small: the node and all nodes in it
    /// share one reference.
    package final class Alias: Sendable {
        let name: String
        let start, end: SourcePosition

        init(name: String, start: SourcePosition, end: SourcePosition) {
            self.name = name
            self.start = start
            self.end = end
        }
    }

    package var content: Content
    package var tag: Tag?
    package var start, end: SourcePosition
    /// The alias (`*name`) through which the node is used; `nil` without one. With an alias, `start` and `end` are the position of
    /// the anchor's node, not of the alias.
    package var alias: Alias?

    /// The value of a key, if the node is a mapping that has the key.
    package subscript(key: String) -> YAMLNode? {
        guard case .mapping(let entries) = content else { return nil }
        return entries.first { $0.key.text == key }?.value
    }

    /// The entries of a list; empty for any other node.
    package var elements: [YAMLNode] {
        if case .sequence(let nodes) = content { nodes } else { [] }
    }

    /// True for a missing value and for a written null.
    package var isNull: Bool {
        guard case .scalar(let text, .plain) = content, tag == nil else { return false }
        switch text.utf8.count {
        case 0: return true
        case 4: return text == "null" || text == "Null" || text == "NULL"
        default: return false
        }
    }

    package var scalar: String? {
        if case .scalar(let text, _) = content { text } else { nil }
    }

    package var isInvalid: Bool {
        if case .invalid = content { true } else { false }
    }

    /// A copy of the node and everything in it, marked as used through an alias.
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

extension YAMLNode {
    /// True if the node's text is a template. A text with a tag never is.
    package var holdsTemplate: Bool { tag == nil && scalar?.hasTemplateMark == true }
}

extension String {
    /// True if the text contains `{{`, or the `{%` of other template languages.
    package var hasTemplateMark: Bool {
        var isOpen = false
        for octet in utf8 {
            if isOpen, octet == UInt8(ascii: "{") || octet == UInt8(ascii: "%") { return true }
            isOpen = octet == UInt8(ascii: "{")
        }
        return false
    }
}
