/// A share of the sites: the first of four is `1 of 4`. An engine without one has `1 of 1`.
package struct EngineShare: Hashable, Sendable, CustomStringConvertible {
    package static let maximumCount = 1024
    package static let whole = EngineShare(uncheckedIndex: 1, count: 1)

    /// 1…`count`.
    package let index: Int
    /// 1…`maximumCount`.
    package let count: Int

    private init(uncheckedIndex index: Int, count: Int) {
        self.index = index
        self.count = count
    }

    /// `nil` if a number is out of its range.
    package init?(index: Int, count: Int) {
        guard (1...Self.maximumCount).contains(count), (1...count).contains(index) else { return nil }
        self.init(uncheckedIndex: index, count: count)
    }

    /// Parses `1 of 4`.
    package init?(_ text: String) {
        let words = text.split(separator: " ", omittingEmptySubsequences: false)
        guard words.count == 3, words[1] == "of", let index = Int(words[0]), let count = Int(words[2]) else {
            return nil
        }
        self.init(index: index, count: count)
    }

    package var description: String { "\(index) of \(count)" }

    /// The base topic of the engines of this share, at the root of the broker.
    package var topic: String { "engines/\(index)" }
}
