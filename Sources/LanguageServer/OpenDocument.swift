import JSON
import RuleLoader

/// The text of a file in an editor, which may differ from the file on the disk.
struct OpenDocument: Sendable {
    /// The URI as the editor writes it.
    let uri: String
    var version: Int64?
    /// The kind of the file when it was last checked. It is not determined for each request, because that takes time in a
    /// large file.
    var kind: FileKind
    private(set) var lines: TextLines

    init(uri: String, version: Int64?, kind: FileKind, text: String) {
        self.uri = uri
        self.version = version
        self.kind = kind
        lines = TextLines(Array(text.utf8))
    }

    var octets: [UInt8] { lines.octets }

    /// Applies changes of `didChange` in their order: each replaces a range, or without a range the whole text.
    ///
    /// - Returns: false if a change is not of that form; then no change is applied.
    mutating func apply(_ changes: [JSONValue], _ encoding: PositionEncoding) -> Bool {
        var edited = lines
        for change in changes {
            guard let text = change["text"]?.stringValue else { return false }
            guard let range = change["range"], range != .null else {
                edited = TextLines(Array(text.utf8))
                continue
            }
            guard let start = TextLines.Position(range["start"]), let end = TextLines.Position(range["end"]) else {
                return false
            }
            let first = edited.offset(of: start, encoding)
            let last = edited.offset(of: end, encoding)
            var octets = edited.octets
            octets.replaceSubrange(min(first, last)..<max(first, last), with: text.utf8)
            guard octets.count <= MessageFramer.maximumLength else { return false }
            edited = TextLines(octets)
        }
        lines = edited
        return true
    }
}

extension TextLines.Position {
    /// Returns `nil` if a value is not a position.
    init?(_ value: JSONValue?) {
        guard let line = value?["line"]?.integerValue, let character = value?["character"]?.integerValue, line >= 0,
            character >= 0
        else { return nil }
        self.init(line: Int(clamping: line), character: Int(clamping: character))
    }

    var json: JSONValue { ["line": .integer(Int64(line)), "character": .integer(Int64(character))] }
}
