/// `uplink:` in the configuration: where a site sends the presses of its buttons.
package struct UplinkConfiguration: Hashable, Sendable {
    /// The maximum number of entries in all journals together. If it is exceeded, the oldest entry of the longest journal
    /// is dropped.
    static let maximumEntries = 50_000

    /// The address of the broker, for messages to users.
    package var broker: String
    /// The site's base topic, such as `tryck/berlin7`.
    package var topic: String
    /// The names of the buttons whose presses are sent, with `*` for any characters; empty: all that no rule names.
    package var buttons: [String]
    /// The maximum number of unclaimed entries in the journal of a button.
    package var journalLength: Int

    package init(broker: String, topic: String, buttons: [String] = [], journalLength: Int = 10_000) {
        self.broker = broker
        self.topic = topic
        self.buttons = buttons
        self.journalLength = journalLength
    }

    /// The site's name in reports: the last level of its topic.
    var site: String { topic.split(separator: "/").last.map(String.init) ?? topic }

    /// True if `buttons` allows the presses of a button with this name to be sent.
    func includes(_ name: String) -> Bool {
        buttons.isEmpty
            || buttons.contains { Self.matches(name, $0) }
    }

    /// The patterns of `buttons` that match none of the names. A pattern may be right before its button is paired.
    func unmatched(among names: [String]) -> [String] {
        buttons.filter { pattern in !names.contains { Self.matches($0, pattern) } }
    }

    private static func matches(_ name: String, _ pattern: String) -> Bool {
        matches(Array(name.unicodeScalars)[...], Array(pattern.unicodeScalars)[...])
    }

    /// True if the name matches the pattern. A `*` first stands for no characters, and for one more each time that the rest
    /// of the pattern does not match.
    private static func matches(
        _ name: ArraySlice<Unicode.Scalar>, _ pattern: ArraySlice<Unicode.Scalar>
    ) -> Bool {
        var (name, pattern) = (name, pattern)
        var retry: (name: ArraySlice<Unicode.Scalar>, pattern: ArraySlice<Unicode.Scalar>)?
        while !name.isEmpty {
            if pattern.first == "*" {
                retry = (name, pattern)
                pattern.removeFirst()
            } else if let wanted = pattern.first, wanted == name.first {
                name.removeFirst()
                pattern.removeFirst()
            } else if let last = retry {
                name = last.name.dropFirst()
                pattern = last.pattern
            } else {
                return false
            }
        }
        return pattern.allSatisfy { $0 == "*" }
    }
}
