import Bytes

extension ButtonPacket {
    /// The opcode of `buttonEventNotification`.
    static let buttonEventOpcode: UInt8 = 12

    /// - Throws: `Truncated`, when the octets end before the fixed fields do.
    init(decoding octets: [UInt8]) throws(Truncated) {
        var reader = ByteReader(octets)
        switch try reader.uint8() {
        case 0: self = .fullVerifyResponse1(try FullVerifyResponse1(&reader))
        case 1: self = .fullVerifyResponse2(try FullVerifyResponse2(&reader))
        case 2:
            var temporaryIDs: [UInt32] = []
            while reader.remainingCount >= 4 { temporaryIDs.append(try reader.uint32()) }
            self = .noLogicalConnectionSlots(temporaryIDs: temporaryIDs)
        case 3: self = .fullVerifyFailResponse(reason: try reader.uint8())
        case 4: self = .testIfReallyUnpairedResponse(result: try reader.bytes(16))
        case 5: self = .getFirmwareVersionResponse(version: try reader.uint32())
        case 6: self = .quickVerifyNegativeResponse(temporaryID: try reader.uint32())
        case 8:
            self = .quickVerifyResponse(
                QuickVerifyResponse(
                    random: try reader.bytes(8), temporaryID: try reader.uint32(),
                    isDuo: try reader.uint8() & Self.duoFlag != 0))
        case 9: self = .disconnectedVerifiedLink(reason: try reader.uint8())
        case 10: self = .initButtonEventsResponse(try InitButtonEventsResponse(&reader, withBootID: true))
        case 11: self = .initButtonEventsResponse(try InitButtonEventsResponse(&reader, withBootID: false))
        case Self.buttonEventOpcode: self = .buttonEventNotification(try EventNotification(&reader))
        case 13: self = .apiTimerNotification(message: try reader.uint32())
        case 14: self = .nameUpdatedNotification(name: reader.remainder())
        case 15: self = .pingRequest
        case 16: self = .getNameResponse(try StampedName(&reader))
        case 17: self = .setNameResponse(try StampedName(&reader))
        case 18: self = .startFirmwareUpdateResponse(position: Int32(bitPattern: try reader.uint32()))
        case 19: self = .firmwareUpdateNotification(position: Int32(bitPattern: try reader.uint32()))
        case 20: self = .getBatteryLevelResponse(raw: try reader.uint16())
        case 22: self = .factoryResetResponse
        case 23:
            let low = UInt64(try reader.uint32())
            self = .getCurrentTimeResponse(ticks: low | UInt64(try reader.uint24()) << 32)
        case 24: self = .getDeviceIDResponse(try reader.bytes(8))
        case 25: self = .setAdvertisingParametersResponse
        case 30, 31: self = .initButtonEventsDuoResponse(try InitButtonEventsDuoResponse(&reader))
        case 32: self = .buttonEventDuoNotification(reader.remainder())
        case 33: self = .pushTwistNotification(try PushTwistNotification(&reader))
        case let opcode: self = .other(opcode: opcode)
        }
    }

    var octets: [UInt8] {
        var writer = ByteWriter(capacity: Frame.maximumPacketLength)
        writer.uint8(opcode)
        switch self {
        case .fullVerifyResponse1(let response): response.write(to: &writer)
        case .fullVerifyResponse2(let response): response.write(to: &writer)
        case .noLogicalConnectionSlots(let temporaryIDs): for id in temporaryIDs { writer.uint32(id) }
        case .fullVerifyFailResponse(let reason), .disconnectedVerifiedLink(let reason): writer.uint8(reason)
        case .testIfReallyUnpairedResponse(let result): writer.bytes(result)
        case .getFirmwareVersionResponse(let version): writer.uint32(version)
        case .quickVerifyNegativeResponse(let temporaryID): writer.uint32(temporaryID)
        case .quickVerifyResponse(let response):
            writer.bytes(response.random)
            writer.uint32(response.temporaryID)
            writer.uint8(response.isDuo ? Self.duoFlag : 0)
        case .initButtonEventsResponse(let response):
            writer.uint48(response.ticks << 1 | (response.hasQueuedEvents ? 1 : 0))
            writer.uint32(response.eventCount)
            if let bootID = response.bootID { writer.uint32(bootID) }
        case .buttonEventNotification(let notification): notification.write(to: &writer)
        case .initButtonEventsDuoResponse(let response): response.write(to: &writer)
        case .buttonEventDuoNotification(let bits): writer.bytes(bits)
        case .pushTwistNotification(let notification): notification.write(to: &writer)
        case .apiTimerNotification(let message): writer.uint32(message)
        case .nameUpdatedNotification(let name): writer.bytes(name)
        case .getNameResponse(let stamped), .setNameResponse(let stamped):
            writer.uint48(stamped.timestamp)
            writer.bytes(stamped.name)
        case .startFirmwareUpdateResponse(let position), .firmwareUpdateNotification(let position):
            writer.uint32(UInt32(bitPattern: position))
        case .getBatteryLevelResponse(let raw): writer.uint16(raw)
        case .getCurrentTimeResponse(let ticks):
            writer.uint32(UInt32(truncatingIfNeeded: ticks))
            writer.uint24(UInt32(truncatingIfNeeded: ticks >> 32))
        case .getDeviceIDResponse(let octets): writer.bytes(octets.padded(to: 8))
        case .twist(let packet): return packet.octets
        case .pingRequest, .factoryResetResponse, .setAdvertisingParametersResponse, .other: break
        }
        return writer.bytes
    }

