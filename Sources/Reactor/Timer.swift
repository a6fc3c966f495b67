/// A timer with one deadline, created by `EventLoop.timer`. Setting it replaces its deadline.
@ReactorActor
public final class Timer {
    private unowned let loop: EventLoop
    let handler: @ReactorActor () -> Void
    var deadline: Int64 = .max
    /// A serial number from the last `set`, which orders timers with equal deadlines.
    var order: UInt64 = 0
    /// The index in the heap; -1 if it is not in the heap.
    var heapIndex = -1
    /// True if it was removed from the heap because its deadline has passed, and its handler has not been called yet.
    var isDue = false

    init(loop: EventLoop, handler: @escaping @ReactorActor () -> Void) {
        self.loop = loop
        self.handler = handler
    }

    /// Sets the deadline. The handler is called once; on the loop's next turn if the deadline has already passed.
    ///
    /// - Parameter nanosecondsSinceBoot: the deadline on the clock of `EventLoop.nanosecondsSinceBoot`.
    public func set(at nanosecondsSinceBoot: Int64) {
        cancel()
        deadline = nanosecondsSinceBoot
        loop.schedule(self)
    }

    /// Cancels the deadline. The handler is not called before the next `set`, even if the deadline has already passed.
    public func cancel() {
        isDue = false
        loop.unschedule(self)
    }
}
