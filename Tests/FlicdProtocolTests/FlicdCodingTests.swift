import ButtonModel
import FlicdProtocol
import TestSupport
import Testing

@Suite("flicd packets")
struct FlicdCodingTests {
    @Test(
        "a command is decoded as it was encoded, also with octets appended by a later version",
        arguments: Packets.commands)
    func commandRoundTrip(command: FlicdCommand) throws {
        let packet = try Self.unframed(command.encoded())
        #expect(try FlicdCommand(decoding: packet) == command)
        #expect(try FlicdCommand(decoding: packet + [0xFF]) == command)
    }

    @Test(
        "an event is decoded as it was encoded, also with octets appended by a later version",
        arguments: Packets.events)
    func eventRoundTrip(event: FlicdEvent) throws {
        let packet = try Self.unframed(event.encoded())
        #expect(try FlicdEvent(decoding: packet) == event)
        #expect(try FlicdEvent(decoding: packet + [0xFF]) == event)
    }

    @Test("a packet that is cut short anywhere is refused as too short")
    func cut() throws {
        for command in Packets.commands {
            let packet = try Self.unframed(command.encoded())
            for length in 1..<max(1, packet.count) {
                #expect(throws: FlicdPacketFailure.tooShort(opcode: packet[0])) {
                    try FlicdCommand(decoding: Array(packet[..<length]))
                }
            }
        }
        for event in Packets.events {
            let packet = try Self.unframed(event.encoded())
            for length in 1..<max(1, packet.count) {
                #expect(throws: FlicdPacketFailure.tooShort(opcode: packet[0])) {
                    try FlicdEvent(decoding: Array(packet[..<length]))
                }
            }
        }
        #expect(throws: FlicdPacketFailure.empty) { try FlicdCommand(decoding: []) }
        #expect(throws: FlicdPacketFailure.empty) { try FlicdEvent(decoding: []) }
    }

    @Test("random octets are decoded or refused, and what was decoded can be encoded", arguments: 0..<200)
    func random(seed: UInt64) throws {
        var generator = SeededGenerator(seed: seed)
        for opcode in UInt8(0)...22 {
            let octets = [opcode] + generator.bytes(Int.random(in: 0...80, using: &generator))
            if let command = try? FlicdCommand(decoding: octets) {
                #expect(try FlicdCommand(decoding: Self.unframed(command.encoded())) == command)
            }
            if let event = try? FlicdEvent(decoding: octets) {
                #expect(try FlicdEvent(decoding: Self.unframed(event.encoded())).opcode == opcode)
            }
        }
    }

    @Test("an auto-disconnect time of 511 seconds or more means never", arguments: [511, 512, 0xFFFF])
    func never(seconds: UInt16) throws {
        let octets: [UInt8] = [6, 7, 0, 0, 0, 0, UInt8(seconds & 0xFF), UInt8(seconds >> 8)]
        #expect(try FlicdCommand(decoding: octets) == .changeModeParameters(id: 7, FlicdChannelMode()))
        let mode = FlicdChannelMode(autoDisconnectTime: seconds)
        #expect(FlicdCommand.changeModeParameters(id: 7, mode).encoded().suffix(2) == [0xFF, 0x01])
    }

    @Test("an unknown latency mode is read as normal")
    func unknownLatency() throws {
        #expect(
            try FlicdCommand(decoding: [6, 7, 0, 0, 0, 3, 15, 0])
                == .changeModeParameters(id: 7, FlicdChannelMode(autoDisconnectTime: 15)))
    }

    @Test("an unknown value is read as the most general value of its kind")
    func unknownValues() throws {
        let id: [UInt8] = [7, 0, 0, 0]
        #expect(
            try FlicdEvent(decoding: [1] + id + [9, 9])
                == .createConnectionChannelResponse(id: 7, error: .maxPendingConnectionsReached, .disconnected))
        #expect(
            try FlicdEvent(decoding: [2] + id + [9, 9])
                == .connectionStatusChanged(id: 7, .disconnected, reason: .unspecified))
        #expect(
            try FlicdEvent(decoding: [3] + id + [99])
                == .connectionChannelRemoved(id: 7, .forceDisconnectedByOtherClient))
        #expect(try FlicdEvent(decoding: [12, 9]) == .bluetoothControllerStateChange(.detached))
        #expect(try FlicdEvent(decoding: [18] + id + [99]) == .scanWizardCompleted(id: 7, .failedTimeout))
        #expect(
            try FlicdEvent(decoding: [20] + id + [101] + [0, 0, 0, 0, 0, 0, 0, 0])
                == .batteryStatus(id: 7, percentage: nil, timestamp: 0))
    }

    @Test("an unknown click type is refused", arguments: FlicdFamily.allCases)
    func unknownClickType(family: FlicdFamily) {
        #expect(throws: FlicdPacketFailure.unknownClickType(6)) {
            try FlicdEvent(decoding: [family.rawValue, 7, 0, 0, 0, 6, 0, 0, 0, 0, 0])
        }
    }

    @Test("every octet other than 0 is read as true")
    func bools() throws {
        #expect(
            try FlicdEvent(decoding: [4, 7, 0, 0, 0, 0, 0x80, 2, 0, 0, 0])
                == .button(id: 7, .upOrDown, .buttonDown, wasQueued: true, timeDifference: 2))
    }

    @Test(
        "a name longer than its field is cut between characters",
        arguments: [
            ("0123456789abcdef", "0123456789abcdef"), ("0123456789abcdefg", "0123456789abcdef"),
            ("0123456789abcdeå", "0123456789abcde"), ("0123456789ab👩‍👩‍👧", "0123456789ab"), ("", ""),
        ])
    func names(whole: String, cut: String) throws {
        let packet = try Self.unframed(
            FlicdEvent.scanWizardFoundPublicButton(id: 7, hall, name: whole).encoded())
        #expect(packet.count == 28)
        #expect(try FlicdEvent(decoding: packet) == .scanWizardFoundPublicButton(id: 7, hall, name: cut))
    }

    @Test("a name whose length octet exceeds its field is read to the end of the field")
    func longName() throws {
        let name = Array("0123456789abcdef".utf8)
        #expect(
            try FlicdEvent(decoding: [16, 7, 0, 0, 0] + hall.wireOctets + [255] + name + [0x40])
                == .scanWizardFoundPublicButton(id: 7, hall, name: "0123456789abcdef"))
    }

    @Test("the answer to GetInfo lists as many verified buttons as fit its frame")
    func manyButtons() throws {
        let buttons = (0..<11_000).map { BluetoothAddress(rawValue: UInt64($0)) }
        let packet = try Self.unframed(FlicdEvent.getInfoResponse(Packets.info(buttons: buttons)).encoded())
        guard case .getInfoResponse(let info) = try FlicdEvent(decoding: packet) else {
            Issue.record("another event")
            return
        }
        #expect(info.verifiedButtons == Array(buttons[..<10_919]))
    }

    static func unframed(_ octets: [UInt8]) throws -> [UInt8] {
        var framer = FlicdFramer(maximumLength: FlicdFramer.maximumEventLength)
        framer.append(octets)
        let next = try framer.next()
        let packet = try #require(next)
        #expect(octets.count == 2 + packet.count)
        return packet
    }
}
