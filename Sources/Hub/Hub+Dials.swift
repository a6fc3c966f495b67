import ButtonModel
import Buttons
import MQTTTopics
import Rules

// Turns of a dial, and where it stands. No button stores them: they are told once, and nothing waits for the disk.
extension Hub {
    /// From a turn to the record of where the dial stands, where no message about it takes that along. Somebody who goes on
    /// turning has a record made as often.
    static let dialDelay = Hub.settlingTime

    mutating func moved(_ button: ButtonID, _ movements: [ButtonMovement], at now: Instant) {
        guard buttons[button] != nil else { return }
        buttons.wasSeen(button, at: now)
        for movement in movements {
            if let dial = movement.dial { dialMoved(dial, of: button, to: movement.units, at: now) }
            advanceRules(.moved(movement), at: now)
        }
        announce(ButtonChange(button: button, fact: .activity), at: now)
    }

    private mutating func dialMoved(_ dial: Dial, of button: ButtonID, to units: Int, at now: Instant) {
        guard buttons.dialMoved(dial, of: button, to: units) else { return }
        if deadlines.deadline(of: .dials) == nil { deadlines.set(.dials, at: now + Hub.dialDelay) }
    }

    mutating func recordDials() {
        let changes = buttons.keys.sorted().compactMap { buttons.takeMovedDials(of: $0) }
        if !changes.isEmpty { record(changes) }
    }

    mutating func setDial(_ dial: Dial, of button: ButtonID, percentage: Int, at now: Instant) {
        let units = Dial.units(percentage: percentage)
        advanceButtons(.request(button, .setDial(dial, units: units)), at: now)
        announce(buttons.dialChosen(dial, of: button, units: units), at: now)
    }
}

extension ButtonRecord {
    /// 0…100, of each dial it has, in their order.
    var positions: [DialPosition] {
        Dial.all(of: identity.model).map { DialPosition($0, percentage: Dial.percentage(units: dials[$0] ?? 0)) }
    }

    /// A Twist chooses its connection parameters itself.
    var latencyMode: LatencyMode? { identity.model == .twist ? nil : settings.latencyMode }
}
