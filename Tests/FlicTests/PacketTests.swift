import Bytes
import JSON
import TestSupport
import Testing

@testable import Flic

@Suite("Packets of a Flic 2")
struct PacketTests {
    static let hostPackets: [HostPacket] = [
        .fullVerifyRequest1(temporaryID: 0xDEAD_BEEF),
        .fullVerifyRequest2(
            .init(publicKey: filled(32), random: filled(8), flags: 0x80, encryptedAppToken: [], verifier: filled(16))),
        .fullVerifyRequest2(
            .init(
                publicKey: filled(32), random: filled(8), flags: 0, encryptedAppToken: filled(16), verifier: filled(16))
        ),
        .fullVerifyAbort,
        .testIfReallyUnpairedRequest(
            .init(publicKey: filled(32), random: filled(8), pairingIdentifier: 7, token: filled(16))),
        .quickVerifyRequest(.init(random: filled(7), flags: 0x40, temporaryID: 1, pairingIdentifier: .max)),
        .forceDisconnect(advertiseAgain: true),
        .getFirmwareVersionRequest,
        .disconnectVerifiedLink,
        .setNameRequest(.init(timestamp: 1_700_000_000_000, isForced: true, name: Array("Küche".utf8))),
        .setNameRequest(.init(timestamp: 0, isForced: false, name: [])),
        .getNameRequest,
        .setConnectionParameters(
            .init(intervalMinimum: 80, intervalMaximum: 90, latency: 17, supervisionTimeout: 800)),
        .pingResponse,
        .initButtonEventsRequest(
            .init(
                eventCount: 7, bootID: 0x1234_5678, autoDisconnectSeconds: 511, maximumQueuedPackets: 31,
                maximumQueuedAge: 0xFFFFF)),
        .acknowledgeEvents(eventCount: .max),
        .setAutoDisconnectTime(seconds: 40),
        .getBatteryLevelRequest,
        .setAdvertisingParametersRequest(AdvertisingParameters()),
        .startAPITimer(timeout: .max, message: 7),
        .startFirmwareUpdateRequest(.init(wordCount: 640, initializationVector: filled(8), statusInterval: 60)),
        .firmwareUpdateData(filled(120)),
        .firmwareUpdateData([]),
        .factoryResetRequest,
        .getCurrentTimeRequest,
        .getDeviceIDRequest,
        .executeLEDPattern(
            .init(
                colour: 3, brightness: 2047, pulseOn: 1, pulseOff: .max, periods: 3, overridesDefault: true,
                continuesAfterDisconnect: true)),
        .executeLEDPattern(.init(colour: 0, brightness: 0, pulseOn: 0, pulseOff: 0, periods: 0)),
        .abortLEDPattern,
        .other(opcode: 200),
    ]

