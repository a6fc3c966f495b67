import TestSupport
import Testing

@testable import RuleLoader

@Suite("What needs what")
struct DependencyOrderTests {
    @Test("each comes after what it needs, and each comes once", arguments: 0..<50 as Range<UInt64>)
    func order(seed: UInt64) {
        var generator = SeededGenerator(seed: seed)
        let count = Int.random(in: 0...30, using: &generator)
        let names = Array(0..<count).shuffled(using: &generator)
        var needs = [[Int]](repeating: [], count: count)
        for place in names.indices.dropFirst() {
            let earlier = names[..<place]
            needs[names[place]] = (0..<Int.random(in: 0...4, using: &generator)).compactMap { _ in
                earlier.randomElement(using: &generator)
            }
        }
        let dependencies = DependencyOrder(needs)
        #expect(dependencies.cycles == [])
        #expect(dependencies.order.sorted() == Array(0..<count))
        for (place, node) in dependencies.order.enumerated() {
            #expect(Set(needs[node]).isSubset(of: dependencies.order[..<place]))
        }
    }

    @Test("a cycle is reported from its first element back to it, and the rest has its order")
    func circles() {
        let dependencies = DependencyOrder([[1], [2, 3], [0], [], [4]])
        #expect(dependencies.cycles == [[0, 1, 2, 0], [4, 4]])
        #expect(dependencies.order == [2, 3, 1, 0, 4])
    }

    @Test("what is not there is not needed")
    func unknown() {
        #expect(DependencyOrder([[-1, 7]]).order == [0])
    }

    @Test("a chain may be as long as a file allows")
    func chain() {
        let count = 200_000
        let dependencies = DependencyOrder((0..<count).map { [$0 + 1] })
        #expect(dependencies.order == (0..<count).reversed())
    }
}
