/// What was asked of a button and waits for a session that can do it: of each kind the last.
struct Wishes: Sendable {
    /// `.executeLEDPattern` or `.abortLEDPattern`.
    var light: HostPacket?
    var factoryReset = false
    /// Whether the button shall advertise again when it ends the link, if it shall end it.
    var disconnect: Bool?
}
