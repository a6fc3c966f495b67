package import ButtonModel

/// What an engine keeps on its own disk for a button of a site: its claim, and how far everything was done.
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
