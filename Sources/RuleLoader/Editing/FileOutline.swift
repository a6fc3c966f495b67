package import Diagnostics
package import Expressions
import Rules
package import YAMLFiles

/// The tree of one rules file for an editor: its names, its declarations, and what stands at a position.
///
/// It reads the same tree and the same tables as the loader, and reports no mistakes.
package struct FileOutline: Sendable {
    /// All names in the file that are declared there or elsewhere in the rule set, in the order of the file.
    package let names: [NameInFile]
    /// The literal topics of states and of `publish` steps, without duplicates.
    package let topics: [String]
    /// The triggers of rules that wait for clicks of named buttons.
    package let clickTriggers: [ClickTrigger]
    let source: SourceText
    let root: YAMLNode

    /// A trigger with `event: click`.
    package struct ClickTrigger: Sendable {
        /// The names of its buttons and groups.
        package var buttons: [String]
        /// The start of the key `event`.
        package var start: SourcePosition
        /// The end of the event.
        package var end: SourcePosition
        /// The start of the key `triggers` of its rule; `nil` for a trigger of a step.
        package var triggers: SourcePosition?
    }

    /// - Returns: `nil` if the file is not valid YAML.
    package init?(_ file: SourceFile) {
        guard case .success(let source) = SourceText.reading(file), let root = source.tree() else { return nil }
        self.source = source
        self.root = root
        var walk = NameWalk(source: source)
        walk.visit(root, .mapping(.file))
        names = walk.names
        topics = walk.topics
        clickTriggers = walk.clickTriggers
    }

    /// True if the file has a `version`, which only entry files have.
    package var isEntry: Bool { root["version"] != nil }

    /// The words of all expressions with their places, in the order of the file.
    package var expressionWords: [(word: ExpressionWord, start: SourcePosition, end: SourcePosition)] {
        var walk = NameWalk(source: source)
        walk.words = []
        walk.visit(root, .mapping(.file))
        return (walk.words ?? []).sorted { $0.start < $1.start }
    }

    /// The name that a position is in, or directly after.
    package func name(at position: SourcePosition) -> NameInFile? {
        names.first { $0.start <= position && position <= $0.end }
    }

    /// The entries of `include`, with their places.
    package var inclusions: [(pattern: PathPattern, start: SourcePosition, end: SourcePosition)] {
        guard let node = root["include"] else { return [] }
        let entries = if case .sequence(let nodes) = node.content { nodes } else { [node] }
        return entries.compactMap { entry in
            guard let text = entry.scalar, !text.isEmpty, entry.tag == nil else { return nil }
            return (PathPattern(text), entry.start, entry.end)
        }
    }

    /// The names in `secrets.yaml` with their places; empty if the file is not a mapping.
    package static func secrets(in file: SourceFile) -> [NameInFile] {
        guard case .success(let source) = SourceText.reading(file), case .mapping(let entries)? = source.tree()?.content
        else { return [] }
        return entries.map { entry in
            NameInFile(
                kind: .secret, name: entry.key.text, start: entry.key.start, end: entry.key.end, isDeclaration: true)
        }
    }
}

/// Collects the names of a file.
private struct NameWalk {
    let source: SourceText
    var names: [NameInFile] = []
    var topics: [String] = []
    var clickTriggers: [FileOutline.ClickTrigger] = []
    /// The words of all expressions, if they are wanted.
    var words: [(word: ExpressionWord, start: SourcePosition, end: SourcePosition)]?
    private var knownTopics: Set<String> = []
    /// The rule or script that is being visited, such as `rule goodnight`.
    private var owner: String?
    /// The script that is being visited.
    private var script: String?
    /// The start of the key `triggers` that is being visited.
    private var triggers: SourcePosition?

    init(source: SourceText) { self.source = source }

    /// - Parameter declared: the kind of the names that the keys of this mapping declare.
    mutating func visit(_ node: YAMLNode, _ shape: SchemaShape, declares declared: NameKind? = nil) {
        switch node.content {
        case .invalid: break
        case .scalar(let text, _): visit(node, text, shape)
        case .sequence(let nodes):
            guard let element = shape.element else { return }
            for node in nodes { visit(node, element) }
        case .mapping(let entries):
            guard let shape = shape.asMapping else { return }
            visit(entries, shape, declares: declared)
        }
    }

    private mutating func visit(_ entries: [YAMLNode.Entry], _ shape: SchemaShape, declares declared: NameKind?) {
        let keys = entries.map(\.key.text)
        if case .mapping(.rule) = shape {
            owner = entries.first { $0.key.text == "id" }?.value.scalar.map { "rule \($0)" }
            script = nil
        }
        if case .mapping(.trigger) = shape { addClicks(of: entries) }
        let called = entries.first { $0.key.text == "script" }?.value.scalar
        for entry in entries {
            let key = entry.key.text
            guard let value = shape.value(of: key, beside: keys) else { continue }
            switch shape {
            case .mapping(let mapping):
                let inner = NameKind(declaredBy: key, of: mapping)
                if mapping == .rule { triggers = key == "triggers" ? entry.key.start : nil }
                defer { if mapping == .rule { triggers = nil } }
                visit(key: key, of: mapping, entry.value)
                if mapping == .step, key == "with" {
                    visitArguments(entry.value, value, of: called)
                } else {
                    visit(entry.value, value, declares: inner)
                }
            case .declarations:
                if let declared { add(declared, key, at: entry.key, isDeclaration: true) }
                if declared == .script { (owner, script) = ("script \(key)", key) }
                visit(entry.value, value)
            case .keyed(let kind, _, _):
                if kind != .input { add(NameKind(kind), key, at: entry.key, isDeclaration: false) }
                visit(entry.value, value)
            case .text, .template, .expression, .boolean, .scalar, .integer, .number, .duration, .delay, .offset,
                .clock, .clockTime, .moment, .rate, .weekday, .status, .json, .empty, .oneOf, .exactly, .reference,
                .name,
                .matching, .list, .oneOrMany, .either:
                visit(entry.value, value)
            }
        }
    }

