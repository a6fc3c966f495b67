import Foundation
import Testing

@Suite("kill -9 at random instants", .serialized, .ownThread)
struct KillTests {
    private static func number(_ name: String) -> UInt64? {
        ProcessInfo.processInfo.environment[name].flatMap { UInt64($0) }
    }

    private let seed = Self.number("TRYCK_SEED") ?? UInt64.random(in: 1...UInt64(UInt32.max))

    @Test(
        "tryckd: each press is handled once, is too old or is reported as interrupted, and so is each message")
    func daemon() throws {
        let kills = Int(Self.number("TRYCK_KILLS") ?? 16)
        let house = try Torture(seed: seed)
        house.press(true)
        for _ in 0..<kills { try house.live() }
        try house.settle()
        let numbering = house.numbering
        #expect(numbering.seenTwice == [])
        #expect(numbering.lost == [], "To run it again: TRYCK_SEED=\(seed) TRYCK_KILLS=\(kills)")
        #expect(numbering.total > kills)
        judge(
            house, kills: kills,
            "tryckd killed \(kills) times, \(numbering.interruptedCount) of \(numbering.total) messages interrupted")
    }

    @Test("the broker: each press's message arrives once, or its rule reports that it may not have arrived")
    func broker() throws {
        let kills = Int(Self.number("TRYCK_KILLS") ?? 4)
        let house = try Torture(seed: seed)
        house.press(true)
        for _ in 0..<kills { try house.loseBroker() }
        try house.settle()
        judge(house, kills: kills, "mosquitto killed \(kills) times")
    }

    private func judge(_ house: Torture, kills: Int, _ what: String) {
        let ledger = house.account()
        let summary = ledger.summary
        print("\(what), seed \(seed): \(summary)")
        #expect(
            ledger.findings.isEmpty,
            """
            To run it again: TRYCK_SEED=\(seed) TRYCK_KILLS=\(kills)
            \(summary)
            \(house.story(of: ledger.findings))
            """)
        #expect(summary.pressed > kills)
        let isRingMapped = house.lives.allSatisfy { !$0.daemon.text.contains("is not on a tmpfs") }
        #expect(isRingMapped)
        #expect(summary.handled > 0)
    }
}
