import FlicdProtocol
import TestSupport
import Testing

@Suite("Frames of flicd")
struct FlicdFramerTests {
    @Test("packets are read whole, however the stream was cut", arguments: 0..<50)
    func cuts(seed: UInt64) throws {
        var generator = SeededGenerator(seed: seed)
        let packets = (0..<20).map { _ in generator.bytes(Int.random(in: 1...40, using: &generator)) }
        var stream: [UInt8] = []
        for packet in packets { stream += [UInt8(packet.count), 0] + packet }
        var framer = FlicdFramer(maximumLength: 40)
        var read: [[UInt8]] = []
        while !stream.isEmpty {
            let count = min(stream.count, Int.random(in: 0...30, using: &generator))
            framer.append(Array(stream[..<count]))
            stream.removeFirst(count)
            read += try framer.all()
        }
        #expect(read == packets)
    }

    @Test("empty frames are skipped")
    func empty() throws {
        var framer = FlicdFramer(maximumLength: 4)
        framer.append([0, 0, 0, 0, 1, 0, 9, 0, 0])
        let read = try framer.all()
        #expect(read == [[9]])
    }

    @Test("a packet of the maximum length is read; one octet more is refused, after the packets before it")
    func bound() throws {
        var framer = FlicdFramer(maximumLength: FlicdFramer.maximumCommandLength)
        let longest = [UInt8](repeating: 9, count: 4096)
        framer.append([0x00, 0x10] + longest + [0x01, 0x10])
        let first = try framer.next()
        #expect(first == longest)
        let failure = #expect(throws: FlicdFrameTooLong.self) { try framer.next() }
        #expect(failure?.length == 4097)
        #expect(failure?.opcode == nil)
        framer.append([3, 0, 0])
        let again = #expect(throws: FlicdFrameTooLong.self) { try framer.next() }
        #expect(again?.opcode == 3)
    }

    @Test("an event of 65,535 octets is read")
    func longest() throws {
        var framer = FlicdFramer(maximumLength: FlicdFramer.maximumEventLength)
        framer.append([0xFF, 0xFF])
        framer.append([UInt8](repeating: 9, count: 0xFFFE))
        let none = try framer.next()
        #expect(none == nil)
        framer.append([9])
        let whole = try framer.next()
        #expect(whole?.count == 0xFFFF)
    }
}
