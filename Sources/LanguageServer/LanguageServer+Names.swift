import Diagnostics
import JSON
import RuleLoader
import YAMLFiles

extension LanguageServer {
    // MARK: Definition and references

    mutating func definition(_ parameters: JSONValue) throws(ResponseError) -> JSONValue {
        let (path, document) = try document(parameters)
        let position = document.lines.sourcePosition(of: try position(parameters), client.encoding)
        if document.kind == .configuration { return settingDefinition(path, document, position) }
        guard let outline = outline(of: path, document) else { return .null }
        if let name = outline.name(at: position) {
            return .array(occurrences(of: name, path).filter(\.name.isDeclaration).map(location))
        }
        let inclusion = outline.inclusions.first { $0.start <= position && position <= $0.end }
        guard let inclusion else { return .null }
        let pattern = PathPattern(PathPattern.path(inclusion.pattern.text, relativeTo: path))
        let found = files(of: path).filter { file in
            file.name != path && (pattern.isLiteral ? pattern.text == file.name : pattern.matches(file.name))
        }
        return .array(found.map { beginning(of: $0.name) })
    }

    /// The file that `rules` of a `tryck.yaml` names, or the line of a secret.
    private mutating func settingDefinition(
        _ path: String, _ document: OpenDocument, _ position: SourcePosition
    ) -> JSONValue {
        let file = SourceFile(name: path, text: document.octets)
        guard let outline = outlines.outline(of: file).outline else { return .null }
        if let secret = outline.secret(at: position) {
            return .array(occurrences(of: secret, path).filter(\.name.isDeclaration).map(location))
        }
        guard outline.isRulesPath(at: position), let entry = set(of: path)?.entry.name, entry != path else {
            return .null
        }
        return .array([beginning(of: entry)])
    }

    private func beginning(of path: String) -> JSONValue {
        let start: JSONValue = ["line": 0, "character": 0]
        return ["uri": .string(uri(of: path)), "range": ["start": start, "end": start]]
    }

    mutating func references(_ parameters: JSONValue) throws(ResponseError) -> JSONValue {
        let (path, document) = try document(parameters)
        let position = document.lines.sourcePosition(of: try position(parameters), client.encoding)
        guard let name = outline(of: path, document)?.name(at: position) else { return .null }
        let includesDeclaration = parameters["context"]?["includeDeclaration"]?.boolValue ?? true
        let found = occurrences(of: name, path).filter { includesDeclaration || !$0.name.isDeclaration }
        return .array(found.map(location))
    }

    /// A name in one file of a set.
    struct Occurrence {
        var name: NameInFile
        var path: String
        var lines: TextLines
    }

    /// All places of a name in the files of a set, in the order of the files.
    mutating func occurrences(of name: NameInFile, _ path: String) -> [Occurrence] {
        var found: [Occurrence] = []
        for file in files(of: path) {
            let (outline, lines) = outlines.outline(of: file)
            guard let outline else { continue }
            var places: Set<SourcePosition> = []
            for other in outline.names where other.means(name) && places.insert(other.start).inserted {
                found.append(Occurrence(name: other, path: documentPath(of: file, file.name), lines: lines))
            }
        }
        if name.kind == .secret, let secrets = set(of: path)?.secrets(for: path) {
            let lines = TextLines(secrets.text)
            for other in FileOutline.secrets(in: secrets) where other.name == name.name {
                found.append(Occurrence(name: other, path: secrets.name, lines: lines))
            }
        }
        return found
    }

    private func location(_ occurrence: Occurrence) -> JSONValue {
        [
            "uri": .string(uri(of: occurrence.path)),
            "range": range(occurrence.name.start, occurrence.name.end, occurrence.lines),
        ]
    }

    mutating func outline(of path: String, _ document: OpenDocument) -> FileOutline? {
        guard document.kind == .rules else { return nil }
        return outlines.outline(of: SourceFile(name: path, text: document.octets)).outline
    }

    // MARK: Renaming

