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
    private var directory = ""
    /// The directory that was created for `Place.temporary`.
    private var temporaryDirectory: String?

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

    package func start() { feed(.start) }

    /// Ends mosquitto and waits for its end, which takes some milliseconds.
    package func stop() {
        feed(.stop)
        removeTemporaryDirectory()
    }

    private func feed(_ input: EmbeddedBrokerSupervisor.Input) {
        for effect in supervisor.handle(input, at: Instant(nanoseconds: loop.nanosecondsSinceBoot)) {
            switch effect {
            case .launch: launch()
            case .probe: feed(.probed(isListening: isListening))
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

    private struct StartFailure: Error {
        var sentence: String
    }

    private func spawn() throws(StartFailure) -> Child {
        guard let program = program ?? InstalledMosquitto.path, access(program, X_OK) == 0 else {
            throw StartFailure(sentence: Self.missing)
        }
        let configuration = try writeConfiguration()
        var ends: [Int32] = [-1, -1]
        guard linux_pipe(&ends) == 0 else {
            throw StartFailure(sentence: "a pipe for mosquitto cannot be created: \(systemMessage(errno))")
        }
        linux_set_blocking(ends[0], 1)
        defer { close(ends[0]) }
        let (failure, process) = spawnShell(program, configuration, input: ends[0])
        let processDescriptor = failure == 0 ? linux_pidfd_open(process) : -1
        guard failure == 0, processDescriptor >= 0 else {
            let reason = systemMessage(failure == 0 ? errno : failure)
            close(ends[1])
            throw StartFailure(sentence: "mosquitto cannot be started: \(reason)")
        }
        let watch = loop.watch(processDescriptor, .read) { [weak self] _ in self?.childEnded() }
        return Child(
            process: process, processDescriptor: processDescriptor, watch: watch, lifetimePipe: ends[1])
    }

    /// `$1` is the program and `$2` its configuration, so the shell never interprets their text.
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
        let arguments = ["/bin/sh", "-c", Self.script, "tryck-broker", program, configuration]
        let (process, failure) = startProgram("/bin/sh", arguments, environment: []) { actions in
            posix_spawn_file_actions_adddup2(actions, input, 0)
            posix_spawn_file_actions_addopen(actions, 1, "/dev/null", O_WRONLY, 0)
            posix_spawn_file_actions_addopen(actions, 2, "/dev/null", O_WRONLY, 0)
        }
        return (failure, process)
    }

    private var socketPath: String { directory + "/mqtt.sock" }

    // MARK: Files

    /// Writes the configuration to the first place that has room for it and for the socket file.
    ///
    /// - Returns: its path.
    private func writeConfiguration() throws(StartFailure) -> String {
        var reasons: [String] = []
        for place in places {
            do throws(StartFailure) {
                directory = try open(place)
                let path = try writeConfiguration(in: directory)
                if directory != temporaryDirectory { removeTemporaryDirectory() }
                return path
            } catch {
                reasons.append(error.sentence)
                // The next temporary place is another directory.
                if case .temporary = place { removeTemporaryDirectory() }
            }
        }
        if places.count == 1 { throw StartFailure(sentence: reasons[0]) }
        throw StartFailure(
            sentence: """
                mosquitto has no room for its files: \(reasons.joined(separator: "; ")). Free some space, or make one of these \
                directories writable; Tryck tries again
                """)
    }

    /// Creates the directory, or makes sure that an existing one belongs to this user and is closed to others.
    private func open(_ place: Place) throws(StartFailure) -> String {
        let path: String
        switch place {
        case .directory(let directory):
            path = directory
            if mkdir(directory, 0o700) != 0, errno != EEXIST {
                throw StartFailure(sentence: "cannot create \(directory) for mosquitto: \(systemMessage(errno))")
            }
        case .temporary(let parent):
            if let temporaryDirectory {
                if Self.isOwn(temporaryDirectory) { return temporaryDirectory }
                // It was removed, and another user may have created it anew.
                self.temporaryDirectory = nil
            }
            var template = Array("\(parent)/tryck-broker.XXXXXX".utf8CString)
            guard mkdtemp(&template) != nil else {
                throw StartFailure(sentence: "cannot create a directory in \(parent): \(systemMessage(errno))")
            }
            path = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
            temporaryDirectory = path
        }
        // Other users may be able to create files beside a control socket, and so this directory.
        guard Self.isOwn(path) else {
            throw StartFailure(sentence: "\(path) is no directory of this user, so mosquitto cannot use it")
        }
        guard chmod(path, 0o700) == 0 else {
            throw StartFailure(sentence: "cannot restrict access to \(path): \(systemMessage(errno))")
        }
        return path
    }

    /// True for a directory of this user; false for a link to one.
    private static func isOwn(_ path: String) -> Bool {
        var status = stat()
        return lstat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFDIR && status.st_uid == geteuid()
    }

    private func writeConfiguration(in directory: String) throws(StartFailure) -> String {
        let address: SocketAddress
        switch SocketAddress.resolve(unixPath: socketPath) {
        case .success(let addresses): address = addresses[0]
        case .failure(let unresolved):
            throw StartFailure(
                sentence:
                    "mosquitto cannot listen on \(socketPath): \(unresolved.reason); set a shorter state_directory")
        }
        let path = directory + "/mosquitto.conf"
        let lines = [
            "listener 0 \(socketPath)", "allow_anonymous true", "persistence false", "log_dest none",
            // Without this line, mosquitto would change to its own user, and only root could end it.
            geteuid() == 0 ? "user root" : "",
        ]
        let text = Array((lines.joined(separator: "\n") + "\n").utf8)
        let file = Glibc.open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard file >= 0 else { throw StartFailure(sentence: "cannot write \(path): \(systemMessage(errno))") }
        defer { close(file) }
        guard write(file, text, text.count) == text.count else {
            throw StartFailure(sentence: "cannot write \(path): \(systemMessage(errno))")
        }
        // mosquitto would not say why it cannot listen. The directory may also contain the socket file of an earlier run.
        unlink(socketPath)
        let probe = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        defer { close(probe) }
        guard probe >= 0, address.bind(probe) == 0 else {
            throw StartFailure(sentence: "cannot create \(socketPath): \(systemMessage(errno))")
        }
        unlink(socketPath)
        return path
    }

    private func removeTemporaryDirectory() {
        guard let directory = temporaryDirectory else { return }
        temporaryDirectory = nil
        for name in ["/mosquitto.conf", "/mqtt.sock"] { unlink(directory + name) }
        rmdir(directory)
    }

    // MARK: Probing and ending

    /// True if the socket file accepts connections. Does not block.
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
        closeLifetimePipe()
        self.child = nil
        child.watch.cancel()
        close(child.processDescriptor)
        // The shell's status is 128 plus the number of a signal that ended mosquitto.
        let how = isSignalled != 0 ? "signal \(status)" : status > 128 ? "signal \(status - 128)" : "status \(status)"
        feed(.ended(how))
    }
}
