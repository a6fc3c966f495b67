import Bytes
import TestSupport
import Testing

@testable import Edges

@Suite struct H4FramerTests {
    @Test(
        "each kind of packet is as long as its header says",
        arguments: [
            ([0x01, 0x03, 0x0C, 0x00], "command without parameters"),
            ([0x01, 0x05, 0x10, 0x02, 0xAA, 0xBB], "command"),
            ([0x02, 0x40, 0x20, 0x03, 0x00, 1, 2, 3], "ACL data"),
            ([0x03, 0x40, 0x00, 0x01, 9], "synchronous data"),
            ([0x04, 0x0E, 0x04, 1, 3, 12, 0], "event"),
            // The two high bits of an ISO length are reserved.
            ([0x05, 0x40, 0x00, 0x02, 0xC0, 7, 8], "ISO data"),
        ] as [([UInt8], String)])
    func kinds(packet: [UInt8], kind: String) throws {
        var framer = H4Framer()
        framer.append(packet + [0x04])
        #expect(try framer.next() == packet)
        #expect(try framer.next() == nil)
    }

    @Test("cutting the stream anywhere gives the same packets", arguments: 1...50 as ClosedRange<UInt64>)
    func cuts(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        let packets = (0..<20).map { _ in anyPacket(&random) }
        var rest = packets.flatMap { $0 }[...]
        var framer = H4Framer()
        var received: [[UInt8]] = []
        while !rest.isEmpty {
            let chunk = rest.prefix(Int.random(in: 1...40, using: &random))
            rest = rest.dropFirst(chunk.count)
            framer.append(Array(chunk))
            while let packet = try framer.next() { received.append(packet) }
        }
        #expect(received == packets)
    }

    @Test("the longest packet there can be is taken whole")
    func longest() throws {
        let packet: [UInt8] = [0x02, 0x40, 0x20, 0xFF, 0xFF] + [UInt8](repeating: 7, count: 0xFFFF)
        var framer = H4Framer()
        framer.append(Array(packet.dropLast()))
        #expect(try framer.next() == nil)
        framer.append([7])
        #expect(try framer.next() == packet)
        #expect(packet.count == H4Framer.maximumPacketLength)
    }

    @Test(
        "an octet that is not a packet indicator ends the stream, after the packets before it",
        arguments: [0x00, 0x06, 0xFF] as [UInt8])
    func garbage(octet: UInt8) throws {
        var framer = H4Framer()
        let event: [UInt8] = [0x04, 0x0E, 0x01, 0x00]
        framer.append(event + [octet])
        #expect(try framer.next() == event)
        #expect(throws: H4Malformed(indicator: octet)) { try framer.next() }
        framer.append(event)
        #expect(throws: H4Malformed(indicator: octet)) { try framer.next() }
    }

    @Test("no octets make it trap", arguments: 1...200 as ClosedRange<UInt64>)
    func noise(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        var framer = H4Framer()
        for _ in 0..<20 {
            framer.append(random.bytes(Int.random(in: 0...64, using: &random)).map { $0 % 7 })
            while let packet = try? framer.next() { #expect(packet.count >= 3) }
        }
    }
}

private func anyPacket(_ random: inout SeededGenerator) -> [UInt8] {
    let contents = random.bytes(Int.random(in: 0...255, using: &random))
    var writer = ByteWriter()
    let indicator = UInt8.random(in: 1...5, using: &random)
    writer.uint8(indicator)
    switch indicator {
    case 2, 5:
        writer.uint16(0x2040)
        writer.uint16(UInt16(contents.count))
    case 4:
        writer.uint8(0x3E)
        writer.uint8(UInt8(contents.count))
    default:
        writer.uint16(0x0C03)
        writer.uint8(UInt8(contents.count))
    }
    writer.bytes(contents)
    return writer.bytes
}
