import ButtonModel
package import CLinux
import Edges
import Glibc
import Platform
package import Reactor

/// A private `mosquitto` for users without a broker. It starts and ends with the daemon, as `EmbeddedBrokerSupervisor`
/// decides. It listens on a socket file in a directory that only the daemon's user may enter, so other users of the
/// machine cannot reach it.
///
/// The file and the configuration of mosquitto are small, but a full or read-only disk has no room for them. Then they are in the
/// first other place that can be written.
///
/// mosquitto must not outlive the daemon, however the daemon ends. `posix_spawn` cannot set a parent-death signal, so a
/// shell starts mosquitto and waits for it. A background reader of the shell waits for the end of a pipe, the other end
/// of which only the daemon has. When that end is closed, by `stop` or because the daemon has ended, the reader ends
/// mosquitto. When mosquitto ends by itself, the shell ends with its status, and a pidfd reports it.
@ReactorActor
package final class EmbeddedBroker {
    package enum Event: Hashable, Sendable {
        /// mosquitto accepts connections on this socket file.
        case ready(path: String)
        /// The reason why there is no broker, as a sentence. The next attempt follows automatically.
        case failed(String)
    }

    /// Where mosquitto's configuration and its socket file can be.
    package enum Place: Hashable, Sendable {
        /// A directory that only the broker uses. It is created with mode 0700 if it is missing.
        case directory(String)
        /// A new directory in this one. It is removed when the broker has stopped.
        case temporary(in: String)
    }

    package nonisolated static let missing =
        "there is no mosquitto on this system: install the package mosquitto, or name another broker in mqtt.broker"

    private struct Child {
        var process: pid_t
        var processDescriptor: Int32
        var watch: Watch
        /// The daemon's end of the pipe; closing it ends the child.
        var lifetimePipe: Int32
    }

    private let loop: EventLoop
    private let places: [Place]
    private let program: String?
    private let handler: @ReactorActor (Event) -> Void
    private var supervisor: EmbeddedBrokerSupervisor
    private var child: Child?
    /// Where mosquitto was started last.
    private var directory: BrokerDirectory?
    /// The directory that was created for `Place.temporary`.
    private var temporaryDirectory: BrokerDirectory?

    private lazy var timer = loop.timer { [weak self] in self?.feed(.timerFired) }

    /// - Parameters:
    ///   - directory: the first place.
    ///   - otherPlaces: where to put the files if `directory` cannot be written, in this order.
    ///   - program: `nil` for the mosquitto of this system.
    ///   - seed: for the jitter of the retries.
    package init(
        loop: EventLoop, directory: String, otherPlaces: [Place] = [], program: String? = nil, seed: UInt64,
        _ handler: @escaping @ReactorActor (Event) -> Void
    ) {
        self.loop = loop
        places = [.directory(directory)] + otherPlaces
        self.program = program
        self.handler = handler
        supervisor = EmbeddedBrokerSupervisor(seed: seed)
    }

    /// The process id of the shell, which leads the broker's process group.
    package var process: pid_t? { child?.process }

    /// Closes the pipe, as the kernel does when this process ends.
    func closeLifetimePipe() {
        guard let lifetimePipe = child?.lifetimePipe, lifetimePipe >= 0 else { return }
        close(lifetimePipe)
        child?.lifetimePipe = -1
    }

    /// Starts mosquitto, and removes the temporary directories that killed processes of this user have left.
    package func start() {
        for case .temporary(let parent) in places {
            BrokerDirectory.removeAbandoned(in: parent) { Self.isListening(on: $0) }
        }
        feed(.start)
    }

    /// Ends mosquitto and waits for its end, which takes some milliseconds.
    package func stop() {
        feed(.stop)
        removeTemporaryDirectory()
    }

    private func feed(_ input: EmbeddedBrokerSupervisor.Input) {
        for effect in supervisor.handle(input, at: Instant(nanoseconds: loop.nanosecondsSinceBoot)) {
            switch effect {
            case .launch: launch()
            case .probe: feed(.probed(isListening: Self.isListening(on: socketPath)))
            case .kill: if let child { kill(-child.process, SIGKILL) }
            case .end: endChild()
            case .ready: handler(.ready(path: socketPath))
            case .failed(let reason): handler(.failed(reason))
            case .setTimer(let deadline): timer.set(at: deadline.nanoseconds)
            case .cancelTimer: timer.cancel()
            }
        }
    }

    private func endChild() {
        guard let child else { return }
        closeLifetimePipe()
        self.child = nil
        child.watch.cancel()
        kill(-child.process, SIGKILL)
        // A process cannot ignore SIGKILL, so this wait is short.
        while waitpid(child.process, nil, 0) < 0, errno == EINTR {}
        close(child.processDescriptor)
    }

    // MARK: Starting

    private func launch() {
        do {
            child = try spawn()
            feed(.launched)
        } catch {
            feed(.launchFailed(error.sentence))
        }
    }

    private func spawn() throws(BrokerDirectory.Failure) -> Child {
        guard let program = program ?? InstalledMosquitto.path, access(program, X_OK) == 0 else {
            throw BrokerDirectory.Failure(sentence: Self.missing)
        }
        let configuration = try writeConfiguration()
        var ends: [Int32] = [-1, -1]
        guard linux_pipe(&ends) == 0 else {
            throw BrokerDirectory.Failure(sentence: "a pipe for mosquitto cannot be created: \(systemMessage(errno))")
        }
        defer { close(ends[0]) }
        let (failure, process) = withExtendedLifetime(configuration) {
            spawnShell(program, configuration: configuration.rawValue, input: ends[0])
        }
        let processDescriptor = failure == 0 ? linux_pidfd_open(process) : -1
        guard failure == 0, processDescriptor >= 0 else {
            let reason = systemMessage(failure == 0 ? errno : failure)
            close(ends[1])
            throw BrokerDirectory.Failure(sentence: "mosquitto cannot be started: \(reason)")
        }
        let watch = loop.watch(processDescriptor, .read) { [weak self] _ in self?.childEnded() }
        return Child(
            process: process, processDescriptor: processDescriptor, watch: watch, lifetimePipe: ends[1])
    }

    /// `$1` is the program, so the shell never interprets its text. The pipe is the shell's input, and the configuration its
    /// output. mosquitto opens the configuration through the descriptor: another user who may rename files beside the directory
    /// could have put a different file at its path, which would tell mosquitto to load a plugin.
    private static let script = """
        exec 3<&0 4<&1 </dev/null >/dev/null
        "$1" -c /proc/self/fd/4 3<&- &
        broker=$!
        { read -r line <&3; kill "$broker"; } 2>/dev/null &
        reader=$!
        exec 3<&- 4<&-
        wait "$broker"
        status=$?
        kill "$reader" 2>/dev/null
        exit "$status"
        """

    private func spawnShell(_ program: String, configuration: Int32, input: Int32) -> (Int32, pid_t) {
        let arguments = ["/bin/sh", "-c", Self.script, "tryck-broker", program]
        let (process, failure) = startProgram("/bin/sh", arguments, environment: []) { actions in
            posix_spawn_file_actions_adddup2(actions, input, 0)
            posix_spawn_file_actions_adddup2(actions, configuration, 1)
            posix_spawn_file_actions_addopen(actions, 2, "/dev/null", O_WRONLY, 0)
        }
        return (failure, process)
    }

    private var socketPath: String { (directory?.path ?? "") + "/" + BrokerDirectory.socketName }

    // MARK: Files

    /// Writes the configuration to the first place that has room for it and for the socket file.
    ///
    /// - Returns: the file of the configuration.
    private func writeConfiguration() throws(BrokerDirectory.Failure) -> OwnedDescriptor {
        var reasons: [String] = []
        for place in places {
            do throws(BrokerDirectory.Failure) {
                let directory = try open(place)
                self.directory = directory
                let file = try writeConfiguration(in: directory)
                if directory !== temporaryDirectory { removeTemporaryDirectory() }
                return file
            } catch {
                reasons.append(error.sentence)
                // The next temporary place is another directory.
                if case .temporary = place { removeTemporaryDirectory() }
            }
        }
        if places.count == 1 { throw BrokerDirectory.Failure(sentence: reasons[0]) }
        throw BrokerDirectory.Failure(
            sentence: """
                mosquitto has no room for its files: \(reasons.joined(separator: "; ")). Free some space, or make one of these \
                directories writable; Tryck tries again
                """)
    }

    private func open(_ place: Place) throws(BrokerDirectory.Failure) -> BrokerDirectory {
        switch place {
        case .directory(let path):
            // Another value for the same directory could not lock it.
            if let directory, directory.path == path, directory.isThere { return directory }
            return try BrokerDirectory.open(path)
        case .temporary(let parent):
            // If it was removed, another user may have created it anew.
            if let temporaryDirectory, temporaryDirectory.isThere { return temporaryDirectory }
            temporaryDirectory = nil
            let directory = try BrokerDirectory.temporary(in: parent)
            temporaryDirectory = directory
            return directory
        }
    }

    private func writeConfiguration(in directory: BrokerDirectory) throws(BrokerDirectory.Failure) -> OwnedDescriptor {
        let address: SocketAddress
        switch SocketAddress.resolve(unixPath: socketPath) {
        case .success(let addresses): address = addresses[0]
        case .failure(let unresolved):
            throw BrokerDirectory.Failure(
                sentence:
                    "mosquitto cannot listen on \(socketPath): \(unresolved.reason); set a shorter state_directory")
        }
        let lines = [
            "listener 0 \(socketPath)", "allow_anonymous true", "persistence false", "log_dest none",
            // Without this line, mosquitto would change to its own user, and only root could end it.
            geteuid() == 0 ? "user root" : "",
        ]
        let file = try directory.write(
            lines.joined(separator: "\n") + "\n", to: BrokerDirectory.configurationName)
        // mosquitto would not say why it cannot listen. The directory may also contain the socket file of an earlier run.
        directory.remove(BrokerDirectory.socketName)
        let probe = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        defer { close(probe) }
        guard probe >= 0, address.bind(probe) == 0 else {
            throw BrokerDirectory.Failure(sentence: "cannot create \(socketPath): \(systemMessage(errno))")
        }
        directory.remove(BrokerDirectory.socketName)
        return file
    }

    private func removeTemporaryDirectory() {
        temporaryDirectory?.remove()
        temporaryDirectory = nil
    }

    // MARK: Probing and ending

    /// True if the socket file accepts connections. Does not block.
    private static func isListening(on socketPath: String) -> Bool {
        guard case .success(let addresses) = SocketAddress.resolve(unixPath: socketPath), let address = addresses.first
        else { return false }
        let probe = socket(
            AF_UNIX, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_NONBLOCK.rawValue | SOCK_CLOEXEC.rawValue), 0)
        guard probe >= 0 else { return false }
        defer { close(probe) }
        // A broker that has too many connections to accept is listening, too.
        return address.connect(probe) == 0 || errno == EAGAIN
    }

    private func childEnded() {
        guard let child else { return }
        var isSignalled: Int32 = 0
        var status: Int32 = 0
        guard linux_reap(child.processDescriptor, &isSignalled, &status) == 1 else { return }
        closeLifetimePipe()
        self.child = nil
        child.watch.cancel()
        close(child.processDescriptor)
        // The shell's status is 128 plus the number of a signal that ended mosquitto.
        let how = isSignalled != 0 ? "signal \(status)" : status > 128 ? "signal \(status - 128)" : "status \(status)"
        feed(.ended(how))
    }
}
