/// A registration of a descriptor with the loop, created by `EventLoop.watch`.
///
/// The loop retains the handler until `cancel`, even if there is no other reference to the watch.
@ReactorActor
public final class Watch {
    private unowned let loop: EventLoop
    let descriptor: Int32
    let generation: UInt32

    init(loop: EventLoop, descriptor: Int32, generation: UInt32) {
        self.loop = loop
        self.descriptor = descriptor
        self.generation = generation
    }

    /// Sets the events to report. If the interest is empty, nothing is reported, not even a hangup.
    public func set(_ interest: IOEvents) { loop.set(interest, of: self) }

    /// Ends the registration. Must be called before the descriptor is closed. Further calls have no effect, even if the
    /// descriptor's number then belongs to another watch.
    public func cancel() { loop.cancel(self) }
}
