package import ButtonModel

/// The record of a button of a site on an engine's own disk: the claim, and the number up to which everything was done.
package struct FeedPosition: Hashable, Sendable {
    /// The site's base topic.
    package var site: String
    package var button: ButtonID
    package var claim: FeedCursor
    /// At most the number of the claim.
    package var done: Int

    package init(site: String, button: ButtonID, claim: FeedCursor, done: Int) {
        self.site = site
        self.button = button
        self.claim = claim
        self.done = done
    }
}
