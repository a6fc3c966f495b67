/// One kind of mapping in a file: its keys, and the words people bring from elsewhere.
///
/// These tables are the single source: what is not in one is refused, and what is in one is checked as it says.
struct MappingTable: Sendable {
    /// As it stands after "in": `a rule`.
    var name: String
    var keys: [Key]
    /// Keys the language has and this version does not do.
    var planned: [String] = []
    /// Planned keys that stand in for a required one.
    var standIns: [String: String] = [:]
    /// A word from elsewhere, and what to do instead.
    var foreign: [String: String] = [:]
    /// Keys that begin so are left alone.
    var ignoredPrefix: String?

    struct Key: Sendable {
        var name: String
        var type: ValueType
        var isRequired = false
        /// Accepted, checked, and without effect so far (W801).
        var isInert = false
        /// For the reference: what it means.
        var text: String

        init(_ name: String, _ type: ValueType, required: Bool = false, inert: Bool = false, _ text: String) {
            self.name = name
            self.type = type
            isRequired = required
            isInert = inert
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
    case duration(ClosedRange<Duration>)
    /// One of these words; the planned ones are refused as such.
    case word([String], planned: [String] = [])
    /// Read by code of its own.
    case anything

    /// What `{{` means in a text.
    enum Templates: Sendable {
        /// Ordinary characters.
        case areText
        /// Never allowed here.
        case areForbidden
        /// The language allows them, this version does not do them.
        case arePlanned
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
        case duration(Duration)
        case node
    }

    /// The mapping itself.
    var node: YAMLNode
    /// Everything written under a key the table has, right or wrong.
    var nodes: [String: YAMLNode] = [:]
    var values: [String: Value] = [:]
    var keys: [String: YAMLNode.Key] = [:]
    /// Keys that are not there, but are misspelt: silence about what is missing.
    var misspelt: Set<String> = []

    func text(_ key: String) -> LoadedText? {
        if case .text(let value) = values[key] { value } else { nil }
    }
    func string(_ key: String) -> String? { text(key)?.string }
    func boolean(_ key: String) -> Bool? {
        if case .boolean(let value) = values[key] { value } else { nil }
    }
    func integer(_ key: String) -> Int? {
        if case .integer(let value) = values[key] { value } else { nil }
    }
    func duration(_ key: String) -> Duration? {
        if case .duration(let value) = values[key] { value } else { nil }
    }
    /// What stands at a key; `nil` when nothing does, or when it was already reported.
    func node(_ key: String) -> YAMLNode? { values[key] == nil ? nil : nodes[key] }
    func isWritten(_ key: String) -> Bool { keys[key] != nil || misspelt.contains(key) }
}
