/// A position in a file that a user wrote. Lines and columns count from 1; columns count Unicode scalars.
///
/// It stores 32-bit numbers to halve its size: the tree of a large file holds a million positions.
public struct SourcePosition: Hashable, Comparable, Sendable {
    private var storedLine, storedColumn: UInt32

    public init(line: Int, column: Int) {
        storedLine = UInt32(clamping: line)
        storedColumn = UInt32(clamping: column)
    }

    public var line: Int {
        get { Int(storedLine) }
        set { storedLine = UInt32(clamping: newValue) }
    }
    public var column: Int {
        get { Int(storedColumn) }
        set { storedColumn = UInt32(clamping: newValue) }
    }

    public static func < (left: SourcePosition, right: SourcePosition) -> Bool {
        (left.line, left.column) < (right.line, right.column)
    }
}

/// An error or a warning about a file that a user wrote, and where it applies.
public struct Diagnostic: Hashable, Sendable {
    public enum Severity: String, Hashable, Sendable { case error, warning }

    /// Another position that explains the diagnostic, such as the first of two equal names.
    public struct Note: Hashable, Sendable {
        public var message: String
        public var file: String
        public var position: SourcePosition

        public init(message: String, file: String, position: SourcePosition) {
            self.message = message
            self.file = file
            self.position = position
        }
    }

    /// Another text for a part of the file, as the hint describes it.
    public struct Change: Hashable, Sendable {
        public var start, end: SourcePosition
        public var text: String
        /// True if the place or the text may be wrong, because the file can be read in several ways. Of several guesses, the
        /// first one that removes the diagnostic counts.
        public var isGuess: Bool

        public init(start: SourcePosition, end: SourcePosition, text: String, isGuess: Bool = false) {
            self.start = start
            self.end = end
            self.text = text
            self.isGuess = isGuess
        }
    }

    public var severity: Severity
    /// The stable code, such as `E301` or `W704`. Codes are part of the rule language.
    public var code: String
    public var file: String
    public var start, end: SourcePosition
    /// A sentence in lower case, without full stop, which quotes what the user typed.
    public var message: String
    /// How to fix it; `nil` without a suggestion.
    public var hint: String?
    /// The changes that the hint describes, of which one is enough. Empty if only the user knows what to write.
    public var changes: [Change]
    public var related: [Note]
    /// True if the source line must not be shown, because it may hold a secret.
    public var isConfidential: Bool

    public init(
        severity: Severity, code: String, file: String, start: SourcePosition, end: SourcePosition,
        message: String, hint: String? = nil, changes: [Change] = [], related: [Note] = [],
        isConfidential: Bool = false
    ) {
        self.severity = severity
        self.code = code
        self.file = file
        self.start = start
        self.end = end
        self.message = message
        self.hint = hint
        self.changes = changes
        self.related = related
        self.isConfidential = isConfidential
    }
}
