import ButtonModel
import Radios
import Testing

@testable import Buttons

@Suite("Links by their numbers")
struct LinkTableTests {
    private static func link(_ id: LinkID) -> ButtonLink {
        let peer = BluetoothAddress(rawValue: 0x80E4_DA00_0000 + UInt64(id.rawValue))
        return ButtonLink(peer: peer, isPairing: false, lastActivity: Instant(nanoseconds: 0))
    }

    @Test("a link is found, changed in its place and removed by its number; another number has none")
    func numbers() {
        var table = LinkTable()
        let ids = [7, 3, 5].map { LinkID(rawValue: $0) }
        for id in ids { table[id] = Self.link(id) }
        table[ids[1]]?.service = .twist
        #expect(table.keys == ids)
        #expect(table.values.map(\.service) == [nil, .twist, nil])
        #expect(table.values.map(\.peer) == ids.map { Self.link($0).peer })

        let unknown = LinkID(rawValue: 9)
        table[unknown]?.service = .flic2
        table[unknown] = nil
        #expect(table[unknown] == nil && table.count == 3)

        table[ids[1]] = nil
        #expect(table.keys == [ids[0], ids[2]])
        #expect(table.place(of: ids[2]) == 1 && table.place(of: ids[1]) == nil)
    }
}
