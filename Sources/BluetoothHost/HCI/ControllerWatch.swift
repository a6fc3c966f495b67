import ButtonModel

/// Detects a controller that has stopped working without an error.
///
/// | the controller owes                           | since                  | for                                  | else              |
/// |-----------------------------------------------|------------------------|--------------------------------------|-------------------|
/// | a link's Disconnection Complete               | HCI_Disconnect         | supervision timeout + `ACLFlow.margin` | it has stopped  |
/// | any packet, while it is busy                  | its last packet        | `silenceLimit`                       | send `probe`      |
///
/// Answers to commands are supervised by `CommandQueue`, data by `ACLFlow`. The probe is a command that every
/// controller answers; on an idle link it costs two wakeups every two minutes.
struct ControllerWatch: Hashable, Sendable {
    enum Effect: Hashable, Sendable {
        case probe
        case linkNotEnded(ConnectionHandle)
    }

    static let silenceLimit: Duration = .seconds(120)
    static let probe = HCICommand.readBDADDR

    /// When to call `timerFired`.
    var deadline: Instant? { [silenceEnd, endings.values.min()].compactMap { $0 }.min() }
    /// True if the probe has not been answered yet.
    var isProbing = false
    private var lastHeard = Instant(nanoseconds: 0)
    private var silenceEnd: Instant?
    private var endings: [ConnectionHandle: Instant] = [:]

    mutating func packetReceived(at now: Instant) { lastHeard = now }

    /// - Parameter isBusy: whether there are links, or the controller scans, initiates or advertises.
    mutating func setBusy(_ isBusy: Bool, at now: Instant) {
        guard isBusy != (silenceEnd != nil) else { return }
        silenceEnd = isBusy ? now + Self.silenceLimit : nil
    }

    mutating func disconnectRequested(_ handle: ConnectionHandle, timeout: Duration, at now: Instant) {
        // A second HCI_Disconnect does not extend the time.
        if endings[handle] == nil { endings[handle] = now + timeout }
    }

    func isEnding(_ handle: ConnectionHandle) -> Bool { endings[handle] != nil }

    mutating func ended(_ handle: ConnectionHandle) { endings[handle] = nil }

    mutating func timerFired(at now: Instant) -> [Effect] {
        let overdue = endings.filter { now >= $0.value }.keys.sorted { $0.rawValue < $1.rawValue }
        var effects = overdue.map { Effect.linkNotEnded($0) }
        for handle in overdue { endings[handle] = nil }
        if let end = silenceEnd, now >= end {
            let isSilent = now >= lastHeard + Self.silenceLimit
            silenceEnd = (isSilent ? now : lastHeard) + Self.silenceLimit
            if isSilent { effects.append(.probe) }
        }
        return effects
    }
}
