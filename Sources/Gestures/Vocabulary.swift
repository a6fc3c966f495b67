package import ButtonModel

/// How long a press was, as far as gestures care: *long* if it lasts at least `hold_after`.
package enum PressLength: String, CaseIterable, Hashable, Sendable {
    case short, long
}

extension [PressLength] {
    package static let click: [PressLength] = [.short]
    package static let doubleClick: [PressLength] = [.short, .short]
}

/// What is wanted of one button, from all rules together, and its times. Everything the recogniser waits for follows
/// from this; nothing else does.
package struct Vocabulary: Hashable, Sendable {
    /// `click` is `[short]`, `double_click` `[short, short]`, `clicks: n` n shorts; each has 1…8 presses.
    package var patterns: Set<[PressLength]>
    /// After how long a `hold` fires. `hold_after` itself for a rule that says no more than `hold`.
    package var holdStages: Set<Duration>
    package var usesHoldRelease: Bool
    /// The mode the user fixed; `nil`: derived from the above.
    package var fixedMode: TriggerMode?
    package var holdAfter: Duration
    package var clickGap: Duration
    /// How long rotation is summed: an event for each.
    package var collects: Set<Duration>
    /// What has gone down can turn out to be a swipe or a turn by the time it goes up: no click fires before.
    package var canBeMoved: Bool

    /// The least rotation, in hundredths of a whole turn, that makes a press a turn instead of a click. A smaller rotation
    /// is taken for an unsteady hand.
    package static let leastTurn = 5

    package init(
        patterns: Set<[PressLength]> = [], holdStages: Set<Duration> = [], usesHoldRelease: Bool = false,
        fixedMode: TriggerMode? = nil, holdAfter: Duration = .seconds(1), clickGap: Duration = .milliseconds(500),
        collects: Set<Duration> = [.milliseconds(100)], canBeMoved: Bool = false
    ) {
        self.patterns = patterns
        self.holdStages = holdStages
        self.usesHoldRelease = usesHoldRelease
        self.fixedMode = fixedMode
        self.holdAfter = holdAfter
        self.clickGap = clickGap
        self.collects = collects
        self.canBeMoved = canBeMoved
    }
}

package enum ChordEvent: String, CaseIterable, Hashable, Sendable {
    /// When all are down.
    case down
    /// When all have stayed down for the longest `hold_after` of them.
    case hold
}

/// Buttons that are pressed together.
package struct Chord: Hashable, Sendable {
    /// Two to four, each once.
    package var members: [ButtonID]
    /// The longest time between the first and the last `down`.
    package var within: Duration
    package var event: ChordEvent
    /// How long all have to stay down for `hold`.
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
