import Bytes
import JSON
import TestSupport
import Testing

@testable import Flic

@Suite("Framing of packets in GATT values")
struct FramingTests {
    @Test("packets are cut into the reference's GATT values, at every MTU and in both directions")
    func vectors() throws {
        for vector in try Vectors.cases("framing") {
            let packet = try vector.octets("packet")
            let values = try vector.values("frames").map { try #require($0.stringValue.flatMap { [UInt8](hex: $0) }) }
            let first = try #require(values.first?.first)
            let header = FrameHeader(connectionID: first & 0x1F, isNewlyAssigned: first & 0x20 != 0)
            try #expect(Frame(header: header, packet: packet).values(attMTU: vector.integer("att_mtu")) == values)

            var assembler = FrameAssembler()
            let frames = values.flatMap { assembler.receive($0) }
            #expect(frames == [Frame(header: header, packet: packet)])
        }
    }

    @Test("a packet of any length is joined again, at any MTU", arguments: [0, 22, 23, 24, 65, 129, 130, 140, 517])
    func roundTrip(attMTU: Int) {
        var generator = SeededGenerator(seed: UInt64(attMTU))
        for length in 1...Frame.maximumPacketLength {
            let header = FrameHeader(connectionID: UInt8(length % 32), isNewlyAssigned: length % 2 == 0)
            let frame = Frame(header: header, packet: generator.bytes(length))
            let values = frame.values(attMTU: attMTU)
            #expect(values.allSatisfy { (2...126 + 1).contains($0.count) })
            var assembler = FrameAssembler()
            #expect(values.flatMap { assembler.receive($0) } == [frame])
        }
    }

    @Test("a packet longer than the bound is dropped with all its pieces, and the next packet is read")
    func bound() {
        var assembler = FrameAssembler()
        let piece = [UInt8](repeating: 7, count: 64)
        #expect(assembler.receive([0x81] + piece) == [])
        #expect(assembler.receive([0x81] + piece) == [])
        #expect(assembler.receive([0x81] + piece) == [])
        #expect(assembler.receive([0x01] + piece) == [])
        let next = Frame(header: FrameHeader(connectionID: 1), packet: [1, 2])
        #expect(assembler.receive([0x01, 1, 2]) == [next])

        #expect(assembler.receive([0x81] + piece) == [])
        let longest = Frame(header: FrameHeader(connectionID: 1), packet: piece + piece)
        #expect(assembler.receive([0x01] + piece) == [longest])
        #expect(assembler.receive([0x01] + piece + piece + [7]) == [])
    }

    @Test("pieces of another logical connection are not joined with ours")
    func otherConnection() {
        var assembler = FrameAssembler()
        #expect(assembler.receive([0x81, 1, 2]) == [])
        #expect(assembler.receive([0x00, 9]) == [Frame(header: FrameHeader(connectionID: 0), packet: [9])])
        #expect(assembler.receive([0x01, 3]) == [Frame(header: FrameHeader(connectionID: 1), packet: [1, 2, 3])])
    }

    @Test("pieces for other connections do not disturb the packet being joined")
    func refused() {
        var assembler = FrameAssembler()
        let isOurs: (FrameHeader) -> Bool = { $0.connectionID == 1 }
        #expect(assembler.receive([0x81, 1, 2], where: isOurs) == [])
        #expect(assembler.receive([0x82, 8, 8], where: isOurs) == [])
        #expect(assembler.receive([0x02, 8], where: isOurs) == [])
        let whole = Frame(header: FrameHeader(connectionID: 1), packet: [1, 2, 3])
        #expect(assembler.receive([0x01, 3], where: isOurs) == [whole])
    }

    @Test("a packet is joined from its pieces, wherever it was cut", arguments: 0..<50)
    func cutAnywhere(seed: UInt64) {
        var generator = SeededGenerator(seed: seed)
        var assembler = FrameAssembler()
        for _ in 0..<50 {
            let packet = generator.bytes(Int.random(in: 1...Frame.maximumPacketLength, using: &generator))
            let id = UInt8.random(in: 0...31, using: &generator)
            var rest = packet[...]
            var frames: [Frame] = []
            while !rest.isEmpty {
                let piece = rest.prefix(Int.random(in: 1...rest.count, using: &generator))
                rest = rest.dropFirst(piece.count)
                frames += assembler.receive([rest.isEmpty ? id : id | 0x80] + piece)
            }
            #expect(frames == [Frame(header: FrameHeader(connectionID: id), packet: packet)])
        }
    }

    @Test("a value without a packet is ignored")
    func empty() {
        var assembler = FrameAssembler()
        #expect(assembler.receive([]) == [])
        #expect(assembler.receive([0x01]) == [])
    }

    @Test("a value with several packets is taken apart, and ignored if a length is wrong")
    func series() {
        var assembler = FrameAssembler()
        let packets = [
            Frame(header: FrameHeader(connectionID: 1), packet: [9]),
            Frame(header: FrameHeader(connectionID: 2), packet: [8, 7]),
        ]
        #expect(assembler.receive([0x41, 1, 9, 0x42, 2, 8, 7]) == packets)
        #expect(assembler.receive([0x41, 5, 9]) == [])
    }

    @Test("no sequence of values traps or makes the joiner keep more than its bound", arguments: 0..<50)
    func noise(seed: UInt64) {
        var generator = SeededGenerator(seed: seed)
        var assembler = FrameAssembler()
        for _ in 0..<300 {
            let value = generator.bytes(Int.random(in: 0...140, using: &generator))
            for frame in assembler.receive(value) {
                #expect((1...Frame.maximumPacketLength).contains(frame.packet.count))
            }
        }
    }
}
