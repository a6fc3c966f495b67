import Glibc
import Hub
import Reactor
import ReactorTestSupport
import TestSupport
import Testing

@testable import Edges

@Suite struct ProcessEdgeTests {
    // MARK: What the program is given

    @Test("the status and both outputs are reported")
    func status() async {
        let result = await run(["/bin/sh", "-c", "echo out; echo err >&2; exit 3"])
        #expect(result?.status == .exited(3))
        #expect(result?.standardOutput == Array("out\n".utf8))
        #expect(result?.standardError == Array("err\n".utf8))
        #expect((result?.duration ?? .zero) > .zero)
    }

    @Test("a signal that ended the program is reported")
    func signalled() async {
        let result = await run(["/bin/sh", "-c", "kill -9 $$"])
        #expect(result?.status == .signalled(SIGKILL))
        #expect(result?.exitStatus == 137)
    }

    @Test("the environment is what was given, in its order, and nothing else")
    func environment() async {
        let result = await run(["env"], environment: ["TWO=2", "ONE=a b"])
        #expect(result?.standardOutput == Array("TWO=2\nONE=a b\n".utf8))
    }

    @Test("it starts in the directory, and a relative program is looked for there")
    func directory() async {
        let result = await run(["./sh", "-c", "pwd"], directory: "/bin")
        #expect(result?.standardOutput == Array("/bin\n".utf8) || result?.standardOutput == Array("/usr/bin\n".utf8))
    }

    @Test("without input the program reads an end at once")
    func noInput() async {
        let result = await run(["cat"])
        #expect(result?.status == .exited(0))
        #expect(result?.standardOutput == [])
    }

