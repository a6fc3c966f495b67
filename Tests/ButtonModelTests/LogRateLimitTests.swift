import ButtonModel
import Testing

@Suite("Rate limit of log lines")
struct LogRateLimitTests {
    private enum Kind: Hashable { case first, second }

    private static func at(_ seconds: Int) -> Instant { Instant(sinceBoot: .seconds(seconds)) }

    @Test("the first line is written, and then one line a minute with the number of omitted lines")
    func minute() {
        var lines = LogRateLimit<Kind>()
        #expect(lines.lineToWrite(.first, "a", at: Self.at(0)) == "a")
        #expect(lines.lineToWrite(.first, "b", at: Self.at(1)) == nil)
        #expect(lines.lineToWrite(.first, "c", at: Self.at(60) - .nanoseconds(1)) == nil)
        #expect(lines.lineToWrite(.first, "d", at: Self.at(60)) == "d (2 more like this since the last line of it)")
        #expect(lines.lineToWrite(.first, "e", at: Self.at(119)) == nil)
        #expect(lines.lineToWrite(.first, "f", at: Self.at(500)) == "f (1 more like this since the last line of it)")
        #expect(lines.lineToWrite(.first, "g", at: Self.at(560)) == "g")
    }

    @Test("a burst is written, then one line a minute, and another burst after a minute without omissions")
    func burst() {
        var lines = LogRateLimit<Kind>()
        func write(_ text: String, at seconds: Int) -> String? {
            lines.lineToWrite(.first, text, burst: 3, at: Self.at(seconds))
        }
        #expect([1, 2, 3, 4, 5].map { write("a", at: $0) } == ["a", "a", "a", nil, nil])
        #expect(write("b", at: 61) == "b (2 more like this since the last line of it)")
        #expect(write("c", at: 62) == nil)
        #expect(write("d", at: 121) == "d (1 more like this since the last line of it)")
        #expect([181, 182, 183, 184].map { write("e", at: $0) } == ["e", "e", "e", nil])
    }

    @Test("each kind has its own limit, and the text of an omitted line is not evaluated")
    func kinds() {
        var lines = LogRateLimit<Kind>()
        var made = 0
        func text() -> String {
            made += 1
            return "x"
        }
        for _ in 0..<100 {
            _ = lines.lineToWrite(.first, text(), at: Self.at(0))
            _ = lines.lineToWrite(.second, text(), at: Self.at(0))
        }
        #expect(made == 2)
    }
}
