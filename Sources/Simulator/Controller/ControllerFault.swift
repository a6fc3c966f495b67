public import BluetoothHost

/// Something that goes wrong in a controller while it runs. Each lasts until the power has been off, or as often as
/// it says; Reset mends none of them.
public enum ControllerFault: Hashable, Sendable {
    /// Reports a Hardware Error and goes on; `code` is the manufacturer's.
    case hardwareError(code: UInt8)
    /// Carries commands out and answers none. Events and data go on.
    case stopAnswering
    /// Takes nothing and gives nothing, to either side.
    case wedge
    /// Does not tell of the next packets it is done with: their buffers are lost to the host.
    case loseCompletedPackets(Int)
    /// Refuses the next commands of this kind.
    case refuse(HCIOpcode, HCIStatus, count: Int)
    /// Tells of the next link later than it is there: data may overtake the event.
    case delayConnectionComplete(Duration)
}

/// What is the matter with a controller now.
struct Ailments: Hashable, Sendable {
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

    /// - Returns: whether a packet that is done with is not told of.
    mutating func losesPacket() -> Bool {
        guard lostPackets > 0 else { return false }
        lostPackets -= 1
        return true
    }

    /// - Returns: what to refuse this command with; `nil` where it is not refused.
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
