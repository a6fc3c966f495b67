import ButtonModel
import Testing

@testable import Edges

@Suite("Which adapter is opened")
struct AdapterSelectionTests {
    private static let first = BluetoothAddress(rawValue: 0x001A_7DDA_7113)
    private static let second = BluetoothAddress(rawValue: 0x0011_2233_4455)

    private static func adapters(_ adapters: [UInt16: BluetoothAddress]) -> [HCISocketTransport.Adapter] {
        adapters.map { .init(index: $0.key, address: $0.value) }
    }

    @Test("a number is taken as it is, whatever there is")
    func index() throws {
        var selection = AdapterSelection(.index(7))
        #expect(try selection.next(among: []) == 7)
        selection.refuse(7)
        #expect(try selection.next(among: []) == 7)
    }

    @Test("an address is found again when its adapter has come back with another number")
    func renumbered() throws {
        var selection = AdapterSelection(.address(Self.first))
        #expect(try selection.next(among: Self.adapters([0: Self.first, 1: Self.second])) == 0)
        #expect(throws: TransportFailure.noAdapterWithAddress(Self.first, among: Self.adapters([1: Self.second]))) {
            try selection.next(among: Self.adapters([1: Self.second]))
        }
        #expect(try selection.next(among: Self.adapters([1: Self.second, 2: Self.first])) == 2)
    }

    @Test("any: the lowest number, then the next that was not refused, then all of them again")
    func any() throws {
        var selection = AdapterSelection(.any)
        let adapters = Self.adapters([1: Self.second, 0: Self.first])
        #expect(throws: TransportFailure.noAdapters) { try selection.next(among: []) }
        #expect(try selection.next(among: adapters) == 0)
        #expect(try selection.next(among: adapters) == 0)
        selection.refuse(0)
        #expect(try selection.next(among: adapters) == 1)
        selection.refuse(1)
        #expect(try selection.next(among: adapters) == 0)
    }

    @Test("an adapter that was refused and pulled out is a new one when it comes back")
    func pulledOut() throws {
        var selection = AdapterSelection(.any)
        let third = BluetoothAddress(rawValue: 0x0011_2233_4466)
        selection.refuse(0)
        #expect(try selection.next(among: Self.adapters([1: Self.second, 2: third])) == 1)
        #expect(try selection.next(among: Self.adapters([0: Self.first, 1: Self.second, 2: third])) == 0)
    }
}
