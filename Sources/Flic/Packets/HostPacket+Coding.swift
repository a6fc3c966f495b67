import Bytes

extension HostPacket {
    /// - Throws: `Truncated`, when the octets end before the fixed fields do.
    init(decoding octets: [UInt8]) throws(Truncated) {
        var reader = ByteReader(octets)
        switch try reader.uint8() {
        case 0: self = .fullVerifyRequest1(temporaryID: try reader.uint32())
        case 1: self = .fullVerifyRequest2(try FullVerifyRequest2(&reader, withAppToken: true))
        case 2: self = .fullVerifyRequest2(try FullVerifyRequest2(&reader, withAppToken: false))
        case 3: self = .fullVerifyAbort
        case 4:
            self = .testIfReallyUnpairedRequest(
                TestIfReallyUnpairedRequest(
                    publicKey: try reader.bytes(32), random: try reader.bytes(8),
                    pairingIdentifier: try reader.uint32(),
                    token: try reader.bytes(16)))
        case 5:
            self = .quickVerifyRequest(
                QuickVerifyRequest(
                    random: try reader.bytes(7), flags: try reader.uint8(), temporaryID: try reader.uint32(),
                    pairingIdentifier: try reader.uint32()))
        case 6: self = .forceDisconnect(advertiseAgain: try reader.uint8() != 0)
        case 8: self = .getFirmwareVersionRequest
        case 9: self = .disconnectVerifiedLink
        case 10:
            let stamp = try reader.uint48()
            self = .setNameRequest(
                SetNameRequest(
                    timestamp: stamp & ~(1 << 47), isForced: stamp >> 47 != 0,
                    name: Array(reader.remainder().prefix(23))))
        case 11: self = .getNameRequest
        case 12:
            self = .setConnectionParameters(
                ButtonConnectionParameters(
                    intervalMinimum: try reader.uint16(), intervalMaximum: try reader.uint16(),
                    latency: try reader.uint16(), supervisionTimeout: try reader.uint16()))
        case 13: self = .startAPITimer(timeout: try reader.uint32(), message: try reader.uint32())
        case 14: self = .pingResponse
        case 15, 23: self = .initButtonEventsRequest(try InitButtonEventsRequest(&reader))
        case 16: self = .acknowledgeEvents(eventCount: try reader.uint32())
        case 17:
            self = .startFirmwareUpdateRequest(
                StartFirmwareUpdateRequest(
                    wordCount: try reader.uint16(), initializationVector: try reader.bytes(8),
                    statusInterval: try reader.uint16()))
        case 18: self = .firmwareUpdateData(Array(reader.remainder().prefix(4 * Self.maximumFirmwareWordCount)))
        case 19: self = .setAutoDisconnectTime(seconds: try reader.uint16() & 0x1FF)
        case 20: self = .getBatteryLevelRequest
        case 24: self = .factoryResetRequest
        case 25: self = .getCurrentTimeRequest
        case 26: self = .getDeviceIDRequest
        case 27: self = .setAdvertisingParametersRequest(try AdvertisingParameters(&reader))
        case 32: self = .executeLEDPattern(try LEDPattern(&reader))
        case 33: self = .abortLEDPattern
        case 34, 35: self = .initButtonEventsDuoRequest(try InitButtonEventsDuoRequest(&reader))
        case 36:
            self = .acknowledgeDuoEvents(eventCount: try reader.uint32(), smallEventCount: try reader.uint32())
        case 37: self = .enablePushTwist(.init(rawValue: try reader.uint8() & 0b11))
        case 38: self = .startFirmwareUpdateDuoRequest(try StartFirmwareUpdateDuoRequest(&reader))
        case 39: self = .firmwareUpdateDataDuo(Array(reader.remainder().prefix(Self.maximumFirmwareOctetCount)))
        case let opcode: self = .other(opcode: opcode)
        }
    }

