import Glibc
package import Reactor

/// A connected stream socket on the loop, with a buffer for the octets that the socket has not accepted yet. The two
/// directions are independent: a peer may read after it has shut down its sending side, and may send but not read.
@ReactorActor
package final class StreamConnection {
    package enum Event: Sendable {
        case received([UInt8])
        /// The peer has shut down its sending side, but may still wait for an answer. The owner decides when to close.
        case finished
        /// Some of the sent octets wait in the buffer. Delivered during `send`.
        case blocked
        /// The buffer is empty again.
        case drained
        /// The connection has closed itself. Delivered once, and never during a call of a method.
        case ended(Ending)
    }

    package enum Ending: Hashable, Sendable {
        /// All octets were written, and `closeWhenWritten` was called before.
        case written
        /// The peer does not read: more than `OutgoingBuffer.maximumCount` octets wait for it.
        case stalled
        case failed(errno: Int32)
    }

    private static let readSize = 16 * 1024
    /// Octets per `read` if there is a budget, because the first piece of work in a turn may exceed the budget.
    private static let portion = 4 * 1024

    private let loop: EventLoop
    private let descriptor: Int32
    private let handler: @ReactorActor (Event) -> Void
    private let budget: EdgeBudget?
    /// Reused, because allocating 16 KiB for every packet makes the allocator trim its heap each time.
    private var buffer = [UInt8](repeating: 0, count: readSize)
    private var watch: Watch?
    private var outgoing = OutgoingBuffer()
    private var isPaused = false
    private var hasFinished = false
    private var isBlocked = false
    /// Nothing more is read, and further calls of `send` are ignored.
    private var isClosing = false

    /// - Parameters:
    ///   - descriptor: non-blocking; belongs to the connection from now on.
    ///   - isRadio: whether it is read before all other descriptors in each turn of the loop.
    ///   - budget: limits the octets that are read; shared by the connections of one edge.
    package init(
        _ loop: EventLoop, _ descriptor: Int32, isRadio: Bool = false, budget: EdgeBudget? = nil,
        _ handler: @escaping @ReactorActor (Event) -> Void
    ) {
        self.loop = loop
        self.descriptor = descriptor
        self.budget = budget
        self.handler = handler
        watch = loop.watch(descriptor, .read, isPriority: isRadio) { [unowned self] interest in ready(interest) }
    }

    package func send(_ octets: some Collection<UInt8>) {
        guard watch != nil, !isClosing else { return }
        guard outgoing.append(octets) else {
            isClosing = true
            return loop.onNextTurn { [weak self] in self?.end(.stalled) }
        }
        // A write error recurs and is reported when the loop finds the descriptor writable.
        guard !isBlocked, outgoing.write(to: descriptor) != .empty else { return }
        isBlocked = true
        updateWatch()
        handler(.blocked)
    }

    /// Stops or resumes reading. While reading is paused, a hangup is noticed only if octets wait to be written.
    package func setPaused(_ isPaused: Bool) {
        self.isPaused = isPaused
        updateWatch()
    }

    package func close() {
        guard let watch else { return }
        watch.cancel()
        self.watch = nil
        Glibc.close(descriptor)
    }

    /// Closes the connection when the system has accepted all octets that were sent.
    ///
    /// - Returns: whether it is closed now. If not, `ended` follows.
    package func closeWhenWritten() -> Bool {
        guard isBlocked else {
            close()
            return true
        }
        isClosing = true
        updateWatch()
        return false
    }

    private func updateWatch() {
        var interest: IOEvents = []
        if !isPaused, !hasFinished, !isClosing { interest.insert(.read) }
        if isBlocked { interest.insert(.write) }
        watch?.set(interest)
    }

    /// The handler may release the connection during this call, which keeps the connection alive until it returns.
    private func ready(_ interest: IOEvents) {
        if isBlocked, interest.contains(.write) || interest.hasHangup { flush() }
        if !isPaused, !hasFinished, !isClosing, interest.contains(.read) || interest.hasHangup { receive() }
    }

    private func flush() {
        switch outgoing.write(to: descriptor) {
        case .blocked: break
        case .failed(let failure): end(.failed(errno: failure))
        case .empty:
            isBlocked = false
            guard !isClosing else { return end(.written) }
            updateWatch()
            handler(.drained)
        }
    }

    private func receive() {
        // While the budget is used up, the descriptor stays readable, and the loop calls again in the next turn.
        guard watch != nil, budget?.allows ?? true else { return }
        let result = read(descriptor, &buffer, budget == nil ? buffer.count : Self.portion)
        if result > 0 {
            budget?.spend(result)
            handler(.received(Array(buffer.prefix(result))))
        } else if result == 0 {
            hasFinished = true
            updateWatch()
            handler(.finished)
        } else if errno != EAGAIN, errno != EINTR {
            end(.failed(errno: errno))
        }
    }

    private func end(_ ending: Ending) {
        guard watch != nil else { return }
        close()
        handler(.ended(ending))
    }
}
