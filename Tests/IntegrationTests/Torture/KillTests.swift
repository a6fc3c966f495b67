import TestSupport
import Testing

@Suite("kill -9 and SIGTERM at random instants", .serialized, .ownThread)
struct KillTests {
    private let seed = environmentNumber("TRYCK_SEED") ?? UInt64.random(in: 1...UInt64(UInt32.max))

    @Test(
        "tryckd: each press is handled once, is too old or is reported as interrupted, and so is each message",
        arguments: TortureRadios.allCases)
    func daemon(radios: TortureRadios) throws {
        let kills = Int(environmentNumber("TRYCK_KILLS") ?? 16)
        let house = try Torture(seed: seed, radios: radios)
        house.press(true)
        // A life with a proxy takes longer.
        let lives = house.proxy == nil ? kills : (kills + 1) / 2
        for _ in 0..<lives { try house.live() }
        try house.settle()
        if let proxy = house.proxy {
            let text = house.lives.map(\.daemon.text).joined(separator: "\n")
            #expect(text.contains("is ready, through hall") && text.contains("is ready, through cellar"))
            print("the proxy: \(proxy.answers.filter { !$0.hasPrefix("unmute") }.joined(separator: "; "))")
        }
        let numbering = house.numbering
        #expect(numbering.seenTwice == [])
        #expect(numbering.lost == [], "To run it again: TRYCK_SEED=\(seed) TRYCK_KILLS=\(kills)")
        #expect(numbering.total > lives)
        judge(
            house, kills: kills,
            "tryckd killed \(lives - house.stopCount) times and stopped \(house.stopCount) times, \(numbering.interruptedCount) of \(numbering.total) messages interrupted"
        )
    }

    @Test("the broker: each press's message arrives once, or its rule reports that it may not have arrived")
    func broker() throws {
        let kills = Int(environmentNumber("TRYCK_KILLS") ?? 4)
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
