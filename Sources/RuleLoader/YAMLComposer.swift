import Diagnostics

/// Builds the tree of one file from libyaml's events, and refuses what our YAML leaves out.
///
/// Bounds: `maximumDepth` levels, `maximumNodes` nodes, and `maximumExpansion` nodes made by aliases, so that a
/// small file cannot become a large tree.
struct YAMLComposer: ~Copyable {
    static let maximumDepth = 32
    static let maximumNodes = 500_000
    static let maximumExpansion = 100_000

    /// Reading cannot go on; the reason is in `diagnostics`.
    private struct Stop: Error {}

    /// A node, the levels of mappings and lists in it, and how many nodes it is.
    private struct Composed {
        var node: YAMLNode
        var height = 0
        var size = 1

        /// Counts a child in and hands its node on.
        mutating func adding(_ child: Composed) -> YAMLNode {
            height = max(height, child.height + 1)
            size += child.size
            return child.node
        }
    }

    private let source: SourceText
    private var events: YAMLEvents
    private(set) var diagnostics: [Diagnostic] = []
    private var anchors: [String: Composed] = [:]
    private var openAnchors: [String] = []
    /// Without what aliases stand for.
    private(set) var nodeCount = 0
    /// A `!secret` stands somewhere.
    private(set) var wantsSecrets = false
    private var expandedCount = 0
    /// Lines on which text goes on from the line before: what they begin with is not indentation.
    private var continuationLines: Set<Int> = []

    init(_ source: SourceText) {
        self.source = source
        events = YAMLEvents(source.octets)
    }

    /// The root of the file's one document; `nil` when the file says nothing, or cannot be read.
    mutating func compose() -> YAMLNode? {
        do {
            _ = try next()
            let event = try next()
            guard case .documentStart(let hasTagDirectives) = event.kind else { return nil }
            if hasTagDirectives { reportTagDirective(before: event) }
            let root = try node(try next(), depth: 1)
            _ = try next()
            let after = try next()
            if case .documentStart = after.kind {
                report(
                    "E104", after.start, after.start.advanced(by: 3), "only one document per file", "remove this ---")
            }
            reportTabs()
            return root.node
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
            let diagnostic = error.diagnostic(in: source)
            // `topic: {{ x }}/set` was a template without quotes before it was anything else.
            if !diagnostics.contains(where: { $0.code == "E111" && $0.start.line == diagnostic.start.line }) {
                diagnostics.append(diagnostic)
            }
            throw Stop()
        }
    }

    private mutating func node(_ event: YAMLEvent, depth: Int, isKey: Bool = false) throws(Stop) -> Composed {
        nodeCount += 1
        guard nodeCount <= YAMLComposer.maximumNodes else {
            throw stop("E112", event, "more than \(YAMLComposer.maximumNodes) values in one file")
        }
        if let anchor = event.anchor { openAnchors.append(anchor) }
        var composed: Composed
        switch event.kind {
        case .alias(let name): return try alias(name, event, depth: depth)
        case .scalar(let text, let style):
            if event.end.line > event.start.line {
                continuationLines.formUnion(event.start.line + 1...event.end.line)
            }
            composed = Composed(node: YAMLNode(content: .scalar(text, style), start: event.start, end: event.end))
        case .sequenceStart: composed = try sequence(event, depth: depth)
        case .mappingStart(let isFlow): composed = try mapping(event, isFlow: isFlow, isKey: isKey, depth: depth)
        default: preconditionFailure("libyaml's grammar lets only a node begin here")
        }
        resolveTag(of: &composed.node, event)
        if let anchor = event.anchor {
            openAnchors.removeLast()
            anchors[anchor] = composed
        }
        return composed
    }

    private mutating func sequence(_ event: YAMLEvent, depth: Int) throws(Stop) -> Composed {
        try checkDepth(depth, event)
        var composed = Composed(node: YAMLNode(content: .invalid, start: event.start, end: event.end), height: 1)
        var nodes: [YAMLNode] = []
        while true {
            let event = try next()
            if case .sequenceEnd = event.kind {
                composed.node.end = max(composed.node.end, event.end)
                break
            }
            nodes.append(composed.adding(try node(event, depth: depth + 1)))
        }
        composed.node.content = .sequence(nodes)
        return composed
    }

    private mutating func mapping(_ event: YAMLEvent, isFlow: Bool, isKey: Bool, depth: Int) throws(Stop) -> Composed {
        try checkDepth(depth, event)
        var composed = Composed(node: YAMLNode(content: .invalid, start: event.start, end: event.end), height: 1)
        var entries: [YAMLNode.Entry] = []
        var merges: [YAMLNode.Entry] = []
        var isTemplate = false
        var positions: [String: SourcePosition] = [:]
        while true {
            let event = try next()
            if case .mappingEnd = event.kind {
                composed.node.end = max(composed.node.end, event.end)
                break
            }
            let keyNode = composed.adding(try node(event, depth: depth + 1, isKey: true))
            let value = composed.adding(try node(try next(), depth: depth + 1))
            guard case .scalar(let text, let style) = keyNode.content, style != .block, keyNode.tag == nil,
                keyNode.alias == nil
            else {
                // `{{ x }}` without quotes arrives as a mapping whose key is a mapping.
                if isFlow, entries.isEmpty, diagnostics.count < Checker.maximumExactReports,
                    source.text(from: composed.node.start).starts(with: "{{".unicodeScalars)
                {
                    isTemplate = true
                } else if case .invalid = keyNode.content {
                    continue
                } else {
                    report("E109", keyNode.start, keyNode.end, "a key must be simple text")
                }
                continue
            }
            let key = YAMLNode.Key(text: text, isPlain: style == .plain, start: keyNode.start, end: keyNode.end)
            if let first = positions.updateValue(key.start, forKey: text) {
                positions[text] = first
                let note = Diagnostic.Note(message: "first", file: source.name, position: first)
                report("E103", key.start, key.end, "\"\(text)\" appears twice in this mapping", notes: [note])
            } else if text == "<<", key.isPlain {
                merges.append(.init(key: key, value: value))
            } else {
                entries.append(.init(key: key, value: value))
            }
        }
        if isTemplate, isKey {
            composed.node.content = .mapping([])
        } else if isTemplate {
            reportUnquotedTemplate(composed.node)
        } else {
            composed.node.content = .mapping(merging(merges, into: entries))
        }
        return composed
    }

