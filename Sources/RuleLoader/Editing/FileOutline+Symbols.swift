package import Diagnostics
import YAMLFiles

/// A declaration or a section of a file, for the outline that editors show.
package struct FileSymbol: Sendable {
    package enum Kind: Sendable {
        case section, button, group, state, variable, script, rule, test
        /// A key of a section of `tryck.yaml`.
        case setting
    }

    package var kind: Kind
    package var name: String
    /// The text that an editor shows beside the name, such as the `alias` of a rule.
    package var detail: String?
    package var start, end: SourcePosition
    /// The place of the name.
    package var nameStart, nameEnd: SourcePosition
    package var children: [FileSymbol]
}

extension FileOutline {
    /// The sections of the file with the declarations, rules and tests in them.
    package var symbols: [FileSymbol] {
        guard case .mapping(let entries) = root.content else { return [] }
        return entries.compactMap { entry in
            guard SchemaMapping.file.table.key(entry.key.text) != nil, entry.key.alias == nil else { return nil }
            var section = symbol(.section, entry.key.text, entry)
            section.children = children(of: entry)
            return section
        }
    }

    private func children(of section: YAMLNode.Entry) -> [FileSymbol] {
        switch section.key.text {
        case "buttons": declarations(in: section.value, .button)
        case "groups": declarations(in: section.value, .group)
        case "states": declarations(in: section.value, .state)
        case "variables": declarations(in: section.value, .variable)
        case "scripts": declarations(in: section.value, .script)
        case "rules": entries(of: section.value, .rule, name: "id", detail: "alias")
        case "tests": entries(of: section.value, .test, name: "name", detail: nil)
        default: []
        }
    }

    private func declarations(in node: YAMLNode, _ kind: FileSymbol.Kind) -> [FileSymbol] {
        guard case .mapping(let entries) = node.content, node.alias == nil else { return [] }
        return entries.filter { $0.key.alias == nil }.map { entry in
            var symbol = symbol(kind, entry.key.text, entry)
            symbol.detail = entry.value.scalar ?? entry.value["description"]?.scalar
            return symbol
        }
    }

    private func entries(
        of node: YAMLNode, _ kind: FileSymbol.Kind, name: String, detail: String?
    ) -> [FileSymbol] {
        guard node.alias == nil else { return [] }
        return node.elements.compactMap { element in
            guard element.alias == nil, let id = element[name], id.alias == nil, let text = id.scalar, !text.isEmpty
            else { return nil }
            return FileSymbol(
                kind: kind, name: text, detail: detail.flatMap { element[$0]?.scalar }, start: element.start,
                end: max(element.end, id.end), nameStart: id.start, nameEnd: id.end, children: [])
        }
    }

    func symbol(_ kind: FileSymbol.Kind, _ name: String, _ entry: YAMLNode.Entry) -> FileSymbol {
        FileSymbol(
            kind: kind, name: name, detail: nil, start: entry.key.start, end: max(entry.key.end, entry.value.end),
            nameStart: entry.key.start, nameEnd: entry.key.end, children: [])
    }
}
