/// A place in a file a user wrote. Lines and columns count from 1; columns count Unicode scalars.
///
/// Half the size of what it shows: a tree of a large file has a million of them.
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

/// Something wrong with a file a user wrote, and where.
public struct Diagnostic: Hashable, Sendable {
    public enum Severity: String, Hashable, Sendable { case error, warning }

    /// Another place that explains this one, such as the first of two equal names.
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

    public var severity: Severity
    /// `E301`, `W704`: the list is part of the language.
    public var code: String
    public var file: String
    public var start, end: SourcePosition
    /// One sentence, lower case, no full stop, quoting what the user typed.
    public var message: String
    /// What to do about it, when we know.
    public var hint: String?
    public var related: [Note]
    /// The source line holds secrets and is not shown.
    public var isConfidential: Bool

    public init(
        severity: Severity, code: String, file: String, start: SourcePosition, end: SourcePosition,
        message: String, hint: String? = nil, related: [Note] = [], isConfidential: Bool = false
    ) {
        self.severity = severity
        self.code = code
        self.file = file
        self.start = start
        self.end = end
        self.message = message
        self.hint = hint
        self.related = related
        self.isConfidential = isConfidential
    }
}