    private func isOpen(_ anchor: String) -> Bool { openAnchors.contains(anchor) }

    private mutating func alias(_ name: String, _ event: YAMLEvent, depth: Int) throws(Stop) -> Composed {
        guard !isOpen(name) else { throw stop("E107", event, "this alias contains itself") }
        guard var target = anchors[name] else {
            throw stop(
                "E106", event, "alias *\(name) is not defined",
                "anchors must come earlier in the same file; quote it if it is text")
        }
        expandedCount += target.size
        guard expandedCount <= YAMLComposer.maximumExpansion else {
            throw stop("E107", event, "aliases expand to more than \(YAMLComposer.maximumExpansion) nodes")
        }
        if target.height > 0 { try checkDepth(depth + target.height - 1, event) }
        target.node = target.node.used(through: .init(name: name, start: event.start, end: event.end))
        return target
    }

    private mutating func checkDepth(_ depth: Int, _ event: YAMLEvent) throws(Stop) {
        guard depth > YAMLComposer.maximumDepth else { return }
        throw stop("E112", event, "nested more than \(YAMLComposer.maximumDepth) levels deep")
    }
}

// MARK: - Merge keys and tags

extension YAMLComposer {
    /// Keys written out win over merged ones; two merged mappings must not disagree.
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
                        "merged mappings *\(other) and *\(alias.name) both define \"\(entry.key.text)\"", "write it out"
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
        // Only as far as somebody may read: looking for places costs time.
        guard diagnostics.count < Checker.maximumExactReports else {
            return report("E105", event.start, event.end, "unknown tag")
        }
        let start = source.find("!", from: event.start, to: event.end) ?? event.start
        let written = source.text(from: start).prefix { $0 != " " && $0 != "," && $0 != "]" && $0 != "}" }
        let end = start.advanced(by: written.count)
        if YAMLNode.Tag(rawValue: name) != nil {
            report("E105", start, end, "\(name) stands before a single text")
        } else if name == "!include" {
            report(
                "E105", start, end, "unknown tag !include",
                "the top-level include: is part of the language but this version does not do it yet")
        } else {
            report(
                "E105", start, end, "unknown tag \(String(Substring(written)))",
                "the tags are !secret, !env_var and !literal; quote text that begins with !")
        }
    }
}

// MARK: - Reports

extension YAMLComposer {
    private mutating func report(
        _ code: String, _ start: SourcePosition, _ end: SourcePosition, _ message: String, _ hint: String? = nil,
        notes: [Diagnostic.Note] = []
    ) {
        diagnostics.append(
            Diagnostic(
                severity: .error, code: code, file: source.name, start: start, end: end, message: message, hint: hint,
                related: notes))
    }

    private mutating func stop(_ code: String, _ event: YAMLEvent, _ message: String, _ hint: String? = nil) -> Stop {
        report(code, event.start, event.end, message, hint)
        return Stop()
    }

    private mutating func reportTagDirective(before event: YAMLEvent) {
        let position = source.find("%TAG", from: .start, to: event.end) ?? event.start
        report("E113", position, position.advanced(by: 4), "%TAG directives are not supported")
    }

    private mutating func reportUnquotedTemplate(_ node: YAMLNode) {
        let end = source.find("}}", from: node.start, to: node.end.advanced(by: 1))?.advanced(by: 2) ?? node.end
        let width = node.start.line == end.line ? end.column - node.start.column : 2
        let text = String(Substring(source.text(from: node.start).prefix(width)))
        report("E111", node.start, node.start.advanced(by: width), "put quotes around the template: \"\(text)\"")
    }

    /// libyaml takes a tab for a space between brackets and before comments; people's editors do not show it.
    private mutating func reportTabs() {
        for number in 1...source.lineCount where !continuationLines.contains(number) {
            let line = source.line(number)
            guard let first = line.first, first == 0x20 || first == 0x09 else { continue }
            let indentation = line.prefix { $0 == 0x20 || $0 == 0x09 }
            guard indentation.count < line.count, let tab = indentation.firstIndex(of: 0x09) else { continue }
            let position = SourcePosition(line: number, column: tab - line.startIndex + 1)
            report(
                "E102", position, position.advanced(by: 1), "a tab is used for indentation",
                "YAML allows only spaces")
        }
    }
}
