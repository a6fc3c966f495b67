/// `uplink:` in the configuration: where a site sends the presses of its buttons.
package struct UplinkConfiguration: Hashable, Sendable {
    /// The most entries of all journals together. A further one drops the oldest of the longest journal.
    static let maximumEntries = 50_000

    /// The broker's address, for users.
    package var broker: String
    /// The site's base topic, such as `tryck/berlin7`.
    package var topic: String
    /// The names of the buttons that are sent, with `*` for any characters; empty: all that no rule names.
    package var buttons: [String]
    /// The most entries that the journal keeps for a button until they are claimed.
    package var journalLength: Int

    package init(broker: String, topic: String, buttons: [String] = [], journalLength: Int = 10_000) {
        self.broker = broker
        self.topic = topic
        self.buttons = buttons
        self.journalLength = journalLength
    }

    /// The site's name in reports: the last level of its topic.
    var site: String { topic.split(separator: "/").last.map(String.init) ?? topic }

    /// True if a button with this name is to be sent, unless a rule names it.
    func includes(_ name: String) -> Bool {
        buttons.isEmpty
            || buttons.contains { Self.matches(Array(name.unicodeScalars)[...], Array($0.unicodeScalars)[...]) }
    }

    /// Compares with a pattern. After a `*` it goes on at the first place that fits, and at later ones if the rest does not.
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
