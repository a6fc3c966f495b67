/// Tells the refusals of a broker's access rules from the other reasons for which a message is not published.
enum AccessRefusal {
    /// The text that libmosquitto has for the reason code 0x87. Its end differs between versions of the library.
    static let words = "Not authori"

    /// True if a broker's access rules are the reason.
    static func isOne(_ reason: String) -> Bool { reason.hasPrefix(words) }
}
