import Bytes

/// A message does not have the form of its type.
package enum ProtobufFault: Error, Hashable, Sendable {
    /// The message ends inside a field.
    case truncated
    /// A varint has more than ten octets.
    case varintTooLong
    /// A field has the number 0, or one above 2²⁹ - 1.
    case fieldNumber
    /// A group (3, 4), or one of the wire types 6 and 7, which do not exist.
    case wireType(UInt8)
    /// A repeated field has more elements, or a value more octets, than a Bluetooth proxy can send.
    case tooMany
    /// A UUID has neither a short form nor two halves.
    case uuid
}

/// The value of one field, by its wire type.
enum ProtobufValue: Hashable, Sendable {
    case varint(UInt64)
    case fixed64(UInt64)
    case octets([UInt8])
    case fixed32(UInt32)
}

/// Reads the fields of one protobuf message in their order.
///
/// - Source: Protocol Buffers, Encoding.
struct ProtobufReader {
    private var reader: ByteReader

    init(_ octets: [UInt8]) { reader = ByteReader(octets) }

    /// The next field; `nil` at the end of the message.
    mutating func next() throws(ProtobufFault) -> (number: UInt64, value: ProtobufValue)? {
        guard !reader.isAtEnd else { return nil }
        let key = try varint()
        let number = key >> 3
        guard (1...Self.maximumFieldNumber).contains(number) else { throw .fieldNumber }
        switch UInt8(key & 7) {
        case 0: return (number, .varint(try varint()))
        case 1:
            guard let value = try? reader.uint64() else { throw .truncated }
            return (number, .fixed64(value))
        case 2:
            guard let length = Int(exactly: try varint()), let octets = try? reader.bytes(length) else {
                throw .truncated
            }
            return (number, .octets(octets))
        case 5:
            guard let value = try? reader.uint32() else { throw .truncated }
            return (number, .fixed32(value))
        case let type: throw .wireType(type)
        }
    }

    private mutating func varint() throws(ProtobufFault) -> UInt64 {
        var value: UInt64 = 0
        for index: UInt64 in 0..<10 {
            guard let octet = try? reader.uint8() else { throw .truncated }
            // Bits above the 64th are dropped, as in protobuf itself.
            value |= UInt64(octet & 0x7F) &<< (7 * index)
            if octet < 0x80 { return value }
        }
        throw .varintTooLong
    }

    /// The numbers of a packed field.
    static func packed(_ octets: [UInt8], upTo maximum: Int) throws(ProtobufFault) -> [UInt64] {
        var reader = ProtobufReader(octets)
        var values: [UInt64] = []
        while !reader.reader.isAtEnd {
            guard values.count < maximum else { throw .tooMany }
            values.append(try reader.varint())
        }
        return values
    }

    private static let maximumFieldNumber: UInt64 = 1 << 29 - 1
}

/// Writes the fields of one protobuf message. Default values (0, false, empty) are left out.
struct ProtobufWriter {
    private(set) var octets: [UInt8] = []

    mutating func unsigned(_ number: UInt64, _ value: UInt64) {
        guard value != 0 else { return }
        varint(number << 3)
        varint(value)
    }

    mutating func unsigned(_ number: UInt64, _ value: UInt32) { unsigned(number, UInt64(value)) }
    mutating func bool(_ number: UInt64, _ value: Bool) { unsigned(number, value ? 1 as UInt64 : 0) }

    /// An int32: a negative number takes ten octets.
    mutating func signed(_ number: UInt64, _ value: Int32) {
        unsigned(number, UInt64(bitPattern: Int64(value)))
    }

    /// A sint32, in zigzag form.
    mutating func zigzag(_ number: UInt64, _ value: Int32) {
        unsigned(number, UInt32(bitPattern: value << 1 ^ value >> 31))
    }

    mutating func bytes(_ number: UInt64, _ value: [UInt8]) {
        guard !value.isEmpty else { return }
        message(number, value)
    }

    mutating func string(_ number: UInt64, _ value: String) { bytes(number, Array(value.utf8)) }

    /// A message, which is written also when it is empty.
    mutating func message(_ number: UInt64, _ value: [UInt8]) {
        varint(number << 3 | 2)
        varint(UInt64(value.count))
        octets += value
    }

    mutating func packed(_ number: UInt64, _ values: [UInt64]) {
        var writer = ProtobufWriter()
        for value in values { writer.varint(value) }
        bytes(number, writer.octets)
    }

    mutating func varint(_ value: UInt64) {
        var rest = value
        while rest >= 0x80 {
            octets.append(UInt8(truncatingIfNeeded: rest) | 0x80)
            rest >>= 7
        }
        octets.append(UInt8(rest))
    }
}

extension ProtobufValue {
    /// The number of a varint field; `nil` for other wire types, whose fields are passed over as unknown.
    var number: UInt64? {
        switch self {
        case .varint(let value): value
        case .fixed64, .octets, .fixed32: nil
        }
    }

    var uint32: UInt32? { number.map { UInt32(truncatingIfNeeded: $0) } }
    var int32: Int32? { number.map { Int32(truncatingIfNeeded: $0) } }
    var bool: Bool? { number.map { $0 != 0 } }
    var zigzag: Int32? { uint32.map { Int32(bitPattern: $0 >> 1) ^ -Int32($0 & 1) } }

    var octets: [UInt8]? {
        switch self {
        case .octets(let octets): octets
        case .varint, .fixed64, .fixed32: nil
        }
    }

    var string: String? { octets.map { String(decoding: $0, as: UTF8.self) } }
}
