/// Commands that wait until the session is ready. A later command of the same kind replaces an earlier one.
struct PendingCommands: Sendable {
    /// `.executeLEDPattern` or `.abortLEDPattern`.
    var light: HostPacket?
    var factoryReset = false
    /// If not `nil`, the button shall end the link; the value is whether it shall then advertise.
    var disconnect: Bool?
}
