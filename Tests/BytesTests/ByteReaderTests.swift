import Bytes
import TestSupport
import Testing

@Suite("ByteReader and ByteWriter")
struct ByteReaderTests {
    @Test("the reader returns what the writer wrote", arguments: 0..<50 as Range<UInt64>)
    func roundTrip(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        let value = random.next()
        let tail = random.bytes(Int(value % 40))
        var writer = ByteWriter()
        writer.uint8(UInt8(truncatingIfNeeded: value))
        writer.int8(Int8(truncatingIfNeeded: value))
        writer.uint16(UInt16(truncatingIfNeeded: value))
        writer.uint24(UInt32(truncatingIfNeeded: value))
        writer.uint32(UInt32(truncatingIfNeeded: value))
        writer.uint40(value)
        writer.uint48(value)
        writer.uint64(value)
        writer.bytes(tail)

        var reader = ByteReader(writer.bytes)
        #expect(try reader.uint8() == UInt8(truncatingIfNeeded: value))
        #expect(try reader.int8() == Int8(truncatingIfNeeded: value))
        #expect(try reader.uint16() == UInt16(truncatingIfNeeded: value))
        #expect(try reader.uint24() == UInt32(value & 0xFF_FFFF))
        #expect(try reader.uint32() == UInt32(truncatingIfNeeded: value))
        #expect(try reader.uint40() == value & 0xFF_FFFF_FFFF)
        #expect(try reader.uint48() == value & 0xFFFF_FFFF_FFFF)
        #expect(try reader.uint64() == value)
        #expect(reader.remainder() == tail)
        #expect(reader.isAtEnd)
    }

    @Test(
        "numbers are little-endian, that is their lowest octet comes first, unless the name of the method says otherwise"
    )
    func endianness() throws {
        var reader = ByteReader([0x34, 0x12, 0x12, 0x34, 0x56])
        #expect(try reader.uint16() == 0x1234)
        #expect(try reader.uint16BE() == 0x1234)
        #expect(reader.rest == [0x56] && reader.remainingCount == 1)
        #expect(throws: Truncated(needed: 2, available: 1)) { try reader.uint16BE() }
    }

    @Test("reading a field beyond the end says how many octets it needs, and does not move the reader")
    func truncated() throws {
        var reader = ByteReader([1, 2, 3])
        #expect(throws: Truncated(needed: 4, available: 3)) { try reader.uint32() }
        #expect(throws: Truncated(needed: 4, available: 3)) { try reader.bytes(4) }
        #expect(throws: Truncated(needed: 4, available: 3)) { try reader.skip(4) }
        #expect(try reader.uint24() == 0x030201)
        #expect(throws: Truncated(needed: 1, available: 0)) { try reader.uint8() }
    }

    @Test("a negative or a huge count is refused", arguments: [-1, Int.min, Int.max])
    func counts(count: Int) {
        var reader = ByteReader([1, 2, 3])
        #expect(throws: Truncated.self) { try reader.bytes(count) }
        #expect(throws: Truncated.self) { try reader.skip(count) }
        #expect(reader.remainingCount == 3)
    }

    @Test("a slice of an array is read from the slice's own start")
    func slice() throws {
        var reader = ByteReader([9, 9, 1, 2, 9][2..<4])
        #expect(try reader.uint16() == 0x0201)
        #expect(reader.isAtEnd)
    }

    @Test("any sequence of reads on any octets ends, and never reads past the end", arguments: 0..<50 as Range<UInt64>)
    func anything(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        let octets = random.bytes(Int.random(in: 0..<64, using: &random))
        var reader = ByteReader(octets)
        for _ in 0..<40 {
            let before = reader.remainingCount
            switch Int.random(in: 0..<6, using: &random) {
            case 0: _ = try? reader.uint8()
            case 1: _ = try? reader.uint16()
            case 2: _ = try? reader.uint48()
            case 3: _ = try? reader.uint64()
            case 4: _ = try? reader.bytes(Int.random(in: -2..<20, using: &random))
            default: _ = try? reader.skip(Int.random(in: -2..<20, using: &random))
            }
            #expect((0...before).contains(reader.remainingCount))
        }
        let left = reader.remainingCount
        #expect(reader.remainder() == Array(octets.suffix(left)))
    }
}
