import Testing

@testable import Hub

@Suite("The publish watermark of a button")
struct PublishWatermarkTests {
    @Test("it is the latest number that was given out while none is open")
    func nothingOpen() {
        #expect(PublishWatermark(recorded: 3).acknowledgedSequence(of: 3) == 3)
        #expect(PublishWatermark(recorded: 3).acknowledgedSequence(of: 7) == 7)
    }

    @Test("it is below the first open number, in whatever order messages end")
    func order() {
        var watermark = PublishWatermark(recorded: 0)
        for number in 1...4 as ClosedRange<Int64> { watermark.opened(number) }
        #expect(watermark.acknowledgedSequence(of: 4) == 0)
        watermark.ended(2)
        watermark.ended(4)
        #expect(watermark.acknowledgedSequence(of: 4) == 0)
        watermark.ended(1)
        #expect(watermark.acknowledgedSequence(of: 4) == 2)
        watermark.ended(3)
        #expect(watermark.acknowledgedSequence(of: 4) == 4)
    }

    @Test("a number with two messages ends with the second")
    func twoMessages() {
        var watermark = PublishWatermark(recorded: 5)
        watermark.opened(6, messageCount: 2)
        watermark.ended(6)
        #expect(watermark.acknowledgedSequence(of: 6) == 5)
        watermark.ended(6)
        #expect(watermark.acknowledgedSequence(of: 6) == 6)
        // There are more ends than messages.
        watermark.ended(6)
        #expect(watermark.acknowledgedSequence(of: 6) == 6)
    }
}
