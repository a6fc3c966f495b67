/// The keys of one kind of mapping in a file, and hints for keys that users know from other systems.
///
/// The tables are the only list of keys: the checker, its suggestions, schemas and references follow them. A table is
/// a class because one is passed for each mapping of a file, and copies of so many members take long.
package final class MappingTable: Sendable {
    /// The name of the mapping in messages such as `unknown key "x" in a rule`.
    package let name: String
    package let keys: [Key]
    /// Keys that are reserved for a later version.
    let planned: [String]
    /// Planned keys that replace a required key, by name. The required key is then not reported as missing.
    let replacedKeys: [String: String]
    /// Keys from other languages or mappings, each with a hint what to write instead.
    package let foreignHints: [String: String]
    /// The keys among them that belong beside the key whose value is the mapping.
    package let outerKeys: Set<String>
    /// The entries that are meant by keys from elsewhere: `time: {after: VALUE}` for `after`. `VALUE` is the value as it is
    /// written, `LITERAL` the value as an expression has it, and `EXPRESSION` an expression without quotes.
    let foreignEntries: [String: String]
    /// Keys with this prefix are ignored.
    package let ignoredPrefix: String?
    /// Indices in `keys`, by name.
    private let indices: [String: Int]

    package init(
        name: String, keys: [Key], planned: [String] = [], replacedKeys: [String: String] = [:],
        foreignHints: [String: String] = [:], outerKeys: Set<String> = [], foreignEntries: [String: String] = [:],
        ignoredPrefix: String? = nil
    ) {
        self.name = name
        self.keys = keys
        self.planned = planned
        self.replacedKeys = replacedKeys
        self.foreignHints = foreignHints
        self.outerKeys = outerKeys
        self.foreignEntries = foreignEntries
        self.ignoredPrefix = ignoredPrefix
        indices = Dictionary(keys.indices.map { (keys[$0].name, $0) }, uniquingKeysWith: { first, _ in first })
    }

    /// The table with other or more hints for keys from elsewhere.
    package func hinting(_ hints: [String: String], outerKeys: Set<String> = []) -> MappingTable {
        MappingTable(
            name: name, keys: keys, planned: planned, replacedKeys: replacedKeys,
            foreignHints: foreignHints.merging(hints) { _, new in new },
            outerKeys: self.outerKeys.union(outerKeys), foreignEntries: foreignEntries, ignoredPrefix: ignoredPrefix)
    }

    package func key(_ name: String) -> Key? { indices[name].map { keys[$0] } }

    /// The place of a key in `keys`.
    func index(of name: String) -> Int? { indices[name] }

    /// The only key that begins with a short text, such as `id` for `i`.
    func onlyKey(beginningWith text: String) -> String? {
        guard text.utf8.count <= 2 else { return nil }
        let found = keys.filter { $0.name.hasPrefix(text) }
        return found.count == 1 ? found.first?.name : nil
    }

    package struct Key: Sendable {
        package var name: String
        package var type: ValueType
        package var isRequired = false
        /// A description of the key, for the reference and for editors.
        package var summary: String

        package init(_ name: String, _ type: ValueType, required: Bool = false, _ text: String) {
            self.name = name
            self.type = type
            isRequired = required
            self.summary = text
        }
    }
}

/// The type of a key's value.
package enum ValueType: Sendable {
    /// A name in lower case that no other YAML tool reads as something else.
    case name
    case text(Templates)
    case boolean
    case integer(ClosedRange<Int>)
    case number(ClosedRange<Double>)
    case duration(ClosedRange<Duration>)
    /// An enumeration of words. A planned word is refused as reserved for a later version.
    case oneOf([String], planned: [String] = [])
    /// Text that may hold expressions. Which names they may use depends on the key.
    case template
    /// A value that its reader checks itself. Schemas and references describe it elsewhere.
    case anything

    /// The meaning of `{{` and `{%` in a text.
    package enum Templates: Sendable {
        /// Braces are ordinary characters.
        case areText
        /// Braces are errors (E407, E408).
        case areForbidden
    }
}

/// A text from a file, and whether messages must mask it.
package struct LoadedText: Sendable {
    package var string: String
    /// True for the value of a `!secret` or `!env_var`.
    package var isSecret: Bool
}

/// A mapping that was checked against its table: the entries with known keys, and the values that are valid.
package struct CheckedMapping {
    enum Value {
        case text(LoadedText)
        case boolean(Bool)
        case integer(Int)
        case number(Double)
        case duration(Duration)
        case node
    }

    /// An entry whose key is in the table.
    private struct Written {
        /// Index in `entries`.
        var index: Int
        /// `nil` when the value is faulty, which is already reported.
        var value: Value?
    }

    package let node: YAMLNode
    private let entries: [YAMLNode.Entry]
    /// An array and not a dictionary, because mappings have few keys.
    private var written: [Written] = []
    /// Keys that are present under a misspelling; their absence is not reported again.
    package var misspelt: Set<String> = []

    init(node: YAMLNode, entries: [YAMLNode.Entry]) {
        self.node = node
        self.entries = entries
        written.reserveCapacity(entries.count)
    }

    /// - Parameter index: the index of the entry in `entries`.
    mutating func add(_ index: Int, _ value: Value?) { written.append(Written(index: index, value: value)) }

    /// False if no key of the mapping is in the table.
    var hasKnownKey: Bool { !written.isEmpty }

    private func first(_ key: String) -> Written? {
        written.first { written in
            // Lengths are compared first, because most keys differ in them.
            let text = entries[written.index].key.text
            return text.utf8.count == key.utf8.count && text == key
        }
    }
    private func value(_ key: String) -> Value? { first(key)?.value }

    func text(_ key: String) -> LoadedText? {
        if case .text(let value) = value(key) { value } else { nil }
    }
    package func string(_ key: String) -> String? { text(key)?.string }
    package func boolean(_ key: String) -> Bool? {
        if case .boolean(let value) = value(key) { value } else { nil }
    }
    package func integer(_ key: String) -> Int? {
        if case .integer(let value) = value(key) { value } else { nil }
    }
    package func number(_ key: String) -> Double? {
        if case .number(let value) = value(key) { value } else { nil }
    }
    package func duration(_ key: String) -> Duration? {
        if case .duration(let value) = value(key) { value } else { nil }
    }
    /// The value of a key as it is written; `nil` when the key is absent, or when its value is faulty and already
    /// reported.
    package func node(_ key: String) -> YAMLNode? {
        guard let written = first(key), written.value != nil else { return nil }
        return entries[written.index].value
    }
    /// The key as it is written, whether its value is valid or not.
    package func key(_ key: String) -> YAMLNode.Key? { first(key).map { entries[$0.index].key } }
    /// True if the mapping has the key, whether its value is valid or not.
    package func has(_ key: String) -> Bool { first(key) != nil }
    /// The last of these keys in the file; `nil` if none is written.
    package func last(of keys: [String]) -> YAMLNode.Key? {
        keys.compactMap { key($0) }.max { $0.start < $1.start }
    }
    package func isWritten(_ key: String) -> Bool { has(key) || misspelt.contains(key) }
}
