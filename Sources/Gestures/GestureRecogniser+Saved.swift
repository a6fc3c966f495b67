package import ButtonModel

extension GestureRecogniser {
    /// A text that brings the button's undecided train back after a restart; empty when nothing is under way.
    package func saved(_ button: ButtonID) -> String { "" }

    /// From `saved`. The train goes on as queued; what we do not understand is passed over.
    package mutating func restore(_ button: ButtonID, _ saved: String, at now: Instant) {}
}
