import ButtonModel
import Bytes

/// One link from its completion to its end: the layers above ACL, each with its own state.
struct Link: Sendable {
    enum Effect: Hashable, Sendable {
        /// A frame for the peer.
        case send([UInt8])
        case event(Host.Event)
        case command(HCICommand)
    }

    let connection: Connection
    /// The ATT_MTU we offer.
    private let offeredMTU: UInt16
    /// The ATT_MTU in force.
    private(set) var attMTU = ATTPDU.minimumMTU
    private var reassembler = L2CAPReassembler()
    private var signalling: SignallingChannel
    private var client = GATTClient()
    private var server = GATTServer()

    var deadline: Instant? { client.deadline }

    init(_ connection: Connection, offeredMTU: UInt16) {
        self.connection = connection
        self.offeredMTU = offeredMTU
        signalling = SignallingChannel(role: connection.role)
    }

    /// - Parameter fragment: stands at the first octet of an ACL packet's data.
    mutating func receive(
        _ fragment: ByteReader, isFirst: Bool, serving table: AttributeTable, at now: Instant
    ) -> [Effect] {
        let outcome = reassembler.receive(fragment, isFirst: isFirst)
        guard let fault = outcome.fault else { return receive(outcome.frame, serving: table, at: now) }
        return [.event(.anomaly(fault))] + receive(outcome.frame, serving: table, at: now)
    }

    mutating func start(_ procedure: GATTClient.Procedure, at now: Instant) -> [Effect] {
        carryOut(client.start(procedure, at: now))
    }

    mutating func requestParameters(_ parameters: ConnectionParameters) -> [Effect] {
        carryOut(signalling.request(parameters))
    }

    /// A write command or a notification; one that does not fit the ATT_MTU is not sent.
    func send(_ pdu: ATTPDU) -> [Effect] {
        let octets = pdu.encoded
        guard octets.count <= Int(attMTU) else {
            return [.event(.anomaly("\(octets.count) octets do not fit an ATT_MTU of \(attMTU)"))]
        }
        return [frame(octets)]
    }

    mutating func timerFired(at now: Instant) -> [Effect] { carryOut(client.timerFired(at: now)) }

    mutating func end() -> [Effect] { carryOut(client.linkEnded()) }

    private mutating func receive(
        _ frame: L2CAPFrame?, serving table: AttributeTable, at now: Instant
    ) -> [Effect] {
        guard let frame else { return [] }
        switch frame.channel {
        case L2CAPChannelID.attributeProtocol:
            return receiveAttributePDU(frame.payload, serving: table, at: now)
        case L2CAPChannelID.leSignalling:
            return carryOut(signalling.receive(frame.payload))
        default:
            return [.event(.anomaly("a frame for L2CAP channel \(frame.channel)"))]
        }
    }

    private mutating func receiveAttributePDU(
        _ payload: ByteReader, serving table: AttributeTable, at now: Instant
    ) -> [Effect] {
        guard payload.remainingCount <= Int(max(offeredMTU, attMTU)) else {
            return [.event(.anomaly("an attribute PDU of \(payload.remainingCount) octets"))]
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
            return send(.handleValueConfirmation)
                + [.event(.notified(handle, AttributeHandle(rawValue: attribute), value))]
        case .errorResponse, .exchangeMTUResponse, .findInformationResponse, .findByTypeValueResponse,
            .readByTypeResponse, .readResponse, .readBlobResponse, .readByGroupTypeResponse, .writeResponse:
            return carryOut(client.receive(pdu, at: now))
        case .exchangeMTURequest, .findInformationRequest, .findByTypeValueRequest, .readByTypeRequest, .readRequest,
            .readBlobRequest, .readByGroupTypeRequest, .writeRequest, .writeCommand:
            return carryOut(server.handle(pdu, in: table, offeredMTU: offeredMTU, mtu: attMTU))
        case .handleValueConfirmation:
            return [.event(.anomaly("a confirmation of nothing"))]
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
            return send(.errorResponse(request: opcode, attributeHandle: 0, .invalidPDU))
                + [.event(.anomaly("a malformed attribute request, opcode \(opcode)"))]
        }
        guard ATTPDU.isResponse(opcode) else {
            return [.event(.anomaly("a malformed attribute PDU, opcode \(opcode)"))]
        }
        return carryOut(client.receiveMalformed(opcode: opcode, at: now))
    }

    private func frame(_ pdu: [UInt8]) -> Effect {
        .send(L2CAPFrame.encode(pdu, on: L2CAPChannelID.attributeProtocol))
    }

    private mutating func carryOut(_ effects: [GATTClient.Effect]) -> [Effect] {
        let handle = connection.handle
        return effects.map { effect in
            switch effect {
            case .send(let pdu): return frame(pdu.encoded)
            case .mtuExchanged(let serverMTU):
                attMTU = effectiveMTU(with: serverMTU)
                return .event(.mtuExchanged(handle, attMTU: attMTU))
            case .serviceDiscovered(let service): return .event(.serviceDiscovered(handle, service))
            case .notificationsSet(let configuration, let enabled):
                return .event(.notificationsSet(handle, configuration: configuration, enabled: enabled))
            case .failed(let failure): return .event(.procedureFailed(handle, failure))
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
                attMTU = effectiveMTU(with: clientMTU)
                // Whoever asked for an exchange hears of it once, from that.
                return client.isExchangingMTU ? nil : .event(.mtuExchanged(handle, attMTU: attMTU))
            case .written(let attribute, let value): return .event(.written(handle, attribute, value))
            case .subscribed(let attribute, let enabled):
                return .event(.subscribed(handle, attribute, enabled: enabled))
            }
        }
    }

    private func carryOut(_ effects: [SignallingChannel.Effect]) -> [Effect] {
        effects.map { effect in
            switch effect {
            case .send(let packet): .send(L2CAPFrame.encode(packet.encoded, on: L2CAPChannelID.leSignalling))
            case .updateConnection(let parameters): .command(.leConnectionUpdate(connection.handle, parameters))
            case .anomaly(let text): .event(.anomaly(text))
            }
        }
    }

    private func effectiveMTU(with peerMTU: UInt16) -> UInt16 {
        max(ATTPDU.minimumMTU, min(offeredMTU, peerMTU))
    }
}
