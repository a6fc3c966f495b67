public import BluetoothHost
import ButtonModel
import Bytes
public import TestSupport
import Testing

extension LEHost: StateMachine {}

extension LEHost.Input {
    static func event(_ event: HCIEvent) -> LEHost.Input { .received(event.packet) }

    static func completed(_ opcode: HCIOpcode, _ status: HCIStatus = .success, _ parameters: [UInt8] = [])
        -> LEHost.Input
    {
        .event(.commandComplete(opcode, allowance: 1, returnParameters: [status.rawValue] + parameters))
    }

    static func status(_ opcode: HCIOpcode, _ status: HCIStatus = .success) -> LEHost.Input {
        .event(.commandStatus(opcode, allowance: 1, status))
    }

    /// An L2CAP frame in a single ACL data packet.
    static func frame(_ handle: ConnectionHandle, channel: UInt16, _ payload: [UInt8]) -> LEHost.Input {
        .received(
            ACLDataPacket(handle: handle, boundary: .firstFromController, data: l2cap(channel, payload)).packet)
    }

    static func attribute(_ pdu: [UInt8], on handle: ConnectionHandle = link) -> LEHost.Input {
        frame(handle, channel: 4, pdu)
    }

    static func freed(_ count: UInt16 = 1, of handle: ConnectionHandle = link) -> LEHost.Input {
        .event(.numberOfCompletedPackets([CompletedPackets(handle: handle, count: count)]))
    }
}

extension LEHost.Effect {
    static func command(_ command: HCICommand) -> LEHost.Effect { .send(command.packet) }

    static func frame(_ handle: ConnectionHandle, channel: UInt16, _ payload: [UInt8]) -> LEHost.Effect {
        .send(ACLDataPacket(handle: handle, boundary: .firstFromHost, data: l2cap(channel, payload)).packet)
    }

    static func attribute(_ pdu: [UInt8], on handle: ConnectionHandle = link) -> LEHost.Effect {
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
    var talk: Transcript<LEHost>

    static let info = ControllerInfo(
        address: BluetoothAddress(rawValue: 0x0011_2233_4455), hciVersion: 12, manufacturer: 0x000F, acceptListSize: 2,
        aclDataLength: 27, aclBufferCount: 4)

    /// Makes a host whose controller has been set up.
    init(_ configuration: LEHost.Configuration = .init(), info: ControllerInfo = Bench.info) {
        talk = Transcript(LEHost(configuration))
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
    mutating func given(_ input: LEHost.Input) -> [LEHost.Effect] {
        talk.given(input).filter {
            switch $0 {
            case .setTimer, .cancelTimer: false
            case .send, .event: true
            }
        }
    }

    /// Feeds an input and expects exactly these effects, timers apart.
    mutating func when(
        _ input: LEHost.Input, expect effect: LEHost.Effect, _ others: LEHost.Effect...,
        sourceLocation: SourceLocation = #_sourceLocation
    ) {
        #expect(given(input) == [effect] + others, sourceLocation: sourceLocation)
    }

    /// Feeds an input and expects that no effect but of a timer follows.
    mutating func when(
        _ input: LEHost.Input, expect nothing: NoEffect, sourceLocation: SourceLocation = #_sourceLocation
    ) {
        #expect(given(input) == [], sourceLocation: sourceLocation)
    }

    /// Lets time pass, fires the timer and expects exactly these effects.
    mutating func wait(
        _ duration: Duration, expect effects: LEHost.Effect..., sourceLocation: SourceLocation = #_sourceLocation
    ) {
        talk.wait(duration)
        #expect(given(.timerFired) == effects, sourceLocation: sourceLocation)
    }

    /// Reports a connection that the host did not ask for, which is enough for tests of the layers above.
    mutating func connect(
        _ handle: ConnectionHandle = link, _ peer: BluetoothAddress = kitchen, role: LinkRole = .central
    ) {
        let connection = LEConnection(handle: handle, peer: peer, role: role)
        when(.event(.leConnectionComplete(.up(connection))), expect: .event(.connected(connection)))
    }
}

extension LEConnectionComplete {
    static func up(_ connection: LEConnection) -> LEConnectionComplete {
        LEConnectionComplete(
            status: .success, connection: connection, interval: 40, peripheralLatency: 0, supervisionTimeout: 600)
    }

    static func failed(_ status: HCIStatus) -> LEConnectionComplete {
        LEConnectionComplete(
            status: status,
            connection: LEConnection(
                handle: ConnectionHandle(rawValue: 0), peer: BluetoothAddress(rawValue: 0), role: .central),
            interval: 0, peripheralLatency: 0, supervisionTimeout: 0)
    }
}
