import Bytes

/// A packet from host to button that only a Twist receives.
///
/// - Source: protocol notes, 8.2 and 9.
enum TwistHostPacket: Hashable, Sendable {
    case initButtonEventsRequest(InitButtonEventsRequest)
    case updatePosition(UpdatePosition)
    case startFirmwareUpdateRequest(StartFirmwareUpdateRequest)
    /// A new configuration for every mode.
    case changeConfigurationRequest([TwistModeConfiguration])

    /// Event count 4, a configuration of 5 octets for each mode, boot id 4, version of the event encoding 1.
    struct InitButtonEventsRequest: Hashable, Sendable {
        var eventCount: UInt32
        /// `TwistModeConfiguration.count` elements.
        var configurations: [TwistModeConfiguration]
        var bootID: UInt32
        var apiVersion: UInt8 = 2
    }

    /// Mode 1, new minimum 6 (signed), number of rotation packets that the host has received in the session 4.
    ///
    /// The Twist applies the minimum as of that rotation packet, and then the rotation packets that it sent afterwards
    /// again.
    struct UpdatePosition: Hashable, Sendable {
        /// 0…12.
        var mode: Int
        var newMinimum: Int
        var receivedCount: UInt32
    }

    /// Length of the data in octets 4, header 76, number of data packets between two progress notifications 2.
    struct StartFirmwareUpdateRequest: Hashable, Sendable {
        var octetCount: UInt32
        var header: [UInt8]
        var statusInterval: UInt16

        static let headerLength = 76
    }
}

/// The configuration of a mode of a Twist: LEDs, clicks, initial position and timeout.
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
    /// The time until the Twist leaves the mode for its default mode; 255 is never.
    var timeoutSeconds: UInt8 = 255

    /// The number of modes: slots 0…11, and 12 for the pressed dial.
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
    /// Decodes the payload; `nil` for opcodes that a Flic 2 has, too, and for unknown opcodes.
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
