public import BluetoothHost

/// A fault of a controller at run time. It lasts until the power is lost, or for a count; Reset does not clear it.
public enum ControllerFault: Hashable, Sendable {
    /// The controller reports a Hardware Error with the manufacturer's code, and continues.
    case hardwareError(code: UInt8)
    /// The controller performs commands without responding. Events and data are not affected.
    case stopAnswering
    /// The controller neither receives nor sends, to its host and on the air.
    case wedge
    /// The controller does not report the next completed packets, so the host loses their buffers.
    case loseCompletedPackets(Int)
    /// The controller refuses the next commands with this opcode.
    case refuse(HCIOpcode, HCIStatus, count: Int)
    /// The controller delays the next Connection Complete event, which data may overtake. Later events of the link wait behind it.
    case delayConnectionComplete(Duration)
}

/// The faults of a controller that are in effect.
struct ActiveFaults: Hashable, Sendable {
    private(set) var isWedged = false
    private(set) var isMute = false
    private var lostPackets = 0
    private var refusals: [HCIOpcode: Refusal] = [:]
    private var connectionDelay: Duration?

    private struct Refusal: Hashable, Sendable {
        var status: HCIStatus
        var count: Int
    }

    mutating func add(_ fault: ControllerFault) {
        switch fault {
        case .hardwareError: break
        case .stopAnswering: isMute = true
        case .wedge: isWedged = true
        case .loseCompletedPackets(let count): lostPackets += max(0, count)
        case .refuse(let opcode, let status, let count): refusals[opcode] = Refusal(status: status, count: count)
        case .delayConnectionComplete(let delay): connectionDelay = delay
        }
    }

    /// - Returns: whether a completed packet is not reported.
    mutating func losesPacket() -> Bool {
        guard lostPackets > 0 else { return false }
        lostPackets -= 1
        return true
    }

    /// - Returns: the status with which to refuse the command; `nil` if it is not refused.
    mutating func refusal(of opcode: HCIOpcode) -> HCIStatus? {
        guard let refusal = refusals[opcode], refusal.count > 0 else { return nil }
        refusals[opcode]?.count -= 1
        return refusal.status
    }

    mutating func takeConnectionDelay() -> Duration? {
        defer { connectionDelay = nil }
        return connectionDelay
    }
}