    /// Visits the value of a key that declares the name in its value, or that holds a topic.
    private mutating func visit(key: String, of mapping: SchemaMapping, _ value: YAMLNode) {
        guard let text = value.scalar, value.tag == nil else { return }
        switch (mapping, key) {
        case (.rule, "id"): add(.rule, text, at: value, isDeclaration: true)
        case (.step, "save_as"): add(.result, text, at: value, isDeclaration: true)
        case (.fields(of: .publish), "topic"), (.state, "topic"):
            if !value.holdsTemplate, knownTopics.insert(text).inserted { topics.append(text) }
        case (_, _): break
        }
    }

    private mutating func visitArguments(_ node: YAMLNode, _ shape: SchemaShape, of script: String?) {
        if let script, case .mapping(let entries) = node.content {
            for entry in entries {
                let key = entry.key
                add(.input, key.text, owner: script, from: key.start, to: key.end, isDeclaration: false)
            }
        }
        visit(node, shape)
    }

    private mutating func visit(_ node: YAMLNode, _ text: String, _ shape: SchemaShape) {
        guard node.tag == nil else {
            if node.tag == .secret { add(.secret, text, at: node, isDeclaration: false) }
            return
        }
        for case .reference(let kind) in shape.alternatives where kind != .source || text != "any" {
            return add(NameKind(kind), text, at: node, isDeclaration: false)
        }
        let words: [ExpressionWord]
        if shape.isExpression {
            words = ExpressionText.words(inExpression: text)
        } else if shape.mayBeTemplate, text.hasTemplateMark {
            words = ExpressionText.words(inTemplate: text)
        } else {
            return
        }
        for word in words {
            if self.words != nil {
                let (start, end) = source.positions(of: word.range, in: node)
                if node.alias == nil { self.words?.append((word, start, end)) }
            }
            guard case .declared(let name, let root) = word.kind, let kind = NameKind(root: root) else { continue }
            let (start, end) = source.positions(of: word.range, in: node)
            let owner: String? =
                switch kind {
                case .input: script
                case .result: self.owner
                case .button, .state, .variable, .script, .rule, .secret: nil
                }
            add(kind, name, owner: owner, from: start, to: end, isDeclaration: false)
        }
    }

    private mutating func addClicks(of entries: [YAMLNode.Entry]) {
        func texts(_ key: String) -> (texts: [String], start: SourcePosition, end: SourcePosition)? {
            guard let entry = entries.first(where: { $0.key.text == key }), entry.value.alias == nil else { return nil }
            let nodes = if case .sequence(let nodes) = entry.value.content { nodes } else { [entry.value] }
            return (nodes.compactMap(\.scalar), entry.key.start, entry.value.end)
        }
        guard let events = texts("event"), events.texts.contains("click"), let buttons = texts("button") else { return }
        clickTriggers.append(
            FileOutline.ClickTrigger(
                buttons: buttons.texts, start: events.start, end: events.end, triggers: triggers))
    }

    // MARK: Adding

    private mutating func add(_ kind: NameKind, _ name: String, at node: YAMLNode, isDeclaration: Bool) {
        add(
            kind, name, owner: kind == .result ? owner : nil, from: node.start, to: node.end,
            isDeclaration: isDeclaration)
    }

    private mutating func add(_ kind: NameKind, _ name: String, at key: YAMLNode.Key, isDeclaration: Bool) {
        add(
            kind, name, owner: kind == .input ? script : nil, from: key.start, to: key.end,
            isDeclaration: isDeclaration)
    }

    /// Adds a name without the quotes or the anchor before it. A name in which the file has an escape is left out.
    private mutating func add(
        _ kind: NameKind, _ name: String, owner: String?, from start: SourcePosition, to end: SourcePosition,
        isDeclaration: Bool
    ) {
        guard !name.isEmpty, let place = place(of: name, from: start, to: end) else { return }
        names.append(
            NameInFile(
                kind: kind, name: name, owner: owner, start: place,
                end: place.advanced(by: name.unicodeScalars.count), isDeclaration: isDeclaration))
    }

    /// Most names are exactly their node; only the others are searched for.
    private func place(of name: String, from start: SourcePosition, to end: SourcePosition) -> SourcePosition? {
        if start.line == end.line, end.column - start.column == name.unicodeScalars.count { return start }
        return source.find(name, from: start, to: end)
    }
}
