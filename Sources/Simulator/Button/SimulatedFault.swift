/// A fault of a simulated button, for tests.
public enum SimulatedFault: Hashable, Sendable {
    /// The battery is removed and replaced: clock, counter and stored events are reset; pairings remain.
    case reboot
    /// The link is lost as by interference; the button then advertises as its hosts requested.
    case dropLink
    /// The next signed packet has a wrong signature.
    case wrongSignature
    /// The button ignores the next acknowledgement, so it sends the events again.
    case lostAcknowledgement
    /// Requests in a session are not answered while this is set.
    case ignoresRequests(Bool)
}
