import BluetoothHost
import Testing

@Suite("btsnoop captures")
struct BTSnoopTests {
    @Test("a capture begins with the format's name, its version and the data link type")
    func header() {
        #expect(BTSnoop.header == [0x62, 0x74, 0x73, 0x6E, 0x6F, 0x6F, 0x70, 0, 0, 0, 0, 1, 0, 0, 0x03, 0xEA])
    }

    @Test(
        "a record has its length twice, flags, no drops, the time and the packet",
        arguments: [
            ([0x01, 0x03, 0x0C, 0x00], BTSnoop.Direction.sent, 2), ([0x04, 0x10, 0x01, 0x42], .received, 3),
            ([0x02, 0x40, 0x00, 0x00, 0x00], .sent, 0), ([0x02, 0x40, 0x20, 0x00, 0x00], .received, 1),
        ] as [([UInt8], BTSnoop.Direction, UInt8)])
    func record(packet: [UInt8], direction: BTSnoop.Direction, flags: UInt8) {
        let length: [UInt8] = [0, 0, 0, UInt8(packet.count)]
        // 2000-01-01T00:00:00.000001Z, which readers of the format take from 0x00E03AB44A676000 plus 1.
        let time: [UInt8] = [0x00, 0xE0, 0x3A, 0xB4, 0x4A, 0x67, 0x60, 0x01]
        #expect(
            BTSnoop.record(packet, direction, at: 946_684_800_000_001)
                == length + length + [0, 0, 0, flags] + [0, 0, 0, 0] + time + packet)
    }

    @Test("octets that are no packet and times out of range are written without a trap")
    func odd() {
        #expect(BTSnoop.record([], .sent, at: .max).count == 24)
        #expect(BTSnoop.record([0xFF], .received, at: .min).count == 25)
    }
}
