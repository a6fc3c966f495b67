import ButtonModel
import Testing

@Suite("Back-off")
struct BackOffTests {
    @Test("waits double from the shortest to the longest, which need not be a power of two of it")
    func doubling() {
        var backOff = BackOff(.seconds(1)...Duration.seconds(5))
        #expect((0..<5).map { _ in backOff.next() } == [1, 2, 4, 5, 5].map { .seconds($0) })
        #expect(backOff.isAtLongest)
        backOff.reset()
        #expect(!backOff.isAtLongest)
        #expect(backOff.next() == .seconds(1))
    }

    @Test("jitter takes up to half of a wait and does not change the waits that follow", arguments: [1, 1 << 63, .max])
    func jitter(bits: UInt64) {
        var backOff = BackOff(.seconds(1)...Duration.seconds(60))
        for whole in [1, 2, 4, 8] {
            let wait = backOff.next(jitter: bits)
            #expect(wait <= .seconds(whole))
            #expect(wait >= .seconds(whole) / 2)
        }
        #expect(backOff.upcoming == .seconds(16))
    }
}
