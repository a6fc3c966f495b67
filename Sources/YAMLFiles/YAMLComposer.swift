import Diagnostics
import Expressions

/// Builds the tree of one file from libyaml's events, and reports YAML that files may not contain.
///
/// A tree has at most `maximumDepth` levels, `maximumNodes` nodes, and `maximumExpansion` nodes made by aliases, so
/// that a small file cannot become a large tree.
package struct YAMLComposer: ~Copyable {
    static let maximumDepth = 32
    package static let maximumNodes = 500_000
    static let maximumExpansion = 100_000

    /// The most diagnostics that are collected.
    static let maximumReports = 10_000

    /// Thrown to end reading; the reason is in `diagnostics`.
    private struct Stop: Error {}

    /// The state of an anchor, such as `&name`.
    private enum Anchor {
        /// The node is still being read.
        case open
        /// The node, the levels of mappings and lists in it, and its number of nodes.
        case complete(YAMLNode, height: Int32, size: Int32)
    }

    private let source: SourceText
    private let language: FileLanguage
    private var events: YAMLParser
    private(set) var diagnostics: [Diagnostic] = []
    private var anchors: [Anchor] = []
    /// The index in `anchors` of the latest anchor with each name.
    private var anchorIndices: [String: Int] = [:]
    /// The children of all open lists and mappings, those of the innermost last. Each array of children is then made
    /// once, in its final size.
    private var nodes: [YAMLNode] = []
    private var entries: [YAMLNode.Entry] = []
    /// The key whose value is being read. The entries of a list belong to the key of the list.
    private var key = ""
    /// The number of nodes, without those that aliases add.
    private(set) var nodeCount = 0
    /// True if the file contains a `!secret`.
    private(set) var wantsSecrets = false
    private var expandedCount = 0
    /// Lines in which a template without quotes begins, which is reported already.
    private var linesOfTemplates: Set<Int> = []
    /// Lines in which a scalar continues from the line before, in order. Blanks at their beginning are not indentation.
    private var continuationLines: [ClosedRange<Int>] = []

    init(_ source: SourceText, _ language: FileLanguage) {
        self.source = source
        self.language = language
        events = YAMLParser(source.octets)
    }

    /// Returns the root of the file's only document; `nil` when the file is empty or cannot be read.
    mutating func compose() -> YAMLNode? {
        if reportsTagDirective() { return nil }
        do throws(Stop) {
            _ = try next()
            let event = try next()
            guard case .documentStart = event.kind else { return nil }
            let root = try node(try next(), depth: 1)
            _ = try next()
            let after = try next()
            if case .documentStart = after.kind {
                report(
                    "E104", after.start, after.start.advanced(by: 3), "only one document per file",
                    Hint("remove this ---", replacing: ""))
            }
            reportTabs()
            return root
        } catch {
            return nil
        }
    }

    private mutating func next() throws(Stop) -> YAMLEvent {
        do throws(YAMLProblem) {
            var event = try events.next()
            event.start = source.clamped(event.start)
            event.end = source.clamped(event.end)
            return event
        } catch {
            var error = error
            error.position = source.clamped(error.position)
            let diagnostic = error.diagnostic(in: source, of: language)
            // A template without quotes on this line is already reported, and the cause of this error:
            // `topic: {{ x }}/set`.
            if !linesOfTemplates.contains(diagnostic.start.line) { diagnostics.append(diagnostic) }
            throw Stop()
        }
    }

    private mutating func node(_ event: YAMLEvent, depth: Int, isKey: Bool = false) throws(Stop) -> YAMLNode {
        nodeCount += 1
        guard nodeCount <= YAMLComposer.maximumNodes else {
            throw stop("E112", event, "more than \(YAMLComposer.maximumNodes) values in one file")
        }
        var number: Int?
        if let anchor = event.anchor {
            number = anchors.count
            anchorIndices[anchor] = anchors.count
            anchors.append(.open)
        }
        var node: YAMLNode
        switch event.kind {
        case .alias(let name): return try alias(name, event, depth: depth)
        case .scalar(let text, let style):
            if event.end.line > event.start.line {
                continuationLines.append(event.start.line + 1...event.end.line)
            }
            node = YAMLNode(content: .scalar(text, style), start: event.start, end: event.end)
        case .sequenceStart: node = try sequence(event, depth: depth)
        case .mappingStart(let isFlow): node = try mapping(event, isFlow: isFlow, isKey: isKey, depth: depth)
        case .streamStart, .streamEnd, .documentStart, .documentEnd, .sequenceEnd, .mappingEnd:
            preconditionFailure("libyaml's grammar lets only a node begin here")
        }
        if event.tag != nil { resolveTag(of: &node, event) }
        if let number {
            let extent = node.extent
            anchors[number] = .complete(node, height: Int32(extent.height), size: Int32(extent.size))
        }
        return node
    }

    private mutating func sequence(_ event: YAMLEvent, depth: Int) throws(Stop) -> YAMLNode {
        try checkDepth(depth, event)
        let first = nodes.count
        let key = self.key
        var end = event.end
        while true {
            let event = try next()
            if case .sequenceEnd = event.kind {
                end = max(end, event.end)
                break
            }
            self.key = key
            nodes.append(try node(event, depth: depth + 1))
        }
        let children = Array(nodes[first...])
        nodes.removeSubrange(first...)
        return YAMLNode(content: .sequence(children), start: event.start, end: end)
    }

    private mutating func mapping(_ event: YAMLEvent, isFlow: Bool, isKey: Bool, depth: Int) throws(Stop) -> YAMLNode {
        try checkDepth(depth, event)
        let first = entries.count
        var merges: [YAMLNode.Entry] = []
        var isTemplate = false
        var names = WrittenNames()
        var end = event.end
        while true {
            let keyEvent = try next()
            if case .mappingEnd = keyEvent.kind {
                end = max(end, keyEvent.end)
                break
            }
            let keyNode = try node(keyEvent, depth: depth + 1, isKey: true)
            guard case .scalar(let text, let style) = keyNode.content, style != .block, keyNode.tag == nil,
                keyNode.alias == nil
            else {
                _ = try node(try next(), depth: depth + 1)
                // `{{ x }}` without quotes is parsed as a mapping whose key is a mapping.
                if isFlow, first == entries.count, diagnostics.count < Checker.maximumExactReports,
                    source.text(from: event.start).starts(with: "{{".unicodeScalars)
                {
                    isTemplate = true
                } else if !keyNode.isInvalid {
                    report("E109", keyNode.start, keyNode.end, "a key must be simple text")
                }
                continue
            }
            key = text
            let entry = YAMLNode.Entry(
                key: .init(text: text, isPlain: style == .plain, start: keyNode.start, end: keyNode.end),
                value: try node(try next(), depth: depth + 1))
            if let before = names.insert(entry.key, besides: entries[first...], merges) {
                let note = Diagnostic.Note(message: "first", file: source.name, position: before)
                report(
                    "E103", entry.key.start, entry.key.end,
                    "\"\(Checker.shown(text))\" appears twice in this mapping", notes: [note])
            } else if text == "<<", entry.key.isPlain {
                merges.append(entry)
            } else {
                entries.append(entry)
            }
        }
        var children = Array(entries[first...])
        entries.removeSubrange(first...)
        if !merges.isEmpty { children = merging(merges, into: children) }
        let node = YAMLNode(content: .mapping(isTemplate ? [] : children), start: event.start, end: end)
        guard isTemplate, !isKey else { return node }
        linesOfTemplates.insert(event.start.line)
        diagnostics.append(source.unquotedTemplate(at: event.start))
        return YAMLNode(content: .invalid, start: event.start, end: end)
    }

    private mutating func alias(_ name: String, _ event: YAMLEvent, depth: Int) throws(Stop) -> YAMLNode {
        switch anchorIndices[name].map({ anchors[$0] }) {
        case .open: throw stop("E107", event, "this alias contains itself")
        case nil:
            throw stop(
                "E106", event, "alias *\(Checker.shown(name)) is not defined",
                Hint(
                    "anchors must come earlier in the same file; quote it if it is text",
                    source.quoting(at: event.start)))
        case .complete(let node, let height, let size):
            expandedCount += Int(size)
            guard expandedCount <= YAMLComposer.maximumExpansion else {
                throw stop("E107", event, "aliases expand to more than \(YAMLComposer.maximumExpansion) nodes")
            }
            if height > 0 { try checkDepth(depth + Int(height) - 1, event) }
            return node.used(through: YAMLNode.Alias(name: name, start: event.start, end: event.end))
        }
    }

    private mutating func checkDepth(_ depth: Int, _ event: YAMLEvent) throws(Stop) {
        guard depth > YAMLComposer.maximumDepth else { return }
        throw stop("E112", event, "nested more than \(YAMLComposer.maximumDepth) levels deep")
    }
}

