/// The life of a site's feed that an installation names: `9f3c` is the first life of the installation `9f3c`, and `9f3c.2` its
/// second one.
///
/// A site whose disk was restored from an old copy would give numbers to its messages that the engine has claimed already. So
/// it begins a new life, in which the numbers go on and claims of earlier lives count only for the messages of earlier lives.
package struct FeedLife: Hashable, Sendable {
    /// The highest number of a life.
    package static let greatest = 1 << 20

    package var root: String
    /// The number of the life; the first one has 1.
    package var number: Int

    package init(root: String, number: Int) {
        self.root = root
        self.number = number
    }

    package init(_ installation: String) {
        let parts = installation.split(separator: ".", omittingEmptySubsequences: false)
        if parts.count == 2, let number = Int(parts[1]), String(number) == parts[1],
            (2...Self.greatest).contains(number)
        {
            self.init(root: String(parts[0]), number: number)
        } else {
            self.init(root: installation, number: 1)
        }
    }

    package var installation: String { number == 1 ? root : "\(root).\(number)" }

    /// True if the other life is a later one of the same installation.
    func isBefore(_ other: FeedLife) -> Bool { root == other.root && number < other.number }
}

/// A site's account of a button's messages of earlier lives, as long as an engine may have claimed some of them without the
/// site's knowledge.
package struct FeedFormer: Hashable, Sendable {
    /// The number of the last message that may be of an earlier life.
    package var last: Int
    /// The number of the last message that is certainly of an earlier life. The messages above it, up to `last`, were recorded
    /// before the copy was made or after it was restored; the site cannot know which.
    package var certain: Int
    /// The first session in which the messages above `certain` can have been sent.
    package var session: Int

    package init(last: Int, certain: Int, session: Int) {
        self.last = last
        self.certain = certain
        self.session = session
    }

    /// The number up to which a claim of an earlier life counts in this one.
    func carried(_ claim: FeedCursor) -> Int { min(claim.number, claim.session < session ? certain : last) }
}
