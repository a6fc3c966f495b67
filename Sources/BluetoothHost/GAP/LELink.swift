import ButtonModel
import Bytes

/// The protocol layers above ACL for one link, from Connection Complete to its end.
struct LELink: Sendable {
    enum Effect: Hashable, Sendable {
        /// Send a frame to the peer.
        case send([UInt8])
        /// Send a frame unless the queue is full. Write commands and notifications use it; they must not take the room
        /// reserved for responses.
        case sendIfRoom([UInt8])
        case event(LEHost.Event)
        case command(HCICommand)
    }

    let connection: LEConnection
    /// True if HCI_Read_RSSI is in progress.
    var isReadingRSSI = false
    /// The ATT_MTU that we offer.
    private let offeredMTU: UInt16
    /// The ATT_MTU in force.
    private(set) var attMTU = ATTPDU.minimumMTU
    private var reassembler = L2CAPReassembler()
    private var signalling: SignallingChannel
    private var identifiers = SignallingIdentifiers()
    private var channels: ChannelTable
    private var client: GATTClient
    private var server = GATTServer()
    private var indications = IndicationQueue()

    var deadline: Instant? {
        earlier(client.deadline, earlier(indications.deadline, channels.deadline))
    }

    init(_ connection: LEConnection, offeredMTU: UInt16, channels configuration: ChannelConfiguration) {
        self.connection = connection
        self.offeredMTU = offeredMTU
        signalling = SignallingChannel(role: connection.role)
        channels = ChannelTable(configuration)
        client = GATTClient(offeredMTU: offeredMTU)
    }

    /// - Parameter fragment: a reader at the first octet of an ACL packet's data.
    mutating func receive(
        _ fragment: ByteReader, isFirst: Bool, serving table: AttributeTable, listening: Set<SPSM>, at now: Instant
    ) -> [Effect] {
        let outcome = reassembler.receive(fragment, isFirst: isFirst)
        guard let fault = outcome.fault else {
            return receive(outcome.frame, serving: table, listening: listening, at: now)
        }
        var effects: [Effect] = [.event(.anomaly(fault))]
        if let channel = outcome.oversized {
            effects += carryOut(channels.receiveOversized(on: channel, &identifiers, at: now))
        }
        return effects + receive(outcome.frame, serving: table, listening: listening, at: now)
    }

    mutating func timerFired(at now: Instant) -> [Effect] {
        carryOut(client.timerFired(at: now)) + carryOut(indications.timerFired(at: now))
            + carryOut(channels.timerFired(at: now))
    }

    mutating func end() -> [Effect] {
        carryOut(client.linkEnded()) + carryOut(indications.linkEnded()) + carryOut(channels.linkEnded())
    }

    private mutating func receive(
        _ frame: L2CAPFrame?, serving table: AttributeTable, listening: Set<SPSM>, at now: Instant
    ) -> [Effect] {
        guard let frame else { return [] }
        switch frame.channel {
        case .attributeProtocol:
            return receiveAttributePDU(frame.payload, serving: table, at: now)
        case .leSignalling:
            return receiveSignalling(frame.payload, listening: listening, at: now)
        case let channel where L2CAPChannelID.dynamic.contains(channel):
            return carryOut(channels.receive(frame.payload, on: channel, &identifiers, at: now))
        case let channel:
            return [.event(.anomaly("a frame for unknown L2CAP channel \(channel.rawValue)"))]
        }
    }

    // MARK: Attribute protocol

    mutating func start(_ procedure: GATTProcedure, at now: Instant) -> [Effect] {
        carryOut(client.start(procedure, attMTU: attMTU, at: now))
    }

    /// Sends a write command or a notification; a PDU that does not fit into the ATT_MTU is dropped.
    func send(_ pdu: ATTPDU) -> [Effect] {
        let octets = pdu.encoded
        guard octets.count <= Int(attMTU) else {
            return [.event(.anomaly("\(octets.count) octets do not fit an ATT_MTU of \(attMTU)"))]
        }
        return [.sendIfRoom(L2CAPFrame.encode(octets, on: .attributeProtocol))]
    }

    mutating func indicate(_ attribute: AttributeHandle, _ value: [UInt8], at now: Instant) -> [Effect] {
        guard value.count <= Int(attMTU) - 3 else {
            return [.event(.indicationFailed(connection.handle, attribute, .valueTooLong))]
        }
        return carryOut(indications.indicate(attribute, value, at: now))
    }

    /// Handles a replacement of the services from `first` on: removes subscriptions, and sends Service Changed to a
    /// subscribed peer.
    mutating func servicesChanged(
        from first: UInt16, _ announcement: AttributeHandle?, at now: Instant
    ) -> [Effect] {
        server.forget(from: first)
        guard let announcement, server.isSubscribedToIndications(of: announcement.rawValue) else { return [] }
        return indicate(announcement, ServiceChanged(from: first).encoded, at: now)
    }

