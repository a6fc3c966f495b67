import ButtonModel
import Bytes
import FlicdProtocol
import Foundation
import JSON
import Testing

/// Packets as a published client encodes and decodes them, compared with octets written by hand.
@Suite("flicd packets of another implementation")
struct VectorTests {
    static let commands: [(name: String, command: FlicdCommand)] = [
        ("CmdGetInfo", .getInfo),
        ("CmdCreateConnectionChannel", .createConnectionChannel(id: 16_909_060, hall, .init(latencyMode: .low))),
        ("CmdChangeModeParameters", .changeModeParameters(id: 7, .init(latencyMode: .high, autoDisconnectTime: 15))),
        ("CmdCreateBatteryStatusListener", .createBatteryStatusListener(id: 4_294_967_295, hall)),
    ]

    static let events: [(name: String, event: FlicdEvent)] = [
        (
            "EvtAdvertisementPacket",
            .advertisementPacket(
                scanID: 5,
                FlicdAdvertisement(
                    address: attic, name: "Tryck-å", rssi: -73, isPrivate: false, isAlreadyVerified: false,
                    isConnectedToOtherDevice: true))
        ),
        ("EvtConnectionStatusChanged", .connectionStatusChanged(id: 7, .disconnected, reason: .timedOut)),
        (
            "EvtButtonSingleOrDoubleClickOrHold",
            .button(
                id: 7, .singleOrDoubleClickOrHold, .buttonDoubleClick, wasQueued: true, timeDifference: 4196)
        ),
        (
            "EvtGetInfoResponse",
            .getInfoResponse(
                FlicdInfo(
                    controllerState: .attached, address: BluetoothAddress(rawValue: 0x001A_7DDA_7113),
                    maxPendingConnections: 128, maxConcurrentlyConnectedButtons: nil, currentPendingConnections: 2,
                    hasNoSpace: false, verifiedButtons: [hall, attic]))
        ),
        (
            "EvtGetButtonInfoResponse",
            .getButtonInfoResponse(
                FlicdButtonInfo(
                    address: hall, uuid: "000102030405060708090a0b0c0d0e0f", color: "white",
                    serial: "BA12-C34567", flicVersion: 2, firmwareVersion: 11))
        ),
        ("EvtBatteryStatus", .batteryStatus(id: 4_294_967_295, percentage: nil, timestamp: 1_700_000_000)),
    ]

    @Test("a command is decoded and encoded as in the other implementation", arguments: commands)
    func command(name: String, command: FlicdCommand) throws {
        let (packet, framed) = try Self.octets(name)
        #expect(try FlicdCommand(decoding: packet) == command)
        #expect(try FlicdCommand(decoding: packet + [1, 2, 3]) == command)
        #expect(command.encoded() == framed)
    }

    @Test("an event is decoded and encoded as in the other implementation", arguments: events)
    func event(name: String, event: FlicdEvent) throws {
        let (packet, framed) = try Self.octets(name)
        #expect(try FlicdEvent(decoding: packet) == event)
        #expect(try FlicdEvent(decoding: packet + [1, 2, 3]) == event)
        #expect(event.encoded() == framed)
    }

    @Test("every packet of the vector file is tested")
    func whole() throws {
        let names = try Self.cases().compactMap { $0["name"]?.stringValue }
        #expect(names == Self.commands.map(\.name) + Self.events.map(\.name))
    }

    @Test("a stream of all packets is read, wherever it is cut")
    func stream() throws {
        let cases = try Self.cases()
        let packets = try cases.map { try Self.octets($0, "packet") }
        let stream = try cases.flatMap { try Self.octets($0, "framed") }
        for cut in 0...stream.count {
            var framer = FlicdFramer(maximumLength: FlicdFramer.maximumEventLength)
            framer.append(Array(stream[..<cut]))
            var read = try framer.all()
            framer.append(Array(stream[cut...]))
            read += try framer.all()
            #expect(read == packets)
        }
    }

    private static func cases() throws -> [JSONValue] {
        let url = try #require(Bundle.module.url(forResource: "flicd", withExtension: "json", subdirectory: "Vectors"))
        return try #require(try JSONValue(parsing: [UInt8](Data(contentsOf: url)))["cases"]?.arrayValue)
    }

    private static func octets(_ name: String) throws -> (packet: [UInt8], framed: [UInt8]) {
        let value = try #require(try cases().first { $0["name"]?.stringValue == name })
        return (try octets(value, "packet"), try octets(value, "framed"))
    }

    private static func octets(_ value: JSONValue, _ name: String) throws -> [UInt8] {
        let text = try #require(value[name]?.stringValue)
        return try #require([UInt8](hex: text))
    }
}

extension FlicdFramer {
    mutating func all() throws(FlicdFrameTooLong) -> [[UInt8]] {
        var packets: [[UInt8]] = []
        while let packet = try next() { packets.append(packet) }
        return packets
    }
}
