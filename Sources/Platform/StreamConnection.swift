import Glibc
package import Reactor

/// One connected stream socket on the loop, and what it has not taken yet. It may be read and written apart: a peer that
/// writes no more may still read, and one that does not read may still be heard.
@ReactorActor
package final class StreamConnection {
    package enum Event: Sendable {
        case received([UInt8])
        /// The peer writes no more. It may wait for an answer: whoever does not mind closes.
        case finished
        /// Something of what was sent waits for the socket. Said from inside `send`.
        case blocked
        /// Nothing does any more.
        case drained
        /// It has closed itself. Said once, and never from inside a call.
        case ended(Ending)
    }

    package enum Ending: Hashable, Sendable {
        /// As it was asked to, when everything was written.
        case written
        /// The peer does not read: more than `OutgoingBuffer.maximumCount` is waiting for it.
        case stalled
        case failed(errno: Int32)
    }

    private static let readSize = 16 * 1024
    /// Octets that are read at once where a budget has to be kept: the first piece of work may exceed it.
    private static let portion = 4 * 1024

    private let loop: EventLoop
    private let descriptor: Int32
    private let handler: @ReactorActor (Event) -> Void
    private let budget: EdgeBudget?
    /// Kept: to ask for so much with every packet makes the allocator tidy up each time.
    private var buffer = [UInt8](repeating: 0, count: readSize)
    private var watch: Watch?
    private var outgoing = OutgoingBuffer()
    private var isPaused = false
    private var hasFinished = false
    private var isBlocked = false
    /// Nothing is read, and nothing more is sent.
    private var isClosing = false

    /// - Parameters:
    ///   - descriptor: non-blocking; belongs to the connection from now on.
    ///   - isRadio: read before all else in each turn of the loop.
    ///   - budget: for what is read; shared by the connections of one edge.
    package init(
        _ loop: EventLoop, _ descriptor: Int32, isRadio: Bool = false, budget: EdgeBudget? = nil,
        _ handler: @escaping @ReactorActor (Event) -> Void
    ) {
        self.loop = loop
        self.descriptor = descriptor
        self.budget = budget
        self.handler = handler
        watch = loop.watch(descriptor, .read, isFirst: isRadio) { [unowned self] interest in ready(interest) }
    }

    package func send(_ octets: some Collection<UInt8>) {
        guard watch != nil, !isClosing else { return }
        guard outgoing.append(octets) else {
            isClosing = true
            return loop.soon { [weak self] in self?.end(.stalled) }
        }
        // An error is seen again, and reported, when the loop finds the descriptor writable.
        guard !isBlocked, outgoing.write(to: descriptor) != .empty else { return }
        isBlocked = true
        updateWatch()
        handler(.blocked)
    }

    /// Whether nothing is read for now. A hangup is noticed all the same where something waits to be written, else later.
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

    /// Closes when everything that was sent is with the system; that it has come to that is said with `ended`.
    ///
    /// - Returns: whether it is closed now, and there is no more to be said.
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
        var interest: Interest = []
        if !isPaused, !hasFinished, !isClosing { interest.insert(.read) }
        if isBlocked { interest.insert(.write) }
        watch?.set(interest)
    }

    /// The handler may let go of the connection in the middle of this; the call itself keeps it until it returns.
    private func ready(_ interest: Interest) {
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
        // The descriptor stays readable, and the loop comes back in the next turn.
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
