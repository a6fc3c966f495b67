package import ControlClient
import Platform

extension Failure {
    /// Why no daemon could be asked, and what to do next.
    package init(_ cause: ControlClientFailure, candidates: [String]) {
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
        self.init(.unavailable, sentence)
    }
}
