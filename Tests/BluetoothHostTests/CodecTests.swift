import ButtonModel
import Bytes
import TestSupport
import Testing

@testable import BluetoothHost

@Suite("Encoding and decoding")
struct CodecTests {
    @Test("a command is decoded as it was encoded, and refused when it is cut short", arguments: Samples.commands)
    func command(_ command: HCICommand) throws {
        let octets = Array(command.packet.dropFirst())
        #expect(command.packet.first == 1)
        #expect(try HCICommand(decoding: octets) == command)
        for length in octets.indices {
            #expect(throws: Truncated.self) { try HCICommand(decoding: Array(octets[..<length])) }
        }
    }

    @Test("an event is decoded as it was encoded, and refused when it is cut short", arguments: Samples.events)
    func event(_ event: HCIEvent) throws {
        let octets = Array(event.packet.dropFirst())
        #expect(event.packet.first == 4)
        #expect(try HCIEvent(decoding: octets) == event)
        for length in octets.indices {
            #expect(throws: Truncated.self) { try HCIEvent(decoding: Array(octets[..<length])) }
        }
    }

    @Test("an ATT PDU is decoded as it was encoded; cut short it is refused or is another PDU", arguments: Samples.pdus)
    func pdu(_ pdu: ATTPDU) throws {
        #expect(try ATTPDU(decoding: ByteReader(pdu.encoded)) == pdu)
        for length in pdu.encoded.indices {
            #expect((try? ATTPDU(decoding: ByteReader(Array(pdu.encoded[..<length])))) != pdu)
        }
    }

