import ButtonModel

/// The messages of one kind that this engine has published on this connection, and that have not come back from the broker.
struct UnheardMessages: Sendable {
    /// Another program may make an engine repeat a message.
    static let maximumCount = 64

    private var messages: [(number: Int, at: Instant)] = []

    var isEmpty: Bool { messages.isEmpty }
    var count: Int { messages.count }

    /// A message is published now. Its number is above those of all messages before it.
    mutating func add(_ number: Int, at now: Instant) {
        if messages.count == Self.maximumCount { messages.removeFirst() }
        messages.append((number, now))
    }

    /// A message has arrived. Older ones do not come any more, because a broker keeps the order.
    ///
    /// - Returns: when it was published; `nil` if it is none of these, but perhaps another copy of an earlier one.
    mutating func hasComeBack(_ number: Int) -> Instant? {
        guard let place = messages.firstIndex(where: { $0.number == number }) else { return nil }
        let published = messages[place].at
        messages.removeSubrange(...place)
        return published
    }
}