    mutating func prepareRename(_ parameters: JSONValue) throws(ResponseError) -> JSONValue {
        let (path, document) = try document(parameters)
        let position = document.lines.sourcePosition(of: try position(parameters), client.encoding)
        guard let name = outline(of: path, document)?.name(at: position), name.kind != .secret else { return .null }
        return ["range": range(name.start, name.end, document.lines), "placeholder": .string(name.name)]
    }

    mutating func rename(_ parameters: JSONValue) throws(ResponseError) -> JSONValue {
        let (path, document) = try document(parameters)
        let position = document.lines.sourcePosition(of: try position(parameters), client.encoding)
        guard let newName = parameters["newName"]?.stringValue else {
            throw ResponseError(.invalidParams, "newName is missing.")
        }
        guard let outline = outline(of: path, document) else {
            throw ResponseError(.requestFailed, "Nothing can be renamed while the file is not valid YAML.")
        }
        guard let name = outline.name(at: position), name.kind != .secret else {
            throw ResponseError(.requestFailed, "There is no name here that can be changed.")
        }
        guard NameInFile.isDeclarable(newName) else {
            throw ResponseError(
                .requestFailed,
                "A name has at most 64 of a-z, 0-9 and _, begins with a letter, and is not a word of the language.")
        }
        for file in files(of: path) where outlines.outline(of: file).outline == nil {
            throw ResponseError(.requestFailed, "\(file.name) is not valid YAML, so its names are not known.")
        }
        // Names are found in an expression only up to the part that cannot be read.
        if let fault = set(of: path)?.diagnostics.first(where: { $0.code == "E401" || $0.code == "E408" }) {
            throw ResponseError(
                .requestFailed,
                "\(fault.file):\(fault.start.line) has an expression that cannot be read, so its names are not known.")
        }
        var wanted = name
        wanted.name = newName
        guard newName == name.name || occurrences(of: wanted, path).isEmpty else {
            throw ResponseError(.requestFailed, "The name \(newName) is already used for a \(name.kind.rawValue).")
        }
        return workspaceEdit(
            occurrences(of: name, path).map { occurrence in
                let range = range(occurrence.name.start, occurrence.name.end, occurrence.lines)
                return (occurrence.path, ["range": range, "newText": .string(newName)])
            })
    }

    /// An edit of several files.
    func workspaceEdit(_ edits: [(path: String, edit: JSONValue)]) -> JSONValue {
        var paths: [String] = []
        var byPath: [String: [JSONValue]] = [:]
        for (path, edit) in edits {
            if byPath[path] == nil { paths.append(path) }
            byPath[path, default: []].append(withLineEnds(edit, path))
        }
        guard client.hasDocumentChanges else {
            return ["changes": .object(paths.map { .init(uri(of: $0), .array(byPath[$0] ?? [])) })]
        }
        return [
            "documentChanges": .array(
                paths.map { path in
                    let version = documents[path]?.version.map(JSONValue.integer) ?? .null
                    return [
                        "textDocument": ["uri": .string(uri(of: path)), "version": version],
                        "edits": .array(byPath[path] ?? []),
                    ]
                })
        ]
    }

    /// An edit whose text has the line ends of the document, which are those of its first line.
    private func withLineEnds(_ edit: JSONValue, _ path: String) -> JSONValue {
        guard let octets = documents[path]?.octets ?? set(of: path)?.file(path)?.text, octets.endsLinesWithCRLF,
            let text = edit["newText"]?.stringValue, let range = edit["range"]
        else { return edit }
        return ["range": range, "newText": .string(text.withCRLF)]
    }
}

extension [UInt8] {
    /// True if CR and LF end the first line.
    var endsLinesWithCRLF: Bool {
        firstIndex(of: UInt8(ascii: "\n")).map { $0 > 0 && self[$0 - 1] == UInt8(ascii: "\r") } ?? false
    }
}

extension String {
    /// The text with CR and LF in place of each LF that stands alone.
    var withCRLF: String {
        // CR and LF together are one character.
        reduce(into: "") { text, character in text += character == "\n" ? "\r\n" : String(character) }
    }
}
