import CLinux
import Glibc
import Hub
import Reactor

/// One program from its start to the end of its job; `ProcessEdge` says when that is.
@ReactorActor
final class ProcessJob {
    struct StartFailure: Error {
        var sentence: String
    }

    private let loop: EventLoop
    private let ended: @ReactorActor (ProcessResult) -> Void
    private let started: Int64
    private let process: pid_t
    private let processDescriptor: Int32
    private var leader: Watch?
    private var input: InputPipe?
    private var outputs: [OutputPipe] = []
    /// When the program ended, while its job goes on.
    private var leaderEnded: Int64?
    private var isCancelled = false
    private var isKilled = false
    private var timer: Timer?

    /// Starts it. What it is started with is gone when this returns or throws, but for the pipes of a running job.
    init(
        loop: EventLoop, _ request: ProcessRequest, ended: @escaping @ReactorActor (ProcessResult) -> Void
    ) throws(StartFailure) {
        self.loop = loop
        self.ended = ended
        started = loop.nanosecondsSinceBoot
        let pipes = try StandardPipes(hasInput: !request.standardInput.isEmpty)
        do throws(StartFailure) {
            (process, processDescriptor) = try spawn(request, pipes)
        } catch {
            pipes.closeAll()
            throw error
        }
        pipes.closeChildEnds()
        leader = loop.watch(processDescriptor, .read) { [unowned self] _ in leaderHasEnded() }
        timer = loop.timer { [unowned self] in timerFired() }
        if let descriptor = pipes.input?.parent { input = InputPipe(loop, descriptor, request.standardInput) }
        outputs = [pipes.output, pipes.error].map { pipe in
            OutputPipe(loop, pipe.parent) { [unowned self] in outputHasEnded() }
        }
    }

    func cancel() {
        guard !isCancelled else { return }
        isCancelled = true
        kill(-process, SIGTERM)
        timer?.set(at: loop.nanosecondsSinceBoot + ProcessEdge.killDelay)
    }

    private func timerFired() {
        if isCancelled, !isKilled {
            isKilled = true
            kill(-process, SIGKILL)
            if leaderEnded != nil { timer?.set(at: loop.nanosecondsSinceBoot + ProcessEdge.outputGrace) }
        } else if leaderEnded != nil {
            finish()
        }
    }

    private func leaderHasEnded() {
        leader?.set([])
        input?.close()
        leaderEnded = loop.nanosecondsSinceBoot
        if outputs.allSatisfy(\.isClosed) {
            finish()
        } else if !isCancelled || isKilled {
            timer?.set(at: loop.nanosecondsSinceBoot + ProcessEdge.outputGrace)
        }
        // Else the timer is set for KILL: what is left of a cancelled group may use its time to end well.
    }

    private func outputHasEnded() {
        if leaderEnded != nil, outputs.allSatisfy(\.isClosed) { finish() }
    }

    private func finish() {
        timer?.cancel()
        leader?.cancel()
        for output in outputs { output.close() }
        var isSignalled: Int32 = 0
        var status: Int32 = 0
        let isReaped = linux_reap(processDescriptor, &isSignalled, &status) == 1
        precondition(isReaped, "the pidfd was readable, and nobody else waits for our children")
        close(processDescriptor)
        ended(
            ProcessResult(
                status: isSignalled != 0 ? .signalled(status) : .exited(status),
                standardOutput: outputs[0].kept, standardError: outputs[1].kept,
                duration: .nanoseconds((leaderEnded ?? started) - started)))
    }
}

// MARK: Pipes

/// The pipes between us and a program that is about to start.
private struct StandardPipes {
    struct Pipe {
        var parent, child: Int32
    }

    /// Nil: /dev/null.
    var input: Pipe?
    var output, error: Pipe

    init(hasInput: Bool) throws(ProcessJob.StartFailure) {
        var made: [Pipe] = []
        for isInput in hasInput ? [false, false, true] : [false, false] {
            var ends: [Int32] = [-1, -1]
            guard linux_pipe(&ends) == 0 else {
                let reason = describe(errno)
                for pipe in made { Self.close(pipe) }
                throw ProcessJob.StartFailure(sentence: "there is no pipe for it: \(reason)")
            }
            let pipe = isInput ? Pipe(parent: ends[1], child: ends[0]) : Pipe(parent: ends[0], child: ends[1])
            linux_set_blocking(pipe.child, 1)
            made.append(pipe)
        }
        (output, error) = (made[0], made[1])
        input = hasInput ? made[2] : nil
    }

    func closeChildEnds() {
        for pipe in [input, output, error] { if let pipe { Glibc.close(pipe.child) } }
    }

    func closeAll() {
        for pipe in [input, output, error] { if let pipe { Self.close(pipe) } }
    }

    private static func close(_ pipe: Pipe) {
        Glibc.close(pipe.parent)
        Glibc.close(pipe.child)
    }
}

/// Writes what a program may read, as fast as it reads.
@ReactorActor
private final class InputPipe {
    private let descriptor: Int32
    private var rest: ArraySlice<UInt8>
    private var watch: Watch?

    init(_ loop: EventLoop, _ descriptor: Int32, _ octets: [UInt8]) {
        self.descriptor = descriptor
        rest = octets[...]
        watch = loop.watch(descriptor, .write) { [unowned self] _ in write() }
    }

