import Glibc
package import Platform
package import Reactor

/// A TCP connection to an ESPHome proxy. What the octets mean is for the radio to know.
@ReactorActor
package final class ProxyStream {
    package enum Event: Hashable, Sendable {
        case opened
        case received([UInt8])
        /// The connection could not be made, or has ended: a sentence for users, without its full stop.
        case failed(String)
    }

    /// Nanoseconds for each address of the host.
    private static let connectTimeout: Int64 = 10_000_000_000
    /// Milliseconds after which a connection ends if the other side does not acknowledge the octets that were sent.
    private static let userTimeout: Int32 = 20_000

    private let loop: EventLoop
    private let host: String
    private let port: UInt16
    private let resolve: @Sendable (String, UInt16) -> Result<[SocketAddress], Unresolved>
    private let report: @ReactorActor (Event) -> Void
    /// Changes with every `open` and `close`, so that results of earlier attempts are ignored.
    private var generation: UInt64 = 0
    private var connector: StreamConnector?
    private var connection: StreamConnection?

    /// - Parameter resolve: runs on a helper thread and may block.
    package init(
        loop: EventLoop, host: String, port: UInt16,
        resolve: @escaping @Sendable (String, UInt16) -> Result<[SocketAddress], Unresolved> = SocketAddress.resolve,
        report: @escaping @ReactorActor (Event) -> Void
    ) {
        self.loop = loop
        self.host = host
        self.port = port
        self.resolve = resolve
        self.report = report
    }

    /// Opens the connection, and closes the one before.
    package func open() {
        close()
        let (generation, host, port, resolve) = (generation, host, port, resolve)
        loop.offload {
            resolve(host, port)
        } then: { [weak self] resolved in
            guard let self, generation == self.generation else { return }
            switch resolved {
            case .failure(let unresolved):
                close()
                let advice = Unresolved.advice(on: host, of: "the proxy", reason: unresolved.reason)
                report(.failed(advice ?? "the proxy \(host) cannot be reached: \(unresolved.reason)"))
            case .success(let addresses): connect(addresses)
            }
        }
    }

    package func send(_ octets: [UInt8]) { connection?.send(octets) }

    /// Closes the connection. Nothing is reported after this.
    package func close() {
        generation += 1
        connector?.cancel()
        connector = nil
        connection?.close()
        connection = nil
    }

    private func connect(_ addresses: [SocketAddress]) {
        connector = StreamConnector(loop, addresses, timeout: Self.connectTimeout) { [unowned self] outcome in
            connector = nil
            switch outcome {
            case .success(let descriptor): connected(descriptor)
            case .failure(let failure): fail("cannot be reached: \(systemMessage(failure.errno))")
            }
        }
    }

    private func connected(_ descriptor: Int32) {
        for (option, var value) in [(TCP_NODELAY, 1), (TCP_USER_TIMEOUT, Self.userTimeout)] {
            setsockopt(descriptor, Int32(IPPROTO_TCP), option, &value, socklen_t(MemoryLayout<Int32>.size))
        }
        connection = StreamConnection(loop, descriptor, isRadio: true) { [unowned self] event in
            switch event {
            case .received(let octets): report(.received(octets))
            case .finished, .ended(.written): fail("has closed the connection")
            case .blocked, .drained: break
            case .ended(.stalled): fail("accepts no more data")
            case .ended(.failed(let failure)): fail("is gone: \(systemMessage(failure))")
            }
        }
        report(.opened)
    }

    private func fail(_ reason: String) {
        close()
        report(.failed("the proxy \(host) \(reason)"))
    }
}
