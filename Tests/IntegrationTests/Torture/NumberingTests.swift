import Testing

@Suite("The numbers of messages")
struct NumberingTests {
    private static func numbering(_ seen: [Int64], _ told: [ClosedRange<Int64>] = []) -> Numbering {
        var numbering = Numbering()
        for number in seen { numbering.saw(number, of: "hall") }
        for numbers in told { numbering.told(numbers, of: "hall") }
        return numbering
    }

    @Test("a number that was seen once is correct, also if it was reported, and more than once")
    func inOrder() {
        for numbering in [Self.numbering([1, 3, 2]), Self.numbering([1, 2, 3], [1...2, 1...3])] {
            #expect(numbering.lost == [] && numbering.seenTwice == [])
            #expect(numbering.interruptedCount == 0 && numbering.total == 3)
        }
    }

    @Test("an unseen number that was reported is interrupted, and one that was not is lost")
    func gaps() {
        #expect(Self.numbering([1, 4], [2...3]).lost == [])
        #expect(Self.numbering([1, 4], [2...3]).interruptedCount == 2)
        #expect(Self.numbering([1, 4], [3...3]).lost == ["hall seq 2"])
        #expect(Self.numbering([2]).lost == ["hall seq 1"])
        // The last reported number may be higher than every number that was seen.
        #expect(Self.numbering([1], [2...5]).total == 5)
    }

    @Test("a report for another button does not count")
    func otherButton() {
        var numbering = Self.numbering([1, 3])
        numbering.told(1...3, of: "kitchen")
        #expect(numbering.lost == ["hall seq 2"])
        #expect(numbering.interruptedCount == 3)
    }

    @Test("a number that was seen twice is a fault")
    func twice() {
        #expect(Self.numbering([1, 2, 2]).seenTwice == ["hall seq 2"])
    }
}
