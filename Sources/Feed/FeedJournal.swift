/// The state of a button's journal at its site: the facts for the hello, and where the journal begins.
package struct FeedJournal: Hashable, Sendable {
    /// `last` is the number of the newest entry, `claimed` that of the last claimed one.
    package var button: FeedHello.Button
    /// The lowest number that the journal still has; `last` + 1 if it has none. Unclaimed messages below it are lost.
    package var first: Int

    /// The number up to which messages may have been sent. A claim above it is the claim of another message.
    package var sent: Int
    /// The first session in which the messages above `sent` can be sent.
    package var unsentSession: Int

    /// - Parameter sent: by default, all messages may have been sent.
    package init(_ button: FeedHello.Button, first: Int, sent: Int? = nil, unsentSession: Int = 0) {
        self.button = button
        self.first = first
        self.sent = sent ?? button.last
        self.unsentSession = unsentSession
    }
}