    /// The flag of a Duo in both responses that complete a verification.
    fileprivate static let duoFlag: UInt8 = 0b100

    var opcode: UInt8 {
        switch self {
        case .fullVerifyResponse1: 0
        case .fullVerifyResponse2: 1
        case .noLogicalConnectionSlots: 2
        case .fullVerifyFailResponse: 3
        case .testIfReallyUnpairedResponse: 4
        case .getFirmwareVersionResponse: 5
        case .quickVerifyNegativeResponse: 6
        case .quickVerifyResponse: 8
        case .disconnectedVerifiedLink: 9
        case .initButtonEventsResponse(let response): response.bootID == nil ? 11 : 10
        case .buttonEventNotification: Self.buttonEventOpcode
        case .apiTimerNotification: 13
        case .nameUpdatedNotification: 14
        case .pingRequest: 15
        case .getNameResponse: 16
        case .setNameResponse: 17
        case .startFirmwareUpdateResponse: 18
        case .firmwareUpdateNotification: 19
        case .getBatteryLevelResponse: 20
        case .factoryResetResponse: 22
        case .getCurrentTimeResponse: 23
        case .getDeviceIDResponse: 24
        case .setAdvertisingParametersResponse: 25
        case .initButtonEventsDuoResponse(let response): response.bootID == nil ? 31 : 30
        case .buttonEventDuoNotification: 32
        case .pushTwistNotification: 33
        case .twist(let packet): packet.opcode
        case .other(let opcode): opcode
        }
    }
}

extension ButtonPacket.FullVerifyResponse1 {
    fileprivate init(_ reader: inout ByteReader) throws(Truncated) {
        temporaryID = try reader.uint32()
        certificate = Certificate(
            signature: try reader.bytes(64), addressOctets: try reader.bytes(6), addressKind: try reader.uint8(),
            publicKey: try reader.bytes(32))
        random = try reader.bytes(8)
        isInPublicMode = try reader.uint8() & 0b10 != 0
    }

    fileprivate func write(to writer: inout ByteWriter) {
        writer.uint32(temporaryID)
        writer.bytes(certificate.signature)
        writer.bytes(certificate.message)
        writer.bytes(random)
        writer.uint8(isInPublicMode ? 0b10 : 0)
    }
}

extension ButtonPacket.FullVerifyResponse2 {
    fileprivate init(_ reader: inout ByteReader) throws(Truncated) {
        let flags = try reader.uint8()
        appCredentialsMatch = flags & 0b01 != 0
        caresAboutAppCredentials = flags & 0b10 != 0
        isDuo = flags & ButtonPacket.duoFlag != 0
        uuid = try reader.bytes(16)
        let nameLength = Int(try reader.uint8())
        name = Array(try reader.bytes(Self.nameLength).prefix(nameLength))
        firmwareVersion = try reader.uint32()
        rawBattery = try reader.uint16()
        serial = Array(try reader.bytes(Self.serialLength).prefix { $0 != 0 })
    }

    fileprivate func write(to writer: inout ByteWriter) {
        writer.uint8(
            (appCredentialsMatch ? 0b01 : 0) | (caresAboutAppCredentials ? 0b10 : 0)
                | (isDuo ? ButtonPacket.duoFlag : 0))
        writer.bytes(uuid.padded(to: 16))
        writer.uint8(UInt8(min(name.count, Self.nameLength)))
        writer.bytes(name.padded(to: Self.nameLength))
        writer.uint32(firmwareVersion)
        writer.uint16(rawBattery)
        writer.bytes(serial.padded(to: Self.serialLength))
    }
}

extension ButtonPacket.InitButtonEventsResponse {
    fileprivate init(_ reader: inout ByteReader, withBootID: Bool) throws(Truncated) {
        let bits = try reader.uint48()
        hasQueuedEvents = bits & 1 != 0
        ticks = bits >> 1
        eventCount = try reader.uint32()
        bootID = withBootID ? try reader.uint32() : nil
    }
}

extension ButtonPacket.StampedName {
    fileprivate init(_ reader: inout ByteReader) throws(Truncated) {
        timestamp = try reader.uint48()
        name = reader.remainder()
    }
}

extension Array<UInt8> {
    /// The first `count` octets, with zeros where there are fewer.
    func padded(to count: Int) -> [UInt8] {
        Array(prefix(count)) + repeatElement(0, count: Swift.max(0, count - self.count))
    }
}
