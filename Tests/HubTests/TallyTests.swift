import Hub
import Testing

@Suite("A count from a file")
struct TallyTests {
    @Test("it has a range, which JSON's readers count exactly, and stays at its end")
    func range() {
        for value in [-1, Int64.max, Int64.min, Tally.range.upperBound + 1] { #expect(Tally(value) as Tally? == nil) }
        #expect(Tally(clamping: 0).next.value == 1)
        let last = Tally(clamping: UInt64.max)
        #expect(last.value == 9_007_199_254_740_992 && last.next == last)
        #expect(Tally(clamping: Int64.min) == 0)
    }
}
