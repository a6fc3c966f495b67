import ButtonModel
import Testing

@testable import Radios

@Suite("How often something happens in a minute")
struct MinuteCounterTests {
    @Test("The last full minute counts, the first one from its beginning, and what is older does not")
    func minutes() {
        let start = Instant(sinceBoot: .seconds(1000))
        var counter = MinuteCounter()
        #expect(counter.perMinute(at: start) == 0)
        for second in 0..<30 { counter.count(at: start + .seconds(second)) }
        #expect(counter.perMinute(at: start + .seconds(30)) == 30)
        #expect(counter.perMinute(at: start + .seconds(60)) == 30)
        #expect(counter.perMinute(at: start + .seconds(119)) == 30)
        #expect(counter.perMinute(at: start + .seconds(120)) == 0)
        counter.count(at: start + .seconds(70))
        #expect(counter.perMinute(at: start + .seconds(71)) == 30)
        #expect(counter.perMinute(at: start + .seconds(130)) == 1)
        counter.count(at: start + .seconds(500))
        #expect(counter.perMinute(at: start + .seconds(501)) == 1)
    }
}
