package import CLinux
import Glibc
package import Platform
package import Reactor

/// A program as a child of this process, mostly `tryckd`. Its log goes to a file.
///
/// The program leads a process group of its own, so that Ctrl-C on the terminal reaches only this process, which ends
/// its child in order.
@ReactorActor
package final class DaemonChild {
    /// Nanoseconds that the program has for a clean end before it is killed.
    private static let killDelay: Int64 = 3_000_000_000

    private let loop: EventLoop
    package let process: pid_t
    private let processDescriptor: Int32
    private var watch: Watch?
    private var timer: Timer?
    private let ended: @ReactorActor (ExitStatus?) -> Void

    /// - Parameter ended: called once, when the process has ended; `nil` for an end without one of Tryck's exit statuses,
    ///   such as by a signal.
    package init(
        _ loop: EventLoop, arguments: [String], log: String, _ ended: @escaping @ReactorActor (ExitStatus?) -> Void
    ) throws(Failure) {
        self.loop = loop
        self.ended = ended
        process = try Self.spawn(arguments, log: log)
        processDescriptor = linux_pidfd_open(process)
        guard processDescriptor >= 0 else {
            kill(process, SIGKILL)
            throw Failure(.unavailable, "The daemon cannot be watched: \(String(cString: strerror(errno))).")
        }
        // The loop keeps this object until the process has ended, even if nothing else does.
        watch = loop.watch(processDescriptor, .read) { _ in self.hasEnded() }
        timer = loop.timer { [unowned self] in
            if watch != nil { kill(process, SIGKILL) }
        }
    }

    /// Ends the program. `ended` is called when it has ended.
    package func stop() {
        guard watch != nil else { return }
        kill(process, SIGTERM)
        timer?.set(at: loop.nanosecondsSinceBoot + Self.killDelay)
    }

    private func hasEnded() {
        var signalled: Int32 = 0
        var status: Int32 = 0
        guard linux_reap(processDescriptor, &signalled, &status) == 1 else { return }
        watch?.cancel()
        watch = nil
        timer?.cancel()
        close(processDescriptor)
        ended(signalled == 0 ? ExitStatus(rawValue: status) : nil)
    }

    private static func spawn(_ arguments: [String], log: String) throws(Failure) -> pid_t {
        let (process, failure) = startProgram(arguments.first ?? "", arguments) { actions in
            posix_spawn_file_actions_addopen(actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0)
            posix_spawn_file_actions_addopen(actions, STDOUT_FILENO, log, O_WRONLY | O_CREAT | O_APPEND, 0o600)
            posix_spawn_file_actions_adddup2(actions, STDOUT_FILENO, STDERR_FILENO)
        }
        guard failure == 0 else {
            throw Failure(.unavailable, "The daemon cannot be started: \(String(cString: strerror(failure))).")
        }
        return process
    }
}
