public import BluetoothHost
import ButtonModel
import Bytes
public import TestSupport
import Testing

extension Host: StateMachine {}

extension Host.Input {
    static func event(_ event: HCIEvent) -> Host.Input { .received(event.packet) }

    static func completed(_ opcode: HCIOpcode, _ status: HCIStatus = .success, _ parameters: [UInt8] = []) -> Host.Input
    {
        .event(.commandComplete(opcode, allowance: 1, returnParameters: [status.rawValue] + parameters))
    }

    static func status(_ opcode: HCIOpcode, _ status: HCIStatus = .success) -> Host.Input {
        .event(.commandStatus(opcode, allowance: 1, status))
    }

    /// An L2CAP frame in a single ACL data packet.
    static func frame(_ handle: ConnectionHandle, channel: UInt16, _ payload: [UInt8]) -> Host.Input {
        .received(
            ACLDataPacket(handle: handle, boundary: .firstFromController, data: l2cap(channel, payload)).packet)
    }

    static func attribute(_ pdu: [UInt8], on handle: ConnectionHandle = link) -> Host.Input {
        frame(handle, channel: 4, pdu)
    }

    static func freed(_ count: UInt16 = 1, of handle: ConnectionHandle = link) -> Host.Input {
        .event(.numberOfCompletedPackets([CompletedPackets(handle: handle, count: count)]))
    }
}

extension Host.Effect {
    static func command(_ command: HCICommand) -> Host.Effect { .send(command.packet) }

    static func frame(_ handle: ConnectionHandle, channel: UInt16, _ payload: [UInt8]) -> Host.Effect {
        .send(ACLDataPacket(handle: handle, boundary: .firstFromHost, data: l2cap(channel, payload)).packet)
    }

    static func attribute(_ pdu: [UInt8], on handle: ConnectionHandle = link) -> Host.Effect {
        frame(handle, channel: 4, pdu)
    }
}

let link = ConnectionHandle(rawValue: 0x0040)
let otherLink = ConnectionHandle(rawValue: 0x0041)
let kitchen = BluetoothAddress(rawValue: 0x80E4_DA00_0001)
let hall = BluetoothAddress(rawValue: 0x80E4_DA00_0002)

func l2cap(_ channel: UInt16, _ payload: [UInt8]) -> [UInt8] {
    var writer = ByteWriter()
    writer.uint16(UInt16(payload.count))
    writer.uint16(channel)
    writer.bytes(payload)
    return writer.bytes
}

/// A host whose controller is the test. `given` and `when` leave timers out; tests about timers use `Transcript`
/// itself.
struct Bench {
    var talk: Transcript<Host>

    static let info = ControllerInfo(
        address: BluetoothAddress(rawValue: 0x0011_2233_4455), hciVersion: 12, manufacturer: 0x000F, acceptListSize: 2,
        aclDataLength: 27, aclBufferCount: 4)

    /// Makes a host whose controller has been set up.
    init(_ configuration: Host.Configuration = .init(), info: ControllerInfo = Bench.info) {
        talk = Transcript(Host(configuration))
        setUp(info)
    }

    mutating func setUp(_ info: ControllerInfo = Bench.info) {
        talk.given(.transportOpened)
        for (opcode, parameters) in Bench.setUpAnswers(info) {
            if opcode == .leClearFilterAcceptList, info.acceptListSize == 0 { continue }
            talk.given(.completed(opcode, .success, parameters))
        }
    }

    /// The answers of such a controller during set-up, in order.
    static func setUpAnswers(_ info: ControllerInfo) -> [(HCIOpcode, [UInt8])] {
        var version = ByteWriter()
        version.uint8(info.hciVersion)
        version.uint16(0)
        version.uint8(info.hciVersion)
        version.uint16(info.manufacturer)
        version.uint16(0)
        var buffers = ByteWriter()
        buffers.uint16(UInt16(info.aclDataLength))
        buffers.uint8(UInt8(info.aclBufferCount))
        let states: [UInt8] = [0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0x03, 0, 0]
        return [
            (.reset, []),
            (.readLocalVersionInformation, version.bytes),
            (.readLocalSupportedFeatures, [0, 0, 0, 0, 0x40, 0, 0, 0]),
            (.readBDADDR, info.address.wireOctets),
            (.setEventMask, []),
            (.leSetEventMask, []),
            (.leReadBufferSize, buffers.bytes),
            (.leReadSupportedStates, info.scansWhileInitiating ? states : [0xFF, 0xFF, 0x3F, 0xFF, 0xFF, 0x03, 0, 0]),
            (.leReadFilterAcceptListSize, [UInt8(info.acceptListSize)]),
            (.leClearFilterAcceptList, []),
        ]
    }

    /// Feeds an input and asserts nothing; returns the effects without timers.
    @discardableResult
    mutating func given(_ input: Host.Input) -> [Host.Effect] {
        talk.given(input).filter {
            switch $0 {
            case .setTimer, .cancelTimer: false
            case .send, .event: true
            }
        }
    }

    /// Feeds an input and expects exactly these effects, timers apart.
    mutating func when(
        _ input: Host.Input, expect effects: Host.Effect..., sourceLocation: SourceLocation = #_sourceLocation
    ) {
        #expect(given(input) == effects, sourceLocation: sourceLocation)
    }

    /// Lets time pass, fires the timer and expects exactly these effects.
    mutating func wait(
        _ duration: Duration, expect effects: Host.Effect..., sourceLocation: SourceLocation = #_sourceLocation
    ) {
        talk.wait(duration)
        #expect(given(.timerFired) == effects, sourceLocation: sourceLocation)
    }

    /// Reports a connection that the host did not ask for, which is enough for tests of the layers above.
    mutating func connect(
        _ handle: ConnectionHandle = link, _ peer: BluetoothAddress = kitchen, role: LinkRole = .central
    ) {
        let connection = Connection(handle: handle, peer: peer, role: role)
        when(.event(.leConnectionComplete(.up(connection))), expect: .event(.connected(connection)))
    }
}

extension LEConnectionComplete {
    static func up(_ connection: Connection) -> LEConnectionComplete {
        LEConnectionComplete(
            status: .success, connection: connection, interval: 40, peripheralLatency: 0, supervisionTimeout: 600)
    }

    static func failed(_ status: HCIStatus) -> LEConnectionComplete {
        LEConnectionComplete(
            status: status,
            connection: Connection(
                handle: ConnectionHandle(rawValue: 0), peer: BluetoothAddress(rawValue: 0), role: .central),
            interval: 0, peripheralLatency: 0, supervisionTimeout: 0)
    }
}
