import ButtonModel
import Testing

@Suite("The places that one owner of clients may have")
struct ClientShareTests {
    /// How many places each owner has after each in turn took as many as it was given.
    private static func greedy(places: Int, owners: Int) -> [Int] {
        let share = ClientShare(places: places)
        var held = [Int](repeating: 0, count: owners)
        for owner in held.indices {
            while share.admits(holding: held[owner], of: held.reduce(0, +)) { held[owner] += 1 }
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
        let share = ClientShare(places: 64)
        #expect((0..<64).allSatisfy { share.admits(holding: 0, of: $0) })
        #expect(!share.admits(holding: 0, of: 64))
        #expect(share.largest == 32)
        #expect(ClientShare(places: 1).largest == 1)
    }
}
