import ButtonModel
import Expressions
import JSON
import RuleLoader
import Rules

/// A completion before it becomes JSON.
private struct Completion {
    /// The raw values are those of `CompletionItemKind`.
    enum Kind: Int64 {
        case function = 3
        case field = 5
        case variable = 6
        case property = 10
        case value = 12
        case keyword = 14
        case snippet = 15
        case file = 17
        case reference = 18
        case folder = 19
    }

    var label: String
    var kind: Kind
    var detail: String?
    var documentation: String?
    /// The text to insert; `nil`: the label.
    var text: String?
    var isSnippet = false
    /// Items are shown in this order, and those with equal numbers in the order of their labels.
    var order = 1
}

extension LanguageServer {
    /// The most items of one answer. With more, the editor asks again when the user has typed another character.
    private static let maximumItems = 1_000

    /// - Returns: `nil` if the answer has to wait for names of files, which this requests.
    mutating func completion(_ parameters: JSONValue, id: JSONValue) throws(ResponseError) -> JSONValue? {
        let (path, document) = try document(parameters)
        let position = try position(parameters)
        let lines = document.lines
        guard position.line < lines.count else { return [] }
        let offset = lines.offset(of: position, client.encoding)
        guard
            let place = EditPlace(
                document.octets, lineStart: lines.start(of: position.line), offset: offset, in: document.kind)
        else { return [] }
        let start = offset - place.prefix.utf8.count
        let range: JSONValue = [
            "start": lines.position(ofOffset: start, client.encoding).json,
            "end": lines.position(ofOffset: offset, client.encoding).json,
        ]
        if place.isIncludedFile { return include(place.prefix, path, range, id: id) }
        return answer(
            completions(at: place, path), place.prefix, range, hasCRLF: document.octets.endsLinesWithCRLF)
    }

    /// - Parameter hasCRLF: true if CR and LF end the lines of the document.
    private func answer(
        _ all: [Completion], _ prefix: String, _ range: JSONValue, hasCRLF: Bool = false
    ) -> JSONValue {
        let all = all.filter { $0.label.hasPrefixIgnoringCase(prefix) }
        return [
            "isIncomplete": .bool(all.count > Self.maximumItems),
            "items": .array(all.prefix(Self.maximumItems).map { item($0, range, hasCRLF: hasCRLF) }),
        ]
    }

    // MARK: Files

    /// Requests the names in the directory of an unfinished path in `include`. Paths that leave the directory of the rules
    /// are not completed, because the loader refuses them.
    private mutating func include(_ prefix: String, _ path: String, _ range: JSONValue, id: JSONValue) -> JSONValue? {
        let folder = prefix.utf8.lastIndex(of: UInt8(ascii: "/")).map { String(prefix[...$0]) } ?? ""
        guard !folder.hasPrefix("/"), !folder.split(separator: "/").contains("..") else { return [] }
        listing = Listing(id: id, folder: folder, path: path, prefix: prefix, range: range)
        effects.append(.find(.names(directory: PathPattern.path(folder + ".", relativeTo: path))))
        return nil
    }

    /// Completes a path in `include` with the rules files and directories of a directory.
    func answer(_ listing: Listing, _ names: [String]) -> JSONValue {
        let included = Set(lastCompleteSet(of: listing.path)?.names(of: listing.path)?.included ?? [])
        let others: Set<Substring> = ["secrets.yaml", "tryck.yaml", PathText.name(of: listing.path)]
        let paths = names.sorted().filter { name in
            name.hasSuffix("/") || name.hasSuffix(".yaml") && !(listing.folder.isEmpty && others.contains(name[...]))
        }.map { listing.folder + $0 }
        return answer(
            paths.filter { !included.contains($0) }.map {
                Completion(label: $0, kind: $0.hasSuffix("/") ? .folder : .file)
            }, listing.prefix, listing.range)
    }

    private func item(_ completion: Completion, _ range: JSONValue, hasCRLF: Bool) -> JSONValue {
        let text = completion.text ?? completion.label
        var members: [JSONValue.Member] = [
            .init("label", .string(completion.label)), .init("kind", .integer(completion.kind.rawValue)),
            .init("sortText", .string("\(completion.order)\(completion.label)")),
            .init("textEdit", ["range": range, "newText": .string(hasCRLF ? text.withCRLF : text)]),
        ]
        if let detail = completion.detail { members.append(.init("detail", .string(detail))) }
        if let text = completion.documentation {
            members.append(.init("documentation", markup(text, isMarkdown: client.hasMarkdownInCompletions)))
        }
        if completion.isSnippet { members.append(.init("insertTextFormat", 2)) }
        return .object(members)
    }

