/// One descriptor on the loop. Made by `EventLoop.watch`.
///
/// The loop holds the handler until `cancel`, whether or not anybody holds the watch.
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

    /// With an empty interest nothing is reported, a hangup included.
    public func set(_ interest: Interest) { loop.set(interest, of: self) }

    /// To be called before the descriptor is closed; a second call does nothing, even when the number belongs to
    /// another watch by then.
    public func cancel() { loop.cancel(self) }
}
