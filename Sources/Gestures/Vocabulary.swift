package import ButtonModel

/// The length of a press: `long` if it lasts at least `hold_after`.
package enum PressLength: String, CaseIterable, Hashable, Sendable {
    case short, long
}

extension [PressLength] {
    package static let click: [PressLength] = [.short]
    package static let doubleClick: [PressLength] = [.short, .short]
}

/// The gestures of a button that any rule uses, and the button's times. The recogniser delays a gesture only while
/// another gesture of the vocabulary is still possible.
package struct Vocabulary: Hashable, Sendable {
    /// The patterns of 1…8 presses: `click` is `[short]`, `double_click` is `[short, short]`, and `clicks: n` is n
    /// times `short`.
    package var patterns: Set<[PressLength]>
    /// The durations after which a `hold` fires; `hold_after` for a rule with a plain `hold`.
    package var holdStages: Set<Duration>
    package var usesHoldRelease: Bool
    /// The trigger mode set by the user; `nil` if it is derived from the other properties.
    package var fixedMode: TriggerMode?
    package var holdAfter: Duration
    package var clickGap: Duration
    /// The durations over which rotation is summed. Each duration has its own events.
    package var rotationDurations: Set<Duration>
    /// True if a press can become a swipe or a turn before it is released, so that a click must not fire on `down`.
    package var canSwipeOrTurn: Bool

    /// The minimum rotation, in hundredths of a turn, that makes a press a turn instead of a click. Less rotation is
    /// attributed to an unsteady hand.
    package static let minimumTurn = 5

    package init(
        patterns: Set<[PressLength]> = [], holdStages: Set<Duration> = [], usesHoldRelease: Bool = false,
        fixedMode: TriggerMode? = nil, holdAfter: Duration = .seconds(1), clickGap: Duration = .milliseconds(500),
        rotationDurations: Set<Duration> = [.milliseconds(100)], canSwipeOrTurn: Bool = false
    ) {
        self.patterns = patterns
        self.holdStages = holdStages
        self.usesHoldRelease = usesHoldRelease
        self.fixedMode = fixedMode
        self.holdAfter = holdAfter
        self.clickGap = clickGap
        self.rotationDurations = rotationDurations
        self.canSwipeOrTurn = canSwipeOrTurn
    }
}

package enum ChordEvent: String, CaseIterable, Hashable, Sendable {
    /// Fires when all members are down.
    case down
    /// Fires when all members have stayed down for the longest `hold_after` of them.
    case hold
}

/// A combination of buttons that are pressed together.
package struct Chord: Hashable, Sendable {
    /// Two to four different buttons.
    package var members: [ButtonID]
    /// The maximum time between the first and the last `down`.
    package var within: Duration
    package var event: ChordEvent
    /// How long all members must stay down for `hold`.
    package var holdAfter: Duration

    package init(
        members: [ButtonID], within: Duration = .milliseconds(300), event: ChordEvent = .down,
        holdAfter: Duration = .seconds(1)
    ) {
        self.members = members
        self.within = within
        self.event = event
        self.holdAfter = holdAfter
    }
}
