package import Diagnostics
package import Expressions

/// Reads typed values from the tree of one file and collects diagnostics. The content of a faulty node is not checked,
/// so that one mistake gives one message.
package struct Checker {
    package let source: SourceText
    package let inputs: FileInputs
    private let language: FileLanguage
    let secrets: Secrets
    package private(set) var diagnostics: [Diagnostic]
    package private(set) var hasErrors: Bool
    /// The values of all `!secret` and `!env_var` in the file.
    package private(set) var confidential: Set<String> = []
    /// What stands for these values in recordings. If a value has two names, the first in alphabetical order counts.
    package private(set) var placeholders: [String: String] = [:]
    /// The values of `confidential` that `!secret` gives.
    package private(set) var secretValues: Set<String> = []
    /// The confidential values as messages would show them, split at quotation marks, for `masked`.
    private var confidentialWords: Set<String> = []
    private var reported: Set<ReportKey> = []
    /// A warning for each program that the file names, reported later if the program is not found.
    package private(set) var programs: [String: Diagnostic] = [:]

    private struct ReportKey: Hashable {
        var start: SourcePosition
        var message: String
    }

    /// After this number of messages, suggestions and positions inside a text are not computed, so that a file full of
    /// mistakes is refused quickly.
    static let maximumExactReports = 100
    /// The maximum number of messages that are kept for one file.
    static let maximumReports = 10_000

    /// False after `maximumExactReports`.
    package var reportsExactly: Bool { diagnostics.count < Checker.maximumExactReports }

    /// - Parameter diagnostics: those from parsing the YAML of the file and from reading `secrets.yaml`.
    init(
        _ source: SourceText, in inputs: FileInputs, _ language: FileLanguage, secrets: Secrets = Secrets(),
        diagnostics: [Diagnostic] = []
    ) {
        self.language = language
        self.source = source
        self.inputs = inputs
        self.secrets = secrets
        self.diagnostics = diagnostics
        hasErrors = diagnostics.contains { $0.severity == .error }
    }

    /// Marks a value of `!secret` or `!env_var` as secret, so that messages mask it.
    mutating func confidential(_ value: String, name: String) -> LoadedText {
        let placeholder = Self.placeholder(of: name)
        placeholders[value] = min(placeholders[value] ?? placeholder, placeholder)
        if !value.isEmpty, confidential.insert(value).inserted {
            confidentialWords.formUnion(shown(value).split(separator: "\"").map(String.init))
        }
        return LoadedText(string: value, isSecret: true)
    }

    mutating func noteSecret(_ value: String) { secretValues.insert(value) }

    /// The text that replaces a secret or an environment variable whose value is not available.
    static func placeholder(of name: String) -> String { "***\(name)***" }

    /// The text that identifies a button, in place of the placeholder that stands for it.
    package func identity(_ text: String) -> String { inputs.identities[text] ?? text }

    /// True if a text stands for a value that is not available, so that its form cannot be checked.
    package func isPlaceholder(_ text: String) -> Bool { inputs.hasPlaceholders && confidential.contains(text) }

    // MARK: Mappings

    /// Checks a mapping against its table and reads its values. Returns `nil` when the node is not a mapping.
    ///
    /// - Parameter owner: what messages about missing keys call this mapping: `"publish"`, `rule "x"`.
    package mutating func fields(_ node: YAMLNode, _ table: MappingTable, owner: Owner? = nil) -> CheckedMapping? {
        guard case .mapping(let entries) = node.content else {
            if case .invalid = node.content { return nil }
            let owner = owner.map { description(of: $0) } ?? table.name
            noMapping("E203", at: node, "\(owner) must be a mapping", hint: "write key: value")
            return nil
        }
        var fields = CheckedMapping(node: node, entries: entries)
        // The loop uses indices, because copying an entry would take longer than most of the checks.
        for index in entries.indices {
            guard let key = table.index(of: entries[index].key.text) else {
                unknown(entries[index], of: node, table, &fields)
                continue
            }
            var value: CheckedMapping.Value?
            if !entries[index].value.isInvalid, !entries[index].value.isNull || !reportsNull(entries[index]) {
                value = self.value(entries[index].value, table.keys[key].type, key: table.keys[key].name)
            }
            fields.add(index, value)
        }
        // If no key is known, the unknown keys, which are reported already, are probably misspelt required keys. A message about
        // missing keys would only repeat that.
        guard entries.isEmpty || fields.hasKnownKey else { return fields }
        for key in table.keys where key.isRequired && !fields.isWritten(key.name) {
            missing(key.name, in: fields, owner: owner.map { description(of: $0) } ?? table.name)
        }
        return fields
    }

    /// The name of a mapping in messages about its keys. Its text is built only when there is a message.
    package struct Owner: ExpressibleByStringInterpolation {
        var kind: String
        var name: String?

        package init(stringLiteral kind: String) { self.kind = kind }

        package init(_ kind: String, named name: String?) {
            self.kind = name == nil ? "a " + kind : kind
            self.name = name
        }
    }

    /// The owner as messages show it: `rule "x"`.
    private func description(of owner: Owner) -> String {
        owner.name.map { "\(owner.kind) \"\(shown($0))\"" } ?? owner.kind
    }

    /// Reports a missing required key (E202) at the first key of its mapping.
    package mutating func missing(_ key: String, in fields: CheckedMapping, owner: String, or others: String = "") {
        let (start, end) = firstKey(of: fields.node)
        error(
            "E202", from: start, to: end, alias: fields.node.alias, "\(owner) has no \"\(key)\"\(others)",
            hint: Hint(
                "add \(key):\(key == "version" ? " 1" : "") to it",
                key == "version" ? [source.versionLine(at: start)] : []))
    }

    package func firstKey(of node: YAMLNode) -> (SourcePosition, SourcePosition) {
        if case .mapping(let entries) = node.content, let first = entries.first {
            return (first.key.start, first.key.end)
        }
        return (node.start, node.start.advanced(by: 1))
    }

    private mutating func unknown(
        _ entry: YAMLNode.Entry, of node: YAMLNode, _ table: MappingTable, _ fields: inout CheckedMapping
    ) {
        let key = entry.key
        let name = key.text
        if let prefix = table.ignoredPrefix, name.hasPrefix(prefix) { return }
        if let meant = reportsMissingSpace(entry, keys: { table.key($0) != nil }) {
            fields.misspelt.insert(
                table.key(meant) == nil ? nearest(to: meant, among: table.keys.map(\.name)) ?? meant : meant)
            return
        }
        if table.planned.contains(name) {
            error("E201", at: key, reservedMessage(name))
            fields.misspelt.insert(table.replacedKeys[name] ?? name)
            return
        }
        let message = "unknown key \"\(shown(name))\" in \(table.name)"
        if var hint = table.foreignHints[name].map(Hint.forKey) {
            if hint.changes.isEmpty { hint.changes = changes(ofForeign: entry, of: node, table) }
            for name in table.keys.map(\.name) where hint.sentence?.contains("\(name):") ?? false {
                fields.misspelt.insert(name)
            }
            error("E201", at: key, message, hint: hint)
        } else if let near = nearest(to: name, among: table.keys.map(\.name) + table.planned)
            ?? table.onlyKey(beginningWith: name)
        {
            fields.misspelt.insert(near)
            error("E201", at: key, message, hint: .meant(near))
        } else {
            error("E201", at: key, message, hint: hint(forMisplaced: entry, of: node, table))
        }
    }

    /// The entry that is meant by a key from elsewhere.
    private func changes(
        ofForeign entry: YAMLNode.Entry, of node: YAMLNode, _ table: MappingTable
    ) -> [Hint.Change] {
        let name = entry.key.text
        if table.outerKeys.contains(name) { return movingOut(entry.key, entry.value, of: node) }
        guard let meant = table.foreignEntries[name], let written = written(entry.value),
            case .scalar(let text, let style) = entry.value.content
        else { return [] }
        var literal = text
        if style != .plain || Double(text) == nil && text != "true" && text != "false" { literal = "'\(text)'" }
        // An expression in quotes may contain characters that have a meaning in YAML.
        guard style == .plain || !meant.contains("EXPRESSION"), !meant.contains("LITERAL") || !text.contains("'") else {
            return []
        }
        return changes(
            of: entry.key, with: entry.value,
            into: meant.replacing("EXPRESSION", with: text.contains(" ") ? "(\(text))" : text)
                .replacing("LITERAL", with: literal).replacing("VALUE", with: written))
    }

    private func hint(forMisplaced entry: YAMLNode.Entry, of node: YAMLNode, _ table: MappingTable) -> Hint? {
        let key = entry.key
        guard let place = language.place(key.text, table.name) else { return nil }
        var changes: [Hint.Change] = []
        switch place {
        case .besideMapping: changes = movingOut(key, entry.value, of: node)
        case .file: if reportsExactly, key.alias == nil { changes = source.withoutIndentation(at: key.start).changes }
        case .inside(let other):
            if let inner = node[other] { changes = movingIn(key, entry.value, into: inner, as: key.text) }
        case .elsewhere: break
        }
        return Hint(place.hint(for: key.text, in: table.name), changes)
    }

    /// Reports a key such as `model:duo` in braces, or `triggers:{button` before a colon, in which a space is missing.
    ///
    /// - Parameter isKey: whether a text is a key of the mapping. In an entry without a value, any word is taken as one.
    /// - Returns: the key that was meant; `nil` if no space is missing.
    package mutating func reportsMissingSpace(
        _ entry: YAMLNode.Entry, keys isKey: (String) -> Bool = { _ in false }
    ) -> String? {
        let key = entry.key
        guard key.isPlain, let colon = MissingSpace.colon(in: key.text) else { return nil }
        let meant = String(key.text[..<colon])
        guard entry.value.isNull || isKey(meant) else { return nil }
        reportMissingSpace(key.text, colon, key.start, key.alias)
        return meant
    }

    /// Reports a plain text such as `log:hello` in place of a mapping, and returns whether it is one.
    package mutating func reportsMissingSpace(_ node: YAMLNode, keys isKey: (String) -> Bool = { _ in true }) -> Bool {
        guard case .scalar(let text, .plain) = node.content, node.tag == nil, let colon = MissingSpace.colon(in: text),
            isKey(String(text[..<colon]))
        else { return false }
        reportMissingSpace(text, colon, node.start, node.alias)
        return true
    }

    /// Reports a node where a mapping is needed: E101 for a text such as `topic:a`, and anything else with this message.
    package mutating func noMapping(_ code: String, at node: YAMLNode, _ message: String, hint: Hint? = nil) {
        if !reportsMissingSpace(node) { error(code, at: node, message, hint: hint) }
    }

    private mutating func reportMissingSpace(
        _ text: String, _ colon: String.Index, _ start: SourcePosition, _ alias: YAMLNode.Alias?
    ) {
        let position = start.advanced(by: text[..<colon].unicodeScalars.count)
        error(
            "E101", from: position, to: position.advanced(by: 1), alias: alias, MissingSpace.message,
            hint: MissingSpace.hint(text, colon))
    }

    func reservedMessage(_ name: String) -> String {
        "\"\(shown(name))\" is reserved for a later version and does not work yet"
    }

    /// Reports E114 and returns true when a key has no value.
    package mutating func reportsNull(_ entry: YAMLNode.Entry, hint: Hint? = nil) -> Bool {
        guard entry.value.isNull else { return false }
        let rest = reportsExactly ? source.text(from: entry.key.end) : nil
        let skipped = rest?.prefix { $0 == ":" || $0 == " " || $0 == "\t" }.count ?? 0
        let value = entry.key.end.advanced(by: skipped)
        let usual: Hint =
            switch rest?.dropFirst(skipped).first {
            case "#"?: Hint("# begins a comment; quote the text", source.quoting(at: value))
            case "&"?: Hint("& begins an anchor; quote the text", source.quoting(at: value))
            default: hint ?? Hint("remove the key or give it one", removal(of: entry.key, with: entry.value))
            }
        error("E114", at: entry.key, "\"\(shown(entry.key.text))\" has no value", hint: usual)
        return true
    }

    /// Reports E114 and returns true when an entry of a list has no value.
    package mutating func reportsNullEntry(_ node: YAMLNode, hint: Hint? = nil) -> Bool {
        guard node.isNull else { return false }
        error(
            "E114", from: node.start, to: node.start.advanced(by: 1), alias: node.alias, "this entry has no value",
            hint: hint)
        return true
    }

    /// The entries of a list, or the node itself when it is no list. Reports an empty list (`emptyCode`) and entries
    /// without a value (E114).
    package mutating func oneOrMany(_ node: YAMLNode, emptyCode: String = "E212", empty message: String) -> [YAMLNode] {
        guard case .sequence(let nodes) = node.content else { return [node] }
        if nodes.isEmpty { error(emptyCode, from: node.start, to: node.start.advanced(by: 1), message) }
        guard nodes.contains(where: \.isNull) else { return nodes }
        return nodes.filter { !reportsNullEntry($0) }
    }

    // MARK: Reports

    package mutating func error(_ code: String, at node: YAMLNode, _ message: String, hint: Hint? = nil) {
        error(code, from: node.start, to: node.end, alias: node.alias, message, hint: hint)
    }

    package mutating func error(_ code: String, at key: YAMLNode.Key, _ message: String, hint: Hint? = nil) {
        error(code, from: key.start, to: key.end, alias: key.alias, message, hint: hint)
    }

    package mutating func error(
        _ code: String, from start: SourcePosition, to end: SourcePosition, alias: YAMLNode.Alias? = nil,
        _ message: String, hint: Hint? = nil, notes: [Diagnostic.Note] = []
    ) {
        add(.error, code, start, end, alias, message, hint, notes)
    }

    package mutating func warning(_ code: String, at key: YAMLNode.Key, _ message: String, hint: Hint? = nil) {
        add(.warning, code, key.start, key.end, key.alias, message, hint, [])
    }

    package mutating func warning(_ code: String, at node: YAMLNode, _ message: String, hint: Hint? = nil) {
        add(.warning, code, node.start, node.end, node.alias, message, hint, [])
    }

    package mutating func warning(
        _ code: String, from start: SourcePosition, to end: SourcePosition, _ message: String, hint: Hint? = nil
    ) {
        add(.warning, code, start, end, nil, message, hint, [])
    }

    /// Records a program to look for, with the warning for the case that it is not found. Only the first mention of a program is
    /// recorded.
    package mutating func mention(
        program name: String, _ code: String, at node: YAMLNode, _ message: String, hint: Hint
    ) {
        guard programs[name] == nil else { return }
        let before = diagnostics.count
        warning(code, at: node, message, hint: hint)
        if diagnostics.count > before { programs[name] = diagnostics.removeLast() }
    }

    private mutating func add(
        _ severity: Diagnostic.Severity, _ code: String, _ start: SourcePosition, _ end: SourcePosition,
        _ alias: YAMLNode.Alias?, _ message: String, _ hint: Hint?, _ notes: [Diagnostic.Note]
    ) {
        if severity == .error { hasErrors = true }
        guard diagnostics.count < Checker.maximumReports else { return }
        // A node that several aliases use is reported once.
        guard reported.insert(ReportKey(start: start, message: message)).inserted else { return }
        var notes = notes
        if let alias {
            notes.append(.init(message: "used as *\(alias.name)", file: source.name, position: alias.start))
        }
        diagnostics.append(
            Diagnostic(
                severity: severity, code: code, file: source.name, start: start, end: end, message: masked(message),
                hint: hint?.sentence.map(masked), changes: changes(of: hint, start, end), related: notes))
    }

    /// The changes of a hint. A change whose text or sentence has a secret is left out, and all are after many messages, whose
    /// positions are not exact.
    private func changes(of hint: Hint?, _ start: SourcePosition, _ end: SourcePosition) -> [Diagnostic.Change] {
        guard let hint, !hint.changes.isEmpty, reportsExactly,
            hint.sentence.map({ masked($0) == $0 }) ?? true
        else { return [] }
        return source.changes(hint, from: start, to: end).filter { masked("\"\($0.text)\"") == "\"\($0.text)\"" }
    }

    /// Replaces quoted text in a message by `***` if it is the value of a `!secret` or `!env_var`.
    private func masked(_ message: String) -> String {
        guard !confidentialWords.isEmpty else { return message }
        let words = message.split(separator: "\"", omittingEmptySubsequences: false)
        return words.map { confidentialWords.contains(String($0)) ? "***" : $0 }.joined(separator: "\"")
    }

    /// The change of a key into another, for a hint; none after many messages.
    package func changes(of key: YAMLNode.Key?, into text: String) -> [Hint.Change] {
        guard let key, reportsExactly else { return [] }
        return [Hint.Change(source.octets(from: key.start, to: key.end), text)]
    }

    /// The change of a key and its value, for a hint; none after many messages, and if an alias has the value.
    package func changes(of key: YAMLNode.Key?, with value: YAMLNode, into text: String) -> [Hint.Change] {
        guard let key, reportsExactly, key.start < value.end,
            key.alias == nil && value.alias == nil
        else { return [] }
        return [Hint.Change(source.octets(from: key.start, to: value.end), text)]
    }

    /// The change of an entry that a mapping may have, for a hint; none if it is not written.
    package func changes(ofEntry name: String, in fields: CheckedMapping, into text: String) -> [Hint.Change] {
        fields.node(name).map { changes(of: fields.key(name), with: $0, into: text) } ?? []
    }

    /// The insertion of an entry before a key of its mapping, for a hint; none after many messages.
    package func insertion(of entry: String, before key: SourcePosition) -> [Hint.Change] {
        guard reportsExactly else { return [] }
        return [Hint.Change(source.octets(from: key, to: key), entry + entrySeparator(before: key))]
    }

    /// What separates an entry from the next one, where a key of their mapping is.
    package func entrySeparator(before key: SourcePosition) -> String {
        let before = source.octets(before: key)
        // In brackets, a key follows another in the same line, or a comma or a bracket.
        let blanks: [UInt8] = [0x20, 0x0A, 0x0D]
        let last = source.octets[..<before.lowerBound].last { !blanks.contains($0) }
        let isInBrackets =
            source.octets[before].contains { $0 != 0x20 && $0 != UInt8(ascii: "-") }
            || last == UInt8(ascii: ",") || last == UInt8(ascii: "{")
        return isInBrackets ? ", " : "\n" + String(repeating: " ", count: before.count)
    }

    /// The hint of a problem of an expression, with its changes in the file; without changes after many messages.
    package func hint(_ hint: Hint, about range: Range<Int>, in node: YAMLNode) -> Hint {
        guard reportsExactly else { return Hint(hint.sentence) }
        return source.hint(hint, about: range, in: node)
    }

    package func nearest(to name: String, among candidates: @autoclosure () -> some Sequence<String>) -> String? {
        guard reportsExactly else { return nil }
        return Suggestions.nearest(to: name, among: candidates())
    }

    /// The position of `mark` inside a node; the node's start when `maximumExactReports` is reached or the mark is not
    /// found.
    package func position(of mark: String, in node: YAMLNode) -> SourcePosition {
        guard reportsExactly else { return node.start }
        return source.find(mark, from: node.start, to: node.end) ?? node.start
    }

    func shown(_ text: LoadedText) -> String { text.isSecret ? "***" : shown(text.string) }

    /// A text of the file as messages show it: on one line, at most 60 scalars long.
    package static func shown(_ text: String) -> String {
        var short = ""
        for scalar in text.unicodeScalars.prefix(60) {
            let isControl = scalar.value < 0x20 || (0x7F..<0xA0).contains(scalar.value)
            short.unicodeScalars.append(isControl ? "\u{FFFD}" : scalar)
        }
        return text.unicodeScalars.count > 60 ? short + "…" : short
    }

    package func shown(_ text: String) -> String { Checker.shown(text) }

    /// The value of a node as messages show it: `***` for `!secret` and `!env_var`.
    package func shown(_ text: String, of node: YAMLNode) -> String {
        node.tag == nil || node.tag == .literal ? shown(text) : "***"
    }
}