    private mutating func receiveAttributePDU(
        _ payload: ByteReader, serving table: AttributeTable, at now: Instant
    ) -> [Effect] {
        guard payload.remainingCount <= Int(max(offeredMTU, attMTU)) else {
            return [.event(.anomaly("an attribute PDU of \(payload.remainingCount) octets exceeds the ATT_MTU"))]
        }
        let pdu: ATTPDU
        do {
            pdu = try ATTPDU(decoding: payload)
        } catch {
            return receiveMalformedPDU(payload, at: now)
        }
        let handle = connection.handle
        switch pdu {
        case .handleValueNotification(let attribute, let value):
            return [.event(.notified(handle, AttributeHandle(rawValue: attribute), value))]
        case .handleValueIndication(let attribute, let value):
            let attribute = AttributeHandle(rawValue: attribute)
            let changed = client.changedServices(attribute, value)
            let event = changed.map { LEHost.Event.servicesChanged(handle, $0) } ?? .indicated(handle, attribute, value)
            return [.event(event), frame(ATTPDU.handleValueConfirmation.encoded)]
        case .errorResponse, .exchangeMTUResponse, .findInformationResponse, .findByTypeValueResponse,
            .readByTypeResponse, .readResponse, .readBlobResponse, .readByGroupTypeResponse, .writeResponse,
            .prepareWriteResponse, .executeWriteResponse:
            return carryOut(client.receive(pdu, attMTU: attMTU, at: now))
        case .exchangeMTURequest, .findInformationRequest, .findByTypeValueRequest, .readByTypeRequest, .readRequest,
            .readBlobRequest, .readByGroupTypeRequest, .writeRequest, .writeCommand, .prepareWriteRequest,
            .executeWriteRequest:
            return carryOut(server.handle(pdu, in: table, offeredMTU: offeredMTU, mtu: attMTU))
        case .handleValueConfirmation:
            return carryOut(indications.receiveConfirmation(at: now))
        case .unknown(let opcode, _) where ATTPDU.isRequest(opcode):
            return carryOut(server.handle(pdu, in: table, offeredMTU: offeredMTU, mtu: attMTU))
        case .unknown(let opcode, _):
            return [.event(.anomaly("an attribute PDU with opcode \(opcode)"))]
        }
    }

    private mutating func receiveMalformedPDU(_ payload: ByteReader, at now: Instant) -> [Effect] {
        var reader = payload
        guard let opcode = try? reader.uint8() else { return [.event(.anomaly("an empty attribute PDU"))] }
        guard !ATTPDU.isRequest(opcode) else {
            let refusal = ATTPDU.errorResponse(request: opcode, attributeHandle: 0, .invalidPDU)
            return [
                frame(refusal.encoded), .event(.anomaly("a malformed attribute request, opcode \(opcode)")),
            ]
        }
        guard ATTPDU.isResponse(opcode) else {
            return [.event(.anomaly("a malformed attribute PDU, opcode \(opcode)"))]
        }
        return carryOut(client.receiveMalformed(opcode: opcode, attMTU: attMTU, at: now))
    }

    private func frame(_ pdu: [UInt8]) -> Effect {
        .send(L2CAPFrame.encode(pdu, on: .attributeProtocol))
    }

    private mutating func carryOut(_ effects: [GATTClient.Effect]) -> [Effect] {
        let handle = connection.handle
        return effects.map { effect in
            switch effect {
            case .send(let pdu): return frame(pdu.encoded)
            case .mtuExchanged(let serverMTU):
                attMTU = client.effectiveMTU(serverMTU)
                return .event(.mtuExchanged(handle, attMTU: attMTU))
            case .serviceDiscovered(let service): return .event(.serviceDiscovered(handle, service))
            case .notificationsSet(let configuration, let enabled):
                return .event(.notificationsSet(handle, configuration: configuration, enabled: enabled))
            case .indicationsSet(let configuration, let enabled):
                return .event(.indicationsSet(handle, configuration: configuration, enabled: enabled))
            case .servicesDiscovered(let services): return .event(.servicesDiscovered(handle, services))
            case .descriptorsDiscovered(let attribute, let descriptors):
                return .event(.descriptorsDiscovered(handle, of: attribute, descriptors))
            case .read(let attribute, let value): return .event(.read(handle, attribute, value))
            case .writeCompleted(let attribute): return .event(.writeCompleted(handle, attribute))
            case .failed(let procedure, let failure): return .event(.procedureFailed(handle, procedure, failure))
            case .disconnect: return .command(.disconnect(handle, reason: .remoteUserTerminated))
            case .anomaly(let text): return .event(.anomaly(text))
            }
        }
    }

