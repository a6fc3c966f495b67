import CLinux
import ConfigurationLoader
import Glibc
import Platform
import YAMLFiles

/// The control socket of a daemon: where it may be, and how a client connects to it.
package enum ControlSocket {
    package static let systemPath = "/run/tryck/control.sock"

    /// The paths to try, in this order.
    ///
    /// - Parameters:
    ///   - chosen: the path in `--control-socket`, which is then the only candidate.
    ///   - configured: the `control_socket` of the `tryck.yaml` that was found, which is then the only candidate, because
    ///     the daemon of that file listens there.
    ///   - runtimeDirectory: `$XDG_RUNTIME_DIR`.
    package static func candidates(
        chosen: String?, configured: String? = nil, runtimeDirectory: String?
    ) -> [String] {
        if let chosen = chosen ?? configured { return [chosen] }
        let own = runtimeDirectory.flatMap { $0.isEmpty ? nil : "\($0)/tryck/control.sock" }
        return [systemPath] + (own.map { [$0] } ?? [])
    }

    /// The `control_socket` of the `tryck.yaml` that a daemon with this environment would read; `nil` if there is no such
    /// file, if it cannot be read, or if it does not set the socket. Secrets of the configuration are not read, because a
    /// member of the group `tryck` may use the socket and may not read them.
    package static func configured(_ configuration: String? = nil, environment: [String: String]) -> String? {
        guard let path = ConfigurationPath.find(configuration, environment: environment),
            let text = try? FileText(reading: path)
        else { return nil }
        let file = SourceFile(name: path, text: text.octets)
        return FileLoader.controlSocket(of: file, in: FileInputs(variables: environment)).map {
            resolve($0, in: SystemEnvironment.directory(of: path), home: environment["HOME"])
        }
    }

    /// Connects to the first path at which a daemon listens.
    ///
    /// - Throws: the first failure other than `notRunning`; `notRunning` when there is no other.
    package static func first<Connection>(
        of candidates: [String], connect: (String) throws(ControlClientFailure) -> Connection
    ) throws(ControlClientFailure) -> Connection {
        var refusal: ControlClientFailure?
        for path in candidates {
            do throws(ControlClientFailure) {
                return try connect(path)
            } catch .notRunning {
                continue
            } catch {
                refusal = refusal ?? error
            }
        }
        throw refusal ?? .notRunning(path: candidates.first ?? "")
    }

    /// - Parameter timeLimit: how long the daemon may take to accept the connection, and later to take what is sent; `nil`:
    ///   without limit.
    /// - Returns: the descriptor of a connection, which belongs to the caller.
    package static func connect(_ path: String, within timeLimit: Duration? = nil) throws(ControlClientFailure) -> Int32
    {
        guard case .success(let addresses) = SocketAddress.resolve(unixPath: path), let address = addresses.first
        else { throw .notRunning(path: path) }
        let descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        guard descriptor >= 0 else { throw .system(operation: "socket", reason: systemMessage(errno)) }
        if let timeLimit {
            // A connection waits while the backlog of the listener is full, at most as long as this option says.
            let (seconds, attoseconds) = timeLimit.components
            var limit = timeval(tv_sec: Int(seconds), tv_usec: Int(attoseconds / 1_000_000_000_000))
            setsockopt(descriptor, SOL_SOCKET, SO_SNDTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
        }
        guard address.connect(descriptor) != 0 else { return descriptor }
        let reason = errno
        Glibc.close(descriptor)
        switch reason {
        case ENOENT, ENOTDIR, ECONNREFUSED: throw .notRunning(path: path)
        case EAGAIN where timeLimit != nil: throw .timedOut
        case EACCES, EPERM: throw .notPermitted(path: path)
        default: throw .system(operation: "connecting to \(path)", reason: systemMessage(reason))
        }
    }
}
