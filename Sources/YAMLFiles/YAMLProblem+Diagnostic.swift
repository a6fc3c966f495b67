package import Diagnostics
import Expressions

extension YAMLProblem {
    /// Translates libyaml's error into a message for authors of files.
    func diagnostic(in source: SourceText, of language: FileLanguage) -> Diagnostic {
        if let special = template(in: source, of: language) ?? tab(in: source) ?? missingSpace(in: source)
            ?? interrupted(in: source)
        {
            return special
        }
        let opened = contextPosition.map { "\($0.line):\($0.column)" } ?? "its start"
        switch problem {
        case "did not find expected ',' or ']'":
            return error(
                "expected ',' or ']' — the list opened at \(opened) is not closed", in: source,
                hint: separation(in: source))
        case "did not find expected ',' or '}'":
            return error(
                "expected ',' or '}' — the mapping opened at \(opened) is not closed", in: source,
                hint: separation(in: source))
        case "found unexpected end of stream", "found unexpected document indicator":
            return error("the quoted text opened at \(opened) is not closed", in: source, at: contextPosition)
        case "mapping values are not allowed in this context":
            if let key = indentedKey(ofLine: position.line, in: source, of: language) {
                return indented(key, in: source)
            }
            return error(
                "a \":\" is not expected here", in: source,
                hint: Hint("quote text that contains \": \"", source.quotingValue(inLineOf: position)))
        case "mapping keys are not allowed in this context":
            return error(
                "a \"?\" is not expected here", in: source,
                hint: Hint("quote text that begins with \"? \"", source.quoting(at: position)))
        case "did not find expected key":
            if contextPosition?.column == 1, let key = indentedKey(ofLine: position.line, in: source, of: language) {
                return indented(key, in: source)
            }
            return error(
                "expected a key of the mapping that began at \(opened)", in: source,
                hint: "keys of one mapping begin in the same column")
        case "did not find expected '-' indicator":
            if isSection(listBegunAt: contextPosition, in: source),
                let key = indentedKey(ofLine: position.line, in: source, of: language)
            {
                return indented(key, in: source)
            }
            return error(
                "expected \"- \" as in the list that began at \(opened)", in: source,
                hint: Hint(
                    "begin each entry with \"- \", in the same column as the others",
                    source.entry(at: position, ofListAt: contextPosition)))
        case "could not find expected ':'":
            let text = contextPosition.map { Substring(source.text(from: $0)) } ?? ""
            if let start = contextPosition, !text.contains(": "),
                let colon = text.unicodeScalars.firstIndex(of: ":")
            {
                let width = text.unicodeScalars.distance(from: text.unicodeScalars.startIndex, to: colon)
                return error(
                    MissingSpace.message, in: source, at: start.advanced(by: width),
                    hint: MissingSpace.hint(text, colon))
            }
            let end = contextPosition.map { $0.advanced(by: text.unicodeScalars.count) }
            let hint: Hint =
                text.contains(": ")
                ? "a key has at most 1024 characters"
                : Hint(
                    "a mapping is written key: value",
                    end.map { [.init(source.octets(from: $0, to: $0), ":", isGuess: true)] } ?? [])
            return error("expected \":\" after this", in: source, at: contextPosition, hint: hint)
        case "found unexpected ':'":
            return error(
                MissingSpace.message, in: source,
                hint: Hint("write a space between the colon and the bracket", replacing: ": "))
        case "block sequence entries are not allowed in this context":
            return error("a list entry is not expected here", in: source, hint: "begin the list on a line of its own")
        case "did not find expected node content":
            return error("a value is missing here", in: source)
        case "found character that cannot start any token":
            return cannotBegin(at: position, in: source)
        case "did not find expected alphabetic or numeric character":
            return cannotBegin(at: contextPosition ?? position, in: source)
        case "found unknown escape character":
            return error("unknown escape in double quotes", in: source, hint: escapes(in: source))
        case "did not find expected hexdecimal number":
            return error("an escape lacks its hexadecimal digits", in: source, hint: escapes(in: source))
        case "found invalid Unicode character escape code":
            return error("this escape is not a character", in: source, hint: escapes(in: source))
        case "found an indentation indicator equal to 0", "did not find expected comment or line break":
            return error(
                "a block of text begins on the next line", in: source,
                hint: Hint("quote text that begins with | or >", quotingBlock(in: source)))
        case "did not find expected <document start>":
            let first = (1...position.line).first { firstWord(ofLine: $0, in: source) != nil }
            if let first, first < position.line, let key = indentedKey(ofLine: first, in: source, of: language) {
                return indented(key, in: source)
            }
            return error("expected the end of the file", in: source, hint: "everything belongs to one mapping")
        case "found unknown directive name", "found incompatible YAML document", "found duplicate %YAML directive",
            "could not find expected directive name", "did not find expected digit or '.' character",
            "did not find expected version number":
            return error("this directive is not supported", in: source, code: "E113", at: contextPosition)
        case "found undefined tag handle", "did not find expected tag URI", "did not find the expected '>'",
            "did not find expected '!'", "did not find expected whitespace or line break":
            return error(
                "unknown tag", in: source, code: "E105", at: contextPosition,
                hint: Hint("quote text that begins with !", source.quoting(at: contextPosition ?? position)))
        default:
            return error(problem, in: source)
        }
    }