    private func write() {
        let count = rest.withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) }
        if count >= 0 {
            rest = rest.dropFirst(count)
            if rest.isEmpty { close() }
        } else if errno != EAGAIN, errno != EINTR {
            // EPIPE: the program does not want the rest.
            close()
        }
    }

    func close() {
        guard let watch else { return }
        watch.cancel()
        self.watch = nil
        rest = []
        Glibc.close(descriptor)
    }
}

/// Reads one output of a program to its end and keeps the beginning.
@ReactorActor
private final class OutputPipe {
    /// What one read takes: the default capacity of a pipe.
    private static let readSize = 64 * 1024

    private let descriptor: Int32
    private let ended: @ReactorActor () -> Void
    private(set) var kept: [UInt8] = []
    private var watch: Watch?

    var isClosed: Bool { watch == nil }

    init(_ loop: EventLoop, _ descriptor: Int32, ended: @escaping @ReactorActor () -> Void) {
        self.descriptor = descriptor
        self.ended = ended
        watch = loop.watch(descriptor, .read) { [unowned self] _ in read() }
    }

    private func read() {
        let wanted = ProcessEdge.maximumOutput - kept.count
        let count = withUnsafeTemporaryAllocation(byteCount: Self.readSize, alignment: 16) { buffer in
            let count = Glibc.read(descriptor, buffer.baseAddress, buffer.count)
            if count > 0 { kept.append(contentsOf: buffer.prefix(min(count, wanted))) }
            return count
        }
        if count == 0 || (count < 0 && errno != EAGAIN && errno != EINTR) {
            close()
            ended()
        }
    }

    func close() {
        guard let watch else { return }
        watch.cancel()
        self.watch = nil
        Glibc.close(descriptor)
    }
}

// MARK: posix_spawn

@ReactorActor
private func spawn(
    _ request: ProcessRequest, _ pipes: StandardPipes
) throws(ProcessJob.StartFailure) -> (process: pid_t, processDescriptor: Int32) {
    guard let name = request.arguments.first, !name.isEmpty else {
        throw ProcessJob.StartFailure(sentence: "no program is named")
    }
    let strings = request.arguments + request.environment + [request.directory ?? ""]
    guard !strings.contains(where: { $0.utf8.contains(0) }) else {
        throw ProcessJob.StartFailure(sentence: "an argument, a variable or the directory contains a zero octet")
    }
    if let directory = request.directory, access(directory, X_OK) != 0 {
        throw ProcessJob.StartFailure(sentence: "it cannot start in \"\(directory)\": \(describe(errno))")
    }
    let program = try locate(name)

    var actions = posix_spawn_file_actions_t()
    posix_spawn_file_actions_init(&actions)
    defer { posix_spawn_file_actions_destroy(&actions) }
    if let input = pipes.input {
        posix_spawn_file_actions_adddup2(&actions, input.child, 0)
    } else {
        posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0)
    }
    posix_spawn_file_actions_adddup2(&actions, pipes.output.child, 1)
    posix_spawn_file_actions_adddup2(&actions, pipes.error.child, 2)
    linux_spawn_closefrom(&actions, 3)
    if let directory = request.directory { linux_spawn_chdir(&actions, directory) }

    var attributes = posix_spawnattr_t()
    posix_spawnattr_init(&attributes)
    defer { posix_spawnattr_destroy(&attributes) }
    // The signals that the loop reads are blocked here, and SIGPIPE is ignored: none of that is for the program.
    var none = sigset_t()
    sigemptyset(&none)
    var all = sigset_t()
    sigfillset(&all)
    posix_spawnattr_setsigmask(&attributes, &none)
    posix_spawnattr_setsigdefault(&attributes, &all)
    posix_spawnattr_setpgroup(&attributes, 0)
    posix_spawnattr_setflags(
        &attributes, Int16(POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF))

    var process: pid_t = 0
    let failure = withCStrings(request.arguments) { arguments in
        withCStrings(request.environment) { environment in
            posix_spawn(&process, program, &actions, &attributes, arguments, environment)
        }
    }
    guard failure == 0 else {
        throw ProcessJob.StartFailure(sentence: "\"\(program)\" cannot be started: \(describe(failure))")
    }
    let processDescriptor = linux_pidfd_open(process)
    guard processDescriptor >= 0 else {
        let reason = describe(errno)
        kill(-process, SIGKILL)
        waitpid(process, nil, 0)
        throw ProcessJob.StartFailure(sentence: "\"\(program)\" cannot be watched: \(reason)")
    }
    return (process, processDescriptor)
}

private func locate(_ name: String) throws(ProcessJob.StartFailure) -> String {
    if name.contains("/") { return name }
    for directory in ProcessEdge.searchPath {
        let candidate = "\(directory)/\(name)"
        if access(candidate, X_OK) == 0 { return candidate }
    }
    throw ProcessJob.StartFailure(
        sentence: "there is no program \"\(name)\" in \(ProcessEdge.searchPath.joined(separator: ", "))")
}

/// Calls `body` with a null-terminated array of null-terminated copies. No string contains a zero octet.
private func withCStrings<Result>(
    _ strings: [String], _ body: (UnsafePointer<UnsafeMutablePointer<CChar>?>) -> Result
) -> Result {
    var pointers: [UnsafeMutablePointer<CChar>?] = strings.map { strdup($0) }
    pointers.append(nil)
    defer { for pointer in pointers { free(pointer) } }
    return body(pointers)
}

private func describe(_ failure: Int32) -> String { String(cString: strerror(failure)) }
