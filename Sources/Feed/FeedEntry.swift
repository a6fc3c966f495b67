package import ButtonModel

/// A notification of a button in the site's journal.
package struct FeedEntry: Hashable, Sendable {
    package var number: Int
    /// When the site received it. An entry of an earlier boot of the machine is converted to this boot's clock, so the
    /// instant may be negative.
    package var receivedAt: Instant
    /// At least one step, at most `FeedMessage.maximumSteps`, with the ages that they had then.
    package var steps: [FeedStep]

    package init(number: Int, receivedAt: Instant, steps: [FeedStep]) {
        self.number = number
        self.receivedAt = receivedAt
        self.steps = steps
    }

    /// The message of this entry with the ages that its steps have now.
    func message(at now: Instant) -> FeedMessage {
        let elapsed = max(.zero, now - receivedAt)
        let aged = steps.map { step in
            var step = step
            step.age += elapsed
            return step
        }
        return FeedMessage(number: number, previous: number - 1, content: .steps(aged))
    }
}
