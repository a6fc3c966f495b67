import ConfigurationLoader
package import Diagnostics
import YAMLFiles

/// The tree of a `tryck.yaml`.
extension FileOutline {
    /// The setting at a position, and the place of its key or of its value there.
    package func setting(
        at position: SourcePosition
    ) -> (key: KeyDescription, start: SourcePosition, end: SourcePosition)? {
        setting(at: position, root, .configuration, of: nil)
    }

    private func setting(
        at position: SourcePosition, _ node: YAMLNode, _ table: MappingTable?, of key: KeyDescription?
    ) -> (key: KeyDescription, start: SourcePosition, end: SourcePosition)? {
        guard node.alias == nil else { return nil }
        switch node.content {
        case .invalid: return nil
        case .scalar: return key.map { ($0, node.start, node.end) }
        case .sequence(let nodes):
            guard let node = nodes.last(where: { $0.start <= position }), position <= node.end else { return nil }
            return setting(at: position, node, table, of: key)
        case .mapping(let entries):
            guard let table, let entry = entries.last(where: { $0.key.alias == nil && $0.key.start <= position }),
                let setting = table.key(entry.key.text)
            else { return nil }
            let description = KeyDescription(setting, of: table)
            if position <= entry.key.end { return (description, entry.key.start, entry.key.end) }
            guard entry.value.start <= position, position <= entry.value.end else { return nil }
            return self.setting(at: position, entry.value, setting.settings, of: description)
        }
    }

    /// The sections of a `tryck.yaml` with the keys in them.
    package var settingSymbols: [FileSymbol] {
        guard case .mapping(let entries) = root.content else { return [] }
        return entries.filter { $0.key.alias == nil }.map { entry in
            var section = symbol(.section, entry.key.text, entry)
            guard case .mapping(let settings) = entry.value.content, entry.value.alias == nil else { return section }
            section.children = settings.filter { $0.key.alias == nil }.map { symbol(.setting, $0.key.text, $0) }
            return section
        }
    }

    /// True if a position is in the path of the rules file.
    package func isRulesPath(at position: SourcePosition) -> Bool {
        guard let node = root["rules"], node.scalar != nil else { return false }
        return node.start <= position && position <= node.end
    }

    /// The name after `!secret` at a position of any file.
    package func secret(at position: SourcePosition) -> NameInFile? { FileOutline.secret(at: position, in: root) }

    private static func secret(at position: SourcePosition, in node: YAMLNode) -> NameInFile? {
        guard node.alias == nil, node.start <= position, position <= node.end else { return nil }
        switch node.content {
        case .invalid: return nil
        case .scalar(let text, _):
            guard node.tag == .secret else { return nil }
            return NameInFile(kind: .secret, name: text, start: node.start, end: node.end, isDeclaration: false)
        case .sequence(let nodes):
            return nodes.lazy.compactMap { secret(at: position, in: $0) }.first
        case .mapping(let entries):
            return entries.lazy.compactMap { secret(at: position, in: $0.value) }.first
        }
    }
}
