package import ButtonModel

/// Presses, turns and swipes of all buttons to gestures: one gesture for each press train, by longest match.
///
/// The interface; to be written.
package struct GestureRecogniser: Sendable {
    package enum Input: Hashable, Sendable {
        case event(ButtonEvent)
        case moved(ButtonMovement)
        /// What the button has not told by now it tells as stored, or never.
        case linkLost(ButtonID)
        case timerFired
    }

    /// When `timerFired` is wanted next. Of an event and a timer at the same instant the caller hands the event in first.
    package var deadline: Instant? { nil }

    package init() {}

    /// What is wanted from now on. Trains under way go on under the new vocabulary; none is lost.
    ///
    /// - Parameter others: of buttons that have no entry.
    package mutating func configure(
        _ vocabularies: [ButtonID: Vocabulary], others: Vocabulary, chords: [Chord], at now: Instant
    ) {}

    /// What this completes, in order.
    package mutating func handle(_ input: Input, at now: Instant) -> [Recognised] { [] }

    /// A text that brings the button's undecided train back after a restart; empty when nothing is under way.
    package func saved(_ button: ButtonID) -> String { "" }

    /// From `saved`. The train goes on as queued; what we do not understand is passed over.
    package mutating func restore(_ button: ButtonID, _ saved: String, at now: Instant) {}
}
