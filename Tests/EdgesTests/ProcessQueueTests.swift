import Testing

@testable import Edges

@Suite("Which programs run and which wait")
struct ProcessQueueTests {
    private static let last = UInt64(ProcessQueue.maximumRunning)

    /// A queue in which all places are taken by the jobs 0…31.
    private static func busy() -> ProcessQueue {
        var queue = ProcessQueue()
        for id in 0..<last { #expect(queue.handle(.start(id)) == [.launch(id)]) }
        return queue
    }

    @Test("32 programs run, and the next starts when one of them ends, in the order in which they came")
    func order() {
        var queue = Self.busy()
        #expect(queue.handle(.start(100)) == [])
        #expect(queue.handle(.start(50)) == [])
        #expect(queue.handle(.ended(3)) == [.launch(100)])
        #expect(queue.handle(.ended(100)) == [.launch(50)])
        #expect(queue.handle(.ended(50)) == [])
        #expect(queue.handle(.start(3)) == [.launch(3)])
    }

    @Test("1024 programs wait, and one more is refused")
    func limit() {
        var queue = Self.busy()
        let waiting = UInt64(ProcessQueue.maximumWaiting)
        for id in 0..<waiting { #expect(queue.handle(.start(1000 + id)) == []) }
        #expect(
            queue.handle(.start(5000)) == [.refuse(5000, "1024 programs are waiting to be started already")])
        #expect(queue.handle(.ended(0)) == [.launch(1000)])
        #expect(queue.handle(.start(5000)) == [])
    }

    @Test("a running job is cancelled, a waiting one is refused, and an unknown one is ignored")
    func cancel() {
        var queue = Self.busy()
        _ = queue.handle(.start(100))
        #expect(queue.handle(.cancel(5)) == [.cancel(5)])
        #expect(queue.handle(.cancel(100)) == [.refuse(100, "it was cancelled before it started")])
        #expect(queue.handle(.cancel(100)) == [])
        #expect(queue.handle(.ended(5)) == [])
        #expect(queue.handle(.cancel(5)) == [])
    }

    @Test("after cancelAll nothing starts, and the end of the last job is reported once as the end of all")
    func cancelAll() {
        var queue = ProcessQueue()
        for id in 0..<Self.last + 1 { _ = queue.handle(.start(id)) }
        #expect(
            queue.handle(.cancelAll) == [.refuse(Self.last, "the daemon is stopping")]
                + (0..<Self.last).map(ProcessQueue.Effect.cancel))
        #expect(queue.handle(.start(100)) == [.refuse(100, "the daemon is stopping")])
        for id in 0..<Self.last - 1 { #expect(queue.handle(.ended(id)) == []) }
        #expect(queue.handle(.ended(Self.last - 1)) == [.allEnded])
    }

    @Test("without a running job cancelAll is the end at once")
    func nothingRuns() {
        var queue = ProcessQueue()
        #expect(queue.handle(.cancelAll) == [.allEnded])
    }
}
