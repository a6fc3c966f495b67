package import ButtonModel
import JSON

/// An event in a notification of a button: a step of a press, or a turn of a dial.
package enum FeedStep: Hashable, Sendable {
    case press(ButtonEvent)
    case turn(ButtonMovement)

    /// The name of a turn in the member `step`.
    private static let turnName = "turn"

    package var button: ButtonID {
        switch self {
        case .press(let event): event.button
        case .turn(let movement): movement.button
        }
    }

    /// The random number of the button's boot; `nil` for a turn, which has none.
    package var bootID: UInt32? {
        switch self {
        case .press(let event): event.bootID
        case .turn: nil
        }
    }

    /// The age of the step; in a journal, its age when the site received it.
    package var age: Duration {
        get {
            switch self {
            case .press(let event): event.age
            case .turn(let movement): movement.age
            }
        }
        set {
            switch self {
            case .press(var event):
                event.age = newValue
                self = .press(event)
            case .turn(var movement):
                movement.age = newValue
                self = .turn(movement)
            }
        }
    }

    /// True if the button stored the step, or it is late.
    package var wasQueued: Bool {
        get {
            switch self {
            case .press(let event): event.wasQueued
            case .turn(let movement): movement.wasQueued
            }
        }
        set {
            switch self {
            case .press(var event):
                event.wasQueued = newValue
                self = .press(event)
            case .turn(var movement):
                movement.wasQueued = newValue
                self = .turn(movement)
            }
        }
    }
}

extension FeedStep {
    /// - Parameter bootID: the member `boot` of the message; a press must have it.
    init(_ fields: FeedFields, of button: ButtonID, bootID: UInt32?) throws(FeedPayloadFailure) {
        let age = Duration.milliseconds(try fields.number("age_ms"))
        let (wasQueued, wasQueuedLast) = (try fields.flag("queued"), try fields.flag("queued_last"))
        let part = try fields.optionalWord("part", ButtonPart.init(rawValue:))
        if fields.value["step"]?.stringValue == Self.turnName {
            guard let part else { throw .missing("part") }
            let turned = -Self.maximumTurn...Self.maximumTurn
            self = .turn(
                ButtonMovement(
                    button: button, part: part, steps: try fields.number("turned", in: turned),
                    position: try fields.number("position", in: 0...100),
                    slot: try fields.number("slot", in: 0...Dial.slots.upperBound),
                    dial: try fields.optionalWord("dial", Dial.init(name:)),
                    units: try fields.number("units", in: 0...Dial.unitsPerTurn), wasQueued: wasQueued,
                    wasQueuedLast: wasQueuedLast, age: age))
        } else {
            guard let bootID else { throw .missing("boot") }
            self = .press(
                ButtonEvent(
                    button: button, bootID: bootID,
                    counter: UInt32(try fields.number("count", in: 0...Int(UInt32.max))),
                    step: try fields.word("step", PressStep.init(name:)), ticks: UInt64(try fields.number("ticks")),
                    wasQueued: wasQueued, wasQueuedLast: wasQueuedLast, age: age, part: part,
                    swipe: try fields.optionalWord("swipe", SwipeDirection.init(rawValue:)),
                    isTimeRough: try fields.flag("rough")))
        }
    }

    /// The largest turn of one notification, in hundredths of a whole turn.
    private static let maximumTurn = 100_000

    func add(to members: inout FeedMembers) {
        switch self {
        case .press(let event):
            members.add("count", Int(event.counter))
            members.add("part", event.part?.rawValue)
            members.add("step", event.step.name)
            members.add("swipe", event.swipe?.rawValue)
            // The clocks of buttons stay far below the limit: it is 8,700 years.
            members.add("ticks", Int(clamping: min(event.ticks, UInt64(FeedFields.maximumNumber))))
            members.add("rough", event.isTimeRough)
            addTimes(event.wasQueuedLast, to: &members)
        case .turn(let movement):
            members.add("part", movement.part.rawValue)
            members.add("step", Self.turnName)
            members.add("turned", movement.steps)
            members.add("position", movement.position)
            members.add("slot", movement.slot)
            members.add("dial", movement.dial?.name)
            members.add("units", movement.units)
            addTimes(movement.wasQueuedLast, to: &members)
        }
    }

    private func addTimes(_ wasQueuedLast: Bool, to members: inout FeedMembers) {
        let milliseconds = Int(clamping: max(0, age.milliseconds))
        members.add("age_ms", min(milliseconds, FeedFields.maximumNumber))
        members.add("queued", JSONValue.bool(wasQueued))
        members.add("queued_last", wasQueuedLast)
    }
}
