import ControlClient
import Glibc
import JSON
import Platform

/// Links to the page that `tryck-web` serves.
package enum PageLink {
    /// Asks the first `tryck-web` that listens for a link, which can be used once.
    ///
    /// - Throws: `Failure` 69 if there is no `tryck-web`.
    package static func request(_ candidates: [String]) throws(Failure) -> String {
        let answer: JSONValue?
        do throws(ControlClientFailure) {
            let client = try ControlSocket.first(of: candidates) { path throws(ControlClientFailure) in
                try ControlClient(path: path)
            }
            answer = try client.ask(["request": "link"], within: .seconds(10))
        } catch {
            switch error {
            case .notRunning:
                throw Failure(
                    .unavailable,
                    "No tryck-web answers at \(candidates.joined(separator: " or ")). Start it: sudo systemctl enable --now "
                        + "tryck-web, or: tryck-web")
            case .notPermitted, .closed, .timedOut, .lineTooLong, .system:
                throw Failure(error, candidates: candidates)
            }
        }
        guard let link = answer?["data"]?["link"]?.stringValue else {
            throw Failure(.unavailable, answer?["error"]?.stringValue ?? "tryck-web gave no link. See its log.")
        }
        return link
    }

    /// Opens a link in the browser of this desktop.
    ///
    /// - Returns: false if there is no program for this.
    package static func open(_ link: String) -> Bool {
        let program = "/usr/bin/xdg-open"
        guard access(program, X_OK) == 0 else { return false }
        let (_, failure) = startProgram(program, [program, link]) { actions in
            posix_spawn_file_actions_addopen(actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0)
            posix_spawn_file_actions_addopen(actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0)
            posix_spawn_file_actions_adddup2(actions, STDOUT_FILENO, STDERR_FILENO)
        }
        return failure == 0
    }
}
