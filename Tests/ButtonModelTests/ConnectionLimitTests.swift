import ButtonModel
import Testing

@Suite("Connection limit for each owner")
struct ConnectionLimitTests {
    /// The number of connections of each owner, if each owner in turn opens as many as it may.
    private static func greedy(places: Int, owners: Int) -> [Int] {
        let share = ConnectionLimit(capacity: places)
        var held = [Int](repeating: 0, count: owners)
        for owner in held.indices {
            while share.admits(owned: held[owner], total: held.reduce(0, +)) { held[owner] += 1 }
        }
        return held
    }

    @Test("each owner gets at most half of the free connections, so a new owner gets one until all are in use")
    func halves() {
        #expect(Self.greedy(places: 64, owners: 8) == [32, 16, 8, 4, 2, 1, 1, 0])
        #expect(Self.greedy(places: 128, owners: 3) == [64, 32, 16])
        #expect(Self.greedy(places: 1, owners: 2) == [1, 0])
    }

    @Test("owners with one client each can use all connections")
    func modest() {
        #expect(Self.greedy(places: 0, owners: 1) == [0])
        let share = ConnectionLimit(capacity: 64)
        #expect((0..<64).allSatisfy { share.admits(owned: 0, total: $0) })
        #expect(!share.admits(owned: 0, total: 64))
    }
}
