import ButtonModel
import CLinux
import Glibc
package import Reactor

/// A private `mosquitto`, for those who have no broker, started and ended with us. It listens on a socket file in a
/// directory that only our user may enter: other users of the machine cannot reach it.
///
/// | state    | on                   | becomes  | and we |
/// |----------|----------------------|----------|--------|
/// | stopped  | start                | starting | start the program |
/// | starting | the socket answers   | running  | ready |
/// | starting | ended, or 10 s       | waiting  | failed, set the retry timer |
/// | running  | ended                | waiting  | failed, set the retry timer |
/// | waiting  | retry timer          | starting | start the program |
/// | any      | stop                 | stopped  | end the program |
///
/// It must not outlive us, however we end. The parent-death signal cannot be asked for through `posix_spawn`,
/// so a shell stands between: it waits for mosquitto, and a reader in its background waits for the end of a pipe
/// of which we hold the only other end. When that closes, by `stop` or because the kernel closed it for a
/// process that is no more, the reader ends mosquitto. When mosquitto ends by itself, so does the shell, with its
/// status, and a pidfd tells us.
@ReactorActor
package final class EmbeddedBroker {
    package enum Event: Hashable, Sendable {
        /// It answers on this socket file.
        case ready(path: String)
        /// A sentence. The next attempt comes by itself.
        case failed(String)
    }

    nonisolated static let startTimeout: Duration = .seconds(10)
    nonisolated static let probeInterval: Duration = .milliseconds(20)
    /// A broker that ran this long was a good one: after it the retries begin again with short waits.
    nonisolated static let goodRun: Duration = .seconds(10)
    package nonisolated static let searchPath = ["/usr/sbin", "/usr/local/sbin", "/usr/bin", "/usr/local/bin"]
    nonisolated static let missing =
        "there is no mosquitto on this system: install the package mosquitto, or name another broker in mqtt.broker"

    private struct Child {
        var process: pid_t
        var processDescriptor: Int32
        var watch: Watch
        /// Ours of the pipe; closing it ends the child.
        var leash: Int32
        var started: Int64
        var isReady = false
    }

    private let loop: EventLoop
    private let directory: String
    private let program: String?
    private let handler: @ReactorActor (Event) -> Void
    private var isWanted = false
    private var child: Child?
    private var backOff: MQTTBackOff

    private lazy var timer = loop.timer { [weak self] in self?.timerFired() }

    /// - Parameters:
    ///   - directory: of its own, for its configuration; made (0700) where it is missing.
    ///   - program: `nil`: the first `mosquitto` in the usual places.
    ///   - seed: for the jitter of the retries.
    package init(
        loop: EventLoop, directory: String, program: String? = nil, seed: UInt64,
        _ handler: @escaping @ReactorActor (Event) -> Void
    ) {
        self.loop = loop
        self.directory = directory
        self.program = program
        self.handler = handler
        backOff = MQTTBackOff(seed: seed)
    }

    /// The shell, which leads the process group of all of it.
    var process: pid_t? { child?.process }

    /// Lets go of the child without a word, as the kernel does for a process that is no more.
    func dropLeash() {
        guard let leash = child?.leash, leash >= 0 else { return }
        close(leash)
        child?.leash = -1
    }

    package func start() {
        guard !isWanted else { return }
        isWanted = true
        timer.set(at: loop.nanosecondsSinceBoot)
    }

    /// Ends the program and waits for it, which takes it some milliseconds.
    package func stop() {
        isWanted = false
        timer.cancel()
        guard let child else { return }
        dropLeash()
        self.child = nil
        child.watch.cancel()
        kill(-child.process, SIGKILL)
        // KILL leaves nobody who could refuse.
        while waitpid(child.process, nil, 0) < 0, errno == EINTR {}
        close(child.processDescriptor)
    }

    private func timerFired() {
        guard isWanted else { return }
        guard let child else { return launch() }
        guard !child.isReady else { return }
        if loop.nanosecondsSinceBoot - child.started > Self.startTimeout.nanoseconds {
            // Its end is noticed like any other.
            kill(-child.process, SIGKILL)
        } else {
            ask()
        }
    }

    // MARK: Starting

    private func launch() {
        do {
            child = try spawn()
            timer.set(at: loop.nanosecondsSinceBoot + Self.probeInterval.nanoseconds)
        } catch {
            fail(error.sentence)
        }
    }

    private struct StartFailure: Error {
        var sentence: String
    }

    private func spawn() throws(StartFailure) -> Child {
        guard
            let program = program ?? Self.searchPath.map({ $0 + "/mosquitto" }).first(where: { access($0, X_OK) == 0 }),
            access(program, X_OK) == 0
        else { throw StartFailure(sentence: Self.missing) }
        if case .failure(let unresolved) = SocketAddress.resolve(unixPath: socketPath) {
            throw StartFailure(
                sentence:
                    "mosquitto cannot listen on \(socketPath): \(unresolved.reason); set a shorter state_directory")
        }
        let configuration = try writeConfiguration()
        var ends: [Int32] = [-1, -1]
        guard linux_pipe(&ends) == 0 else {
            throw StartFailure(sentence: "there is no pipe for mosquitto: \(describe(errno))")
        }
        linux_set_blocking(ends[0], 1)
        defer { close(ends[0]) }
        let (failure, process) = spawnShell(program, configuration, input: ends[0])
        let processDescriptor = failure == 0 ? linux_pidfd_open(process) : -1
        guard failure == 0, processDescriptor >= 0 else {
            let reason = describe(failure == 0 ? errno : failure)
            close(ends[1])
            throw StartFailure(sentence: "mosquitto cannot be started: \(reason)")
        }
        let watch = loop.watch(processDescriptor, .read) { [weak self] _ in self?.childEnded() }
        return Child(
            process: process, processDescriptor: processDescriptor, watch: watch, leash: ends[1],
            started: loop.nanosecondsSinceBoot)
    }

    /// `$1` is the program, `$2` its configuration: nothing of them is read as shell.
    private static let script = """
        exec 3<&0 </dev/null
        "$1" -c "$2" 3<&- &
        broker=$!
        { read -r line <&3; kill "$broker"; } 2>/dev/null &
        reader=$!
        exec 3<&-
        wait "$broker"
        status=$?
        kill "$reader" 2>/dev/null
        exit "$status"
        """

    private func spawnShell(_ program: String, _ configuration: String, input: Int32) -> (Int32, pid_t) {
        let words = ["/bin/sh", "-c", Self.script, "tryck-broker", program, configuration]
        let (process, failure) = startProgram("/bin/sh", words, environment: []) { actions in
            posix_spawn_file_actions_adddup2(actions, input, 0)
            posix_spawn_file_actions_addopen(actions, 1, "/dev/null", O_WRONLY, 0)
            posix_spawn_file_actions_addopen(actions, 2, "/dev/null", O_WRONLY, 0)
        }
        return (failure, process)
    }

    private var socketPath: String { directory + "/mqtt.sock" }

    private func writeConfiguration() throws(StartFailure) -> String {
        let path = directory + "/mosquitto.conf"
        let lines = [
            "listener 0 \(socketPath)", "allow_anonymous true", "persistence false", "log_dest none",
            // It would become "mosquitto" otherwise, and our reader could not end it where we are not root by then.
            geteuid() == 0 ? "user root" : "",
        ]
        let text = Array((lines.joined(separator: "\n") + "\n").utf8)
        if mkdir(directory, 0o700) != 0, errno != EEXIST {
            throw StartFailure(sentence: "cannot create \(directory) for mosquitto: \(describe(errno))")
        }
        // A directory that was made by hand may be open to other users. A socket file may be left from the last run.
        guard chmod(directory, 0o700) == 0 else {
            throw StartFailure(sentence: "cannot keep others out of \(directory): \(describe(errno))")
        }
        unlink(socketPath)
        let file = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard file >= 0 else { throw StartFailure(sentence: "cannot write \(path): \(describe(errno))") }
        defer { close(file) }
        guard write(file, text, text.count) == text.count else {
            throw StartFailure(sentence: "cannot write \(path): \(describe(errno))")
        }
        return path
    }

    // MARK: Is it there?

    /// Tries to connect: a socket file answers or refuses at once.
    private func ask() {
        if isListening {
            child?.isReady = true
            handler(.ready(path: socketPath))
        } else {
            timer.set(at: loop.nanosecondsSinceBoot + Self.probeInterval.nanoseconds)
        }
    }

    private var isListening: Bool {
        guard case .success(let addresses) = SocketAddress.resolve(unixPath: socketPath), let address = addresses.first
        else { return false }
        let probe = socket(
            AF_UNIX, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_NONBLOCK.rawValue | SOCK_CLOEXEC.rawValue), 0)
        guard probe >= 0 else { return false }
        defer { close(probe) }
        return address.connect(probe) == 0
    }

    private func childEnded() {
        guard let child else { return }
        var isSignalled: Int32 = 0
        var status: Int32 = 0
        guard linux_reap(child.processDescriptor, &isSignalled, &status) == 1 else { return }
        dropLeash()
        self.child = nil
        child.watch.cancel()
        close(child.processDescriptor)
        if loop.nanosecondsSinceBoot - child.started > Self.goodRun.nanoseconds { backOff.reset() }
        // The shell adds 128 to the number of a signal.
        let how = isSignalled != 0 ? "signal \(status)" : status > 128 ? "signal \(status - 128)" : "status \(status)"
        fail("mosquitto ended (\(how)); it is started again")
    }

    private func fail(_ sentence: String) {
        timer.set(at: loop.nanosecondsSinceBoot + backOff.next().nanoseconds)
        handler(.failed(sentence))
    }

    private func describe(_ code: Int32) -> String { String(cString: strerror(code)) }
}
