/// A name for a button, with the time at which it was chosen.
///
/// - Source: protocol notes, 6.8.
public struct Nickname: Hashable, Sendable {
    /// The maximum length in octets of UTF-8.
    public static let maximumLength = 23

    public let text: String
    /// When the name was chosen, in ms UTC, 47 bits. Of two names the later one is kept.
    public let chosenAt: UInt64

    /// Creates a name; a longer text is truncated at a character boundary.
    public init(_ text: String, chosenAt: UInt64) {
        self.text = Self.cut(text)
        self.chosenAt = chosenAt & ~(~0 << 47)
    }

    /// The longest prefix of whole characters that fits.
    public static func cut(_ text: String) -> String {
        var length = 0
        return String(
            text.prefix {
                length += $0.utf8.count
                return length <= maximumLength
            })
    }
}
