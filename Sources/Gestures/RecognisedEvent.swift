package import ButtonModel

/// A gesture or a movement that was recognised.
@dynamicMemberLookup
package struct RecognisedEvent: Hashable, Sendable {
    package enum Kind: Hashable, Sendable {
        /// Reported immediately, also if the press becomes part of a gesture.
        case down, up
        case pattern([PressLength])
        /// - Parameter after: the element of `Vocabulary.holdStages` that the press has reached.
        case hold(after: Duration)
        case holdRelease
        /// An index in the list of chords.
        case chord(Int)
        case swipe(SwipeDirection)
        /// The sum of the rotation during `collect`, in hundredths of a turn, clockwise positive; never 0.
        case rotation(steps: Int, collect: Duration)
    }

    /// How late an event was reported.
    package struct Lateness: Hashable, Sendable {
        package var wasQueued: Bool
        package var age: Duration

        package init(wasQueued: Bool, age: Duration) {
            self.wasQueued = wasQueued
            self.age = age
        }
    }

    /// The button; for a chord, the button that was pressed last.
    package var button: ButtonID
    package var kind: Kind
    /// The details of the press. For a gesture of several presses, `wasQueued` and `wasQueuedLast` are true if they are
    /// true for any of them, and `age` is that of the oldest step of the last press. If a stored press waited for a
    /// lost link, `age` is its age when the gesture was decided. A `hold_release` without an `up` counts as queued.
    package var facts: PressFacts
    /// The numbers of the presses of which it consists, counted from 1 since the start for each button and part; `nil`
    /// for a movement. `down`, `up` and the gesture of a press have the same number.
    package var presses: ClosedRange<UInt64>?
    /// When the last press began or the movement happened, on the host's clock: the arrival minus the age, corrected by
    /// the button's time stamps.
    package var at: Instant
    /// True if a `hold` of the same press was reported before, after a shorter time.
    package var isFurtherStage: Bool
    /// For a `hold_release`: how late its `hold` was reported. Rules that accepted the hold also accept its end,
    /// however late it is.
    package var hold: Lateness?

    package init(
        button: ButtonID, kind: Kind, facts: PressFacts, presses: ClosedRange<UInt64>? = nil, at: Instant,
        isFurtherStage: Bool = false, hold: Lateness? = nil
    ) {
        self.button = button
        self.kind = kind
        self.facts = facts
        self.presses = presses
        self.at = at
        self.isFurtherStage = isFurtherStage
        self.hold = hold
    }

    package init(
        button: ButtonID, part: ButtonPart? = nil, kind: Kind, presses: ClosedRange<UInt64>? = nil,
        wasQueued: Bool = false, wasQueuedLast: Bool = false, age: Duration = .zero, at: Instant,
        heldFor: Duration = .zero, isFurtherStage: Bool = false, hold: Lateness? = nil, isLinkLost: Bool = false,
        position: Int = 0, slot: Int = 0
    ) {
        let facts = PressFacts(
            part: part, wasQueued: wasQueued, wasQueuedLast: wasQueuedLast, age: age, heldFor: heldFor,
            isLinkLost: isLinkLost, position: position, slot: slot)
        self.init(
            button: button, kind: kind, facts: facts, presses: presses, at: at, isFurtherStage: isFurtherStage,
            hold: hold)
    }

    @inlinable
    package subscript<Value>(dynamicMember path: WritableKeyPath<PressFacts, Value>) -> Value {
        get { facts[keyPath: path] }
        set { facts[keyPath: path] = newValue }
    }
}

extension RecognisedEvent.Kind {
    /// The name of the event in `trigger.event` and `last_event`.
    package var name: String {
        switch self {
        case .down: RawEvent.down.rawValue
        case .up: RawEvent.up.rawValue
        case .pattern(let presses):
            presses.contains(.long) || presses.isEmpty ? EventName.pattern : EventName.clicks(presses.count)
        case .hold: Gesture.hold.rawValue
        case .holdRelease: Gesture.holdRelease.rawValue
        case .chord: EventName.chord
        case .swipe(let direction): direction.rawValue
        case .rotation(let steps, _): RotationDirection(steps: steps).rawValue
        }
    }

    /// The name of the event in topics and messages; `nil` for an event that only rules know.
    package var publishedName: String? {
        switch self {
        case .chord: nil
        case .pattern: name == EventName.pattern ? nil : name
        case .down, .up, .hold, .holdRelease, .swipe, .rotation: name
        }
    }
}
