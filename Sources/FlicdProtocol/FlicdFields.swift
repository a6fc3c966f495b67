import ButtonModel
import Bytes

/// The reason why a frame could not be decoded. The frames after it are not affected.
package enum FlicdPacketFailure: Error, Hashable, Sendable {
    /// The packet has no opcode.
    case empty
    case tooShort(opcode: UInt8)
    /// Unlike other enumeration values, an unknown click type has no safe substitute.
    case unknownClickType(UInt8)
}

/// The field types of packets. Integers are little endian, without alignment.
///
///     address   6 octets, the least significant (printed last) first
///     bool      1 octet, any value but 0 is true
///     str16     length (1), 16 octets of which length are UTF-8, then zeros
///
/// - Source: flicd notes, the introduction.
extension ByteReader {
    mutating func address(_ kind: BluetoothAddress.Kind = .public) throws(Truncated) -> BluetoothAddress {
        BluetoothAddress(rawValue: try uint48(), kind: kind)
    }

    mutating func bool() throws(Truncated) -> Bool { try uint8() != 0 }

    /// Decodes a str16. A length above 16 is read as 16; octets that are not UTF-8 become replacement characters.
    mutating func str16() throws(Truncated) -> String {
        let length = Int(try uint8())
        return String(decoding: try bytes(ByteWriter.str16Length).prefix(length), as: UTF8.self)
    }
}

extension ByteWriter {
    static let str16Length = 16

    mutating func address(_ address: BluetoothAddress) { uint48(address.rawValue) }

    mutating func bool(_ value: Bool) { uint8(value ? 1 : 0) }

    /// Encodes a str16. A longer text is cut to whole characters.
    mutating func str16(_ text: String) {
        var length = 0
        let cut = text.prefix {
            length += $0.utf8.count
            return length <= Self.str16Length
        }
        uint8(UInt8(cut.utf8.count))
        bytes(cut.utf8)
        bytes(repeatElement(0, count: Self.str16Length - cut.utf8.count))
    }
}

/// Prepends the length of a packet, which makes it a frame.
func framed(_ packet: ByteWriter) -> [UInt8] {
    var writer = ByteWriter(capacity: 2 + packet.bytes.count)
    writer.uint16(UInt16(clamping: packet.bytes.count))
    writer.bytes(packet.bytes)
    return writer.bytes
}
