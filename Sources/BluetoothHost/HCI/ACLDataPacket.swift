public import Bytes

/// An HCI ACL data packet: an L2CAP frame or a fragment of it.
///
///     octet  0…1                                       2…3      4…
///            handle (12 bits), boundary (2), broadcast (2)   length   data
///
/// - Source: Bluetooth Core 5.4, Vol 4, Part E, 5.4.2.
public struct ACLDataPacket: Hashable, Sendable {
    /// The packet boundary flag.
    public enum Boundary: UInt8, Hashable, Sendable {
        /// The first fragment of a frame, from host to controller.
        case firstFromHost = 0
        case continuing = 1
        /// The first fragment of a frame, from controller to host.
        case firstFromController = 2
    }

    public var handle: ConnectionHandle
    public var boundary: Boundary
    public var data: [UInt8]

    public init(handle: ConnectionHandle, boundary: Boundary, data: [UInt8]) {
        self.handle = handle
        self.boundary = boundary
        self.data = data
    }

    /// The complete packet with its H4 indicator. Data beyond 65 535 octets is cut.
    public var packet: [UInt8] {
        var writer = ByteWriter(capacity: 5 + data.count)
        writer.uint8(H4Indicator.aclData.rawValue)
        writer.uint16(handle.rawValue & 0x0FFF | UInt16(boundary.rawValue) << 12)
        let data = data.prefix(Int(UInt16.max))
        writer.uint16(UInt16(data.count))
        writer.bytes(data)
        return writer.bytes
    }

    /// Decodes a packet without its H4 indicator; octets after the data are ignored.
    ///
    /// - Throws: `Truncated` when the octets end before the announced data.
    public init(decoding octets: [UInt8]) throws(Truncated) {
        var reader = ByteReader(octets)
        let header = try ACLHeader(decoding: &reader)
        handle = header.handle
        boundary = header.boundary
        data = try reader.bytes(header.length)
    }
}

/// The header of an ACL packet, decoded without copying the data.
struct ACLHeader: Hashable, Sendable {
    var handle: ConnectionHandle
    var boundary: ACLDataPacket.Boundary
    var length: Int

    init(decoding reader: inout ByteReader) throws(Truncated) {
        let field = try reader.uint16()
        handle = ConnectionHandle(rawValue: field & 0x0FFF)
        // The value 3 marks a complete automatically flushable frame. LE does not use the value, but such a packet starts a frame
        // as well.
        boundary = ACLDataPacket.Boundary(rawValue: UInt8(field >> 12 & 0b11)) ?? .firstFromController
        length = Int(try reader.uint16())
    }
}
