import Testing

@testable import Feed

@Suite("Shares of sites")
struct EngineShareTests {
    @Test("each site falls to one share, and the shares are about equal")
    func equal() {
        let shares = (1...4).compactMap { EngineShare(index: $0, count: 4) }
        var counts = [0, 0, 0, 0]
        for number in 0..<400 {
            let owners = shares.indices.filter { shares[$0].has(site: "tryck/site\(number)") }
            #expect(owners.count == 1)
            for owner in owners { counts[owner] += 1 }
        }
        #expect(counts.allSatisfy { (70...130).contains($0) }, "\(counts)")
        #expect(EngineShare.whole.has(site: "tryck/berlin7"))
    }

    @Test("with one share more, no site moves between the others")
    func stable() {
        for number in 0..<100 {
            let site = "tryck/site\(number)"
            func owner(of count: Int) -> Int? {
                (1...count).first { EngineShare(index: $0, count: count)?.has(site: site) == true }
            }
            #expect(owner(of: 5) == owner(of: 4) || owner(of: 5) == 5)
        }
    }
}
