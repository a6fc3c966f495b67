import ButtonModel
import ConfigurationLoader
import Diagnostics
import Expressions
package import Rules
import YAMLFiles

/// The texts that may be written at a position of a rules file or of a configuration, for completion.
package struct EditPlace: Sendable {
    /// The name or word before the position, which a completion replaces.
    package internal(set) var prefix = ""
    /// The keys that may be written here.
    package internal(set) var keys: [KeyDescription] = []
    /// The words of the closed set of values.
    package internal(set) var words: [String] = []
    /// The kinds of names that may be written here.
    package internal(set) var names: [NameKind] = []
    /// True if a name of a button may also be that of a group.
    package internal(set) var includesGroups = true
    /// True if the names are keys, so that a colon follows.
    package internal(set) var namesAreKeys = false
    /// The name of the script, if the names at this place are its inputs.
    package internal(set) var script: String?
    /// The buttons that the trigger names, if the names at this place are its events.
    package internal(set) var buttons: [String] = []
    /// True for the value of a `topic`.
    package internal(set) var isTopic = false
    /// In an expression, the names before the position that are joined with dots; the last one is the one to complete.
    package internal(set) var path: [String]?
    /// The kind of entry that may begin here, for templates of whole entries.
    package internal(set) var entry: Entry?
    /// The key whose value is written here.
    package internal(set) var key: KeyDescription?
    /// True if the name of an environment variable may be written here.
    package internal(set) var isEnvironmentVariable = false
    /// True if the path of a file in `include` may be written here. `prefix` is then the whole path.
    package internal(set) var isIncludedFile = false
    /// The tags that may be written here, after a `!`, which is then the beginning of `prefix`.
    package internal(set) var tags: [String] = []
    /// True for the beginning of a plain value that may have a tag.
    var mayHaveTag = false
    /// True if a `- ` has to come before an entry.
    package internal(set) var needsDash = false

    /// An entry of a list that editors can insert as a whole.
    package enum Entry: Sendable { case rule, test, step, trigger }

    /// - Parameters:
    ///   - octets: the text of the file, as UTF-8.
    ///   - lineStart: the offset of the line.
    ///   - offset: the offset of the position in this line.
    ///   - kind: the kind of the file.
    /// - Returns: `nil` if nothing can be said, because the lines above are not valid YAML, for example.
    package init?(_ octets: [UInt8], lineStart: Int, offset: Int, in kind: FileKind = .rules) {
        guard (0...offset).contains(lineStart), offset <= octets.count else { return nil }
        if let mark = EditPlace.tagStart(octets[lineStart..<offset]),
            let value = EditPlace(octets, lineStart: lineStart, offset: mark, in: kind), value.mayHaveTag
        {
            prefix = String(decoding: octets[mark..<offset], as: UTF8.self)
            tags = ["!secret", "!env_var"] + (kind == .rules ? ["!literal"] : [])
            return
        }
        let text = CursorText(octets, lineStart: lineStart, offset: offset)
        prefix = text.prefix
        for isKey in [false, true] {
            guard let root = EditPlace.compose(text.octets(markedAsKey: isKey)) else { continue }
            let context = Context(isAtLineStart: text.isAtLineStart)
            switch kind {
            case .rules: if find(in: root, .mapping(.file), context) { return }
            case .configuration: if findSetting(in: root, .configuration, nil, context) { return }
            }
        }
        return nil
    }

    /// The offset of a `!` with which a value may begin, if only letters follow it.
    private static func tagStart(_ head: ArraySlice<UInt8>) -> Int? {
        guard let mark = head.lastIndex(of: UInt8(ascii: "!")), mark > head.startIndex,
            " [{,".utf8.contains(head[mark - 1]),
            head[(mark + 1)...].allSatisfy({ (0x61...0x7A).contains($0) || $0 == UInt8(ascii: "_") })
        else { return nil }
        return mark
    }

    private static func compose(_ octets: [UInt8]) -> YAMLNode? {
        guard case .success(let source) = SourceText.reading(SourceFile(name: "", text: octets)) else { return nil }
        return source.tree()
    }

    /// The facts about the parents of a node that its completion depends on.
    struct Context {
        var isAtLineStart: Bool
        var key: KeyDescription?
        var siblings: [YAMLNode.Entry] = []
        var isListEntry = false
    }

    // MARK: Finding the mark

    /// Returns whether the mark is in a node, and describes its place.
    private mutating func find(in node: YAMLNode, _ shape: SchemaShape, _ context: Context) -> Bool {
        switch node.content {
        case .invalid: return false
        case .scalar(let text, let style):
            guard let mark = text.firstRange(of: CursorText.mark) else { return false }
            describe(String(text[..<mark.lowerBound]), node, style, shape, context)
            return true
        case .sequence(let nodes):
            var inner = context
            inner.isListEntry = true
            // The mark is in the last entry, because what follows it is left out.
            for node in nodes.reversed() where find(in: node, shape.element ?? .empty, inner) { return true }
            return false
        case .mapping(let entries):
            for entry in entries {
                if entry.key.text.hasPrefix(CursorText.mark) {
                    describeKey(shape, entries.filter { $0.key.start != entry.key.start }, context)
                    return true
                }
                let keys = entries.map(\.key.text)
                let mapping = shape.asMapping
                var inner = Context(isAtLineStart: context.isAtLineStart, siblings: entries)
                inner.key = context.key
                if case .mapping(let kind)? = mapping, let found = kind.keyShape(entry.key.text, beside: keys) {
                    inner.key = KeyDescription(found, of: kind.table.name)
                }
                if entry.key.text == "with" { script = entries.first { $0.key.text == "script" }?.value.scalar }
                let value = mapping?.value(of: entry.key.text, beside: keys) ?? .empty
                if find(in: entry.value, value, inner) { return true }
            }
            return false
        }
    }

    // MARK: Describing the place

    private mutating func describeKey(_ shape: SchemaShape, _ siblings: [YAMLNode.Entry], _ context: Context) {
        key = context.key
        let written = siblings.map(\.key.text)
        if case .mapping(let mapping)? = shape.asMapping {
            keys = mapping.possibleKeys(beside: written).map { KeyDescription($0, of: mapping.table.name) }
        } else if case .keyed(let kind, _, _)? = shape.asMapping {
            names = [NameKind(kind)]
            namesAreKeys = true
        }
    }

    private mutating func describe(
        _ before: String, _ node: YAMLNode, _ style: YAMLNode.ScalarStyle, _ shape: SchemaShape, _ context: Context
    ) {
        key = context.key
        if node.tag == nil, key?.name == "include", key?.table == MappingTable.rulesFile.name {
            prefix = before + prefix
            isIncludedFile = true
            return
        }
        var before = before
        let isWhole = shape.isExpression || style != .plain || before.contains(" ") || before.hasTemplateMark
        if describeTag(node.tag, before) { return }
        // An expression is no secret.
        mayHaveTag = style == .plain && before.isEmpty && !shape.isExpression && context.key != nil
        if !isWhole {
            // The whole text is replaced, also if it has characters that no name has: `home/li`, `mon-f`.
            prefix = before + prefix
            before = ""
        }
        if shape.mayBeTemplate, let expression = ExpressionText.openExpression(inTemplate: before) {
            path = ExpressionText.unfinishedPath(of: expression)
            return
        }
        if shape.isExpression { path = ExpressionText.unfinishedPath(of: before) }
        // A text of several words is neither a name nor a key.
        guard before.isEmpty else { return }
        for alternative in shape.alternatives { describe(alternative, context) }
        // In `[publish: …]`, a mapping without braces begins in the middle of a line.
        let isPair = context.isListEntry && shape.isMappingOnly
        if style == .plain, context.isAtLineStart || isPair { describeBlock(shape, context) }
        if context.key?.name == "event" { buttons = EditPlace.buttons(beside: context.siblings) }
        isTopic = context.key?.name == "topic"
    }

    /// Describes the place after a tag such as `!secret`.
    ///
    /// - Parameter before: the text between the tag and `prefix`.
    /// - Returns: false if there is no tag.
    mutating func describeTag(_ tag: YAMLNode.Tag?, _ before: String) -> Bool {
        switch tag {
        case nil: return false
        case .secret:
            prefix = before + prefix
            names = [.secret]
        // The second word after `!env_var` is not a name, but the value to use if the variable is not set.
        case .environmentVariable: isEnvironmentVariable = before.isEmpty
        case .literal: break
        }
        return true
    }

    private mutating func describe(_ shape: SchemaShape, _ context: Context) {
        switch shape {
        case .boolean: words += ["true", "false"]
        case .oneOf(let values): words += values
        case .exactly(let number): words.append(String(number))
        case .clock: words += TimeOfDay.SunEvent.allCases.map(\.rawValue)
        case .weekday: words += LocalTime.Weekday.allCases.map(\.rawValue) + ["mon-fri", "sat-sun"]
        case .reference(let kind):
            names.append(NameKind(kind))
            if kind == .source { words.append("any") }
            if kind == .button { includesGroups = false }
        case .text, .template, .expression, .scalar, .integer, .number, .duration, .delay, .offset, .clockTime, .moment,
            .rate,
            .status, .json, .empty, .name, .mapping, .declarations, .keyed, .matching, .list, .either, .oneOrMany:
            break
        }
    }

    /// Describes the keys with which a mapping in a line of its own may begin.
    private mutating func describeBlock(_ shape: SchemaShape, _ context: Context) {
        // Entries of a list that is not allowed to be one entry alone need a dash.
        let isOnlyList = !context.isListEntry && shape.asMapping == nil
        needsDash = isOnlyList
        guard let mapping = isOnlyList ? shape.element?.asMapping : shape.asMapping else { return }
        if case .mapping(let kind) = mapping {
            if !isOnlyList {
                keys += kind.possibleKeys(beside: []).map { KeyDescription($0, of: kind.table.name) }
            }
            entry = EditPlace.entries[kind]
        } else if case .keyed(let kind, _, _) = mapping {
            names.append(NameKind(kind))
            namesAreKeys = true
        }
    }

    private static let entries: [SchemaMapping: Entry] = [
        .rule: .rule, .test: .test, .step: .step, .trigger: .trigger,
    ]

    private static func buttons(beside siblings: [YAMLNode.Entry]) -> [String] {
        guard let node = siblings.first(where: { $0.key.text == "button" })?.value else { return [] }
        let nodes = if case .sequence(let nodes) = node.content { nodes } else { [node] }
        return nodes.compactMap(\.scalar)
    }
}

extension String {
    /// The range of the first occurrence of a text.
    func firstRange(of wanted: String) -> Range<Index>? {
        guard let first = wanted.utf8.first else { return nil }
        var rest = self[...]
        while let start = rest.utf8.firstIndex(of: first) {
            rest = rest[start...]
            if rest.hasPrefix(wanted) { return start..<rest.index(start, offsetBy: wanted.count) }
            rest = Substring(rest.utf8.dropFirst())
        }
        return nil
    }
}

/// The events that buttons of a model report, in the order of the reference.
package enum ModelEvents {
    /// - Parameter buttons: names of buttons or groups; other names are left out.
    package static func names(of buttons: [String], in set: RuleSet) -> [String] {
        let members = buttons.flatMap { name in
            set.groups[name]?.map { set.buttons[$0] } ?? set.buttons.filter { $0.name == name }
        }
        guard !members.isEmpty else { return TriggerEvent.fileNames }
        return TriggerEvent.fileNames.filter { name in
            TriggerEvent.byName[name].map { event in members.contains { $0.model.supports(event) } } ?? true
        }
    }
}
