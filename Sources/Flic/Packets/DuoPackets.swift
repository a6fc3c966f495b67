import Bytes

/// The packets that replace those of a Flic 2 in a session with a Duo, and the packets for its rotation.
///
/// - Source: protocol notes, 8.1.
extension HostPacket {
    /// Event counts of both buttons 4 each, boot id 4, and the 40 bits of an `InitButtonEventsRequest`.
    struct InitButtonEventsDuoRequest: Hashable, Sendable {
        var smallEventCount: UInt32
        /// The fields that a Flic 2's request has, too; `eventCount` is that of the big button.
        var common: InitButtonEventsRequest
    }

    /// Length of the data in octets 4, header of the image 76, number of data packets between two progress
    /// notifications 2.
    struct StartFirmwareUpdateDuoRequest: Hashable, Sendable {
        var octetCount: UInt32
        /// 76 octets.
        var header: [UInt8]
        var statusInterval: UInt16
    }

    /// The maximum number of octets of an image in one packet.
    static let maximumFirmwareOctetCount = 110
}

extension ButtonPacket {
    /// 48 bits (bit 0: has queued events; the others: milliseconds), event counts of both buttons 4 each and, only in
    /// opcode 30, boot id 4.
    ///
    /// Sources disagree about which of opcodes 30 and 31 has the boot id, so the length of the packet decides.
    struct InitButtonEventsDuoResponse: Hashable, Sendable {
        var hasQueuedEvents: Bool
        /// The button's clock: milliseconds since its boot, 47 bits.
        var milliseconds: UInt64
        var eventCount, smallEventCount: UInt32
        /// `nil` if it is the boot id in the host's request.
        var bootID: UInt32?
    }

    /// ```
    /// octet  1                                                                     2
    ///        pressed (2 bits), first of its press (2), pressed for 0.5 s (2)       angle, signed
    /// ```
    /// How far a Duo was rotated while at least one of its buttons was down. The low bit of each pair is the big
    /// button's.
    struct PushTwistNotification: Hashable, Sendable {
        var pressed, isFirst, isPressedLong: Parts
        /// The rotation since the previous notification, `unitsPerTurn` to a turn, clockwise positive.
        var angle: Int32

        static let unitsPerTurn = 65_536

        struct Parts: OptionSet, Hashable, Sendable {
            var rawValue: UInt8
            static let big = Parts(rawValue: 1 << 0)
            static let small = Parts(rawValue: 1 << 1)
        }
    }
}

extension HostPacket.InitButtonEventsDuoRequest {
    init(_ reader: inout ByteReader) throws(Truncated) {
        let eventCount = try reader.uint32()
        smallEventCount = try reader.uint32()
        common = HostPacket.InitButtonEventsRequest(
            eventCount: eventCount, bootID: 0, autoDisconnectSeconds: 0, maximumQueuedPackets: 0, maximumQueuedAge: 0)
        try common.readLimits(&reader)
    }

    func write(to writer: inout ByteWriter) {
        writer.uint32(common.eventCount)
        writer.uint32(smallEventCount)
        common.writeLimits(to: &writer)
    }
}

extension HostPacket.StartFirmwareUpdateDuoRequest {
    init(_ reader: inout ByteReader) throws(Truncated) {
        octetCount = try reader.uint32()
        header = try reader.bytes(FirmwareFormat.signedHeaderLength)
        statusInterval = try reader.uint16()
    }

    func write(to writer: inout ByteWriter) {
        writer.uint32(octetCount)
        writer.bytes(header.padded(to: FirmwareFormat.signedHeaderLength))
        writer.uint16(statusInterval)
    }
}

extension ButtonPacket.InitButtonEventsDuoResponse {
    init(_ reader: inout ByteReader) throws(Truncated) {
        let bits = try reader.uint48()
        hasQueuedEvents = bits & 1 != 0
        milliseconds = bits >> 1
        eventCount = try reader.uint32()
        smallEventCount = try reader.uint32()
        bootID = reader.remainingCount >= 4 ? try reader.uint32() : nil
    }

    func write(to writer: inout ByteWriter) {
        writer.uint48(milliseconds << 1 | (hasQueuedEvents ? 1 : 0))
        writer.uint32(eventCount)
        writer.uint32(smallEventCount)
        if let bootID { writer.uint32(bootID) }
    }
}

extension ButtonPacket.PushTwistNotification {
    init(_ reader: inout ByteReader) throws(Truncated) {
        let bits = try reader.uint8()
        pressed = Parts(rawValue: bits & 0b11)
        isFirst = Parts(rawValue: bits >> 2 & 0b11)
        isPressedLong = Parts(rawValue: bits >> 4 & 0b11)
        angle = Int32(bitPattern: try reader.uint32())
    }

    func write(to writer: inout ByteWriter) {
        writer.uint8(pressed.rawValue | isFirst.rawValue << 2 | isPressedLong.rawValue << 4)
        writer.uint32(UInt32(bitPattern: angle))
    }
}
