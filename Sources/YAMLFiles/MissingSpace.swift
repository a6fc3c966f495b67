import Diagnostics
import Expressions

/// A key without a space after its colon, such as `topic:a`, which YAML reads as a text.
enum MissingSpace {
    static let message = "a space is missing after \":\""

    /// The colon after the first word of a text; `nil` if the text does not begin with a word and a colon, if nothing or a
    /// space follows, or if it is a URL.
    static func colon(in text: String) -> String.Index? {
        // Most texts have no colon, and their octets are searched quickly.
        guard text.utf8.contains(UInt8(ascii: ":")), let colon = text.firstIndex(of: ":"),
            let first = text.unicodeScalars.first, isLetter(first),
            text[..<colon].unicodeScalars.allSatisfy({ isLetter($0) || ("0"..."9").contains($0) || $0 == "-" })
        else { return nil }
        let value = text[colon...].dropFirst()
        return value.isEmpty || value.first == " " || value.hasPrefix("//") ? nil : colon
    }

    /// How to write it. Of a value in brackets, only the brackets are shown, because the text may contain only its beginning.
    static func hint(_ text: some StringProtocol, _ colon: String.Index) -> Hint {
        let value = text[colon...].dropFirst()
        let shown =
            switch value.first {
            case "[": "[…]"
            case "{" where !value.hasPrefix("{{"): "{…}"
            case _: Checker.shown(String(value))
            }
        return Hint("write \(Checker.shown(String(text[..<colon]))): \(shown)", replacing: ": ")
    }

    private static func isLetter(_ scalar: UnicodeScalar) -> Bool {
        ("a"..."z").contains(scalar) || ("A"..."Z").contains(scalar) || scalar == "_"
    }
}
