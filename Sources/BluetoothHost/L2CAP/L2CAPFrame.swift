import Bytes

/// The fixed channels of an LE link that this host speaks on.
///
/// - Source: Bluetooth Core 5.4, Vol 3, Part A, 2.1.
enum L2CAPChannelID {
    static let attributeProtocol: UInt16 = 0x0004
    static let leSignalling: UInt16 = 0x0005
}

/// What one side says at once on one channel.
///
///     octet  0…1      2…3       4…
///            length   channel   payload, `length` octets
///
/// - Source: Bluetooth Core 5.4, Vol 3, Part A, 3.1.
struct L2CAPFrame: Sendable {
    var channel: UInt16
    /// Stands at the first octet of the payload.
    var payload: ByteReader

    static let headerLength = 4

    static func encode(_ payload: [UInt8], on channel: UInt16) -> [UInt8] {
        var writer = ByteWriter(capacity: headerLength + payload.count)
        writer.uint16(UInt16(clamping: payload.count))
        writer.uint16(channel)
        writer.bytes(payload.prefix(Int(UInt16.max)))
        return writer.bytes
    }
}
