import BluetoothHost
package import ButtonModel
import Flic

extension ButtonManager {
    /// The event that `handle(.received(packet))` will report in an `events` effect, and the cursor in that effect, without
    /// changing anything. `handle` must follow with the same packet at the same time.
    ///
    /// - Returns: `nil` if only `handle` knows the result. For the usual packet, with one event of one press, it is not `nil`.
    package func preview(_ packet: [UInt8], at now: Instant) -> (event: ButtonEvent, cursor: EventCursor)? {
        guard let notification = host.preview(packet), let place = links.place(of: notification.handle) else {
            return nil
        }
        // A span gives access to the properties of the link without a copy of all of it.
        let links = links.values.span
        guard links[place].phase == .inSession(isReady: true), !links[place].isPairing,
            links[place].attributes?.notify == notification.attribute
        else { return nil }
        return links[place].session?.preview(notification.value, at: now)
    }
}
