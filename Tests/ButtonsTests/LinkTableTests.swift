import BluetoothHost
import ButtonModel
import Testing

@testable import Buttons

@Suite("Links by their handles")
struct LinkTableTests {
    private static func link(_ handle: UInt16) -> ButtonLink {
        let connection = LEConnection(
            handle: ConnectionHandle(rawValue: handle),
            peer: BluetoothAddress(rawValue: 0x80E4_DA00_0000 + UInt64(handle)), role: .central)
        return ButtonLink(connection: connection, isPairing: false, lastActivity: Instant(nanoseconds: 0))
    }

    @Test("a link is found, changed in its place and removed by its handle; another handle has none")
    func handles() {
        var table = LinkTable()
        let handles = [7, 3, 5].map { ConnectionHandle(rawValue: $0) }
        for handle in handles { table[handle] = Self.link(handle.rawValue) }
        table[handles[1]]?.attMTU = 100
        #expect(table.keys == handles)
        #expect(table.values.map(\.attMTU) == [23, 100, 23])
        #expect(table.values.map(\.connection.handle) == handles)

        let unknown = ConnectionHandle(rawValue: 9)
        table[unknown]?.attMTU = 50
        table[unknown] = nil
        #expect(table[unknown] == nil && table.count == 3)

        table[handles[1]] = nil
        #expect(table.keys == [handles[0], handles[2]])
        #expect(table.map(\.value.connection.handle) == table.keys)
        #expect(table.place(of: handles[2]) == 1 && table.place(of: handles[1]) == nil)
    }
}
