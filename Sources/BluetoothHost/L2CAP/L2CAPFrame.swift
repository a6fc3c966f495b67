import Bytes

/// An L2CAP frame (B-frame or K-frame).
///
///     octet  0…1      2…3       4…
///            length   channel   payload, `length` octets
///
/// - Source: Bluetooth Core 5.4, Vol 3, Part A, 3.1.
struct L2CAPFrame: Sendable {
    var channel: L2CAPChannelID
    /// A reader at the first octet of the payload.
    var payload: ByteReader

    static let headerLength = 4

    static func encode(_ payload: [UInt8], on channel: L2CAPChannelID) -> [UInt8] {
        var writer = ByteWriter(capacity: headerLength + payload.count)
        writer.uint16(UInt16(clamping: payload.count))
        writer.uint16(channel.rawValue)
        writer.bytes(payload.prefix(Int(UInt16.max)))
        return writer.bytes
    }
}