    @Test("input larger than a pipe arrives whole")
    func largeInput() async {
        let result = await run(["sha256sum"], input: [UInt8](repeating: 0x61, count: 1_000_000))
        #expect(
            result.map { String(decoding: $0.standardOutput, as: UTF8.self) }
                == "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0  -\n")
    }

    @Test("a program that does not read its input ends as it likes")
    func unreadInput() async {
        let result = await run(["true"], input: [UInt8](repeating: 0, count: 1_000_000))
        #expect(result?.status == .exited(0))
    }

    @Test("signals are neither blocked nor ignored in it")
    func signalState() async {
        let result: ProcessResult? = await onReactor { run in
            run.loop.onSignals([SIGHUP, SIGTERM]) { _ in }
            let edge = ProcessEdge(loop: run.loop)
            edge.start(1, ProcessRequest(arguments: ["grep", "-E", "Sig(Blk|Ign)", "/proc/self/status"])) { result in
                _ = edge
                run.finish(result)
            }
        }
        let masks = String(decoding: result?.standardOutput ?? [], as: UTF8.self).split(separator: "\n")
            .compactMap { UInt64($0.suffix(16), radix: 16) }
        // 32 and 33 are glibc's own, and posix_spawn leaves them ignored.
        #expect(masks.map { $0 & ~(0b11 << 31) } == [0, 0])
    }

    @Test("it has the three standard descriptors and leads its own group")
    func descriptors() async {
        // The fifth field of stat is the group; the listing opens one descriptor of its own.
        let result = await run(["/bin/sh", "-c", "echo $$; cut -d' ' -f5 /proc/$$/stat; ls /proc/self/fd"])
        let lines = String(decoding: result?.standardOutput ?? [], as: UTF8.self).split(separator: "\n")
        #expect(lines.count == 6)
        #expect(lines.first == lines.dropFirst().first)
        #expect(lines.dropFirst(2) == ["0", "1", "2", "3"])
    }

    @Test("it may gain privileges through sudo, and has none of our ambient ones")
    func privileges() async {
        let result: ProcessResult? = await onReactor { run in
            raiseAmbientCapability()
            let edge = ProcessEdge(loop: run.loop)
            let request = ProcessRequest(arguments: ["grep", "-E", "CapAmb|NoNewPrivs", "/proc/self/status"])
            edge.start(1, request) { result in
                _ = edge
                run.finish(result)
            }
        }
        let lines = String(decoding: result?.standardOutput ?? [], as: UTF8.self).split(separator: "\n")
        #expect(lines == ["CapAmb:\t0000000000000000", "NoNewPrivs:\t0"])
    }

    @Test(
        "what was prepared for an earlier program gives the next ones nothing but what they are given",
        arguments: 0..<3 as Range<UInt64>)
    func manyPrograms(seed: UInt64) async throws {
        // More programs than are known at a time, which are the same but for one value.
        var random = SeededGenerator(seed: seed)
        var requests: [ProcessRequest] = []
        let script = "/bin/pwd; /bin/cat /proc/$$/cmdline /proc/$$/environ -; :"
        for _ in 0..<30 {
            var request = ProcessRequest(
                arguments: ["/bin/sh", "-c", script, "sh", ["", "a", "b c"].randomElement(using: &random) ?? ""],
                directory: ["/", "/proc", nil].randomElement(using: &random) ?? nil,
                standardInput: Bool.random(using: &random) ? [] : [0x78])
            request.commonVariables = [["A=1"], ["A=1", "B=2"], []].randomElement(using: &random) ?? []
            request.variables = [["B=3"], ["B=3", "C="], ["C=4"]].randomElement(using: &random) ?? []
            requests.append(request)
        }
        let counts = requests.map { _ in Int.random(in: 1...3, using: &random) }
        let outcomes: [[UInt8]]? = await onReactor { [requests] run in
            let edge = ProcessEdge(loop: run.loop)
            var outputs = requests.map { _ in [UInt8]() }
            var (next, ended) = (0, 0)
            @ReactorActor func start() {
                for _ in 0..<counts[next] where next < requests.count {
                    let index = next
                    next += 1
                    edge.start(UInt64(index), requests[index]) { result in
                        outputs[index] = result.standardOutput + result.standardError
                        ended += 1
                        if ended == requests.count { run.finish(outputs) } else if ended == next { start() }
                    }
                }
            }
            start()
        }
        let here = try #require(realpath(".", nil).map { String(cString: $0) })
        for (output, request) in zip(try #require(outcomes), requests) {
            var expected = Array("\(request.directory ?? here)\n".utf8)
            for text in request.arguments + request.environment { expected += Array(text.utf8) + [0] }
            #expect(output == expected + request.standardInput)
        }
    }

    // MARK: Bounds

    @Test("ten megabytes are read, the first 64 KiB of each output are kept", arguments: ["", ">&2"])
    func largeOutput(redirection: String) async {
        let result = await run(["/bin/sh", "-c", "head -c 10000000 /dev/zero \(redirection)"])
        #expect(result?.status == .exited(0))
        let (full, empty) =
            redirection.isEmpty
            ? (result?.standardOutput, result?.standardError) : (result?.standardError, result?.standardOutput)
        #expect(full == [UInt8](repeating: 0, count: ProcessEdge.maximumOutput))
        #expect(empty == [])
    }

    @Test("output is kept whole up to the bound", arguments: [-1, 0, 1])
    func outputBound(difference: Int) async {
        let count = ProcessEdge.maximumOutput + difference
        let result = await run(["/bin/sh", "-c", "echo begin; head -c \(count - 6) /dev/zero"])
        #expect(result?.standardOutput.count == min(count, ProcessEdge.maximumOutput))
        #expect(result?.standardOutput.prefix(6) == ArraySlice("begin\n".utf8))
    }

    @Test("the next in line starts when one of the running ends, and cancelAll ends them all")
    func concurrency() async {
        let counts: [Int]? = await onReactor { run in
            let edge = ProcessEdge(loop: run.loop)
            let fifo = Fifo()
            var ended = 0
            let request = ProcessRequest(arguments: ["/bin/sh", "-c", "printf x > \(fifo.path); exec sleep 60"])
            for id in 0...UInt64(JobQueue.maximumRunning) { edge.start(id, request) { _ in ended += 1 } }
            var started = 0
            var beforeCancel = 0
            fifo.watch(run.loop) { count in
                started += count
                if started == JobQueue.maximumRunning {
                    run.after(milliseconds: 50) {
                        beforeCancel = started
                        edge.cancel(0)
                    }
                } else if started > JobQueue.maximumRunning {
                    edge.cancelAll { run.finish([beforeCancel, started, ended]) }
                }
            }
        }
        #expect(counts == [32, 33, 33])
    }

    @Test("one that is cancelled in line never starts")
    func cancelledInLine() async {
        let result: ProcessResult? = await onReactor { run in
            let edge = ProcessEdge(loop: run.loop)
            let last = UInt64(JobQueue.maximumRunning)
            for id in 0..<last { edge.start(id, ProcessRequest(arguments: ["sleep", "60"])) { _ in } }
            edge.start(last, ProcessRequest(arguments: ["true"])) { result in
                edge.cancelAll {
                    _ = edge
                    run.finish(result)
                }
            }
            edge.cancel(last)
        }
        #expect(result?.status == .couldNotStart("it was cancelled"))
        #expect(result?.exitStatus == 127)
    }

    @Test("one that is cancelled in line by the end of a running one never starts")
    func cancelledByEnd() async {
        let result: ProcessResult? = await onReactor { run in
            let edge = ProcessEdge(loop: run.loop)
            let last = UInt64(JobQueue.maximumRunning)
            for id in 0..<last {
                edge.start(id, ProcessRequest(arguments: ["sleep", "60"])) { _ in if id == 0 { edge.cancel(last) } }
            }
            edge.start(last, ProcessRequest(arguments: ["true"])) { result in
                edge.cancelAll { run.finish(result) }
            }
            edge.cancel(0)
        }
        #expect(result?.status == .couldNotStart("it was cancelled"))
    }

    @Test("what finds the line full is refused")
    func fullLine() async {
        let refused: [UInt64]? = await onReactor { run in
            let edge = ProcessEdge(loop: run.loop)
            let places = UInt64(JobQueue.maximumRunning + JobQueue.maximumWaiting)
            var refused: [UInt64] = []
            for id in 0...places {
                edge.start(id, ProcessRequest(arguments: ["sleep", "60"])) { result in
                    if case .couldNotStart("1024 programs are already waiting") = result.status {
                        refused.append(id)
                        edge.cancelAll { run.finish(refused) }
                    }
                }
            }
        }
        #expect(refused == [1_056])
    }

    // MARK: What cannot start

    @Test(
        "a program that cannot start says why",
        arguments: [
            ([], nil, "no program is named"),
            (["no-such-program"], nil, "there is no program \"no-such-program\" in /usr/local/bin, /usr/bin, /bin"),
            (["/no/such"], nil, "\"/no/such\" cannot be started: No such file or directory"),
            (["/etc/passwd"], nil, "\"/etc/passwd\" cannot be started: Permission denied"),
            (["true"], "/no/such", "it cannot start in \"/no/such\": No such file or directory"),
            (["echo", "a\0b"], nil, "an argument, a variable or the directory contains a zero octet"),
            (
                ["echo", String(repeating: "x", count: 200_000)], nil,
                "\"/usr/bin/echo\" cannot be started: Argument list too long"
            ),
        ] as [([String], String?, String)])
    func startFailure(arguments: [String], directory: String?, sentence: String) async {
        let result = await run(arguments, directory: directory)
        #expect(result?.status == .couldNotStart(sentence))
    }

    @Test("nothing is reported from inside a call")
    func later() async {
        let order: [String]? = await onReactor { run in
            let edge = ProcessEdge(loop: run.loop)
            var order: [String] = []
            edge.start(1, ProcessRequest(arguments: ["no-such-program"])) { _ in
                order.append("ended")
                edge.cancelAll {
                    order.append("all ended")
                    run.finish(order)
                }
                order.append("cancelled")
            }
            order.append("started")
        }
        #expect(order == ["started", "ended", "cancelled", "all ended"])
    }

    @Test("after cancelAll nothing starts any more")
    func stopping() async {
        let result: ProcessResult? = await onReactor { run in
            let edge = ProcessEdge(loop: run.loop)
            edge.cancelAll {
                edge.start(1, ProcessRequest(arguments: ["true"])) { result in
                    _ = edge
                    run.finish(result)
                }
            }
        }
        #expect(result?.status == .couldNotStart("the daemon is stopping"))
    }

    // MARK: Groups

    @Test("cancelling ends the program and what it started")
    func cancelGroup() async throws {
        let (result, _) = try #require(await cancelled("sleep 60 & echo > FIFO; wait"))
        // Not SIGKILL: the two seconds were not needed.
        #expect(result.status == .signalled(SIGTERM))
    }

    @Test("a program that ignores TERM is killed after two seconds")
    func stubborn() async throws {
        let (result, elapsed) = try #require(
            await cancelled("trap '' TERM; echo > FIFO; exec sleep 60", isStubborn: true))
        #expect(result.status == .signalled(SIGKILL))
        #expect(elapsed >= .seconds(2))
    }

    @Test("a descendant that ignores TERM is killed although its leader has gone")
    func stubbornDescendant() async throws {
        let script = "(trap '' TERM; sh -c 'echo $PPID'; echo > FIFO; exec sleep 60) & wait"
        let (result, elapsed) = try #require(await cancelled(script, isStubborn: true))
        #expect(result.status == .signalled(SIGTERM))
        #expect(elapsed >= .seconds(2))
        #expect(endsSoon(result))
    }

    @Test("a descendant that ignores TERM and holds no output of ours is killed as well")
    func silentDescendant() async throws {
        let script = "(trap '' TERM; sh -c 'echo $PPID'; exec >/dev/null 2>&1; echo > FIFO; exec sleep 60) & wait"
        let (result, elapsed) = try #require(await cancelled(script, isStubborn: true))
        #expect(result.status == .signalled(SIGTERM))
        #expect(elapsed >= .seconds(2))
        #expect(endsSoon(result))
    }

    @Test("a group that ends at TERM is not waited for")
    func promptEnd() async throws {
        let (_, elapsed) = try #require(await cancelled("sleep 60 >/dev/null 2>&1 & echo > FIFO; wait"))
        #expect(elapsed < .seconds(2))
    }

    @Test("a program may clean up after TERM and say how it went")
    func gracefulEnd() async throws {
        let script = "trap 'echo cleaned; exit 4' TERM; echo > FIFO; while :; do :; done"
        let (result, _) = try #require(await cancelled(script))
        #expect(result.status == .exited(4))
        #expect(result.standardOutput == Array("cleaned\n".utf8))
    }

    @Test("a descendant that holds the output does not keep the job, and lives on")
    func daemonised() async throws {
        // All of it in one turn of the loop: on a busy machine this function goes on minutes later.
        let outcome: (ProcessResult, wasGone: Bool)? = await onReactor { run in
            let edge = ProcessEdge(loop: run.loop)
            let request = ProcessRequest(arguments: ["/bin/sh", "-c", "sleep 60 & echo $!; exit 3"])
            edge.start(1, request) { result in
                _ = edge
                let wasGone = isGone(result)
                // Later another process may have its number.
                if let descendant = pid_t(firstLine(result)) { kill(descendant, SIGKILL) }
                run.finish((result, wasGone))
            }
        }
        let (result, wasGone) = try #require(outcome)
        #expect(result.status == .exited(3))
        #expect(!wasGone)
    }
}

