/// One kind of mapping in a file: its keys, and the words people bring from elsewhere.
///
/// These tables are the single source: what is not in one is refused, and what is in one is checked as it says.
struct MappingTable: Sendable {
    /// As it stands after "in": `a rule`.
    let name: String
    let keys: [Key]
    /// Keys the language has and this version does not do.
    let planned: [String]
    /// Planned keys that stand in for a required one.
    let standIns: [String: String]
    /// A word from elsewhere, and what to do instead.
    let foreign: [String: String]
    /// Keys that begin so are left alone.
    let ignoredPrefix: String?
    /// Places in `keys`.
    private let places: [String: Int]

    init(
        name: String, keys: [Key], planned: [String] = [], standIns: [String: String] = [:],
        foreign: [String: String] = [:], ignoredPrefix: String? = nil
    ) {
        self.name = name
        self.keys = keys
        self.planned = planned
        self.standIns = standIns
        self.foreign = foreign
        self.ignoredPrefix = ignoredPrefix
        places = Dictionary(keys.indices.map { (keys[$0].name, $0) }, uniquingKeysWith: { first, _ in first })
    }

    func key(_ name: String) -> Key? { places[name].map { keys[$0] } }

    struct Key: Sendable {
        var name: String
        var type: ValueType
        var isRequired = false
        /// For the reference: what it means.
        var text: String

        init(_ name: String, _ type: ValueType, required: Bool = false, _ text: String) {
            self.name = name
            self.type = type
            isRequired = required
            self.text = text
        }
    }
}

/// What may stand at a key.
enum ValueType: Sendable {
    /// A lower-case name that no other YAML tool reads as something else.
    case name
    case text(Templates)
    case boolean
    case integer(ClosedRange<Int>)
    case number(ClosedRange<Double>)
    case duration(ClosedRange<Duration>)
    /// One of these words; the planned ones are refused as such.
    case word([String], planned: [String] = [])
    /// Text that may hold expressions; what they may name depends on the place.
    case template
    /// Read by code of its own. What may stand there, for editors and for the reference, is in `SchemaMapping.details`.
    case anything

    /// What `{{` means in a text.
    enum Templates: Sendable {
        /// Ordinary characters.
        case areText
        /// Never allowed here.
        case areForbidden
    }
}

/// A text, and whether it may be shown.
struct LoadedText: Sendable {
    var string: String
    /// It came from `!secret` or `!env_var`.
    var isSecret: Bool
}

/// The values of one mapping that were written and are right.
struct Fields {
    enum Value {
        case text(LoadedText)
        case boolean(Bool)
        case integer(Int)
        case number(Double)
        case duration(Duration)
        case node
    }

    /// An entry whose key the table has.
    private struct Written {
        /// In `entries`.
        var place: Int
        /// `nil` when it is wrong, which was said.
        var value: Value?
    }

    /// The mapping itself.
    let node: YAMLNode
    private let entries: [YAMLNode.Entry]
    /// Few enough to be looked through.
    private var written: [Written] = []
    /// Keys that are not there, but are misspelt: silence about what is missing.
    var misspelt: Set<String> = []

    /// - Parameter entries: the mapping's.
    init(node: YAMLNode, entries: [YAMLNode.Entry]) {
        self.node = node
        self.entries = entries
        written.reserveCapacity(entries.count)
    }

    /// - Parameter place: in the entries.
    mutating func add(_ place: Int, _ value: Value?) { written.append(Written(place: place, value: value)) }

    private func first(_ key: String) -> Written? {
        written.first { written in
            // Most keys differ in length, which is quicker to see.
            let text = entries[written.place].key.text
            return text.utf8.count == key.utf8.count && text == key
        }
    }
    private func value(_ key: String) -> Value? { first(key)?.value }

    func text(_ key: String) -> LoadedText? {
        if case .text(let value) = value(key) { value } else { nil }
    }
    func string(_ key: String) -> String? { text(key)?.string }
    func boolean(_ key: String) -> Bool? {
        if case .boolean(let value) = value(key) { value } else { nil }
    }
    func integer(_ key: String) -> Int? {
        if case .integer(let value) = value(key) { value } else { nil }
    }
    func number(_ key: String) -> Double? {
        if case .number(let value) = value(key) { value } else { nil }
    }
    func duration(_ key: String) -> Duration? {
        if case .duration(let value) = value(key) { value } else { nil }
    }
    /// What stands at a key; `nil` when nothing does, or when it was already reported.
    func node(_ key: String) -> YAMLNode? {
        guard let written = first(key), written.value != nil else { return nil }
        return entries[written.place].value
    }
    /// The key itself, its value right or wrong.
    func key(_ key: String) -> YAMLNode.Key? { first(key).map { entries[$0.place].key } }
    /// Of those that are written, the last in the file.
    func last(of keys: [String]) -> YAMLNode.Key? {
        keys.compactMap { key($0) }.max { $0.start < $1.start }
    }
    func isWritten(_ key: String) -> Bool { first(key) != nil || misspelt.contains(key) }
}
