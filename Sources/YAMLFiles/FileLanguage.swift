package import Expressions

/// What messages about one kind of file need to know of all its tables.
package struct FileLanguage: Sendable {
    /// The keys of the file, which begin in column 1.
    let file: MappingTable
    /// The keys of the file that mappings inside it have, too, so that an indented one may be at its place.
    let keysAlsoInside: Set<String>
    /// The keys of expressions, in which a `!` is meant as `not` and not as a tag.
    let expressionKeys: Set<String>
    /// What to write in place of a tag that the file does not have.
    let tagHints: [String: Hint]
    /// What to write in place of `{% … %}`; `nil`: in quotes, it may be text.
    let statementHint: Hint?
    /// The place of a key that is written in the wrong mapping, of which the name is given; `nil` if no mapping has the key.
    let place: @Sendable (_ key: String, _ table: String) -> KeyPlace?

    /// - Parameter place: `nil` for a kind of file of which messages know only the keys of the file itself.
    package init(
        file: MappingTable, keysAlsoInside: Set<String> = [], expressionKeys: Set<String> = [],
        tagHints: [String: Hint] = [:], statementHint: Hint? = nil,
        place: (@Sendable (_ key: String, _ table: String) -> KeyPlace?)? = nil
    ) {
        self.file = file
        self.keysAlsoInside = keysAlsoInside
        self.expressionKeys = expressionKeys
        self.tagHints = tagHints
        self.statementHint = statementHint
        self.place = place ?? { key, _ in file.key(key) == nil ? nil : .file }
    }
}

extension FileLanguage {
    /// The language of a file of which no keys are known.
    static let unknown = FileLanguage(file: MappingTable(name: "the file", keys: []))
}

/// Where a key belongs that is written in another mapping.
package enum KeyPlace: Hashable, Sendable {
    /// In the mapping that is the value of another key.
    case inside(key: String)
    /// In the mapping around this one, of whose keys one has this mapping.
    case besideMapping
    /// In the outermost mapping of the file.
    case file
    /// In no place that a change can reach; the end of a sentence that begins with the key.
    case elsewhere(String)

    /// - Parameter table: the name of the mapping in which the key is written.
    func hint(for key: String, in table: String) -> String {
        switch self {
        case .inside(let other): "\"\(key)\" belongs inside \"\(other)\""
        case .besideMapping: "\"\(key)\" belongs beside \(table)"
        case .file: "\"\(key)\" is a key of the file, and begins in column 1"
        case .elsewhere(let end): "\"\(key)\" \(end)"
        }
    }
}
