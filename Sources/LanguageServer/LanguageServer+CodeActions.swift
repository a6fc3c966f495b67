import Diagnostics
import JSON
import RuleLoader
import YAMLFiles

extension LanguageServer {
    /// The most changes that one request tries, because each of them is a check of the set.
    private static let maximumTriedChanges = 20
    /// The octets of a set up to which a change is tried before it is offered.
    private static let maximumTriedLength = 1 << 20

    mutating func codeActions(_ parameters: JSONValue) throws(ResponseError) -> JSONValue {
        let (path, document) = try document(parameters)
        guard let start = TextLines.Position(parameters["range"]?["start"]),
            let end = TextLines.Position(parameters["range"]?["end"])
        else { throw ResponseError(.invalidParams, "range is missing or not a range.") }
        let kinds = parameters["context"]?["only"]?.arrayValue?.compactMap(\.stringValue)
        var actions: [JSONValue] = []
        if kinds?.contains(where: { "quickfix".hasPrefix($0) }) ?? true {
            actions += quickFixes(path, document, start, end)
        }
        if kinds?.contains(where: { "refactor".hasPrefix($0) }) ?? true {
            let position = document.lines.sourcePosition(of: start, client.encoding)
            actions += ruleActions(path, document, at: position)
            if let action = keyOrderAction(path, document, at: position) { actions.append(action) }
            actions += secretActions(path, document, at: position)
        }
        return .array(actions)
    }

    /// The changes that hints of diagnostics describe. A change is offered only if it solves the problem (`solves`).
    private func quickFixes(
        _ path: String, _ document: OpenDocument, _ start: TextLines.Position, _ end: TextLines.Position
    ) -> [JSONValue] {
        guard let set = set(of: path), let file = set.file(path), file.text == document.octets else { return [] }
        let lines = document.lines
        let first = lines.sourcePosition(of: start, client.encoding)
        let last = lines.sourcePosition(of: end, client.encoding)
        let relevant = set.diagnostics.filter {
            $0.file == file.name && $0.start.line <= last.line && $0.end.line >= first.line && !$0.changes.isEmpty
        }
        var actions: [JSONValue] = []
        var triedChanges = 0
        for diagnostic in relevant {
            triedChanges += diagnostic.changes.count
            guard triedChanges <= Self.maximumTriedChanges else { break }
            let fixes = fixes(of: diagnostic, lines, set, file)
            guard !fixes.isEmpty else { continue }
            let fixed = shown(diagnostic, of: set, lines)
            for fix in fixes {
                let edit: JSONValue = [
                    "range": [
                        "start": lines.position(ofOffset: fix.range.lowerBound, client.encoding).json,
                        "end": lines.position(ofOffset: fix.range.upperBound, client.encoding).json,
                    ],
                    "newText": .string(fix.text),
                ]
                var action: [JSONValue.Member] = [
                    .init("title", .string(fix.title(in: lines.octets))), .init("kind", "quickfix"),
                    .init("diagnostics", [fixed]),
                    .init("edit", workspaceEdit([(path, edit)])),
                ]
                // An editor applies the preferred fix without a question, so there is none among several.
                if fixes.count == 1 { action.append(.init("isPreferred", true)) }
                actions.append(.object(action))
            }
        }
        return actions
    }

    /// The changes of a diagnostic that help: all of those that are certain, and the first of the guesses.
    private func fixes(
        of diagnostic: Diagnostic, _ lines: TextLines, _ set: CheckedSet, _ file: SourceFile
    ) -> [TextChange] {
        let isSmall = set.files.reduce(0) { $0 + $1.text.count } <= Self.maximumTriedLength
        var fixes: [TextChange] = []
        var hasGuess = false
        for change in diagnostic.changes where !change.isGuess || !hasGuess {
            let start = lines.offset(of: change.start)
            let fix = TextChange(
                range: start..<max(start, lines.offset(of: change.end)), text: change.text)
            guard !fixes.contains(fix), isSmall ? solves(diagnostic, fix, set, file) : !change.isGuess else { continue }
            fixes.append(fix)
            if change.isGuess { hasGuess = true }
        }
        return fixes
    }

