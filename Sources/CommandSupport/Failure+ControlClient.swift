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
                Start one (systemctl start tryck, or: tryck run), or specify its socket with --control-socket.
                """
            case .notPermitted(let path):
                """
                You have no permission to use \(path). Become a member of its group (sudo usermod -aG tryck $USER) and log in \
                again, or use sudo.
                """
            case .closed, .lineTooLong, .timedOut, .system: "\(cause). See the daemon's log for the reason."
            }
        self.init(.unavailable, sentence)
    }
}