    private mutating func completions(at place: EditPlace, _ path: String) -> [Completion] {
        let set = lastCompleteSet(of: path)?.readable
        var items: [Completion] = []
        if let names = place.path { items += expression(names, place, path, set) }
        items += place.tags.map { Completion(label: $0, kind: .keyword, text: $0 + " ") }
        // After a dot, only names of the expression are possible.
        guard (place.path?.count ?? 1) == 1 else { return items }
        let dash = place.needsDash ? "- " : ""
        for key in place.keys {
            items.append(
                Completion(
                    label: key.name, kind: .property, detail: key.type, documentation: key.markdown,
                    text: dash + key.name + (key.form == .text ? ": " : ":"), order: key.isRequired ? 0 : 1))
        }
        if place.key?.name == "event", let set, !place.buttons.isEmpty {
            let events = ModelEvents.names(of: place.buttons, in: set)
            items += place.words.filter(events.contains).map { Completion(label: $0, kind: .value) }
        } else {
            items += place.words.map { Completion(label: $0, kind: .value) }
        }
        for kind in place.names {
            items += declared(kind, place, path, set).map { name in
                Completion(
                    label: name.name, kind: .reference, detail: name.detail,
                    text: place.namesAreKeys ? name.name + ": " : nil, order: 0)
            }
        }
        if place.isEnvironmentVariable {
            // Only names are offered, so that the editor does not show the values.
            items += variables.keys.sorted().map { Completion(label: $0, kind: .variable) }
        }
        if place.isTopic {
            items += topics(path).map { Completion(label: $0, kind: .value, detail: "a topic of these rules") }
        }
        if let entry = place.entry, client.hasSnippets {
            let button = set?.buttons.first?.name ?? "button"
            items += Snippets.snippets(for: entry, button: button).map { snippet in
                Completion(
                    label: snippet.label, kind: .snippet, detail: snippet.detail, text: dash + snippet.body,
                    isSnippet: true, order: 2)
            }
        }
        return items
    }

    /// The topics that are written in the files of a set, at its last check. Values of secrets are none of them.
    func topics(_ path: String) -> [String] {
        var topics: Set<String> = []
        for names in lastCompleteSet(of: path)?.names.values ?? [:].values { topics.formUnion(names.topics) }
        return topics.sorted()
    }

    // MARK: Names

    /// The names of a kind that may be used at a place, with what they are.
    private func declared(
        _ kind: NameKind, _ place: EditPlace, _ path: String, _ set: RuleSet?
    ) -> [(name: String, detail: String?)] {
        if kind == .secret {
            let file = self.set(of: path)?.secrets(for: path)
            return (file.map(FileOutline.secrets) ?? []).map { ($0.name, "secret") }
        }
        guard let set else { return [] }
        switch kind {
        case .button:
            let includesGroups = place.path == nil && place.includesGroups
            return set.buttons.map { ($0.name, $0.model.rawValue) }
                + (includesGroups ? set.groups.keys.sorted().map { ($0, "group") } : [])
        case .state:
            let written = Set(topics(path))
            return set.states.map { ($0.name, written.contains($0.topicName) ? $0.topicName : "state") }
        case .variable: return set.variables.map { ($0.name, $0.type.rawValue) }
        case .script: return set.scripts.map { ($0.name, "script") }
        case .rule: return set.rules.map { ($0.id, $0.alias) }
        case .input:
            let scripts = set.scripts.filter { place.script == nil || $0.name == place.script }
            return Set(scripts.flatMap { $0.inputs.map(\.name) }).sorted().map { ($0, "input") }
        case .secret: return []
        case .result:
            return (lastCompleteSet(of: path)?.names(of: path)?.results ?? []).map { ($0, "result") }
        }
    }

    // MARK: Expressions

    /// The completions that may follow a path of names in an expression.
    private func expression(
        _ names: [String], _ place: EditPlace, _ path: String, _ set: RuleSet?
    ) -> [Completion] {
        guard let first = names.first, names.count > 1 else {
            return Root.allCases.map {
                Completion(label: $0.rawValue, kind: .variable, detail: $0.summary)
            }
                + Function.allCases.map {
                    Completion(
                        label: $0.rawValue, kind: .function, detail: $0.usage, documentation: $0.description.summary,
                        text: $0.rawValue + "(")
                } + ExpressionText.keywords.map { Completion(label: $0, kind: .keyword, order: 2) }
        }
        guard let root = Root(rawValue: first) else { return [] }
        func fields(_ fields: [FieldDescription]) -> [Completion] {
            fields.map {
                Completion(label: $0.name, kind: .field, detail: $0.type.description, documentation: $0.summary)
            }
        }
        switch root.shape {
        case .fields(let own): return names.count == 2 ? fields(own) : []
        case .declaredWithFields(let own) where names.count == 3: return fields(own)
        case .declared, .declaredWithFields:
            guard names.count == 2, let kind = NameKind(root: root) else { return [] }
            return declared(kind, place, path, set).map {
                Completion(label: $0.name, kind: .reference, detail: $0.detail, order: 0)
            }
        }
    }
}

extension String {
    fileprivate func hasPrefixIgnoringCase(_ prefix: String) -> Bool {
        prefix.isEmpty || lowercased().hasPrefix(prefix.lowercased())
    }
}

extension KeyDescription {
    /// The description as Markdown, for completion and hovering.
    var markdown: String {
        var text = "**\(name)**\(isRequired ? " (required)" : "") in \(table): \(summary)\n\n*Type:* \(type)"
        if let defaultValue { text += "\n\n*Default:* \(defaultValue)" }
        if let example { text += "\n\n*Example:* `\(name): \(example)`" }
        return text
    }
}
