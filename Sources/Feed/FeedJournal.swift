/// The state of a button's journal at its site: the facts for the hello, and where the journal begins.
package struct FeedJournal: Hashable, Sendable {
    /// `last` is the number of the newest entry, `claimed` that of the last claimed one.
    package var button: FeedHello.Button
    /// The lowest number that the journal still has; `last` + 1 if it has none. Unclaimed messages below it are lost.
    package var first: Int

    package init(_ button: FeedHello.Button, first: Int) {
        self.button = button
        self.first = first
    }
}
