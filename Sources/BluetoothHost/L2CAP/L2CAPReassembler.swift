import Bytes

/// Reassembles L2CAP frames from the ACL packets of one link.
///
/// A frame in a single packet, the usual case, is read in place without copying.
struct L2CAPReassembler: Hashable, Sendable {
    struct Outcome: Sendable {
        var frame: L2CAPFrame?
        /// A violation by the peer or the controller; the octets concerned are dropped.
        var fault: String?
        /// The channel of a frame that was dropped because it is too long.
        var oversized: L2CAPChannelID?
    }

    /// The longest frame that is accepted: the longest attribute PDU or K-frame payload, with its header. A longer
    /// frame is dropped completely.
    static let maximumFrameLength = L2CAPFrame.headerLength + Int(ATTPDU.maximumMTU)

    private enum State: Hashable, Sendable {
        case idle
        /// The octets received so far.
        case collecting([UInt8])
        /// The rest of an invalid frame is being skipped.
        case discarding
    }

    private var state = State.idle

    /// - Parameter fragment: a reader at the first octet of the packet's data.
    mutating func receive(_ fragment: ByteReader, isFirst: Bool) -> Outcome {
        guard isFirst else { return receiveContinuing(fragment) }
        var lost: String?
        if case .collecting = state { lost = "an L2CAP frame was not finished" }
        var outcome = begin(fragment)
        outcome.fault = outcome.fault ?? lost
        return outcome
    }

    private mutating func begin(_ fragment: ByteReader) -> Outcome {
        state = .idle
        var payload = fragment
        guard let length = try? payload.uint16(), let channel = try? payload.uint16() else {
            return collect([], fragment)
        }
        guard Int(length) == payload.remainingCount else { return collect([], fragment) }
        guard fragment.remainingCount <= Self.maximumFrameLength else { return discard(on: channel) }
        return Outcome(frame: L2CAPFrame(channel: L2CAPChannelID(rawValue: channel), payload: payload))
    }

    private mutating func receiveContinuing(_ fragment: ByteReader) -> Outcome {
        switch state {
        case .idle: return Outcome(fault: "an L2CAP fragment without its beginning")
        case .discarding: return Outcome()
        case .collecting(let collected):
            // While `state` holds a reference to the octets, appending would copy them.
            state = .idle
            return collect(collected, fragment)
        }
    }

    private mutating func collect(_ collected: [UInt8], _ fragment: ByteReader) -> Outcome {
        var octets = collected
        var fragment = fragment
        octets.append(contentsOf: fragment.remainder())
        var payload = ByteReader(octets)
        guard let length = try? payload.uint16(), let channel = try? payload.uint16() else {
            state = .collecting(octets)
            return Outcome()
        }
        guard L2CAPFrame.headerLength + Int(length) <= Self.maximumFrameLength else { return discard(on: channel) }
        guard payload.remainingCount >= Int(length) else {
            state = .collecting(octets)
            return Outcome()
        }
        guard payload.remainingCount == Int(length) else {
            return Outcome(fault: "an L2CAP frame is longer than its length field")
        }
        return Outcome(frame: L2CAPFrame(channel: L2CAPChannelID(rawValue: channel), payload: payload))
    }

    private mutating func discard(on channel: UInt16) -> Outcome {
        state = .discarding
        return Outcome(
            fault: "an L2CAP frame is longer than \(Self.maximumFrameLength) octets",
            oversized: L2CAPChannelID(rawValue: channel))
    }
}
