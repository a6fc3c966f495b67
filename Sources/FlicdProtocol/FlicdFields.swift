import ButtonModel
import Bytes

/// Why the octets of a frame are no packet. The frames after it are not affected.
package enum FlicdPacketFailure: Error, Hashable, Sendable {
    /// Not even an opcode.
    case empty
    case tooShort(opcode: UInt8)
    /// What a press turned out to be is the one thing that cannot be guessed.
    case unknownClickType(UInt8)
}

/// The fields that packets are made of: little endian, without alignment.
///
///     address   6 octets, the one printed last comes first
///     bool      1 octet, any but 0 is true
///     str16     length (1), 16 octets of which length are UTF-8, then zeros
///
/// - Source: flicd notes, the beginning.
extension ByteReader {
    mutating func address(_ kind: BluetoothAddress.Kind = .public) throws(Truncated) -> BluetoothAddress {
        BluetoothAddress(rawValue: try uint48(), kind: kind)
    }

    mutating func bool() throws(Truncated) -> Bool { try uint8() != 0 }

    /// A length above 16 is read as 16; octets that are no UTF-8 become replacement characters.
    mutating func str16() throws(Truncated) -> String {
        let length = Int(try uint8())
        return String(decoding: try bytes(ByteWriter.str16Length).prefix(length), as: UTF8.self)
    }
}

extension ByteWriter {
    static let str16Length = 16

    mutating func address(_ address: BluetoothAddress) { uint48(address.rawValue) }

    mutating func bool(_ value: Bool) { uint8(value ? 1 : 0) }

    /// The longest beginning of whole characters that fits.
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

/// Puts the length of a packet before it, as it travels.
func framed(_ packet: ByteWriter) -> [UInt8] {
    var writer = ByteWriter(capacity: 2 + packet.bytes.count)
    writer.uint16(UInt16(clamping: packet.bytes.count))
    writer.bytes(packet.bytes)
    return writer.bytes
}
