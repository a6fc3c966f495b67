package import ButtonModel
import Flic
import Radios

extension ButtonManager {
    /// The event that handling a packet of the radio will report in an `events` effect, and the cursor in that effect,
    /// without changing anything. `handle` must follow with the same input at the same time.
    ///
    /// This function and those that it calls are `mutating` because a large value would be copied for a call of a function that
    /// is not.
    ///
    /// - Parameter input: `received`, or `received` of the bus.
    /// - Returns: `nil` if only `handle` knows the result. For the usual packet, with one event of one press, it is not `nil`.
    package mutating func preview(_ input: Input, at now: Instant) -> (event: ButtonEvent, cursor: EventCursor)? {
        let packet: RadioInput
        let radio: RadioID
        if case .received(let octets, let id) = input {
            (packet, radio) = (.received(octets), id)
        } else if case .bus(let report, let id) = input {
            (packet, radio) = (.bus(report), id)
        } else {
            return nil
        }
        guard let notification = radios.preview(packet, of: radio), let place = links.place(of: notification.link)
        else {
            return nil
        }
        guard links.values[place].phase == .inSession(isReady: true), !links.values[place].isPairing else { return nil }
        return links[sessionAt: place]?.preview(notification.value, at: now)
    }
}
