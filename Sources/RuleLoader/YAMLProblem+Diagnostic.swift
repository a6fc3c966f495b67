import Diagnostics

extension YAMLProblem {
    /// libyaml's complaint in words for people.
    func diagnostic(in source: SourceText) -> Diagnostic {
        if let template = unquotedTemplate(in: source) { return template }
        if let tab = tab(in: source) { return tab }
        let opened = contextPosition.map { "\($0.line):\($0.column)" } ?? "its start"
        switch problem {
        case "did not find expected ',' or ']'":
            return error("expected ',' or ']' — the list opened at \(opened) is not closed", in: source)
        case "did not find expected ',' or '}'":
            return error("expected ',' or '}' — the mapping opened at \(opened) is not closed", in: source)
        case "found unexpected end of stream":
            return error("the quoted text opened at \(opened) is not closed", in: source, at: contextPosition)
        case "mapping values are not allowed in this context":
            return error("a \":\" is not expected here", in: source, hint: "quote text that contains \": \"")
        case "did not find expected key":
            return error(
                "expected a key of the mapping that began at \(opened)", in: source,
                hint: "keys of one mapping begin in the same column; a text in quotes ends at its quote")
        case "did not find expected '-' indicator":
            return error(
                "expected \"- \" as in the list that began at \(opened)", in: source,
                hint: "entries of one list begin in the same column")
        case "could not find expected ':'":
            return error(
                "expected \":\" after this", in: source, at: contextPosition, hint: "a mapping is written key: value")
        case "block sequence entries are not allowed in this context":
            return error("a list entry is not expected here", in: source, hint: "begin the list on a line of its own")
        case "did not find expected node content":
            return error("a value is missing here", in: source)
        case "found character that cannot start any token":
            let character = source.text(from: position).first.map { String($0) } ?? ""
            return error("a plain text cannot begin with \"\(character)\"", in: source, hint: "quote it")
        case "found unknown escape character":
            return error(
                "unknown escape in double quotes", in: source, hint: "write \\\\ for a backslash, or use single quotes")
        case "did not find expected <document start>":
            return error("expected the end of the file", in: source, hint: "everything belongs to one mapping")
        case "found unknown directive name", "found incompatible YAML document":
            return error("this directive is not supported", in: source, code: "E113", at: contextPosition)
        case "found undefined tag handle":
            return error("unknown tag", in: source, code: "E105", hint: "quote text that begins with !")
        default:
            return error(problem, in: source)
        }
    }

    private func error(
        _ message: String, in source: SourceText, code: String = "E101", at place: SourcePosition? = nil,
        hint: String? = nil
    ) -> Diagnostic {
        let start = place ?? position
        return Diagnostic(
            severity: .error, code: code, file: source.name, start: start, end: start.advanced(by: 1),
            message: message, hint: hint)
    }

    /// `topic: {{ x }}/set`: libyaml sees a mapping and stumbles over what follows it.
    private func unquotedTemplate(in source: SourceText) -> Diagnostic? {
        let lineStart = SourcePosition(line: position.line, column: 1)
        guard let start = source.find(": {{", from: lineStart, to: position)?.advanced(by: 2) else { return nil }
        let text = String(Substring(source.text(from: start)))
        return Diagnostic(
            severity: .error, code: "E111", file: source.name, start: start,
            end: start.advanced(by: text.unicodeScalars.count),
            message: "put quotes around the template: \"\(text)\"")
    }

    private func tab(in source: SourceText) -> Diagnostic? {
        let line = source.line(position.line)
        let indentation = line.prefix { $0 == 0x20 || $0 == 0x09 }
        guard let tab = indentation.firstIndex(of: 0x09) else { return nil }
        let start = SourcePosition(line: position.line, column: tab - line.startIndex + 1)
        return Diagnostic(
            severity: .error, code: "E102", file: source.name, start: start, end: start.advanced(by: 1),
            message: "a tab is used for indentation", hint: "YAML allows only spaces")
    }
}