    static let buttonPackets: [ButtonPacket] = [
        .fullVerifyResponse1(
            .init(
                temporaryID: 5,
                certificate: Certificate(
                    signature: filled(64), addressOctets: filled(6), addressKind: 1, publicKey: filled(32)),
                random: filled(8), isInPublicMode: true)),
        .fullVerifyResponse2(
            .init(
                appCredentialsMatch: true, caresAboutAppCredentials: false, uuid: filled(16), name: Array("Hall".utf8),
                firmwareVersion: 11, rawBattery: 860, serial: Array("BA00-A00001".utf8))),
        .noLogicalConnectionSlots(temporaryIDs: [1, 2, 3]),
        .noLogicalConnectionSlots(temporaryIDs: []),
        .fullVerifyFailResponse(reason: 1),
        .testIfReallyUnpairedResponse(result: filled(16)),
        .getFirmwareVersionResponse(version: 11),
        .quickVerifyNegativeResponse(temporaryID: 9),
        .quickVerifyResponse(.init(random: filled(8), temporaryID: 9)),
        .disconnectedVerifiedLink(reason: 3),
        .initButtonEventsResponse(.init(hasQueuedEvents: true, ticks: 1 << 46, eventCount: 8, bootID: nil)),
        .initButtonEventsResponse(.init(hasQueuedEvents: false, ticks: 0, eventCount: 0, bootID: 0x1234_ABCD)),
        .buttonEventNotification(
            EventNotification(
                eventCount: 3,
                items: [
                    .init(ticks: 1, code: EventCode(rawValue: 1), wasQueued: true),
                    .init(ticks: (1 << 48) - 1, code: EventCode(rawValue: 10), wasQueued: true, wasQueuedLast: true),
                ])),
        .nameUpdatedNotification(name: Array("Hall".utf8)),
        .pingRequest,
        .getNameResponse(.init(timestamp: 12, name: Array("Hall".utf8))),
        .setNameResponse(.init(timestamp: 12, name: [])),
        .getBatteryLevelResponse(raw: 860),
        .setAdvertisingParametersResponse,
        .apiTimerNotification(message: .max),
        .startFirmwareUpdateResponse(position: -3),
        .startFirmwareUpdateResponse(position: .max),
        .firmwareUpdateNotification(position: 0),
        .factoryResetResponse,
        .getCurrentTimeResponse(ticks: 1 << 56 - 1),
        .getDeviceIDResponse(filled(8)),
        .other(opcode: 200),
    ]

    @Test("a host's packet is decoded as it was encoded", arguments: hostPackets)
    func hostRoundTrip(packet: HostPacket) throws {
        #expect(try HostPacket(decoding: packet.octets) == packet)
    }

    @Test("a button's packet is decoded as it was encoded", arguments: buttonPackets)
    func buttonRoundTrip(packet: ButtonPacket) throws {
        #expect(try ButtonPacket(decoding: packet.octets) == packet)
    }

    @Test("a packet of fixed length may have octets appended by newer firmware", arguments: buttonPackets)
    func trailingOctets(packet: ButtonPacket) throws {
        switch packet {
        // A name, a list of ids and a list of events have no fixed length: they end with the packet.
        case .nameUpdatedNotification, .getNameResponse, .setNameResponse, .noLogicalConnectionSlots,
            .buttonEventNotification:
            break
        default: #expect(try ButtonPacket(decoding: packet.octets + [1, 2, 3]) == packet)
        }
    }

    @Test("a packet that is cut short throws or is a shorter packet, and never traps")
    func cut() {
        for octets in Self.hostPackets.map(\.octets) {
            for length in 0..<octets.count { _ = try? HostPacket(decoding: Array(octets.prefix(length))) }
        }
        for octets in Self.buttonPackets.map(\.octets) {
            for length in 0..<octets.count { _ = try? ButtonPacket(decoding: Array(octets.prefix(length))) }
        }
        #expect(throws: Truncated(needed: 1, available: 0)) { try ButtonPacket(decoding: []) }
        #expect(throws: Truncated.self) { try HostPacket(decoding: [5, 1, 2]) }
    }

    @Test("random octets never trap, and what is decoded encodes to the same octets", arguments: 0..<100)
    func noise(seed: UInt64) throws {
        var generator = SeededGenerator(seed: seed)
        for opcode in UInt8(0)...50 {
            let octets = [opcode] + generator.bytes(Int.random(in: 0...127, using: &generator))
            if let packet = try? HostPacket(decoding: octets) {
                #expect(try HostPacket(decoding: packet.octets) == packet)
            }
            if let packet = try? ButtonPacket(decoding: octets) {
                #expect(try ButtonPacket(decoding: packet.octets) == packet)
            }
        }
    }

    @Test("a name longer than its field is cut to the field")
    func longName() throws {
        var octets = Self.buttonPackets[1].octets
        octets[18] = 200
        guard case .fullVerifyResponse2(let response) = try ButtonPacket(decoding: octets) else {
            Issue.record("another packet")
            return
        }
        #expect(response.name.count == 23)
    }

    private static func filled(_ count: Int) -> [UInt8] { (0..<count).map { UInt8($0 + 1) } }
}
