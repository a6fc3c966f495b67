/// The lines of a configuration that may have a password in them, written out. Somebody sends what a daemon complains
/// about to somebody else, so these are not shown with the complaint.
///
/// By their looks, since a file that is no YAML has them, too: a word like password, with all that is further in below
/// it, and an address with a user in it. `!secret` and `!env_var` hide nothing, and are shown.
struct PasswordLines {
    private var numbers: Set<Int> = []

    init(_ text: [UInt8]) {
        /// How far in the key stands whose value the following lines may be.
        var indentation: Int?
        let lines = text.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
        for (index, line) in lines.enumerated() {
            let own = line.prefix { $0 == UInt8(ascii: " ") || $0 == UInt8(ascii: "\t") }.count
            let isBlank = own == line.count || line.allSatisfy { $0 == UInt8(ascii: "\r") }
            if let outer = indentation, own > outer || isBlank {
                numbers.insert(index + 1)
                continue
            }
            indentation = nil
            let words = String(decoding: line.prefix(Self.maximumLength), as: UTF8.self).lowercased()
            if Self.hasPassword(words) {
                numbers.insert(index + 1)
                indentation = own
            } else if line.count > Self.maximumLength || words.contains("@") && words.contains("://") {
                numbers.insert(index + 1)
            }
        }
    }

    func contains(_ line: Int) -> Bool { numbers.contains(line) }

    /// Octets of a line that are looked at; longer ones are not shown.
    private static let maximumLength = 4096
    private static let marks = ["passw", "pasw", "passp", "pwd", "secret", "token"]

    /// - Parameter line: in lower case.
    private static func hasPassword(_ line: String) -> Bool {
        let words = line.split(whereSeparator: { $0 == " " || $0 == "\t" })
        return words.indices.contains { index in
            guard !words[index].hasPrefix("!"), marks.contains(where: { words[index].contains($0) }) else {
                return false
            }
            return !words[(index + 1)...].prefix(1).contains { $0 == "!secret" || $0 == "!env_var" }
        }
    }
}
