/// HCI traffic as a file that Wireshark, `btmon -r` and others read: "btsnoop", version 1, with H4 packets.
///
///     octet  0…7        8…11      12…15
///            btsnoop␀   version   data link: 1002, H4
///
/// and then for each packet
///
///     octet  0…3      4…7       8…11    12…15   16…23  24…
///            length   of which  flags   drops   time   the packet from its H4 indicator on
///                     included
///
/// Big endian. Bit 0 of the flags is set for what the controller sent, bit 1 for commands and events. The time counts
/// microseconds from the beginning of the year 0.
///
/// What it holds of ours is what was on the air: this host encrypts no link, so no key passes through HCI.
///
/// - Source: RFC 1761, which the format is taken from; BlueZ `src/shared/btsnoop.c`, for where it differs.
public enum BTSnoop {
    public enum Direction: Hashable, Sendable {
        case sent
        case received
    }

    public static let header: [UInt8] = Array("btsnoop".utf8) + [0] + bigEndian(UInt32(1)) + bigEndian(UInt32(1002))

    /// The packet has its H4 indicator; the time is in microseconds since the Unix epoch.
    public static func record(_ packet: [UInt8], _ direction: Direction, at time: Int64) -> [UInt8] {
        let indicator = packet.first.flatMap(H4Indicator.init(rawValue:))
        let isCommandOrEvent = indicator == .command || indicator == .event
        let flags: UInt32 = (direction == .received ? 1 : 0) | (isCommandOrEvent ? 2 : 0)
        let length = bigEndian(UInt32(clamping: packet.count))
        return length + length + bigEndian(flags) + bigEndian(UInt32(0)) + bigEndian(unixEpoch &+ time) + packet
    }

    /// The Unix epoch in microseconds from the beginning of the year 0.
    private static let unixEpoch: Int64 = 0x00DC_DDB3_0F2F_8000

    private static func bigEndian(_ value: some FixedWidthInteger) -> [UInt8] {
        stride(from: value.bitWidth - 8, through: 0, by: -8).map { UInt8(truncatingIfNeeded: value >> $0) }
    }
}