    var octets: [UInt8] {
        var writer = ByteWriter(capacity: 128)
        writer.uint8(opcode)
        switch self {
        case .fullVerifyRequest1(let temporaryID): writer.uint32(temporaryID)
        case .fullVerifyRequest2(let request):
            writer.bytes(request.publicKey)
            writer.bytes(request.random)
            writer.uint8(request.flags)
            writer.bytes(request.encryptedAppToken)
            writer.bytes(request.verifier)
        case .testIfReallyUnpairedRequest(let request):
            writer.bytes(request.publicKey)
            writer.bytes(request.random)
            writer.uint32(request.pairingIdentifier)
            writer.bytes(request.token)
        case .quickVerifyRequest(let request):
            writer.bytes(request.random)
            writer.uint8(request.flags)
            writer.uint32(request.temporaryID)
            writer.uint32(request.pairingIdentifier)
        case .forceDisconnect(let advertiseAgain): writer.uint8(advertiseAgain ? 1 : 0)
        case .setNameRequest(let request):
            writer.uint48(request.timestamp & ~(1 << 47) | (request.isForced ? 1 << 47 : 0))
            writer.bytes(request.name)
        case .setConnectionParameters(let parameters):
            writer.uint16(parameters.intervalMinimum)
            writer.uint16(parameters.intervalMaximum)
            writer.uint16(parameters.latency)
            writer.uint16(parameters.supervisionTimeout)
        case .startAPITimer(let timeout, let message):
            writer.uint32(timeout)
            writer.uint32(message)
        case .initButtonEventsRequest(let request): request.write(to: &writer)
        case .acknowledgeEvents(let eventCount): writer.uint32(eventCount)
        case .startFirmwareUpdateRequest(let request):
            writer.uint16(request.wordCount)
            writer.bytes(request.initializationVector)
            writer.uint16(request.statusInterval)
        case .firmwareUpdateData(let data): writer.bytes(data)
        case .setAutoDisconnectTime(let seconds): writer.uint16(seconds & 0x1FF)
        case .setAdvertisingParametersRequest(let parameters): parameters.write(to: &writer)
        case .executeLEDPattern(let pattern): pattern.write(to: &writer)
        case .initButtonEventsDuoRequest(let request): request.write(to: &writer)
        case .acknowledgeDuoEvents(let eventCount, let smallEventCount):
            writer.uint32(eventCount)
            writer.uint32(smallEventCount)
        case .enablePushTwist(let parts): writer.uint8(parts.rawValue)
        case .startFirmwareUpdateDuoRequest(let request): request.write(to: &writer)
        case .firmwareUpdateDataDuo(let data): writer.bytes(data)
        case .twist(let packet): return packet.octets
        case .fullVerifyAbort, .getFirmwareVersionRequest, .disconnectVerifiedLink, .getNameRequest, .pingResponse,
            .getBatteryLevelRequest, .factoryResetRequest, .getCurrentTimeRequest, .getDeviceIDRequest,
            .abortLEDPattern, .other:
            break
        }
        return writer.bytes
    }

    var opcode: UInt8 {
        switch self {
        case .fullVerifyRequest1: 0
        case .fullVerifyRequest2(let request): request.encryptedAppToken.isEmpty ? 2 : 1
        case .fullVerifyAbort: 3
        case .testIfReallyUnpairedRequest: 4
        case .quickVerifyRequest: 5
        case .forceDisconnect: 6
        case .getFirmwareVersionRequest: 8
        case .disconnectVerifiedLink: 9
        case .setNameRequest: 10
        case .getNameRequest: 11
        case .setConnectionParameters: 12
        case .startAPITimer: 13
        case .pingResponse: 14
        // Opcodes 15 and 23 have the same layout. 23 is the "light" variant; the difference is unknown.
        case .initButtonEventsRequest: 23
        case .acknowledgeEvents: 16
        case .startFirmwareUpdateRequest: 17
        case .firmwareUpdateData: 18
        case .setAutoDisconnectTime: 19
        case .getBatteryLevelRequest: 20
        case .factoryResetRequest: 24
        case .getCurrentTimeRequest: 25
        case .getDeviceIDRequest: 26
        case .setAdvertisingParametersRequest: 27
        case .executeLEDPattern: 32
        case .abortLEDPattern: 33
        // Opcodes 34 and 35 have the same layout; 35 is the "light" variant.
        case .initButtonEventsDuoRequest: 35
        case .acknowledgeDuoEvents: 36
        case .enablePushTwist: 37
        case .startFirmwareUpdateDuoRequest: 38
        case .firmwareUpdateDataDuo: 39
        case .twist(let packet): packet.opcode
        case .other(let opcode): opcode
        }
    }

