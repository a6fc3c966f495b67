import Bytes

/// A field of a message in protobuf's encoding.
struct ProtobufField: Hashable, Sendable {
    enum Value: Hashable, Sendable {
        case number(UInt64)
        /// Text, octets, a message, or packed numbers.
        case octets([UInt8])
        /// Eight or four octets. No field of this API that is read here has such a value.
        case fixed
    }

    var number: UInt32
    var value: Value
}

/// Reads the fields of a message in their order, and numbers without fields.
///
/// - Source: protobuf's Encoding.
struct ProtobufReader: Sendable {
    private static let longestNumber = 10
    private static let largestFieldNumber: UInt64 = 1 << 29 - 1

    private var reader: ByteReader

    init(_ octets: [UInt8]) { reader = ByteReader(octets) }

    var isAtEnd: Bool { reader.isAtEnd }

    /// The next field; `nil` at the end.
    mutating func field() throws(ESPHomeMalformed) -> ProtobufField? {
        guard !reader.isAtEnd else { return nil }
        let tag = try number()
        guard (1...Self.largestFieldNumber).contains(tag >> 3) else { throw .fieldNumber(tag >> 3) }
        let number = UInt32(tag >> 3)
        switch tag & 7 {
        case 0: return ProtobufField(number: number, value: .number(try self.number()))
        case 1:
            try skip(8)
            return ProtobufField(number: number, value: .fixed)
        case 2: return ProtobufField(number: number, value: .octets(try octets()))
        case 5:
            try skip(4)
            return ProtobufField(number: number, value: .fixed)
        default: throw .wireType(UInt8(tag & 7))
        }
    }

    /// A number in groups of seven bits, the lowest first. Bits beyond 64 are passed over.
    mutating func number() throws(ESPHomeMalformed) -> UInt64 {
        var value: UInt64 = 0
        for index in 0..<Self.longestNumber {
            guard let octet = try? reader.uint8() else { throw .truncated }
            value |= UInt64(octet & 0x7F) << UInt64(7 * index)
            if octet & 0x80 == 0 { return value }
        }
        throw .numberTooLong
    }

    private mutating func octets() throws(ESPHomeMalformed) -> [UInt8] {
        let length = try number()
        guard let count = Int(exactly: length), let octets = try? reader.bytes(count) else { throw .truncated }
        return octets
    }

    private mutating func skip(_ count: Int) throws(ESPHomeMalformed) {
        guard (try? reader.skip(count)) != nil else { throw .truncated }
    }
}

/// The fields of a message in which no field is repeated. A field that comes twice has its last value, and one that
/// does not come, or comes in another coding, has its default value.
struct ProtobufScalars: Sendable {
    /// The largest field number that is read in such a message.
    private static let largestNumber = 18

    private var numbers = [UInt64](repeating: 0, count: largestNumber + 1)
    private var contents = [[UInt8]](repeating: [], count: largestNumber + 1)

    init(_ payload: [UInt8]) throws(ESPHomeMalformed) {
        var reader = ProtobufReader(payload)
        while let field = try reader.field() {
            guard field.number <= Self.largestNumber else { continue }
            switch field.value {
            case .number(let number): numbers[Int(field.number)] = number
            case .octets(let value): contents[Int(field.number)] = value
            case .fixed: break
            }
        }
    }

    func uint64(_ field: Int) -> UInt64 { numbers[field] }
    func uint32(_ field: Int) -> UInt32 { UInt32(truncatingIfNeeded: numbers[field]) }
    func int32(_ field: Int) -> Int32 { Int32(truncatingIfNeeded: numbers[field]) }
    func bool(_ field: Int) -> Bool { numbers[field] != 0 }
    func text(_ field: Int) -> String { String(decoding: contents[field], as: UTF8.self) }

    func value(_ field: Int) throws(ESPHomeMalformed) -> [UInt8] { try contents[field].checkedValue() }
}

extension [UInt8] {
    /// The octets, unless they are more than an attribute or an advertisement can have.
    func checkedValue() throws(ESPHomeMalformed) -> [UInt8] {
        guard count <= ESPHomeLimits.valueLength else { throw .valueTooLong(count) }
        return self
    }
}

extension [UInt64] {
    /// Appends the numbers of a repeated field, packed or not.
    mutating func append(_ value: ProtobufField.Value, limit: Int, orThrow malformed: ESPHomeMalformed)
        throws(ESPHomeMalformed)
    {
        switch value {
        case .number(let number):
            guard count < limit else { throw malformed }
            append(number)
        case .octets(let packed):
            var reader = ProtobufReader(packed)
            while !reader.isAtEnd {
                guard count < limit else { throw malformed }
                append(try reader.number())
            }
        case .fixed: break
        }
    }
}