// MARK: Steps

private func run(
    _ arguments: [String], environment: [String] = [], directory: String? = nil, input: [UInt8] = []
) async -> ProcessResult? {
    await onReactor { run in
        let edge = ProcessEdge(loop: run.loop)
        let request = ProcessRequest(
            arguments: arguments, environment: environment, directory: directory, standardInput: input)
        edge.start(1, request) { result in
            _ = edge
            run.finish(result)
        }
    }
}

/// Runs a script, cancels it once it has written to FIFO, and says how long its job went on after that.
///
/// - Parameter isStubborn: it does not end at TERM: most of the two seconds until KILL are wound.
private func cancelled(_ script: String, isStubborn: Bool = false) async -> (ProcessResult, Duration)? {
    await onReactor { run in
        let edge = ProcessEdge(loop: run.loop)
        let fifo = Fifo()
        var start: Int64 = 0
        let text = script.replacing("FIFO", with: fifo.path)
        edge.start(1, ProcessRequest(arguments: ["/bin/sh", "-c", text])) { result in
            run.finish((result, .nanoseconds(run.loop.nanosecondsSinceBoot - start)))
        }
        fifo.watch(run.loop) { _ in
            start = run.loop.nanosecondsSinceBoot
            edge.cancel(1)
            if isStubborn { run.loop.advanceClock(nanoseconds: 1_800_000_000) }
        }
    }
}

