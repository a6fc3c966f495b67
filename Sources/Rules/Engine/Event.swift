import ButtonModel
import Expressions
import Gestures

/// An event of a button that may trigger rules, with the facts that rules can read.
struct Event: Sendable {
    /// The cause without `trigger.id`, which differs between rules.
    var cause: RunCause
    /// The time on the host's clock.
    var at: Instant
    var presses: ClosedRange<UInt64>?
    /// True if this is a rotation. Rotations during a run of the rule are added up.
    var isRotation = false
    /// True for `down` and `up`. These events come before the gesture of which they are a part.
    var isRawPress = false
    /// For the end of a hold: how late the hold was reported.
    var hold: RecognisedEvent.Lateness?

    var part: ButtonPart? { cause.facts.part }
    /// The button or part that was pressed; `nil` if no button was.
    var source: PressSource? { cause.button.map { PressSource(button: $0, part: part) } }

    /// The cause for a rule with this trigger.
    func cause(for trigger: Trigger?) -> RunCause {
        var cause = cause
        cause.facts.id = trigger?.id ?? ""
        return cause
    }
}

extension Event {
    /// An event that an earlier process kept.
    init(restored kept: KeptEvent, age: Duration, at now: Instant) {
        self.init(cause: kept.cause, at: now, hold: kept.hold)
        cause.facts.age = age
        isRawPress = [RecognisedEvent.Kind.down.name, RecognisedEvent.Kind.up.name].contains(cause.facts.event)
    }
}

extension RecognisedEvent.Kind {
    /// The value of `trigger.clicks`.
    fileprivate var clicks: Int64 {
        if case .pattern(let presses) = self, !presses.contains(.long) { Int64(presses.count) } else { 0 }
    }
}

extension RuleEngine {
    func event(_ recognised: RecognisedEvent, at now: Instant) -> Event {
        let time = world.wallClock(at: recognised.at)
        var facts = facts(of: recognised.button, recognised.kind.name, at: time)
        facts.press = recognised.facts
        facts.clicks = recognised.kind.clicks
        if case .rotation(let steps, _) = recognised.kind { facts.steps = Int64(steps) }
        var event = Event(
            cause: RunCause(button: recognised.button, facts: facts, at: time), at: recognised.at,
            presses: recognised.presses, hold: recognised.hold)
        switch recognised.kind {
        case .down, .up: event.isRawPress = true
        case .rotation: event.isRotation = true
        case .pattern, .hold, .holdRelease, .chord, .swipe: break
        }
        return event
    }

    /// The event `connected`, `disconnected` or `battery_low`, which happens now.
    func event(_ name: String, of button: ButtonID, at now: Instant) -> Event {
        let time = world.wallClock(at: now)
        return Event(
            cause: RunCause(button: button, facts: facts(of: button, name, at: time), at: time), at: now)
    }

    private func facts(of button: ButtonID, _ name: String, at time: UTCTime) -> TriggerFacts {
        var facts = TriggerFacts()
        facts.event = name
        facts.at = world.timeStamp(time)
        facts.address = BluetoothAddress(rawValue: button.rawValue).description
        if let entry = index[button] {
            facts.uuid = entry.identity.uuid
            facts.serial = entry.identity.serial
            facts.nickname = entry.identity.nickname
        }
        // A site does not send the uuids of its buttons, and a flicd may not know them.
        facts.button = declaredName(of: button) ?? (facts.uuid.isEmpty ? button.description : facts.uuid)
        return facts
    }
}
