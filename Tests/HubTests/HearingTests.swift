import Testing

@testable import Hub

@Suite("What was heard of a button")
struct HearingTests {
    @Test("all that was given out, while nothing is open")
    func nothingOpen() {
        #expect(Hearing(recorded: 3).heard(of: 3) == 3)
        #expect(Hearing(recorded: 3).heard(of: 7) == 7)
    }

    @Test("up to the first number that is open, in whatever order they have their end")
    func order() {
        var hearing = Hearing(recorded: 0)
        for number in 1...4 as ClosedRange<Int64> { hearing.opened(number) }
        #expect(hearing.heard(of: 4) == 0)
        hearing.ended(2)
        hearing.ended(4)
        #expect(hearing.heard(of: 4) == 0)
        hearing.ended(1)
        #expect(hearing.heard(of: 4) == 2)
        hearing.ended(3)
        #expect(hearing.heard(of: 4) == 4)
    }

    @Test("a number with two messages has been heard with the second")
    func twoMessages() {
        var hearing = Hearing(recorded: 5)
        hearing.opened(6, messageCount: 2)
        hearing.ended(6)
        #expect(hearing.heard(of: 6) == 5)
        hearing.ended(6)
        #expect(hearing.heard(of: 6) == 6)
        // Once more than there were.
        hearing.ended(6)
        #expect(hearing.heard(of: 6) == 6)
    }
}
