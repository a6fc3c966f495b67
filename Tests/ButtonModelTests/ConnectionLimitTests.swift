import ButtonModel
import Testing

@Suite("The places that one owner of clients may have")
struct ConnectionLimitTests {
    /// How many places each owner has after each in turn took as many as it was given.
    private static func greedy(places: Int, owners: Int) -> [Int] {
        let share = ConnectionLimit(capacity: places)
        var held = [Int](repeating: 0, count: owners)
        for owner in held.indices {
            while share.admits(owned: held[owner], total: held.reduce(0, +)) { held[owner] += 1 }
        }
        return held
    }

    @Test("a greedy owner gets half of what is free, so that a newcomer finds a place until all are taken")
    func halves() {
        #expect(Self.greedy(places: 64, owners: 8) == [32, 16, 8, 4, 2, 1, 1, 0])
        #expect(Self.greedy(places: 128, owners: 3) == [64, 32, 16])
        #expect(Self.greedy(places: 1, owners: 2) == [1, 0])
    }

    @Test("owners with a client each have all places")
    func modest() {
        #expect(Self.greedy(places: 0, owners: 1) == [0])
        let share = ConnectionLimit(capacity: 64)
        #expect((0..<64).allSatisfy { share.admits(owned: 0, total: $0) })
        #expect(!share.admits(owned: 0, total: 64))
        #expect(share.maximumPerOwner == 32)
        #expect(ConnectionLimit(capacity: 1).maximumPerOwner == 1)
    }
}
