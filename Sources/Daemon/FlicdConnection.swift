import Glibc
import Reactor

/// The socket of one client of flicd. It may be read and written apart: a client that writes no more still reads, and
/// one that does not read may still be heard.
@ReactorActor
final class FlicdConnection {
    enum Event: Sendable {
        case received([UInt8])
        /// The peer writes no more.
        case finished
        /// Something of what was sent waits for the socket.
        case blocked
        /// Nothing does any more.
        case drained
        /// It has closed itself. Said once, and never from inside a call.
        case ended
    }

    private static let readSize = 16 * 1024

    private let loop: EventLoop
    private let descriptor: Int32
    private let handler: @ReactorActor (Event) -> Void
    private var buffer = [UInt8](repeating: 0, count: readSize)
    private var watch: Watch?
    private var outgoing = OutgoingBuffer()
    private var isPaused = false
    private var hasFinished = false
    private var isBlocked = false
    private var isClosing = false

    /// - Parameter descriptor: non-blocking; belongs to the connection from now on.
    init(_ loop: EventLoop, _ descriptor: Int32, _ handler: @escaping @ReactorActor (Event) -> Void) {
        self.loop = loop
        self.descriptor = descriptor
        self.handler = handler
        watch = loop.watch(descriptor, .read) { [unowned self] interest in ready(interest) }
    }

    func send(_ octets: [UInt8]) {
        guard watch != nil, !isClosing else { return }
        // Whoever is blocked is sent nothing: one turn's packets fit.
        guard outgoing.append(octets) else { return loop.soon { [weak self] in self?.end() } }
        guard !isBlocked, outgoing.write(to: descriptor) != .empty else { return }
        isBlocked = true
        updateWatch()
        handler(.blocked)
    }

    func setPaused(_ isPaused: Bool) {
        self.isPaused = isPaused
        updateWatch()
    }

    /// - Parameter isWritten: only when everything that was sent is with the system; that it has come to that is said
    ///   with `ended`.
    /// - Returns: whether it is closed now.
    @discardableResult
    func close(isWritten: Bool) -> Bool {
        guard !isWritten || !isBlocked else {
            isClosing = true
            updateWatch()
            return false
        }
        watch?.cancel()
        if watch != nil { Glibc.close(descriptor) }
        watch = nil
        return true
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
        case .failed: end()
        case .empty:
            isBlocked = false
            guard !isClosing else { return end() }
            updateWatch()
            handler(.drained)
        }
    }

    private func receive() {
        guard watch != nil else { return }
        let result = read(descriptor, &buffer, buffer.count)
        if result > 0 {
            handler(.received(Array(buffer.prefix(result))))
        } else if result == 0 {
            hasFinished = true
            updateWatch()
            handler(.finished)
        } else if errno != EAGAIN, errno != EINTR {
            end()
        }
    }

    private func end() {
        guard watch != nil else { return }
        isBlocked = false
        close(isWritten: false)
        handler(.ended)
    }
}
