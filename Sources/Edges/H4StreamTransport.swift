import CLinux
import Glibc
import Platform
package import Reactor

/// A Bluetooth controller on TCP, on a Unix socket, or behind a program, with HCI packets in H4 framing.
@ReactorActor
package final class H4StreamTransport: HCITransport {
    package enum Endpoint: Hashable, Sendable, CustomStringConvertible {
        case tcp(host: String, port: UInt16)
        /// A leading `@` means the abstract namespace.
        case unix(path: String)
        /// A program whose standard input and output are one end of a Unix socket. It is started in the directory.
        case program([String], directory: String)

        package var description: String {
            switch self {
            case .tcp(let host, let port): "h4:tcp:\(host):\(port)"
            case .unix(let path): "h4:unix:\(path)"
            case .program(let words, _): words.first ?? ""
            }
        }
    }

    /// Nanoseconds for each address of the host.
    private static let connectTimeout: Int64 = 5_000_000_000

    private let loop: EventLoop
    private let endpoint: Endpoint
    private var handler: (@ReactorActor (HCITransportEvent) -> Void)?
    /// Changes with every `open` and `close`, so that results of earlier attempts are ignored.
    private var generation: UInt64 = 0
    private var dial: StreamConnector?
    private var connection: StreamConnection?
    private var framer = H4Framer()
    private var program: TransportProgram?

    package init(loop: EventLoop, endpoint: Endpoint) {
        self.loop = loop
        self.endpoint = endpoint
    }

    package func open(_ handler: @escaping @ReactorActor (HCITransportEvent) -> Void) {
        close()
        self.handler = handler
        let generation = generation
        switch endpoint {
        case .tcp(let host, let port):
            loop.offload {
                SocketAddress.resolve(host: host, port: port)
            } then: { [weak self] resolved in
                guard let self, generation == self.generation else { return }
                connect(resolved)
            }
        case .unix(let path):
            let resolved = SocketAddress.resolve(unixPath: path)
            loop.onNextTurn { [weak self] in
                guard let self, generation == self.generation else { return }
                connect(resolved)
            }
        case .program(let words, let directory):
            loop.onNextTurn { [weak self] in
                guard let self, generation == self.generation else { return }
                start(words, in: directory)
            }
        }
    }

    private func start(_ words: [String], in directory: String) {
        do throws(ProcessJob.StartFailure) {
            let program = try TransportProgram(loop, words, in: directory)
            self.program = program
            connected(program.descriptor)
        } catch {
            fail(.program(endpoint.description, reason: "cannot be started: \(error.sentence)"))
        }
    }

    package func send(_ packet: [UInt8]) { connection?.send(packet) }

    package func close() {
        generation += 1
        handler = nil
        dial?.cancel()
        dial = nil
        connection?.close()
        connection = nil
        program?.end()
        program = nil
        framer = H4Framer()
    }

    private func connect(_ resolved: Result<[SocketAddress], Unresolved>) {
        switch resolved {
        case .failure(let unresolved):
            fail(.unreachable(endpoint.description, reason: unresolved.reason))
        case .success(let addresses):
            dial = StreamConnector(loop, addresses, timeout: Self.connectTimeout) { [unowned self] outcome in
                dial = nil
                switch outcome {
                case .success(let descriptor): connected(descriptor)
                case .failure(let failure):
                    fail(.unreachable(endpoint.description, reason: systemMessage(failure.errno)))
                }
            }
        }
    }

    private func connected(_ descriptor: Int32) {
        var enabled: Int32 = 1
        // Fails for a Unix socket, which has no Nagle algorithm.
        setsockopt(descriptor, Int32(IPPROTO_TCP), TCP_NODELAY, &enabled, socklen_t(MemoryLayout<Int32>.size))
        connection = StreamConnection(loop, descriptor, isRadio: true) { [unowned self] event in
            switch event {
            case .received(let octets): received(octets)
            case .finished, .ended(.written): closedByPeer()
            case .blocked, .drained: break
            case .ended(.stalled): fail(.stalled(endpoint.description))
            // The socket of a program that ended before it had read everything.
            case .ended(.failed(ECONNRESET)) where program != nil, .ended(.failed(EPIPE)) where program != nil:
                closedByPeer()
            case .ended(.failed(let failure)):
                fail(
                    .system(
                        operation: "reading", subject: endpoint.description, reason: systemMessage(failure))
                )
            }
        }
        handler?(.opened)
    }

    /// A program says on its standard error why it ended.
    private func closedByPeer() {
        guard let program else { return fail(.closedByPeer(endpoint.description)) }
        program.explainEnd { [weak self] reason in
            guard let self else { return }
            fail(.program(endpoint.description, reason: reason))
        }
    }

    private func received(_ octets: [UInt8]) {
        framer.append(octets)
        let generation = generation
        do throws(H4Malformed) {
            // The handler may close the transport, or close and open it.
            while generation == self.generation, let packet = try framer.next() { handler?(.received(packet)) }
        } catch {
            fail(.malformedStream(endpoint.description, error))
        }
    }

    private func fail(_ failure: TransportFailure) {
        let handler = handler
        close()
        handler?(.failed(failure))
    }
}