/// A named pipe, by which a program says that it has come so far.
@ReactorActor
private final class Fifo {
    let path: String
    private let descriptor: Int32

    init() {
        var template = Array("/tmp/tryck-test-XXXXXX".utf8CString)
        let directory = mkdtemp(&template).map { String(cString: $0) } ?? "/tmp"
        path = directory + "/fifo"
        precondition(mkfifo(path, 0o600) == 0, "mkfifo: \(errno)")
        // The pipe is also opened for writing, so that it does not end while there is no other writer.
        descriptor = open(path, O_RDWR | O_NONBLOCK | O_CLOEXEC)
    }

    /// Calls `handler` with the number of octets that have come.
    func watch(_ loop: EventLoop, _ handler: @escaping @ReactorActor (Int) -> Void) {
        _ = loop.watch(descriptor, .read) { [self] _ in
            var octets = [UInt8](repeating: 0, count: 64)
            let count = read(descriptor, &octets, octets.count)
            if count > 0 { handler(count) }
        }
    }

    deinit {
        close(descriptor)
        unlink(path)
        rmdir(String(path.dropLast("/fifo".count)))
    }
}

private func firstLine(_ result: ProcessResult) -> Substring {
    String(decoding: result.standardOutput, as: UTF8.self).prefix { $0 != "\n" }
}