    /// The error for a key without a space after its colon in block style. YAML reads the key with its value as a text, which
    /// continues on the lines below, so libyaml finds the fault only at the colon of a later key:
    ///
    ///     - id:a
    ///       triggers: …
    ///
    /// A value in brackets, as in `triggers:{button: a, event: click}`, is a text up to the first colon with a space.
    private func missingSpace(in source: SourceText) -> Diagnostic? {
        switch problem {
        case "mapping values are not allowed in this context", "did not find expected key",
            "did not find expected <document start>":
            break
        default: return nil
        }
        guard let here = firstWord(ofLine: position.line, in: source) else { return nil }
        if let colon = MissingSpace.colon(in: here.text), ["{", "["].contains(here.text[colon...].dropFirst().first) {
            return missingSpace(here, colon, in: source)
        }
        var found: Diagnostic?
        for line in stride(from: position.line - 1, through: max(1, position.line - YAMLProblem.maximumLines), by: -1) {
            // A text continues over empty lines, and comments may stand between the keys of a file.
            guard let above = firstWord(ofLine: line, in: source) else { continue }
            guard above.start.column == here.start.column, let colon = MissingSpace.colon(in: above.text) else { break }
            found = missingSpace(above, colon, in: source)
        }
        return found
    }

    /// The most lines above a fault in which its cause is looked for.
    private static let maximumLines = 100

    private func missingSpace(
        _ key: (text: String, start: SourcePosition), _ colon: String.Index, in source: SourceText
    ) -> Diagnostic {
        error(
            MissingSpace.message, in: source, at: key.start.advanced(by: key.text[..<colon].unicodeScalars.count),
            hint: MissingSpace.hint(key.text, colon))
    }

    /// The rest of a line from its first word on, without indentation, dashes of lists and a comment; `nil` without a word.
    private func firstWord(ofLine line: Int, in source: SourceText) -> (text: String, start: SourcePosition)? {
        let text = source.text(from: SourcePosition(line: line, column: 1))
        var rest = text.drop { $0 == " " }
        while rest.first == "-", rest.dropFirst().first == " " { rest = rest.dropFirst().drop { $0 == " " } }
        guard let first = rest.first, first != "#" else { return nil }
        var word = Substring(rest)
        if let comment = word.firstRange(of: " #") { word = word[..<comment.lowerBound] }
        return (String(word), SourcePosition(line: line, column: text.count - rest.count + 1))
    }

    /// The key of the file that a line begins with, if it is indented.
    private func indentedKey(
        ofLine number: Int, in source: SourceText, of language: FileLanguage
    ) -> (text: String, start: SourcePosition)? {
        let line = source.text(from: SourcePosition(line: number, column: 1))
        let indentation = line.prefix { $0 == " " }.count
        let text = String(Substring(line.dropFirst(indentation).prefix { $0 != ":" }))
        guard indentation > 0, language.file.key(text) != nil, !language.keysAlsoInside.contains(text) else {
            return nil
        }
        return (text, SourcePosition(line: number, column: indentation + 1))
    }

