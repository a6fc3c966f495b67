import CLinux
import Glibc
package import Reactor

/// Connects a stream socket to the first of several addresses that accepts, without blocking.
@ReactorActor
package final class StreamConnector {
    package struct Failure: Error, Hashable, Sendable {
        /// The error of the last address.
        package var errno: Int32
    }

    private let loop: EventLoop
    private var remaining: ArraySlice<SocketAddress>
    private let timeout: Int64
    private let done: @ReactorActor (Result<Int32, Failure>) -> Void
    private var descriptor: Int32 = -1
    private var watch: Watch?
    private var timer: Timer?

    /// - Parameters:
    ///   - timeout: nanoseconds for each address.
    ///   - done: receives the connected descriptor, which then belongs to it. It is called once, never from inside
    ///     `init`, and not after `cancel`.
    package init(
        _ loop: EventLoop, _ addresses: [SocketAddress], timeout: Int64,
        _ done: @escaping @ReactorActor (Result<Int32, Failure>) -> Void
    ) {
        self.loop = loop
        remaining = addresses[...]
        self.timeout = timeout
        self.done = done
        timer = loop.timer { [unowned self] in tryNext(after: ETIMEDOUT) }
        tryNext(after: EADDRNOTAVAIL)
    }

    package func cancel() {
        timer?.cancel()
        watch?.cancel()
        watch = nil
        if descriptor >= 0 { close(descriptor) }
        descriptor = -1
    }

    private func tryNext(after failure: Int32) {
        cancel()
        guard let address = remaining.popFirst() else {
            // A timer reports the failure, so that `done` is not called from inside `init`, and `cancel` prevents it.
            timer = loop.timer { [unowned self] in done(.failure(Failure(errno: failure))) }
            timer?.set(at: 0)
            return
        }
        descriptor = socket(
            address.family, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_NONBLOCK.rawValue | SOCK_CLOEXEC.rawValue), 0)
        guard descriptor >= 0 else { return tryNext(after: errno) }
        guard address.connect(descriptor) == 0 || errno == EINPROGRESS else { return tryNext(after: errno) }
        watch = loop.watch(descriptor, .write) { [unowned self] _ in finish() }
        timer?.set(at: loop.nanosecondsSinceBoot + timeout)
    }

    private func finish() {
        var failure: Int32 = 0
        var size = socklen_t(MemoryLayout<Int32>.size)
        getsockopt(descriptor, SOL_SOCKET, SO_ERROR, &failure, &size)
        guard failure == 0 else { return tryNext(after: failure) }
        let connected = descriptor
        descriptor = -1
        cancel()
        done(.success(connected))
    }
}