    private mutating func carryOut(_ effects: [GATTServer.Effect]) -> [Effect] {
        let handle = connection.handle
        return effects.compactMap { effect in
            switch effect {
            case .send(let pdu): return frame(pdu.encoded)
            case .mtuRequested(let clientMTU):
                attMTU = client.effectiveMTU(clientMTU)
                // If this host has requested an MTU exchange as well, the response to its request reports the ATT_MTU.
                return client.isExchangingMTU ? nil : .event(.mtuExchanged(handle, attMTU: attMTU))
            case .written(let attribute, let value): return .event(.written(handle, attribute, value))
            case .subscribed(let attribute, let enabled):
                return .event(.subscribed(handle, attribute, enabled: enabled))
            case .subscribedToIndications(let attribute, let enabled):
                return .event(.subscribedToIndications(handle, attribute, enabled: enabled))
            }
        }
    }

    private func carryOut(_ effects: [IndicationQueue.Effect]) -> [Effect] {
        let handle = connection.handle
        return effects.map { effect in
            switch effect {
            case .send(let pdu): frame(pdu.encoded)
            case .confirmed(let attribute): .event(.indicationConfirmed(handle, attribute))
            case .failed(let attribute, let failure): .event(.indicationFailed(handle, attribute, failure))
            case .disconnect: .command(.disconnect(handle, reason: .remoteUserTerminated))
            case .anomaly(let text): .event(.anomaly(text))
            }
        }
    }

    // MARK: Signalling and channels

    mutating func requestParameters(_ parameters: ConnectionParameters) -> [Effect] {
        carryOut(signalling.request(parameters, identifier: identifiers.next()))
    }

    mutating func openChannel(_ spsm: SPSM, at now: Instant) -> [Effect] {
        carryOut(channels.open(spsm, &identifiers, at: now))
    }

    mutating func closeChannel(_ channel: L2CAPChannelID, at now: Instant) -> [Effect] {
        carryOut(channels.close(channel, &identifiers, at: now))
    }

    mutating func send(_ sdu: [UInt8], on channel: L2CAPChannelID) -> [Effect] {
        carryOut(channels.send(sdu, on: channel))
    }

    mutating func setReceiving(_ isReceiving: Bool, on channel: L2CAPChannelID, at now: Instant) -> [Effect] {
        carryOut(channels.setReceiving(isReceiving, on: channel, &identifiers, at: now))
    }

    /// True if `nextChannelFrame` returns a frame.
    var hasChannelFrames: Bool { channels.canSend }

    mutating func nextChannelFrame() -> [Effect] { carryOut(channels.nextFrame()) }

    private mutating func receiveSignalling(
        _ payload: ByteReader, listening: Set<SPSM>, at now: Instant
    ) -> [Effect] {
        let packet: SignallingPacket
        do {
            packet = try SignallingPacket(decoding: payload)
        } catch {
            return [.event(.anomaly("a signalling packet is too short"))]
        }
        switch packet {
        case .commandReject(let identifier, _, _) where channels.awaitsAnswer(to: identifier),
            .disconnectionRequest(let identifier, _, _), .disconnectionResponse(let identifier, _, _),
            .creditBasedConnectionRequest(let identifier, _, _),
            .creditBasedConnectionResponse(let identifier, _, _), .flowControlCredit(let identifier, _, _):
            return carryOut(channels.receive(packet, listening: listening, &identifiers, at: now))
        case .commandReject, .connectionParameterUpdateRequest, .connectionParameterUpdateResponse, .unknown:
            return carryOut(signalling.receive(packet))
        }
    }

    private func carryOut(_ effects: [SignallingChannel.Effect]) -> [Effect] {
        effects.map { effect in
            switch effect {
            case .send(let packet): frame(packet)
            case .updateConnection(let parameters): .command(.leConnectionUpdate(connection.handle, parameters))
            case .anomaly(let text): .event(.anomaly(text))
            }
        }
    }

    private func carryOut(_ effects: [ChannelTable.Effect]) -> [Effect] {
        let handle = connection.handle
        return effects.map { effect in
            switch effect {
            case .send(let packet): frame(packet)
            case .sendFrame(let payload, let channel): .send(L2CAPFrame.encode(payload, on: channel))
            case .opened(let channel): .event(.channelOpened(handle, channel))
            case .openFailed(let spsm, let failure): .event(.channelOpenFailed(handle, spsm, failure))
            case .closed(let channel, let failure): .event(.channelClosed(handle, channel, failure))
            case .received(let channel, let sdu): .event(.sduReceived(handle, channel, sdu))
            case .refused(let channel, let refusal): .event(.sduRefused(handle, channel, refusal))
            case .writable(let channel): .event(.channelWritable(handle, channel))
            case .anomaly(let text): .event(.anomaly(text))
            }
        }
    }

    private func frame(_ packet: SignallingPacket) -> Effect {
        .send(L2CAPFrame.encode(packet.encoded, on: .leSignalling))
    }
}

private func earlier(_ first: Instant?, _ second: Instant?) -> Instant? {
    guard let first, let second else { return first ?? second }
    return min(first, second)
}
