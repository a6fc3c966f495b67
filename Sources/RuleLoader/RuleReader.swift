import Diagnostics
import Expressions
import Rules

/// Reads the documents of one rule set: first everything that is declared in any of them, then what uses it.
struct RuleReader {
    static let languageVersion = 1

    /// The entry file first, then what it includes.
    private(set) var documents: [Document]
    /// The document that is being read.
    var current = 0
    var set = RuleSet()
    /// Every declared name, for expressions: a rule's or a script's own scope begins as a copy.
    var scope = Scope()
    var defaults = RuleDefaults()

    /// Of the document that is being read.
    var checker: Checker {
        _read { yield documents[current].checker }
        _modify { yield &documents[current].checker }
    }

    static func load(_ documents: [Document]) -> Loaded<RuleSet> {
        var reader = RuleReader(documents: documents)
        reader.read()
        return Loaded(reader.set, reader.documents.flatMap(\.checker.diagnostics))
    }

    private init(documents: [Document]) { self.documents = documents }

    private mutating func read() {}

    /// Where a node stands.
    func place(_ node: YAMLNode) -> Place {
        Place(file: checker.source.name, line: node.start.line, column: node.start.column)
    }
}

/// `defaults:` — what rules and steps that say nothing have.
struct RuleDefaults {
    var queued = QueuedPolicy.standard
    var mode = Rule.Mode.single
    var cooldown = Duration.zero
    var rateLimit = Rule.Rate.standard
    var qos = 0
    var retain = false
    /// Of a publish.
    var maximumAge = Duration.seconds(5)
    /// Of every step that can wait; `nil`: each kind's own.
    var timeout: Duration?
}
