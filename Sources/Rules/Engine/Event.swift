import ButtonModel
import Expressions
import Gestures

/// Something that happened to a button and may start rules, with all they may ask of it.
struct Event: Sendable {
    /// Without `trigger.id`, which is of one rule.
    var cause: RunCause
    /// On our clock.
    var at: Instant
    var presses: ClosedRange<UInt64>?
    /// A turn of a dial: what comes while its rule runs is added up.
    var isRotation = false
    /// `down` and `up` come before the gestures they complete.
    var isRawPress = false
    /// Of the end of a hold: how late the hold itself was told.
    var hold: Recognised.Lateness?

    var part: ButtonPart? { cause.facts.part }

    /// As the rule sees that has this trigger.
    func cause(for trigger: Trigger?) -> RunCause {
        var cause = cause
        cause.facts.id = trigger?.id ?? ""
        return cause
    }
}

extension Recognised.What {
    /// `trigger.clicks`
    fileprivate var clicks: Int64 {
        if case .pattern(let presses) = self, !presses.contains(.long) { Int64(presses.count) } else { 0 }
    }
}

extension RuleEngine {
    func event(_ recognised: Recognised, at now: Instant) -> Event {
        let time = world.wallClock(at: recognised.at)
        var facts = facts(of: recognised.button, recognised.what.name, at: time)
        facts.press = recognised.facts
        facts.clicks = recognised.what.clicks
        if case .rotation(let steps, _) = recognised.what { facts.steps = Int64(steps) }
        var event = Event(
            cause: RunCause(button: recognised.button, facts: facts, at: time), at: recognised.at,
            presses: recognised.presses, hold: recognised.hold)
        switch recognised.what {
        case .down, .up: event.isRawPress = true
        case .rotation: event.isRotation = true
        case .pattern, .hold, .holdRelease, .chord, .swipe: break
        }
        return event
    }

    /// `connected`, `disconnected`, `battery_low`: they happen now.
    func event(_ word: String, of button: ButtonID, at now: Instant) -> Event {
        let time = world.wallClock(at: now)
        return Event(
            cause: RunCause(button: button, facts: facts(of: button, word, at: time), at: time), at: now)
    }

    private func facts(of button: ButtonID, _ word: String, at time: UTCTime) -> TriggerFacts {
        var facts = TriggerFacts()
        facts.event = word
        facts.at = world.timeStamp(time)
        facts.address = BluetoothAddress(rawValue: button.rawValue).description
        if let entry = index[button] {
            facts.uuid = entry.identity.uuid
            facts.serial = entry.identity.serial
            facts.nickname = entry.identity.nickname
        }
        facts.button = declaredName(of: button) ?? facts.uuid
        return facts
    }
}
