/// What goes wrong with a simulated button when somebody wants to see what then happens.
public enum SimulatedFault: Hashable, Sendable {
    /// The battery is taken out and put back: clock, counter and stored events begin anew, pairings stay.
    case reboot
    /// The link ends, as by a radio that is in the way; the button advertises after it as its host asked.
    case dropLink
    /// The next signed packet carries a wrong signature.
    case wrongSignature
    /// The next acknowledgement is lost on the button: the events come again.
    case lostAcknowledgement
    /// Requests in a session get no answer, until this is taken back.
    case ignoresRequests(Bool)
}