/// Whether the process whose number the program printed ends within two seconds. A process that was killed ends only when it
/// gets a processor.
private func endsSoon(_ result: ProcessResult) -> Bool {
    let end = ContinuousClock.now + .seconds(2)
    while !isGone(result) {
        guard ContinuousClock.now < end else { return false }
        poll(nil, 0, 10)
    }
    return true
}

/// Whether the process whose number the program printed has ended, even if its new parent has not reaped it.
private func isGone(_ result: ProcessResult) -> Bool {
    guard let file = fopen("/proc/\(firstLine(result))/stat", "re") else { return true }
    defer { fclose(file) }
    var text = [UInt8](repeating: 0, count: 512)
    let count = fread(&text, 1, text.count, file)
    return String(decoding: text.prefix(count), as: UTF8.self).contains(") Z ")
}

/// Gives the calling thread CAP_NET_RAW for all that it starts, as a service manager does. Only root can; others have no
/// ambient capability to lose.
private func raiseAmbientCapability() {
    typealias Capset = @convention(c) (UnsafeMutableRawPointer, UnsafeMutableRawPointer) -> Int32
    typealias Prctl = @convention(c) (Int32, UInt, UInt, UInt, UInt) -> Int32
    let netRaw: UInt = 13
    guard let capget = dlsym(nil, "capget"), let capset = dlsym(nil, "capset"), let prctl = dlsym(nil, "prctl") else {
        return
    }
    // Version 3 of the structures: a header, then effective, permitted and inheritable, twice.
    var header: (UInt32, Int32) = (0x2008_0522, 0)
    var sets: (UInt32, UInt32, UInt32, UInt32, UInt32, UInt32) = (0, 0, 0, 0, 0, 0)
    _ = unsafeBitCast(capget, to: Capset.self)(&header, &sets)
    sets.2 |= 1 << UInt32(netRaw)
    _ = unsafeBitCast(capset, to: Capset.self)(&header, &sets)
    // PR_CAP_AMBIENT, PR_CAP_AMBIENT_RAISE
    let failure = unsafeBitCast(prctl, to: Prctl.self)(47, 2, netRaw, 0, 0)
    precondition(failure == 0 || geteuid() != 0, "prctl: \(errno)")
}
