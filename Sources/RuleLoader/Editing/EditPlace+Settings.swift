import ConfigurationLoader
import YAMLFiles

extension EditPlace {
    /// Looks for the mark in a node of a configuration, and describes its place.
    ///
    /// - Parameters:
    ///   - table: the keys of a mapping in this place; `nil` if the value is not a mapping.
    ///   - setting: the key whose value the node is; `nil` if it is unknown.
    /// - Returns: true if the mark was found.
    mutating func findSetting(
        in node: YAMLNode, _ table: MappingTable?, _ setting: MappingTable.Key?, _ context: Context
    ) -> Bool {
        switch node.content {
        case .invalid: return false
        case .scalar(let text, let style):
            guard let mark = text.firstRange(of: CursorText.mark) else { return false }
            let before = String(text[..<mark.lowerBound])
            key = context.key
            if !describeTag(node.tag, before) { describeSetting(before, style, table, setting, context) }
            return true
        case .sequence(let nodes):
            var inner = context
            inner.isListEntry = true
            // The mark is in the last entry, because what follows it is left out.
            return nodes.reversed().contains { findSetting(in: $0, table, setting, inner) }
        case .mapping(let entries):
            for entry in entries {
                if entry.key.text.hasPrefix(CursorText.mark) {
                    key = context.key
                    keys = table?.descriptions(beside: entries.map(\.key.text)) ?? []
                    return true
                }
                let setting = table?.key(entry.key.text)
                var inner = Context(isAtLineStart: context.isAtLineStart)
                inner.key = setting.flatMap { setting in table.map { KeyDescription(setting, of: $0) } }
                if findSetting(in: entry.value, setting?.settings, setting, inner) { return true }
            }
            return false
        }
    }

    private mutating func describeSetting(
        _ before: String, _ style: YAMLNode.ScalarStyle, _ table: MappingTable?, _ setting: MappingTable.Key?,
        _ context: Context
    ) {
        // A text of several words is neither a key nor a word of a closed set.
        guard style == .plain, !before.contains(" ") else { return }
        mayHaveTag = before.isEmpty && context.key != nil
        // The whole text is replaced, also if it has characters that no name has: `3.1.1`.
        prefix = before + prefix
        switch setting?.type {
        case .boolean: words = ["true", "false"]
        case .oneOf(let values, _): words = values
        case .name, .text, .integer, .number, .duration, .template, .anything, nil: break
        }
        if context.isAtLineStart || context.isListEntry { keys = table?.descriptions(beside: []) ?? [] }
    }
}

extension MappingTable {
    /// The keys of the table that are not in `written`.
    fileprivate func descriptions(beside written: [String]) -> [KeyDescription] {
        keys.filter { !written.contains($0.name) }.map { KeyDescription($0, of: self) }
    }
}

extension MappingTable.Key {
    /// The keys of the mapping that is the value of this key of `tryck.yaml`; `nil` if the value is not a mapping.
    var settings: MappingTable? {
        guard case .anything = type else { return nil }
        return MappingTable.configurationSections[name] ?? (name == "transport" ? .transport : nil)
    }
}