/// Finds duplicate keys of one mapping. Up to `few` keys are compared one by one, more keys are looked up by hash.
private struct WrittenNames {
    private static let few = 12
    private var positions: [String: SourcePosition] = [:]

    /// Returns the position of an equal key if there is one, and otherwise records this key.
    mutating func insert(
        _ key: YAMLNode.Key, besides entries: ArraySlice<YAMLNode.Entry>, _ merges: [YAMLNode.Entry]
    ) -> SourcePosition? {
        guard entries.count >= WrittenNames.few else {
            return entries.first { $0.key.text == key.text }?.key.start
                ?? merges.first { $0.key.text == key.text }?.key.start
        }
        if positions.isEmpty {
            for entry in entries + merges { positions[entry.key.text] = entry.key.start }
        }
        if let before = positions[key.text] { return before }
        positions[key.text] = key.start
        return nil
    }
}

extension YAMLNode {
    /// The number of nested mappings and lists, and the number of nodes including keys.
    fileprivate var extent: (height: Int, size: Int) {
        var extent = (height: 0, size: 1)
        func add(_ node: YAMLNode) {
            let child = node.extent
            extent.height = max(extent.height, child.height)
            extent.size += child.size
        }
        switch content {
        case .scalar, .invalid: return extent
        case .sequence(let nodes): for node in nodes { add(node) }
        case .mapping(let entries):
            for entry in entries { add(entry.value) }
            extent.size += entries.count
        }
        extent.height += 1
        return extent
    }
}