    /// True if packets with this opcode are not signed, because they are sent before or outside a session.
    static func isUnsigned(opcode: UInt8) -> Bool { opcode <= 5 }
}

extension HostPacket.FullVerifyRequest2 {
    fileprivate init(_ reader: inout ByteReader, withAppToken: Bool) throws(Truncated) {
        publicKey = try reader.bytes(32)
        random = try reader.bytes(8)
        flags = try reader.uint8()
        encryptedAppToken = withAppToken ? try reader.bytes(16) : []
        verifier = try reader.bytes(16)
    }
}

extension HostPacket.InitButtonEventsRequest {
    fileprivate init(_ reader: inout ByteReader) throws(Truncated) {
        self.init(
            eventCount: try reader.uint32(), bootID: 0, autoDisconnectSeconds: 0, maximumQueuedPackets: 0,
            maximumQueuedAge: 0)
        try readLimits(&reader)
    }

    /// Reads the boot id and the 40 bits of limits, the fields after the event counts.
    mutating func readLimits(_ reader: inout ByteReader) throws(Truncated) {
        bootID = try reader.uint32()
        let bits = try reader.uint40()
        autoDisconnectSeconds = UInt16(bits & 0x1FF)
        maximumQueuedPackets = UInt8(bits >> 9 & 0x1F)
        maximumQueuedAge = UInt32(bits >> 14 & 0xFFFFF)
    }

    fileprivate func write(to writer: inout ByteWriter) {
        writer.uint32(eventCount)
        writeLimits(to: &writer)
    }

    func writeLimits(to writer: inout ByteWriter) {
        writer.uint32(bootID)
        writer.uint40(
            UInt64(autoDisconnectSeconds & 0x1FF) | UInt64(maximumQueuedPackets & 0x1F) << 9
                | UInt64(maximumQueuedAge & 0xFFFFF) << 14)
    }
}

extension AdvertisingParameters {
    fileprivate init(_ reader: inout ByteReader) throws(Truncated) {
        isActive = try reader.uint8() != 0
        removesOtherPairingsSettings = try reader.uint8() != 0
        withShortRange = try reader.uint8() != 0
        withLongRange = try reader.uint8() != 0
        firstInterval = try reader.uint16()
        laterInterval = try reader.uint16()
        timeoutSeconds = try reader.uint32()
    }

    fileprivate func write(to writer: inout ByteWriter) {
        writer.uint8(isActive ? 1 : 0)
        writer.uint8(removesOtherPairingsSettings ? 1 : 0)
        writer.uint8(withShortRange ? 1 : 0)
        writer.uint8(withLongRange ? 1 : 0)
        writer.uint16(firstInterval)
        writer.uint16(laterInterval)
        writer.uint32(timeoutSeconds)
    }
}

/// The payload of opcode 32: 16 bits, then pulse on, pulse off and periods, 4 octets each.
///
///     bit  0…1     2                  3                           4         5…15
///          colour  overrides default  continues after disconnect  reserved  brightness
extension LEDPattern {
    fileprivate init(_ reader: inout ByteReader) throws(Truncated) {
        let bits = try reader.uint16()
        self.init(
            colour: UInt8(bits & 0b11), brightness: bits >> 5, pulseOn: try reader.uint32(),
            pulseOff: try reader.uint32(), periods: try reader.uint32(), overridesDefault: bits & 1 << 2 != 0,
            continuesAfterDisconnect: bits & 1 << 3 != 0)
    }

    fileprivate func write(to writer: inout ByteWriter) {
        let flags: UInt16 = (overridesDefault ? 1 << 2 : 0) | (continuesAfterDisconnect ? 1 << 3 : 0)
        writer.uint16(UInt16(colour & 0b11) | flags | brightness << 5)
        writer.uint32(pulseOn)
        writer.uint32(pulseOff)
        writer.uint32(periods)
    }
}
