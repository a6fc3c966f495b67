import Glibc
import Reactor

/// One connected stream socket on the loop, and what it has not taken yet.
@ReactorActor
final class StreamConnection {
    enum Event: Sendable {
        case received([UInt8])
        /// It has closed itself. Said once, and never from inside a call.
        case ended(Ending)
    }

    enum Ending: Hashable, Sendable {
        /// The peer writes no more. Those who close one direction only are not waited for.
        case byPeer
        /// The peer does not read: more than `OutgoingBuffer.maximumCount` is waiting for it.
        case stalled
        case failed(errno: Int32)
    }

    private static let readSize = 16 * 1024

    private let loop: EventLoop
    private let descriptor: Int32
    private let handler: @ReactorActor (Event) -> Void
    /// Kept: to ask for so much with every packet makes the allocator tidy up each time.
    private var buffer = [UInt8](repeating: 0, count: readSize)
    private var watch: Watch?
    private var outgoing = OutgoingBuffer()
    /// Something was dropped; nothing may follow it.
    private var isStalled = false

    /// - Parameter descriptor: non-blocking; belongs to the connection from now on.
    init(_ loop: EventLoop, _ descriptor: Int32, _ handler: @escaping @ReactorActor (Event) -> Void) {
        self.loop = loop
        self.descriptor = descriptor
        self.handler = handler
        watch = loop.watch(descriptor, .read) { [unowned self] interest in ready(interest) }
    }

    func send(_ octets: some Collection<UInt8>) {
        guard watch != nil, !isStalled else { return }
        let isIdle = outgoing.count == 0
        guard outgoing.append(octets) else {
            isStalled = true
            loop.soon { [weak self] in self?.end(.stalled) }
            return
        }
        // An error is seen again, and reported, when the loop finds the descriptor writable.
        if isIdle, outgoing.write(to: descriptor) != .empty { watch?.set([.read, .write]) }
    }

    func close() {
        guard let watch else { return }
        watch.cancel()
        self.watch = nil
        Glibc.close(descriptor)
    }

    /// The handler may let go of the connection in the middle of this; the call itself keeps it until it returns.
    private func ready(_ interest: Interest) {
        if interest.contains(.write) { flush() }
        if interest.contains(.read) || interest.hasHangup { receive() }
    }

    private func flush() {
        switch outgoing.write(to: descriptor) {
        case .empty: watch?.set(.read)
        case .blocked: break
        case .failed(let failure): end(.failed(errno: failure))
        }
    }

    private func receive() {
        guard watch != nil else { return }
        let result = read(descriptor, &buffer, buffer.count)
        if result > 0 {
            handler(.received(Array(buffer.prefix(result))))
        } else if result == 0 {
            end(.byPeer)
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
