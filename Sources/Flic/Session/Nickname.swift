/// The name a button keeps, on its way there.
///
/// - Source: protocol notes, 6.8.
public struct Nickname: Hashable, Sendable {
    /// UTF-8, at most `maximumLength` octets.
    public static let maximumLength = 23

    public let text: String
    /// Milliseconds of UTC when somebody chose it, 47 bits: of two names the later one stays.
    public let chosenAt: UInt64

    /// A text that is too long is cut between characters.
    public init(_ text: String, chosenAt: UInt64) {
        self.text = Self.cut(text)
        self.chosenAt = chosenAt & ~(~0 << 47)
    }

    /// The longest beginning of whole characters that fits.
    public static func cut(_ text: String) -> String {
        var length = 0
        return String(
            text.prefix {
                length += $0.utf8.count
                return length <= maximumLength
            })
    }
}
