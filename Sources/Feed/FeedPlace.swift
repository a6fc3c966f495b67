package import ButtonModel

/// A message of a button's feed, for its owner: which it was, and in which life of the site.
package struct FeedPlace: Hashable, Sendable {
    /// The site's base topic.
    package var site: String
    package var button: ButtonID
    package var installation: String
    package var number: Int

    package init(site: String, button: ButtonID, installation: String, number: Int) {
        self.site = site
        self.button = button
        self.installation = installation
        self.number = number
    }
}
