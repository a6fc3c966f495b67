import Daemon

/// The paths at which a daemon may listen.
enum ControlSocket {
    static let systemPath = "/run/tryck/control.sock"

    /// The paths to try, in this order.
    ///
    /// - Parameters:
    ///   - chosen: the path in `--control-socket`, which is then the only candidate.
    ///   - configured: the `control_socket` of the `tryck.yaml` that was found, which is then the only candidate, because
    ///     the daemon of that file listens there.
    ///   - runtimeDirectory: `$XDG_RUNTIME_DIR`.
    static func candidates(chosen: String?, configured: String? = nil, runtimeDirectory: String?) -> [String] {
        if let chosen = chosen ?? configured { return [chosen] }
        let own = runtimeDirectory.flatMap { $0.isEmpty ? nil : "\($0)/tryck/control.sock" }
        return [systemPath] + (own.map { [$0] } ?? [])
    }

    /// Connects to the first path at which a daemon listens.
    ///
    /// - Throws: `Failure` with status 69.
    static func first<Connection>(
        of candidates: [String], connect: (String) throws(ControlClientFailure) -> Connection
    ) throws(Failure) -> Connection {
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
        throw failure(refusal ?? .notRunning(path: candidates.first ?? ""), candidates: candidates)
    }

    /// Why no daemon could be asked, and what to do next.
    static func failure(_ cause: ControlClientFailure, candidates: [String]) -> Failure {
        let sentence =
            switch cause {
            case .notRunning:
                """
                No daemon answers at \(candidates.joined(separator: " or ")). \
                Start one (systemctl start tryck, or: tryck run), or say where it is with --control-socket.
                """
            case .notPermitted(let path):
                """
                \(path) is not for you to use. Become a member of its group (sudo usermod -aG tryck $USER) and log in \
                again, or use sudo.
                """
            case .closed, .lineTooLong, .timedOut, .system: "\(cause). Look into the daemon's log for the reason."
            }
        return Failure(.unavailable, sentence)
    }
}