    private func indented(_ key: (text: String, start: SourcePosition), in source: SourceText) -> Diagnostic {
        error(
            "\"\(key.text)\" is indented", in: source, at: key.start, hint: source.withoutIndentation(at: key.start))
    }

    /// True if the list is the value of a key in column 1, as that of `rules:` is. The keys of the file have other meanings in
    /// lists further inside, such as `variables:` in a test.
    private func isSection(listBegunAt start: SourcePosition?, in source: SourceText) -> Bool {
        guard let start, start.line > 1 else { return false }
        for line in stride(from: start.line - 1, through: max(1, start.line - YAMLProblem.maximumLines), by: -1) {
            if let above = firstWord(ofLine: line, in: source) { return above.start.column == 1 }
        }
        return false
    }

    private func escapes(in source: SourceText) -> Hint {
        let before = source.octets(before: position.advanced(by: 1))
        let backslash = source.octets[before].lastIndex(of: UInt8(ascii: "\\"))
        return Hint(
            "write \\\\ for a backslash, or use single quotes", backslash.map { [.init($0..<$0 + 1, "\\\\")] } ?? [])
    }

    private func error(
        _ message: String, in source: SourceText, code: String = "E101", at location: SourcePosition? = nil,
        width: Int = 1,
        hint: Hint? = nil
    ) -> Diagnostic {
        let start = location ?? position
        let end = start.advanced(by: width)
        return Diagnostic(
            severity: .error, code: code, file: source.name, start: start, end: end, message: message,
            hint: hint?.sentence, changes: hint.map { source.changes($0, from: start, to: end) } ?? [])
    }

    private func cannotBegin(at location: SourcePosition, in source: SourceText) -> Diagnostic {
        let character = source.text(from: location).first.map { String($0) } ?? ""
        return error(
            "a plain text cannot begin with \"\(character)\"", in: source, at: location,
            hint: Hint("quote it", source.quoting(at: location)))
    }

    /// Puts a text in quotes that begins with `|` or `>`, after which libyaml has found the fault.
    private func quotingBlock(in source: SourceText) -> [Hint.Change] {
        let before = source.octets(before: position)
        let mark = source.octets[before].lastIndex { $0 == UInt8(ascii: "|") || $0 == UInt8(ascii: ">") }
        return mark.map { source.quoting(at: source.position(of: $0)) } ?? []
    }

    /// Puts a text in quotes that stands in brackets and itself contains those at the position.
    private func quotingBrackets(in source: SourceText) -> [Hint.Change] {
        let before = source.octets(before: position)
        let separators: [UInt8] = [UInt8(ascii: ","), UInt8(ascii: "{"), UInt8(ascii: "["), UInt8(ascii: ":")]
        guard let separator = source.octets[before].lastIndex(where: separators.contains) else { return [] }
        let text = source.octets[(separator + 1)...].firstLine.drop { $0 == 0x20 }
        var depth = 0
        let end = text.firstIndex { octet in
            if octet == UInt8(ascii: "[") || octet == UInt8(ascii: "{") { depth += 1 }
            if octet == UInt8(ascii: "]") || octet == UInt8(ascii: "}") { depth -= 1 }
            return depth < 0 || depth == 0 && octet == UInt8(ascii: ",")
        }
        return source.quoting(text[..<(end ?? text.endIndex)]).map { [$0] } ?? []
    }

    /// A hint why a list or a mapping in brackets is not closed where libyaml expects it.
    private func separation(in source: SourceText) -> Hint? {
        let before = source.text(before: position).last { $0 != " " }
        let next = source.text(from: position).first
        switch (before, next) {
        case ("}", "{"), ("]", "["), ("}", "["), ("]", "{"):
            let gap = source.octets(before: position)
            let end = source.octets[gap].lastIndex { $0 != 0x20 }.map { $0 + 1 } ?? gap.upperBound
            return Hint("put a comma between the two", [.init(end..<end, ",", isGuess: true)])
        case (_, "["), (_, "{"):
            return Hint("quote text and expressions with brackets in them", quotingBrackets(in: source))
        default: return nil
        }
    }

