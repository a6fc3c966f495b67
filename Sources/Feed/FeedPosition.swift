package import ButtonModel

/// The record of a button of a site on an engine's own disk: the claim, and the number up to which everything was done.
package struct FeedPosition: Hashable, Sendable {
    /// The site's base topic.
    package var site: String
    package var button: ButtonID
    package var claim: FeedCursor
    /// At most the number of the claim.
    package var done: Int
    package var formerOpen: FeedFormerOpen?

    package init(site: String, button: ButtonID, claim: FeedCursor, done: Int, formerOpen: FeedFormerOpen? = nil) {
        self.site = site
        self.button = button
        self.claim = claim
        self.done = done
        self.formerOpen = formerOpen
    }
}

/// The messages of a button that an engine claimed in an earlier life of the site (`FeedLife`), that no `done` covers, and whose report
/// the broker may not have.
package struct FeedFormerOpen: Hashable, Sendable {
    /// The numbers that messages may have.
    package static let numbers = 1...FeedFields.maximumNumber

    /// The last of them.
    package var place: FeedPlace
    package var first: Int

    package init(place: FeedPlace, first: Int) {
        self.place = place
        self.first = first
    }
}
