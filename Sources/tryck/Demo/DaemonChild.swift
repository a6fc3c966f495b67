import CLinux
import Daemon
import Glibc
import Reactor

/// The daemon as a child of this process. Its log goes to a file.
///
/// It leads a process group of its own: a Ctrl-C on the terminal is ours alone, and we end it in order.
@ReactorActor
final class DaemonChild {
    /// The time it has for a clean end.
    private static let killDelay: Int64 = 3_000_000_000

    private let loop: EventLoop
    private let process: pid_t
    private let processDescriptor: Int32
    private var watch: Watch?
    private var timer: Timer?
    private let ended: @ReactorActor () -> Void

    /// - Parameter ended: called once, when the process has ended.
    init(
        _ loop: EventLoop, arguments: [String], log: String, _ ended: @escaping @ReactorActor () -> Void
    ) throws(Failure) {
        self.loop = loop
        self.ended = ended
        process = try Self.spawn(arguments, log: log)
        processDescriptor = linux_pidfd_open(process)
        guard processDescriptor >= 0 else {
            kill(process, SIGKILL)
            throw Failure(.unavailable, "The daemon cannot be watched: \(String(cString: strerror(errno))).")
        }
        watch = loop.watch(processDescriptor, .read) { [unowned self] _ in hasEnded() }
        timer = loop.timer { [unowned self] in
            if watch != nil { kill(process, SIGKILL) }
        }
    }

    /// Ends it; `ended` is called as always.
    func stop() {
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
        ended()
    }

    private static func spawn(_ arguments: [String], log: String) throws(Failure) -> pid_t {
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0)
        posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, log, O_WRONLY | O_CREAT | O_APPEND, 0o600)
        posix_spawn_file_actions_adddup2(&actions, STDOUT_FILENO, STDERR_FILENO)

        // The signals we read on the loop are blocked here, and SIGPIPE is ignored; the child begins afresh.
        var attributes = posix_spawnattr_t()
        posix_spawnattr_init(&attributes)
        defer { posix_spawnattr_destroy(&attributes) }
        var none = sigset_t()
        sigemptyset(&none)
        var all = sigset_t()
        sigfillset(&all)
        posix_spawnattr_setsigmask(&attributes, &none)
        posix_spawnattr_setsigdefault(&attributes, &all)
        posix_spawnattr_setpgroup(&attributes, 0)
        posix_spawnattr_setflags(
            &attributes, Int16(POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF))

        var argv = arguments.map { strdup($0) }
        argv.append(nil)
        defer { for argument in argv { free(argument) } }
        var process: pid_t = 0
        let failure = posix_spawn(&process, arguments.first ?? "", &actions, &attributes, argv, linux_environment())
        guard failure == 0 else {
            throw Failure(.unavailable, "The daemon cannot be started: \(String(cString: strerror(failure))).")
        }
        return process
    }
}
