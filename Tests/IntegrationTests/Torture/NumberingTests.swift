import Testing

@Suite("The numbers of messages")
struct NumberingTests {
    private static func numbering(_ seen: [Int64], _ told: [ClosedRange<Int64>] = []) -> Numbering {
        var numbering = Numbering()
        for number in seen { numbering.saw(number, of: "hall") }
        for numbers in told { numbering.told(numbers, of: "hall") }
        return numbering
    }

    @Test("each seen once is in order, also when it was told of as well, and more than once")
    func inOrder() {
        for numbering in [Self.numbering([1, 3, 2]), Self.numbering([1, 2, 3], [1...2, 1...3])] {
            #expect(numbering.lost == [] && numbering.seenTwice == [])
            #expect(numbering.interruptedCount == 0 && numbering.total == 3)
        }
    }

    @Test("a gap that is told of is cut off; one that is not, or not all of it, is a loss")
    func gaps() {
        #expect(Self.numbering([1, 4], [2...3]).lost == [])
        #expect(Self.numbering([1, 4], [2...3]).interruptedCount == 2)
        #expect(Self.numbering([1, 4], [3...3]).lost == ["hall seq 2"])
        #expect(Self.numbering([2]).lost == ["hall seq 1"])
        // What is told of last need not have been seen.
        #expect(Self.numbering([1], [2...5]).total == 5)
    }

    @Test("another button's report explains nothing")
    func otherButton() {
        var numbering = Self.numbering([1, 3])
        numbering.told(1...3, of: "kitchen")
        #expect(numbering.lost == ["hall seq 2"])
        #expect(numbering.interruptedCount == 3)
    }

    @Test("twice is once too often")
    func twice() {
        #expect(Self.numbering([1, 2, 2]).seenTwice == ["hall seq 2"])
    }
}
