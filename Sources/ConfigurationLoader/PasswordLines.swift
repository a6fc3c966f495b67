import Diagnostics

/// The lines of a configuration that may contain a password in clear. Messages about these lines are shown without
/// their content, because users show messages to other people.
///
/// The lines are found by their text, because a file that is not YAML has passwords, too: a line with a word such as
/// `password`, the lines below it that are indented further, and a line with an address that contains a user name.
/// `!secret` and `!env_var` reveal nothing, and their lines are shown.
struct PasswordLines {
    private var numbers: Set<Int> = []

    init(_ text: [UInt8]) {
        /// The indentation of a key with a password, whose value may go on in the following lines.
        var indentation: Int?
        var number = 0
        var rest: ArraySlice<UInt8>? = text[...]
        while let remaining = rest {
            let line = remaining.firstLine
            rest = remaining.afterFirstLine
            number += 1
            let own = line.prefix { $0 == UInt8(ascii: " ") || $0 == UInt8(ascii: "\t") }.count
            if let outer = indentation, own > outer || own == line.count {
                numbers.insert(number)
                continue
            }
            indentation = nil
            let words = String(decoding: line.prefix(Self.maximumLength), as: UTF8.self).lowercased()
            if Self.hasPassword(words) {
                numbers.insert(number)
                indentation = own
            } else if line.count > Self.maximumLength || words.contains("@") && words.contains("://") {
                numbers.insert(number)
            }
        }
    }

    func contains(_ line: Int) -> Bool { numbers.contains(line) }

    /// The octets of a line that are searched. Longer lines count as lines with a password.
    private static let maximumLength = 4096
    /// `key:` is the key of a proxy, or the harmless path of a key.
    private static let marks = ["passw", "pasw", "passp", "pwd", "secret", "token", "key:"]

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