    /// The error for text after a closing quote or bracket: in `"ON" == states.lamp`, YAML ends the value at the second
    /// quote.
    private func interrupted(in source: SourceText) -> Diagnostic? {
        switch problem {
        case "did not find expected ',' or ']'", "did not find expected ',' or '}'", "did not find expected key",
            "did not find expected '-' indicator":
            break
        default: return nil
        }
        let next = source.text(from: position).first
        let before = source.text(before: position)
        guard let end = before.last(where: { $0 != " " }), next != "[", next != "{" else { return nil }
        switch end {
        case "'" where before.last == "'":
            return error(
                "more text after a closing quote", in: source,
                hint: Hint(
                    "inside single quotes write '' for a quote",
                    [.init(source.octets(from: position, to: position), "'", isGuess: true)]))
        case "\"", "'":
            return error(
                "more text after a closing quote", in: source,
                hint: Hint("quote the text as a whole, an expression too", source.quotingValue(inLineOf: position)))
        case "]", "}":
            return error(
                "more text after a closing bracket", in: source,
                hint: Hint("quote the text as a whole, an expression too", source.quotingValue(inLineOf: position)))
        default: return nil
        }
    }

    /// The error for a template without quotes, `topic: {{ x }}/set` or `{% if x %}`, which libyaml reads as a mapping.
    private func template(in source: SourceText, of language: FileLanguage) -> Diagnostic? {
        let before = String(Substring(source.text(before: position)))
        if before.hasSuffix("{"), source.text(from: position).first == "%" {
            let start = position.advanced(by: -1)
            return error(
                "{% … %} is not supported", in: source, code: "E408", at: start, width: 2,
                hint: language.statementHint ?? Hint("quote it", source.quoting(at: start)))
        }
        // Inside brackets, plain text ends before the braces: `{topic: home/{{ x }}}`.
        let isAtBraces = source.text(from: position).starts(with: "{{".unicodeScalars)
        let lineStart = SourcePosition(line: position.line, column: 1)
        guard
            let start = isAtBraces
                ? source.startOfText(before: position)
                : source.find(": {{", from: lineStart, to: position)?.advanced(by: 2)
        else { return nil }
        return source.unquotedTemplate(at: start)
    }

    private func tab(in source: SourceText) -> Diagnostic? {
        let line = source.line(position.line)
        let indentation = line.prefix { $0 == 0x20 || $0 == 0x09 || $0 == UInt8(ascii: "-") }
        guard let tab = indentation.firstIndex(of: 0x09) else { return nil }
        let start = SourcePosition(line: position.line, column: tab - line.startIndex + 1)
        return error(Hint.tabMessage, in: source, code: "E102", at: start, hint: .spacesForTab)
    }
}

extension SourceText {
    /// The diagnostic for a template that needs quotes (E111), from its start to where a reader would see its end.
    func unquotedTemplate(at start: SourcePosition) -> Diagnostic {
        let rest = text(from: start)
        var end = rest.startIndex
        if let braces = Substring(rest).firstRange(of: "}}") {
            end =
                rest[braces.upperBound...].firstIndex { $0 == "," || $0 == "]" || $0 == "}" || $0 == "#" }
                ?? rest.endIndex
        }
        let template = rest[..<end].reversed().drop { $0 == " " }.reversed()
        let text = String(String.UnicodeScalarView(template))
        let message = "put quotes around the template"
        let templateEnd = start.advanced(by: max(2, template.count))
        // The message says itself what to do.
        let hint = Hint(nil, quotingTemplate(from: start, to: templateEnd))
        return Diagnostic(
            severity: .error, code: "E111", file: name, start: start, end: templateEnd,
            message: text.isEmpty ? message : "\(message): \"\(Checker.shown(text))\"",
            changes: changes(hint, from: start, to: templateEnd))
    }

    /// The part of a line before a position, at most its last 200 characters.
    package func text(before position: SourcePosition) -> Substring.UnicodeScalarView {
        let width = min(position.column - 1, 200)
        return text(from: position.advanced(by: -width)).prefix(width)
    }

    /// The start of the plain text, in brackets, that ends before a position.
    fileprivate func startOfText(before position: SourcePosition) -> SourcePosition {
        var width = 0
        for scalar in text(before: position).reversed() {
            guard scalar != " ", scalar != ",", scalar != "[", scalar != "{" else { break }
            width += 1
        }
        return position.advanced(by: -width)
    }
}
