package import ButtonModel

/// Something a button was found to have done.
package struct Recognised: Hashable, Sendable {
    package enum What: Hashable, Sendable {
        /// Delivered at once and never consumed.
        case down, up
        case pattern([PressLength])
        /// Held for so long: one of the vocabulary's stages.
        case hold(after: Duration)
        case holdRelease
        /// A place in the list of chords.
        case chord(Int)
        case swipe(SwipeDirection)
        /// The sum of `collect`; positive: clockwise, never 0.
        case rotation(steps: Int, collect: Duration)
    }

    /// How late something was told.
    package struct Lateness: Hashable, Sendable {
        package var wasQueued: Bool
        package var age: Duration

        package init(wasQueued: Bool, age: Duration) {
            self.wasQueued = wasQueued
            self.age = age
        }
    }

    /// Of a chord, the one that came last.
    package var button: ButtonID
    package var part: ButtonPart?
    package var what: What
    /// The presses it is made of, counted up for each button and part from 1 since the start; `nil` for what is no press.
    /// `down`, `up` and the gesture of one press have it in common.
    package var presses: ClosedRange<UInt64>?
    /// Any of its presses was stored by the button. The end of a hold that is told for want of an `up` counts as stored.
    package var wasQueued: Bool
    /// One of its presses has the last event the button had stored.
    package var wasQueuedLast: Bool
    /// That of its last press: how old its oldest step was when it reached us; zero for live ones.
    package var age: Duration
    /// When its last press began, or the thing itself happened, on our clock: arrival less age, mended by the button's own
    /// time stamps.
    package var at: Instant
    /// How long the press lasted, of `up`, `hold`, `hold_release`.
    package var heldFor: Duration
    /// Of `hold`: the press was told as one before, after a shorter time.
    package var isFurtherStage: Bool
    /// Of `hold_release`: how late its `hold` was told. Where the `hold` was acted on, so is its end, however late that is.
    package var hold: Lateness?
    /// Of `hold_release`: the `up` was not told, or not in time, because the link was lost. The hold ended after the link did.
    package var isLinkLost: Bool
    /// Of movements: as in `ButtonMovement`.
    package var position: Int
    package var slot: Int

    package init(
        button: ButtonID, part: ButtonPart? = nil, what: What, presses: ClosedRange<UInt64>? = nil,
        wasQueued: Bool = false, wasQueuedLast: Bool = false, age: Duration = .zero, at: Instant,
        heldFor: Duration = .zero, isFurtherStage: Bool = false, hold: Lateness? = nil, isLinkLost: Bool = false,
        position: Int = 0, slot: Int = 0
    ) {
        self.button = button
        self.part = part
        self.what = what
        self.presses = presses
        self.wasQueued = wasQueued
        self.wasQueuedLast = wasQueuedLast
        self.age = age
        self.at = at
        self.heldFor = heldFor
        self.isFurtherStage = isFurtherStage
        self.hold = hold
        self.isLinkLost = isLinkLost
        self.position = position
        self.slot = slot
    }
}

extension Recognised.What {
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