    @Test(
        "a signalling packet is decoded as it was encoded, and refused when it is cut short",
        arguments: Samples.signalling)
    func signalling(_ packet: SignallingPacket) throws {
        #expect(try SignallingPacket(decoding: ByteReader(packet.encoded)) == packet)
        for length in packet.encoded.indices {
            #expect(throws: Truncated.self) {
                try SignallingPacket(decoding: ByteReader(Array(packet.encoded[..<length])))
            }
        }
    }

    @Test(
        "an ACL data packet is decoded as it was encoded",
        arguments: [ACLDataPacket.Boundary.firstFromHost, .continuing, .firstFromController])
    func acl(boundary: ACLDataPacket.Boundary) throws {
        let packet = ACLDataPacket(handle: ConnectionHandle(rawValue: 0x0EFF), boundary: boundary, data: [1, 2, 3])
        #expect(packet.packet.first == 2)
        #expect(try ACLDataPacket(decoding: Array(packet.packet.dropFirst())) == packet)
        #expect(throws: Truncated.self) { try ACLDataPacket(decoding: Array(packet.packet.dropFirst().dropLast())) }
    }

    @Test("LE Create Connection has the octets of the specification")
    func createConnection() {
        let command = HCICommand.leCreateConnection(
            .init(scanInterval: 0x60, scanWindow: 0x30, peer: nil, connection: Samples.parameters))
        #expect(
            command.packet.hex == "010d2019" + "60003000" + "01" + "00000000000000" + "00" + "50005a0011002003"
                + "00000000")
    }

    @Test("random octets are decoded or refused, and never trap", arguments: 0..<200 as Range<UInt64>)
    func anything(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        for _ in 0..<50 {
            let octets = random.bytes(Int.random(in: 0..<48, using: &random))
            let opcodes = Samples.commands.map(\.opcode.rawValue)
            let opcode = opcodes[Int.random(in: opcodes.indices, using: &random)]
            let command = [UInt8(opcode & 0xFF), UInt8(opcode >> 8), UInt8(octets.count)] + octets
            if let decoded = try? HCICommand(decoding: command) { #expect(decoded.opcode.rawValue == opcode) }
            let events: [UInt8] = [0x05, 0x0E, 0x0F, 0x10, 0x13, 0x1A, 0x3E]
            let code = events[Int.random(in: events.indices, using: &random)]
            if let decoded = try? HCIEvent(decoding: [code, UInt8(octets.count)] + octets) {
                #expect(try HCIEvent(decoding: Array(decoded.packet.dropFirst())) == decoded)
            }
            if let decoded = try? ATTPDU(decoding: ByteReader(octets)) {
                #expect(decoded.opcode == octets.first)
                #expect(try ATTPDU(decoding: ByteReader(decoded.encoded)) == decoded)
            }
            if let decoded = try? SignallingPacket(decoding: ByteReader(octets)) {
                #expect(try SignallingPacket(decoding: ByteReader(decoded.encoded)) == decoded)
            }
            for structure in ADStructure.parse(octets) { #expect(structure.data.count < octets.count) }
        }
    }
}

/// A sample of each kind of packet.
enum Samples {
    static let parameters = ConnectionParameters(
        intervalMinimum: 80, intervalMaximum: 90, peripheralLatency: 17, supervisionTimeout: 800)
    private static let random = BluetoothAddress(rawValue: 0xC102_0304_0506, kind: .random)

    static let commands: [HCICommand] = [
        .disconnect(link, reason: .remoteUserTerminated), .setEventMask(0x2000_0000_0200_8010), .reset,
        .readLocalVersionInformation, .readLocalSupportedFeatures, .readBufferSize, .readBDADDR, .readRSSI(link),
        .leSetEventMask(0x27), .leReadBufferSize, .leSetRandomAddress(random),
        .leSetAdvertisingParameters(.init(intervalMinimum: 32, intervalMaximum: 64, ownAddressKind: .random)),
        .leSetAdvertisingData([2, 1, 6]), .leSetScanResponseData([]), .leSetAdvertisingEnable(true),
        .leSetScanParameters(.init(isActive: true, interval: 96, window: 48)),
        .leSetScanEnable(true, filterDuplicates: false),
        .leCreateConnection(.init(scanInterval: 96, scanWindow: 96, peer: nil, connection: parameters)),
        .leCreateConnection(.init(scanInterval: 96, scanWindow: 96, peer: random, connection: parameters)),
        .leCreateConnectionCancel, .leReadFilterAcceptListSize, .leClearFilterAcceptList,
        .leAddDeviceToFilterAcceptList(kitchen), .leRemoveDeviceFromFilterAcceptList(random),
        .leConnectionUpdate(link, parameters), .leReadSupportedStates,
        .leRemoteConnectionParameterRequestReply(link, parameters),
        .leRemoteConnectionParameterRequestNegativeReply(link, reason: .unacceptableConnectionParameters),
        .unknown(HCIOpcode(rawValue: 0xFC01), parameters: [1, 2, 3]),
    ]

    static let events: [HCIEvent] = [
        .disconnectionComplete(.success, link, reason: .connectionTimeout),
        .commandComplete(.readBDADDR, allowance: 1, returnParameters: [0, 1, 2, 3, 4, 5, 6]),
        .commandStatus(.leCreateConnection, allowance: 2, .commandDisallowed), .hardwareError(7),
        .numberOfCompletedPackets([.init(handle: link, count: 2), .init(handle: otherLink, count: 1)]),
        .dataBufferOverflow(linkType: 1),
        .leConnectionComplete(.up(LEConnection(handle: link, peer: random, role: .peripheral))),
        .leEnhancedConnectionComplete(.up(LEConnection(handle: link, peer: kitchen, role: .central))),
        .leAdvertisingReport([
            .init(kind: .connectable, address: kitchen, data: [2, 1, 6], rssi: -60),
            .init(kind: .scanResponse, address: random, data: [], rssi: nil),
        ]),
        .leConnectionUpdateComplete(.success, link, interval: 90, peripheralLatency: 17, supervisionTimeout: 800),
        .leRemoteConnectionParameterRequest(link, parameters),
        .unknown(code: 0xFF, parameters: [1, 2]), .unknownLE(subevent: 0x0D, parameters: [3]),
    ]

    static let pdus: [ATTPDU] = [
        .errorResponse(request: 0x08, attributeHandle: 3, .attributeNotFound), .exchangeMTURequest(140),
        .exchangeMTUResponse(517), .findInformationRequest(.init(start: 1, end: 9)),
        .findInformationResponse([.init(handle: 1, type: .short(0x2800)), .init(handle: 2, type: .short(0x2803))]),
        .findInformationResponse([.init(handle: 1, type: .long(Array(1...16)))]),
        .findByTypeValueRequest(.init(start: 1, end: 0xFFFF), type: 0x2800, value: Array(1...16)),
        .findByTypeValueResponse([.init(start: 1, end: 4), .init(start: 5, end: 9)]),
        .readByTypeRequest(.init(start: 1, end: 4), type: .short(0x2803)),
        .readByTypeRequest(.init(start: 1, end: 4), type: .long(Array(1...16))),
        .readByTypeResponse([.init(handle: 2, value: [1, 2, 3]), .init(handle: 4, value: [4, 5, 6])]),
        .readRequest(3), .readResponse([1]), .readBlobRequest(3, offset: 22), .readBlobResponse([]),
        .readByGroupTypeRequest(.init(start: 1, end: 0xFFFF), type: .short(0x2800)),
        .readByGroupTypeResponse([.init(range: .init(start: 1, end: 4), value: [0x0F, 0x18])]),
        .writeRequest(3, [1, 0]), .writeResponse, .writeCommand(3, [9]), .handleValueNotification(3, [1, 2]),
        .handleValueIndication(3, []), .handleValueConfirmation, .prepareWriteRequest(3, offset: 18, [1, 2]),
        .prepareWriteResponse(3, offset: 0, []), .executeWriteRequest(isCancelled: true),
        .executeWriteRequest(isCancelled: false), .executeWriteResponse, .unknown(opcode: 0x20, parameters: [1]),
    ]

    static let signalling: [SignallingPacket] = [
        .commandReject(identifier: 3, reason: 0, data: [1]),
        .connectionParameterUpdateRequest(identifier: 1, parameters),
        .connectionParameterUpdateResponse(identifier: 1, isAccepted: false),
        .disconnectionRequest(
            identifier: 1, destination: L2CAPChannelID(rawValue: 0x40), source: L2CAPChannelID(rawValue: 0x41)),
        .disconnectionResponse(
            identifier: 1, destination: L2CAPChannelID(rawValue: 0x40), source: L2CAPChannelID(rawValue: 0x41)),
        .creditBasedConnectionRequest(
            identifier: 2, SPSM(rawValue: 0x81),
            ChannelOffer(id: L2CAPChannelID(rawValue: 0x40), mtu: 2048, mps: 247, credits: 16)),
        .creditBasedConnectionResponse(identifier: 2, .none, result: 2),
        .flowControlCredit(identifier: 3, channel: L2CAPChannelID(rawValue: 0x40), credits: 8),
        .unknown(code: 0x17, identifier: 9, data: [1, 2]),
    ]
}
