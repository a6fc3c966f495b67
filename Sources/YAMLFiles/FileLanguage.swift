/// What messages about one kind of file need to know of all its tables.
package struct FileLanguage: Sendable {
    /// The keys of the file, which begin in column 1.
    let file: MappingTable
    /// The keys of the file that mappings inside it have, too, so that an indented one may be at its place.
    let keysAlsoInside: Set<String>
    /// The place of a key that is written in the wrong mapping, of which the name is given; `nil` if no mapping has the key.
    let place: @Sendable (_ key: String, _ table: String) -> KeyPlace?

    /// - Parameter place: `nil` for a kind of file of which messages know only the keys of the file itself.
    package init(
        file: MappingTable, keysAlsoInside: Set<String> = [],
        place: (@Sendable (_ key: String, _ table: String) -> KeyPlace?)? = nil
    ) {
        self.file = file
        self.keysAlsoInside = keysAlsoInside
        self.place = place ?? { key, _ in file.key(key) == nil ? nil : .file }
    }
}

/// Where a key belongs that is written in another mapping.
package enum KeyPlace: Hashable, Sendable {
    /// In the mapping of the step with this key.
    case inside(step: String)
    /// In the step whose key has this mapping.
    case besideMapping
    /// In the outermost mapping of the file.
    case file
    /// In no place that a change can reach; the end of a sentence that begins with the key.
    case elsewhere(String)

    /// - Parameter table: the name of the mapping in which the key is written.
    func hint(for key: String, in table: String) -> String {
        switch self {
        case .inside(let step): "\"\(key)\" belongs inside \"\(step)\""
        case .besideMapping: "\"\(key)\" belongs beside \(table)"
        case .file: "\"\(key)\" is a key of the file, and begins in column 1"
        case .elsewhere(let end): "\"\(key)\" \(end)"
        }
    }
}
