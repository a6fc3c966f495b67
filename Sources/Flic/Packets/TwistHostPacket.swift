import Bytes

/// What only a Twist is sent.
///
/// - Source: protocol notes, 8.2 and 9.
enum TwistHostPacket: Hashable, Sendable {
    case initButtonEventsRequest(InitButtonEventsRequest)
    case updatePosition(UpdatePosition)
    case startFirmwareUpdateRequest(StartFirmwareUpdateRequest)
    /// One for each mode.
    case changeConfigurationRequest([TwistModeConfiguration])

    /// Event count, one configuration for each mode, boot id, version of the event encoding.
    struct InitButtonEventsRequest: Hashable, Sendable {
        var eventCount: UInt32
        /// `TwistModeConfiguration.count` of them.
        var configurations: [TwistModeConfiguration]
        var bootID: UInt32
        var apiVersion: UInt8 = 2
    }

    /// Mode, new minimum (48 bits, signed), how many rotation packets the host has had.
    ///
    /// The Twist applies the minimum as of that packet, and what it sent after it once more.
    struct UpdatePosition: Hashable, Sendable {
        /// 0…12.
        var mode: Int
        var newMinimum: Int
        var receivedCount: UInt32
    }

    /// Length in octets (without the header), header 76, packets of data between two notifications of progress.
    struct StartFirmwareUpdateRequest: Hashable, Sendable {
        var octetCount: UInt32
        var header: [UInt8]
        var statusInterval: UInt16

        static let headerLength = 76
    }
}

/// What one mode of a Twist shows, tells and starts with.
///
///     octet  0                                                                   2         4
///            LEDs (6 bits), click (1), double click (1), LEDs after it (4), 0 (4)  position  timeout, s
///
/// - Source: protocol notes, 8.2.
struct TwistModeConfiguration: Hashable, Sendable {
    /// 0 none, 1 fill, 2 point, 3 selector.
    var ledMode: UInt8
    var hasClick = true
    var hasDoubleClick = true
    /// 0…15.
    var extraLEDsAfter: UInt8 = 0
    /// 0…49152.
    var position: UInt16
    /// Until the mode is left for the default one; 255: never.
    var timeoutSeconds: UInt8 = 255

    /// Slots 0…11, and 12 while the dial is pressed.
    static let count = 13
    static let pushMode = 12

    init(_ reader: inout ByteReader) throws(Truncated) {
        let bits = try reader.uint16()
        ledMode = UInt8(bits & 0x3F)
        hasClick = bits & 0x40 != 0
        hasDoubleClick = bits & 0x80 != 0
        extraLEDsAfter = UInt8(bits >> 8 & 0xF)
        position = try reader.uint16()
        timeoutSeconds = try reader.uint8()
    }

    init(
        ledMode: UInt8, hasClick: Bool = true, hasDoubleClick: Bool = true, extraLEDsAfter: UInt8 = 0,
        position: UInt16, timeoutSeconds: UInt8 = 255
    ) {
        self.ledMode = ledMode
        self.hasClick = hasClick
        self.hasDoubleClick = hasDoubleClick
        self.extraLEDsAfter = extraLEDsAfter
        self.position = position
        self.timeoutSeconds = timeoutSeconds
    }

    func write(to writer: inout ByteWriter) {
        writer.uint16(
            UInt16(ledMode & 0x3F) | (hasClick ? 0x40 : 0) | (hasDoubleClick ? 0x80 : 0)
                | UInt16(extraLEDsAfter & 0xF) << 8)
        writer.uint16(position)
        writer.uint8(timeoutSeconds)
    }

    static func all(_ reader: inout ByteReader) throws(Truncated) -> [TwistModeConfiguration] {
        var all: [TwistModeConfiguration] = []
        for _ in 0..<count { all.append(try TwistModeConfiguration(&reader)) }
        return all
    }
}

extension TwistHostPacket {
    /// `nil` for an opcode that a Flic 2 knows too, or nobody.
    init?(opcode: UInt8, _ reader: inout ByteReader) throws(Truncated) {
        switch opcode {
        case 12:
            self = .initButtonEventsRequest(
                InitButtonEventsRequest(
                    eventCount: try reader.uint32(), configurations: try TwistModeConfiguration.all(&reader),
                    bootID: try reader.uint32(), apiVersion: try reader.uint8()))
        case 14:
            let mode = Int(try reader.uint8())
            let minimum = try reader.uint48()
            self = .updatePosition(
                UpdatePosition(
                    mode: mode, newMinimum: Int(Int64(bitPattern: minimum << 16) >> 16),
                    receivedCount: try reader.uint32()))
        case 15:
            self = .startFirmwareUpdateRequest(
                StartFirmwareUpdateRequest(
                    octetCount: try reader.uint32(), header: try reader.bytes(StartFirmwareUpdateRequest.headerLength),
                    statusInterval: try reader.uint16()))
        case 25: self = .changeConfigurationRequest(try TwistModeConfiguration.all(&reader))
        default: return nil
        }
    }

    var octets: [UInt8] {
        var writer = ByteWriter(capacity: 128)
        writer.uint8(opcode)
        switch self {
        case .initButtonEventsRequest(let request):
            writer.uint32(request.eventCount)
            for configuration in request.configurations { configuration.write(to: &writer) }
            writer.uint32(request.bootID)
            writer.uint8(request.apiVersion)
        case .updatePosition(let update):
            writer.uint8(UInt8(truncatingIfNeeded: update.mode))
            writer.uint48(UInt64(bitPattern: Int64(update.newMinimum)))
            writer.uint32(update.receivedCount)
        case .startFirmwareUpdateRequest(let request):
            writer.uint32(request.octetCount)
            writer.bytes(request.header.padded(to: StartFirmwareUpdateRequest.headerLength))
            writer.uint16(request.statusInterval)
        case .changeConfigurationRequest(let configurations):
            for configuration in configurations { configuration.write(to: &writer) }
        }
        return writer.bytes
    }

    var opcode: UInt8 {
        switch self {
        case .initButtonEventsRequest: 12
        case .updatePosition: 14
        case .startFirmwareUpdateRequest: 15
        case .changeConfigurationRequest: 25
        }
    }
}
