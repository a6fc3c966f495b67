import Foundation
import Testing

@Suite("Killed at any instant", .serialized)
struct KillTests {
    private static func number(_ name: String) -> UInt64? {
        ProcessInfo.processInfo.environment[name].flatMap { UInt64($0) }
    }

    @Test("each press is handled once, or judged by its age, or reported as interrupted")
    func presses() throws {
        let seed = Self.number("TRYCK_SEED") ?? UInt64.random(in: 1...UInt64(UInt32.max))
        let kills = Int(Self.number("TRYCK_KILLS") ?? 16)
        let house = try Torture(seed: seed)
        house.press(true)
        for _ in 0..<kills { try house.live() }
        try house.settle()
        let ledger = house.account()
        let summary = ledger.summary
        let numbering = house.numbering
        print("killed \(kills) times, seed \(seed): \(summary), \(numbering.missing) messages missing")
        #expect(numbering.twice == [])
        #expect(
            ledger.findings.isEmpty,
            """
            To run it again: TRYCK_SEED=\(seed) TRYCK_KILLS=\(kills)
            \(summary)
            \(house.story(of: ledger.findings))
            """)
        #expect(summary.pressed > kills)
        #expect(summary.handled > 0)
    }
}
