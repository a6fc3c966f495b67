/// Writes HCI traffic in the btsnoop format, version 1 with H4 packets, for Wireshark and `btmon -r`.
///
///     octet  0…7        8…11      12…15
///            btsnoop␀   version   data link: 1002, H4
///
/// followed by each packet as
///
///     octet  0…3     4…7       8…11   12…15  16…23  24…
///            length  included  flags  drops  time   the packet with its H4 indicator
///
/// Integers are big endian. `included` is the number of octets in the file, here always all of them. Bit 0 of the flags
/// is set for packets from the controller, bit 1 for commands and events. The time is in microseconds since the
/// beginning of the year 0.
///
/// The file contains no secret beyond what was sent over the air: this host does not encrypt links, so no key passes
/// through HCI.
///
/// - Source: RFC 1761, the origin of the format; BlueZ `src/shared/btsnoop.c`, for the differences.
public enum BTSnoop {
    public enum Direction: Hashable, Sendable {
        case sent
        case received
    }

    public static let header: [UInt8] = Array("btsnoop".utf8) + [0] + bigEndian(UInt32(1)) + bigEndian(UInt32(1002))

    /// Encodes a packet with its H4 indicator; `time` is in microseconds since the Unix epoch.
    public static func record(_ packet: [UInt8], _ direction: Direction, at time: Int64) -> [UInt8] {
        let indicator = packet.first.flatMap(H4Indicator.init(rawValue:))
        let isCommandOrEvent = indicator == .command || indicator == .event
        let flags: UInt32 = (direction == .received ? 1 : 0) | (isCommandOrEvent ? 2 : 0)
        let length = bigEndian(UInt32(clamping: packet.count))
        return length + length + bigEndian(flags) + bigEndian(UInt32(0)) + bigEndian(unixEpoch &+ time) + packet
    }

    /// The Unix epoch in microseconds since the beginning of the year 0.
    private static let unixEpoch: Int64 = 0x00DC_DDB3_0F2F_8000

    private static func bigEndian(_ value: some FixedWidthInteger) -> [UInt8] {
        stride(from: value.bitWidth - 8, through: 0, by: -8).map { UInt8(truncatingIfNeeded: value >> $0) }
    }
}
