import Testing

@testable import Edges

@Suite("The waits between attempts to connect")
struct MQTTBackOffTests {
    @Test(
        "they double from a quarter of a second to thirty, each shortened by up to a half",
        arguments: 0..<20 as Range<UInt64>)
    func growth(seed: UInt64) {
        var backOff = MQTTBackOff(seed: seed)
        for expected in [250, 500, 1000, 2000, 4000, 8000, 16000, 30000, 30000, 30000] as [Int64] {
            let delay = backOff.next()
            #expect(delay > .milliseconds(expected / 2) && delay <= .milliseconds(expected))
        }
        backOff.reset()
        #expect(backOff.next() <= .milliseconds(250))
    }

    @Test("two clients do not wait equally long")
    func jitter() {
        let waits = Set(
            (0..<100 as Range<UInt64>).map { seed in
                var backOff = MQTTBackOff(seed: seed)
                return backOff.next()
            })
        #expect(waits.count == 100)
    }
}
