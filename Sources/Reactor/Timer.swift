/// One deadline. Made by `EventLoop.timer`, set as often as wanted; setting it replaces the last deadline.
@ReactorActor
public final class Timer {
    private unowned let loop: EventLoop
    let handler: @ReactorActor () -> Void
    var deadline: Int64 = .max
    /// When it was set, among all timers.
    var order: UInt64 = 0
    /// The index in the heap; -1 while it is not there.
    var place = -1
    /// Taken from the heap because its deadline has passed, and not yet fired.
    var isDue = false

    init(loop: EventLoop, handler: @escaping @ReactorActor () -> Void) {
        self.loop = loop
        self.handler = handler
    }

    /// Fires once, on the loop's next turn if the deadline has passed already.
    ///
    /// - Parameter nanosecondsSinceBoot: on the clock of `EventLoop.nanosecondsSinceBoot`.
    public func set(at nanosecondsSinceBoot: Int64) {
        cancel()
        deadline = nanosecondsSinceBoot
        loop.schedule(self)
    }

    /// It does not fire until it is set again, not even if its deadline has passed already.
    public func cancel() {
        isDue = false
        loop.unschedule(self)
    }
}
