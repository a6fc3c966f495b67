import ButtonModel
import Buttons
import Feed
import Rules

// Dials: rotation, and positions that users choose.
extension Hub {
    /// The delay from a rotation to the record of the dial's position, unless a message about the rotation is recorded before.
    /// A dial that keeps turning is recorded at this interval.
    static let dialDelay = Hub.settlingTime

    mutating func dialsTurned(_ button: ButtonID, _ movements: [ButtonMovement], at now: Instant) {
        guard buttons.contains(button) else { return }
        buttons.wasSeen(button, at: now)
        if uplink != nil {
            let token = identifiers.recordToken()
            let changes = addToUplink(movements.map(FeedStep.turn), of: button, as: token, at: now)
            if !changes.isEmpty {
                record(changes, as: token)
                sync(token)
            }
        }
        for movement in movements {
            if let dial = movement.dial { dialMoved(dial, of: button, to: movement.units, at: now) }
            advanceRules(.moved(movement), at: now)
        }
        announce(buttons.notificationHandled(button), at: now)
    }

    private mutating func dialMoved(_ dial: Dial, of button: ButtonID, to units: Int, at now: Instant) {
        guard buttons.dialMoved(dial, of: button, to: units) else { return }
        if !isTimerSet(.dials) { setTimer(.dials, at: now + Hub.dialDelay) }
    }
}
