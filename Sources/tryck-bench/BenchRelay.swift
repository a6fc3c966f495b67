import Edges
import Glibc
import Reactor

/// The relay process, with which `BenchPress` and `BenchDial` compare the daemon: it publishes one message for every
/// packet on a socket, and does nothing else.
@ReactorActor
final class BenchRelay {
    private var mqtt: MQTTEdge?
    private let transport: H4StreamTransport

    /// - Parameter ended: called when the socket or the broker is gone.
    init(loop: EventLoop, socket: String, broker path: String, ended: @escaping @ReactorActor () -> Void) {
        transport = H4StreamTransport(loop: loop, endpoint: .unix(path: socket))
        let options = MQTTOptions(endpoint: .unix(path: path), clientIdentifier: "bench_relay")
        mqtt = MQTTEdge(loop: loop, options: options, seed: 4) { [weak self] event in
            switch event {
            case .connected: self?.open(ended)
            case .disconnected: ended()
            case .published, .publishFailed, .subscribeFailed, .subscribed, .message, .dropped, .expiringMessage: break
            }
        }
        mqtt?.connect()
    }

    /// The path of this program.
    nonisolated static var ownProgram: String {
        let program = realpath("/proc/self/exe", nil).map { path in
            defer { free(path) }
            return String(cString: path)
        }
        return program ?? "tryck-bench"
    }

    nonisolated static func arguments(socket: String, broker path: String) -> [String] {
        [ownProgram, "relay", "--socket", socket, "--broker", path]
    }

    private func open(_ ended: @escaping @ReactorActor () -> Void) {
        transport.open { [weak self] event in
            switch event {
            case .opened: break
            case .received:
                self?.mqtt?.publish(
                    id: 0, topicName: "bench/relay", payload: Array("0123456789abcdef".utf8), qos: 0, retain: false,
                    expiry: nil)
            case .failed: ended()
            }
        }
    }
}