    /// True if a change removes a diagnostic and causes no other problem.
    ///
    /// A diagnostic that appears with the change was usually there before, and hidden by the mistake: the value of a misspelled key
    /// is checked only when the key is right, and everything is checked only when the file is valid YAML. The change has caused
    /// - further mistakes of YAML, such as a second key with the same name, or a key that has no value any more,
    /// - problems in the text that it writes, if the file was valid YAML before. A missing key (E202) is not among them, because it
    ///   is reported at the first key of its mapping,
    /// - errors, if it removes a warning.
    private func solves(_ diagnostic: Diagnostic, _ change: TextChange, _ set: CheckedSet, _ file: SourceFile) -> Bool {
        var text = file.text
        text.replaceSubrange(change.range, with: change.text.utf8)
        let after = set.diagnostics(replacing: file.name, with: text)
        func increases(_ isCounted: (Diagnostic) -> Bool) -> Bool {
            after.count(where: isCounted) > set.diagnostics.count(where: isCounted)
        }
        if after.contains(where: {
            $0.code == diagnostic.code && $0.file == diagnostic.file && $0.start == diagnostic.start
        }) {
            return false
        }
        // A mistake of YAML hides those below it, so a change that removes one often shows another, and their number stays the same.
        // A change can itself cause E101, with quotes around a part of a value, and E103, with a key that is there already, so these
        // two are also counted separately.
        if increases(\.isOfYAML) || ["E101", "E103"].contains(where: { code in increases { $0.code == code } }) {
            return false
        }
        if diagnostic.code == "E114" {
            // If the key is a required key, its removal only replaces E114 by E202.
            if change.text.isEmpty, increases({ $0.code == "E202" }) { return false }
            // Without its only entry, the key above has no value instead. What is before a change keeps its place.
            func places(_ diagnostics: [Diagnostic]) -> Set<SourcePosition> {
                Set(
                    diagnostics.filter {
                        $0.code == "E114" && $0.file == file.name && $0.start < diagnostic.start
                    }.map(\.start))
            }
            guard places(after).isSubset(of: places(set.diagnostics)) else { return false }
        }
        let known = Set(set.diagnostics.map(\.sentence))
        let new = after.filter { !known.contains($0.sentence) }
        if diagnostic.severity != .error, new.contains(where: { $0.severity == .error }) { return false }
        let lines = TextLines(text)
        let written = change.range.lowerBound..<change.range.lowerBound + change.text.utf8.count
        return diagnostic.isOfYAML
            || !new.contains {
                $0.file == file.name && $0.code != "E202" && lines.offset(of: $0.start) < written.upperBound
                    && lines.offset(of: $0.end) > written.lowerBound
            }
    }
}

extension Diagnostic {
    /// True for mistakes of YAML (E101 to E113), and for a key without a value (E114).
    fileprivate var isOfYAML: Bool { code.hasPrefix("E1") }
    /// The problem without places, which move when the text is changed.
    fileprivate var sentence: String { "\(file) \(code) \(message.filter { !$0.isNumber })" }
}

/// A change of the text of a file.
private struct TextChange: Hashable {
    /// The octets to replace.
    var range: Range<Int>
    var text: String

    /// The title of the change in the editor's menu.
    func title(in octets: [UInt8]) -> String {
        let written = String(decoding: octets[range], as: UTF8.self)
        if range.isEmpty { return "Add \(TextChange.shown(text))" }
        let isBlank = written.allSatisfy(\.isWhitespace)
        if text.isEmpty { return isBlank ? "Remove the indentation" : "Remove \(TextChange.shown(written))" }
        if isBlank, text.contains(where: { !$0.isWhitespace }) { return "Add \(TextChange.shown(text))" }
        if text == "\"\(written)\"" || text == "'\(written)'" { return "Put \(TextChange.shown(written)) in quotes" }
        return "Replace \(TextChange.shown(written)) by \(TextChange.shown(text))"
    }

    /// A text of the file as part of a title.
    private static func shown(_ text: String) -> String {
        let line = text.drop { $0.isWhitespace || $0 == "," }.split(whereSeparator: \.isNewline).first ?? ""
        return line.count > 40 ? line.prefix(40) + "…" : String(line)
    }
}
