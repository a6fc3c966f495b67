import ButtonModel

/// The conversion between GATT values and packets, with the signatures of an established session.
extension ButtonSession {
    mutating func receive(_ value: [UInt8], at now: Instant, _ effects: inout [Effect]) {
        guard dialect == .flic2 else {
            if let frame = Frame(twist: value) { receive(frame, at: now, &effects) }
            return
        }
        let ownID = connectionID
        let frames = assembler.receive(value) { Self.accepts($0, ownID: ownID) }
        for frame in frames { receive(frame, at: now, &effects) }
    }

    private mutating func receive(_ frame: Frame, at now: Instant, _ effects: inout [Effect]) {
        switch state {
        case .idle, .pausing, .awaitingEntropy, .closed:
            break
        case .awaitingFullVerifyResponse1, .awaitingFullVerifyResponse2, .awaitingQuickVerifyResponse,
            .awaitingUnpairedResponse:
            do {
                try receiveVerification(frame, ButtonPacket(decoding: frame.packet, in: dialect), at: now, &effects)
            } catch {
                effects.append(.ignored(reason: "packet \(frame.packet.first ?? 0) is truncated"))
            }
        case .awaitingInitResponse(var channel, let afterPairing, let deadline):
            guard isSigned(frame, &effects) else { break }
            let opened = channel.open(frame.packet)
            state = .awaitingInitResponse(channel, afterPairing: afterPairing, deadline: deadline)
            receiveSigned(opened, at: now, &effects)
        case .ready(var ready):
            guard isSigned(frame, &effects) else { break }
            let opened = ready.channel.open(frame.packet)
            state = .ready(ready)
            receiveSigned(opened, at: now, &effects)
        }
    }

    /// True if the frame belongs to this session and so must be signed. A frame for all logical connections is ignored,
    /// because the two packets that are sent so only matter during verification.
    private func isSigned(_ frame: Frame, _ effects: inout [Effect]) -> Bool {
        guard frame.header.connectionID == 0 else { return true }
        effects.append(.ignored(reason: "packet \(frame.packet.first ?? 0) for all logical connections"))
        return false
    }

    /// True if a frame is for this session. Frames for other programs on this machine arrive, too.
    private static func accepts(_ header: FrameHeader, ownID: UInt8) -> Bool {
        if ownID == 0 { return header.connectionID == 0 || header.isNewlyAssigned }
        return header.connectionID == 0 || header.connectionID == ownID && !header.isNewlyAssigned
    }

    /// Sends a packet: signs it in an established session, and splits it into GATT values.
    mutating func send(_ packet: HostPacket, _ effects: inout [Effect]) {
        guard let plain = packet.octets(in: dialect) else { return }
        let octets: [UInt8]
        switch state {
        case .awaitingInitResponse(var channel, let afterPairing, let deadline):
            octets = channel.seal(plain)
            state = .awaitingInitResponse(channel, afterPairing: afterPairing, deadline: deadline)
        case .ready(var ready):
            octets = ready.channel.seal(plain)
            state = .ready(ready)
        case .idle, .awaitingFullVerifyResponse1, .awaitingFullVerifyResponse2, .awaitingQuickVerifyResponse,
            .awaitingUnpairedResponse, .pausing, .awaitingEntropy, .closed:
            octets = plain
        }
        guard dialect == .flic2 else { return effects.append(.send(octets)) }
        let frame = Frame(header: FrameHeader(connectionID: connectionID), packet: octets)
        effects.append(contentsOf: frame.values(attMTU: attMTU).map(Effect.send))
    }
}
