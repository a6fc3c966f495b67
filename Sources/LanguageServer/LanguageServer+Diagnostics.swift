import Diagnostics
import JSON
import RuleLoader
import YAMLFiles

extension LanguageServer {
    /// Sends the diagnostics of the files for which they have changed.
    ///
    /// - Parameters:
    ///   - versions: the versions of the documents that were checked.
    ///   - changed: the documents that were changed since. Positions in their texts before the change mean nothing in the
    ///     editor, and they are checked again.
    mutating func publish(versions: [String: Int64], except changed: Set<String> = []) {
        var diagnostics: [String: [Diagnostic]] = [:]
        // A file may belong to two sets, which say the same about it.
        var known: Set<Diagnostic> = []
        var files: [String: SourceFile] = [:]
        let all = sets.all
        for set in all {
            for file in set.files + set.allSecrets where files[file.name] == nil {
                files[file.name] = file
            }
            let prefix = shownPrefix(of: set)
            for diagnostic in set.diagnostics {
                let short = diagnostic.removing(directory: prefix)
                guard all.count == 1 || known.insert(short).inserted else { continue }
                diagnostics[diagnostic.file, default: []].append(short)
            }
        }
        for path in Set(published.keys).union(files.keys).sorted() {
            let file = files[path]
            let document = documentPath(of: file, path)
            guard !changed.contains(document) else { continue }
            let lines = TextLines(file?.text ?? [])
            let list = (diagnostics[path] ?? []).map { json($0, lines, files) }
            // An editor that has no diagnostics of a file needs no empty list.
            guard published[path] ?? .array([]) != .array(list) else { continue }
            published[path] = list.isEmpty ? nil : .array(list)
            var parameters: [JSONValue.Member] = [.init("uri", .string(uri(of: document)))]
            if let version = versions[document] { parameters.append(.init("version", .integer(version))) }
            parameters.append(.init("diagnostics", .array(list)))
            send([
                "jsonrpc": "2.0", "method": "textDocument/publishDiagnostics", "params": .object(parameters),
            ])
        }
    }

    /// The part of paths in the texts of diagnostics that is not shown.
    private func shownPrefix(of set: CheckedSet) -> String {
        PathText.join(PathText.directory(of: PathText.directory(of: set.entry.name)), "")
    }

    /// A diagnostic of a set as the editor has it.
    ///
    /// - Parameter lines: the lines of its file.
    func shown(_ diagnostic: Diagnostic, of set: CheckedSet, _ lines: TextLines) -> JSONValue {
        let files = Dictionary(set.files.map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first })
        return json(diagnostic.removing(directory: shownPrefix(of: set)), lines, files)
    }

    /// The path under which the editor has a file open, which may contain symbolic links.
    func documentPath(of file: SourceFile?, _ path: String) -> String {
        guard documents[path] == nil, let identity = file?.identity, documents[identity] != nil else { return path }
        return identity
    }

    private func json(_ diagnostic: Diagnostic, _ lines: TextLines, _ files: [String: SourceFile]) -> JSONValue {
        var message = diagnostic.message
        var related: [JSONValue] = []
        let range = range(diagnostic.start, diagnostic.end, lines)
        if client.hasRelatedInformation {
            if let hint = diagnostic.hint {
                related.append([
                    "location": ["uri": .string(uri(of: diagnostic.file)), "range": range], "message": .string(hint),
                ])
            }
            for note in diagnostic.related {
                let lines = note.file == diagnostic.file ? lines : TextLines(files[note.file]?.text ?? [])
                related.append([
                    "location": [
                        "uri": .string(uri(of: note.file)), "range": self.range(note.position, note.position, lines),
                    ],
                    "message": .string(note.message),
                ])
            }
        } else if let hint = diagnostic.hint {
            message += "\n\(hint)"
        }
        var members: [JSONValue.Member] = [
            .init("range", range), .init("severity", diagnostic.severity == .error ? 1 : 2),
            .init("code", .string(diagnostic.code)), .init("source", "tryck"), .init("message", .string(message)),
        ]
        if !related.isEmpty { members.append(.init("relatedInformation", .array(related))) }
        return .object(members)
    }

    /// The range between two positions of a diagnostic. An empty one at the end of the text stays empty.
    func range(_ start: SourcePosition, _ end: SourcePosition, _ lines: TextLines) -> JSONValue {
        let first = lines.position(of: start, client.encoding)
        let last = lines.position(of: max(start, end), client.encoding)
        return ["start": first.json, "end": last.json]
    }
}

extension Diagnostic {
    /// The diagnostic with paths in its texts that are relative to a directory, as the command line shows them.
    fileprivate func removing(directory: String) -> Diagnostic {
        guard directory.utf8.count > 1 else { return self }
        var diagnostic = self
        diagnostic.message = message.removing(directory)
        diagnostic.hint = hint?.removing(directory)
        return diagnostic
    }
}

extension String {
    fileprivate func removing(_ text: String) -> String {
        guard contains(text) else { return self }
        return split(separator: text, omittingEmptySubsequences: false).joined()
    }
}
