import ButtonModel
import Bytes
import TestSupport
import Testing

@testable import Flic

@Suite("Packets of a Twist")
struct TwistPacketTests {
    @Test("packets that a Flic 2 and a Twist share are decoded as they were encoded, with the Twist's opcodes")
    func common() throws {
        for packet in PacketTests.hostPackets {
            guard let octets = packet.twistOctets else { continue }
            #expect(try HostPacket(decodingTwist: octets) == packet)
        }
        for packet in PacketTests.buttonPackets {
            guard let octets = packet.twistOctets else { continue }
            let again = try ButtonPacket(decodingTwist: octets)
            if case .disconnectedVerifiedLink = packet { continue }
            #expect(again == packet)
        }
        #expect(HostPacket.getFirmwareVersionRequest.twistOctets == [7])
        #expect(ButtonPacket.getBatteryLevelResponse(raw: 2990).twistOctets == [16, 0xAE, 0x0B])
    }

    @Test("a packet that a Twist has no opcode for has no encoding")
    func unsayable() {
        let parameters = LatencyMode.normal.connectionParameters
        let unsayable: [HostPacket] = [
            .setConnectionParameters(parameters), .setAutoDisconnectTime(seconds: 60), .pingResponse, .abortLEDPattern,
            HostEnd.initRequest(),
            .startFirmwareUpdateRequest(.init(wordCount: 1, initializationVector: [], statusInterval: 60)),
        ]
        for packet in unsayable { #expect(packet.twistOctets == nil, "\(packet)") }
        #expect(ButtonPacket.pingRequest.twistOctets == nil)
        #expect(ButtonPacket.noLogicalConnectionSlots(temporaryIDs: [1]).twistOctets == nil)
    }

    @Test("a Twist's reasons for ending a session have other numbers and the same names")
    func reasons() throws {
        let expected: [(octet: UInt8, detail: String)] = [
            (0, "invalid_signature"), (1, "by_user"), (2, "4"), (255, "255"),
        ]
        for (octet, detail) in expected {
            let packet = try ButtonPacket(decodingTwist: [7, octet])
            guard case .disconnectedVerifiedLink(let reason) = packet else {
                Issue.record("no end of a session")
                continue
            }
            #expect(SessionFailure.sessionEnded(reason: reason).detail == detail)
            if octet < 3 { #expect(packet.twistOctets == [7, octet]) }
        }
    }

    @Test("the step of an up follows from the hold before it, also if an earlier packet counted the hold")
    func upsAfterHold() {
        func steps(_ eventCount: UInt32, after processed: UInt32, _ codes: UInt8...) -> [PressStep] {
            TwistEventNotification(
                eventCount: eventCount, items: codes.map { .init(ticks: 1, code: TwistEventCode(rawValue: $0)) }
            ).common(after: processed).items.map(\.code.step)
        }
        #expect(steps(3, after: 0, 1, 0) == [.down, .up(.click)])
        #expect(steps(4, after: 0, 1, 4, 2) == [.down, .up(.open), .clickTimeout])
        #expect(steps(3, after: 0, 1, 3, 0) == [.down, .hold(ofSecondPress: false), .up(.afterHoldClick)])
        #expect(steps(7, after: 3, 5, 12) == [.down, .up(.doubleClick)])
        #expect(steps(7, after: 3, 5, 8) == [.down, .up(.doubleClick)])
        #expect(steps(7, after: 3, 5, 7, 8) == [.down, .hold(ofSecondPress: true), .up(.afterHoldDoubleClick)])
        #expect(steps(7, after: 6, 8) == [.up(.afterHoldDoubleClick)])
        #expect(steps(3, after: 2, 0) == [.up(.afterHoldClick)])
        #expect(steps(3, after: 1, 0) == [.up(.click)])
        #expect(steps(0, after: .max, 0) == [.up(.click)])
    }

    @Test("every step of a Flic 2 has an event code of a Twist", arguments: UInt8(0)..<16)
    func codes(raw: UInt8) {
        let common = EventCode(rawValue: raw)
        let isAfterHold: Bool
        switch common.step {
        case .up(.afterHold), .up(.afterHoldClick), .up(.afterHoldDoubleClick): isAfterHold = true
        case .down, .hold, .clickTimeout, .up(.open), .up(.click), .up(.doubleClick): isAfterHold = false
        }
        let again = TwistEventCode(common).common(afterHold: isAfterHold)
        // A Twist has no code for a release of a hold that was no click, so it becomes a click after a hold.
        if common.step == .up(.afterHold) {
            #expect(again.step == .up(.afterHoldClick))
        } else {
            #expect(again.step == common.step)
        }
    }

    @Test(
        "random octets and cut packets are refused or encode again to an equal packet, and never trap",
        arguments: 0..<40)
    func hostile(seed: UInt64) throws {
        var generator = SeededGenerator(seed: seed)
        for _ in 0..<300 {
            let octets = generator.bytes(Int.random(in: 0...140, using: &generator))
            if let packet = try? ButtonPacket(decodingTwist: octets) {
                let again = try #require(packet.twistOctets)
                #expect(try ButtonPacket(decodingTwist: again) == packet)
            }
            if let packet = try? HostPacket(decodingTwist: octets) {
                let again = try #require(packet.twistOctets)
                #expect(try HostPacket(decodingTwist: again) == packet)
            }
        }
        for own in Self.own {
            let octets = try #require(own.twistOctets)
            for length in octets.indices { _ = try? HostPacket(decodingTwist: Array(octets.prefix(length))) }
            #expect(throws: Truncated.self) { try HostPacket(decodingTwist: Array(octets.dropLast())) }
        }
    }

    private static let own: [HostPacket] = [
        .twist(.initButtonEventsRequest(.init(eventCount: 1, configurations: configurations, bootID: 2))),
        .twist(.updatePosition(.init(mode: 12, newMinimum: -1 << 47, receivedCount: .max))),
        .twist(.changeConfigurationRequest(configurations)),
        .twist(
            .startFirmwareUpdateRequest(
                .init(octetCount: 1, header: [UInt8](repeating: 3, count: 76), statusInterval: 2))),
    ]

    private static let configurations = (0..<13).map { TwistModeConfiguration(ledMode: 2, position: UInt16($0)) }

    @Test(
        "the position of a dial stays in its range for any turns and limits", arguments: 0..<40)
    func bounds(seed: UInt64) {
        var generator = SeededGenerator(seed: seed)
        var dial = BoundedDial(shown: .random(in: -10...60_000, using: &generator))
        func delta(_ generator: inout SeededGenerator) -> Int {
            let extremes = [TwistRotation.deltas.lowerBound, TwistRotation.deltas.upperBound, 0]
            return Bool.random(using: &generator)
                ? extremes.randomElement(using: &generator) ?? 0 : .random(in: TwistRotation.deltas, using: &generator)
        }
        for _ in 0..<500 {
            dial.turn(
                TwistRotation(
                    mode: 0, lastMinimumUpdateWasTop: .random(using: &generator), totalDelta: delta(&generator),
                    minimumDelta: delta(&generator), maximumDelta: delta(&generator)))
            #expect(0...Dial.unitsPerTurn ~= dial.shown)
            if Int.random(in: 0..<10, using: &generator) == 0 {
                let wanted = Int.random(in: 0...Dial.unitsPerTurn, using: &generator)
                dial.show(wanted)
                #expect(dial.shown == wanted)
            }
        }
    }
}