// MARK: - Merge keys and tags

extension YAMLComposer {
    /// Adds the entries of `<<` to the written ones, which take precedence. Reports two merged mappings that define the
    /// same key (E108).
    private mutating func merging(
        _ merges: [YAMLNode.Entry], into written: [YAMLNode.Entry]
    ) -> [YAMLNode.Entry] {
        var entries = written
        let names = Set(written.map(\.key.text))
        var origins: [String: String] = [:]
        for merge in merges {
            let sources = if case .sequence(let nodes) = merge.value.content { nodes } else { [merge.value] }
            for node in sources {
                guard let alias = node.alias, case .mapping(let merged) = node.content else {
                    report(
                        "E203", merge.key.start, merge.key.end,
                        "\"<<\" must be an alias to a mapping, or a list of such aliases")
                    return entries
                }
                for entry in merged where !names.contains(entry.key.text) {
                    guard let other = origins.updateValue(alias.name, forKey: entry.key.text) else {
                        entries.append(entry)
                        continue
                    }
                    report(
                        "E108", alias.start, alias.end,
                        "merged mappings *\(other) and *\(alias.name) both define \"\(entry.key.text)\"",
                        "write it out"
                    )
                }
            }
        }
        return entries
    }

    private mutating func resolveTag(of node: inout YAMLNode, _ event: YAMLEvent) {
        guard let name = event.tag else { return }
        if let tag = YAMLNode.Tag(rawValue: name), case .scalar = node.content {
            node.tag = tag
            if tag == .secret { wantsSecrets = true }
            return
        }
        node.content = .invalid
        // After many messages, the text of the tag is not searched for, because that takes time.
        guard diagnostics.count < Checker.maximumExactReports else {
            return report("E105", event.start, event.end, "unknown tag")
        }
        let start = source.find("!", from: event.start, to: event.end) ?? event.start
        let text = source.text(from: start).prefix { $0 != " " && $0 != "," && $0 != "]" && $0 != "}" }
        let end = start.advanced(by: text.count)
        let written = Checker.shown(String(Substring(text)))
        if YAMLNode.Tag(rawValue: name) != nil {
            report("E105", start, end, "\(name) is allowed only before a single text")
        } else if language.expressionKeys.contains(key) {
            report(
                "E105", start, end, "\(written) is read as a tag",
                Hint(
                    "write not, and quote an expression that begins with !",
                    [.init(source.octets(from: start, to: start.advanced(by: 1)), "not ", isGuess: true)]))
        } else {
            report(
                "E105", start, end, "unknown tag \(written)",
                language.tagHints[name]
                    ?? Hint(
                        "the tags are !secret, !env_var and !literal; quote text that begins with !",
                        source.quoting(at: start)))
        }
    }
}

// MARK: - Reports

extension YAMLComposer {
    private mutating func report(
        _ code: String, _ start: SourcePosition, _ end: SourcePosition, _ message: String, _ hint: Hint? = nil,
        notes: [Diagnostic.Note] = []
    ) {
        guard diagnostics.count < YAMLComposer.maximumReports else { return }
        diagnostics.append(
            Diagnostic(
                severity: .error, code: code, file: source.name, start: start, end: end, message: message,
                hint: hint?.sentence, changes: hint.map { source.changes($0, from: start, to: end) } ?? [],
                related: notes))
    }

    private mutating func stop(_ code: String, _ event: YAMLEvent, _ message: String, _ hint: Hint? = nil) -> Stop {
        report(code, event.start, event.end, message, hint)
        return Stop()
    }

    /// Refuses `%TAG` before libyaml reads the file, because libyaml takes quadratic time for such lines.
    private mutating func reportsTagDirective() -> Bool {
        guard let start = source.firstLine(beginningWith: "%TAG") else { return false }
        report("E113", start, start.advanced(by: 4), "%TAG directives are not supported")
        return true
    }

    /// Reports tabs in indentation. libyaml accepts them between brackets and before comments, but they cannot be told
    /// from spaces in an editor.
    private mutating func reportTabs() {
        var rest = continuationLines[...]
        source.forEachIndentationTab { tab in
            while let lines = rest.first, lines.upperBound < tab.line { rest.removeFirst() }
            if let lines = rest.first, lines.contains(tab.line) { return }
            report("E102", tab, tab.advanced(by: 1), Hint.tabMessage, .spacesForTab)
        }
    }
}
