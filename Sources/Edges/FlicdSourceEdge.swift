import CLinux
import Glibc
package import Hub
package import Platform
package import Reactor

/// The TCP connection to a flicd that is a source of buttons.
@ReactorActor
package final class FlicdSourceEdge {
    /// Nanoseconds for each address of the host.
    private static let connectTimeout: Int64 = 5_000_000_000

    private let loop: EventLoop
    private let host: String
    private let port: UInt16
    private let resolve: @Sendable (String, UInt16) -> Result<[SocketAddress], Unresolved>
    private let handler: @ReactorActor (SourceInput) -> Void
    private let budget: EdgeBudget
    /// Changes with every `connect` and `close`, so that results of earlier name resolutions are ignored.
    private var generation: UInt64 = 0
    private var dial: StreamConnector?
    private var connection: StreamConnection?

    /// - Parameters:
    ///   - resolve: runs on a helper thread and may block.
    ///   - handler: receives `connected` or `closed` once for each `connect`, and after `connected` further events
    ///     until `closed` or `close`. It is never called from inside a method.
    package init(
        loop: EventLoop, host: String, port: UInt16,
        resolve: @escaping @Sendable (String, UInt16) -> Result<[SocketAddress], Unresolved> = SocketAddress.resolve,
        _ handler: @escaping @ReactorActor (SourceInput) -> Void
    ) {
        self.loop = loop
        self.host = host
        self.port = port
        self.resolve = resolve
        self.handler = handler
        budget = EdgeBudget(loop)
    }

    package func connect() {
        close()
        let (generation, host, port, resolve) = (generation, host, port, resolve)
        loop.offload {
            resolve(host, port)
        } then: { [weak self] resolved in
            guard let self, generation == self.generation else { return }
            connect(resolved)
        }
    }

    package func send(_ octets: [UInt8]) { connection?.send(octets) }

    package func close() {
        generation += 1
        dial?.cancel()
        dial = nil
        connection?.close()
        connection = nil
    }

    private func connect(_ resolved: Result<[SocketAddress], Unresolved>) {
        switch resolved {
        case .failure(let unresolved): fail("it cannot be reached: \(unresolved.reason)")
        case .success(let addresses):
            dial = StreamConnector(loop, addresses, timeout: Self.connectTimeout) { [unowned self] outcome in
                dial = nil
                switch outcome {
                case .success(let descriptor): connected(descriptor)
                case .failure(let failure): fail("it cannot be reached: \(systemMessage(failure.errno))")
                }
            }
        }
    }

    private func connected(_ descriptor: Int32) {
        var enabled: Int32 = 1
        setsockopt(descriptor, Int32(IPPROTO_TCP), TCP_NODELAY, &enabled, socklen_t(MemoryLayout<Int32>.size))
        connection = StreamConnection(loop, descriptor, budget: budget) { [unowned self] event in
            switch event {
            case .received(let octets): handler(.received(octets))
            case .finished, .ended(.written): fail("it closed the connection")
            case .blocked, .drained: break
            case .ended(.stalled): fail("it does not read")
            case .ended(.failed(let failure)): fail("the connection was lost: \(systemMessage(failure))")
            }
        }
        handler(.connected(bootID: UInt32(truncatingIfNeeded: SystemEnvironment.randomSeed)))
    }

    private func fail(_ reason: String) {
        close()
        handler(.closed(reason))
    }
}
