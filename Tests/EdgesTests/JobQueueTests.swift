import Testing

@testable import Edges

@Suite("Which jobs run and which wait")
struct JobQueueTests {
    private static let last = UInt64(JobQueue.maximumRunning)

    /// A queue in which all places are taken by the jobs 0…31.
    private static func busy() -> JobQueue {
        var queue = JobQueue()
        for id in 0..<last { #expect(queue.handle(.start(id)) == [.launch(id)]) }
        return queue
    }

    @Test("32 jobs run, and the next starts when one of them ends, in the order in which they came")
    func order() {
        var queue = Self.busy()
        #expect(queue.handle(.start(100)) == [])
        #expect(queue.handle(.start(50)) == [])
        #expect(queue.handle(.ended(3)) == [.launch(100)])
        #expect(queue.handle(.ended(100)) == [.launch(50)])
        #expect(queue.handle(.ended(50)) == [])
        #expect(queue.handle(.start(3)) == [.launch(3)])
    }

    @Test("1024 jobs wait, and one more is refused")
    func limit() {
        var queue = Self.busy()
        let waiting = UInt64(JobQueue.maximumWaiting)
        for id in 0..<waiting { #expect(queue.handle(.start(1000 + id)) == []) }
        #expect(queue.handle(.start(5000)) == [.refuse(5000, .full)])
        #expect(queue.handle(.ended(0)) == [.launch(1000)])
        #expect(queue.handle(.start(5000)) == [])
    }

    @Test("a running job is cancelled, a waiting one is refused, and an unknown one is ignored")
    func cancel() {
        var queue = Self.busy()
        _ = queue.handle(.start(100))
        #expect(queue.handle(.cancel(5)) == [.cancel(5, .cancelled)])
        #expect(queue.handle(.cancel(100)) == [.refuse(100, .cancelled)])
        #expect(queue.handle(.cancel(100)) == [])
        #expect(queue.handle(.ended(5)) == [])
        #expect(queue.handle(.cancel(5)) == [])
    }

    @Test("after cancelAll nothing starts, and the end of the last job is reported once as the end of all")
    func cancelAll() {
        var queue = JobQueue()
        for id in 0..<Self.last + 1 { _ = queue.handle(.start(id)) }
        #expect(
            queue.handle(.cancelAll) == [.refuse(Self.last, .stopping)]
                + (0..<Self.last).map { JobQueue.Effect.cancel($0, .stopping) })
        #expect(queue.handle(.start(100)) == [.refuse(100, .stopping)])
        for id in 0..<Self.last - 1 { #expect(queue.handle(.ended(id)) == []) }
        #expect(queue.handle(.ended(Self.last - 1)) == [.allEnded])
    }

    @Test("without a running job cancelAll is the end at once")
    func nothingRuns() {
        var queue = JobQueue()
        #expect(queue.handle(.cancelAll) == [.allEnded])
    }
}
