import ButtonModel
import TestSupport
import Testing

@testable import BluetoothHost

@Suite("Turns of peers in a short accept list")
struct AcceptListRotationTests {
    private static func peers(_ count: Int) -> [BluetoothAddress] {
        (0..<count).map { BluetoothAddress(rawValue: 0x80E4_DA00_0000 + UInt64($0)) }
    }

    @Test("no peer waits if the accept list has room for all")
    func room() {
        var turns = AcceptListRotation()
        let peers = Self.peers(3)
        turns.setWanted(peers + peers)
        #expect(turns.listed(3, without: []) == Set(peers))
        #expect(turns.waiting(3, without: []) == [])
        turns.turn(3, without: [])
        #expect(turns.listed(3, without: []) == Set(peers))
    }

    @Test("a connected peer needs no entry, and waits behind the others when its link has ended")
    func links() {
        var turns = AcceptListRotation()
        let peers = Self.peers(4)
        turns.setWanted(peers)
        #expect(turns.waiting(2, without: [peers[1]]) == [peers[3]])
        turns.moveToEnd(peers[1])
        #expect(turns.waiting(2, without: []) == [peers[3], peers[1]])
    }

    @Test("a new first peer takes one entry, and the other peers keep their order")
    func anotherFirst() {
        var turns = AcceptListRotation()
        let peers = Self.peers(4)
        turns.setWanted(Array(peers[1...]))
        turns.turn(2, without: [])
        #expect(turns.listed(2, without: []) == [peers[1], peers[3]])
        turns.setWanted(peers)
        #expect(turns.listed(2, without: []) == [peers[0], peers[1]])
        turns.setWanted(Array(peers[2...]))
        #expect(turns.listed(2, without: []) == [peers[2], peers[3]])
    }

    @Test(
        "every peer gets an entry within a bounded number of turns, the first has one in each, and none stays free",
        arguments: 0..<100 as Range<UInt64>)
    func fairness(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        let peers = Self.peers(Int.random(in: 1...40, using: &random))
        let places = Int.random(in: 1...12, using: &random)
        let connected = Set(peers.dropFirst().filter { _ in Int.random(in: 0..<4, using: &random) == 0 })
        let waiting = peers.filter { !connected.contains($0) }
        var turns = AcceptListRotation()
        turns.setWanted(peers)
        for _ in 0..<Int.random(in: 0..<5, using: &random) { turns.turn(places, without: connected) }

        // With one entry the first peer has it every other turn; with more, one entry is always the first peer's.
        let round = places == 1 ? 2 * (waiting.count - 1) + 1 : (waiting.count - 1 + places - 2) / (places - 1)
        var seen: Set<BluetoothAddress> = []
        let sharing = turns.sharing(places, without: connected)
        #expect(Set(sharing) == (waiting.count <= places ? [] : Set(places > 1 ? waiting.dropFirst() : waiting[...])))
        for _ in 0..<max(1, round) {
            let placed = turns.listed(places, without: connected)
            #expect(placed.count == min(places, waiting.count))
            #expect(placed.isDisjoint(with: connected))
            if places > 1 { #expect(placed.contains(peers[0])) }
            #expect(Set(turns.waiting(places, without: connected)) == Set(waiting).subtracting(placed))
            seen.formUnion(placed)
            turns.turn(places, without: connected)
            #expect(turns.sharing(places, without: connected) == sharing)
        }
        #expect(seen == Set(waiting))
    }
}
