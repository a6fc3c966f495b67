import CLinux
import Glibc
import Hub
import Platform
import Reactor

/// A program that speaks HCI in H4 framing on its standard input and output, such as `ssh`.
///
/// The object stays alive until the program has ended and was reaped, so that no zombie process remains.
@ReactorActor
final class TransportProgram {
    /// Nanoseconds until a program that was asked to end is killed.
    private static let killDelay: Int64 = 3_000_000_000
    private static let reasonDelay: Int64 = 300_000_000
    /// The variables of the daemon's environment that the program receives. `ssh` finds its keys below HOME.
    private static let passedOn = ["HOME", "LANG", "LOGNAME", "PATH", "SSH_AUTH_SOCK", "USER"]

    /// The number of programs that are not reaped. Tests wait for the last one.
    private(set) static var living = 0

    private let loop: EventLoop
    private let process: pid_t
    private let processDescriptor: Int32
    private var errors: OutputPipe?
    private var leader: Watch?
    private var timer: Timer?
    private var reasonTimer: Timer?
    private var whyEnded: (@ReactorActor (String) -> Void)?
    /// Our end of its standard input and output. The owner closes it.
    let descriptor: Int32

    init(_ loop: EventLoop, _ words: [String], in directory: String) throws(ProcessJob.StartFailure) {
        self.loop = loop
        let environment = SystemEnvironment.environmentVariables
        let request = ProcessRequest(
            arguments: words,
            environment: Self.passedOn.compactMap { name in environment[name].map { "\(name)=\($0)" } },
            directory: directory)
        let streams = try StandardStreams.withSocket()
        process = try spawn(request, ProgramTexts(request), streams)
        processDescriptor = try openProcess(process)
        Self.living += 1
        streams.programHasStarted()
        descriptor = streams.output
        // The closures keep this object alive until the program has been reaped.
        errors = OutputPipe(loop, streams.error) { self.explain() }
        timer = loop.timer { kill(-self.process, SIGKILL) }
        reasonTimer = loop.timer { self.reasonIsLate() }
        leader = loop.watch(processDescriptor, .read) { _ in self.reap() }
    }

    /// Calls `body` with the last line of its standard error, which may arrive a moment after the end of its output.
    func explainEnd(_ body: @escaping @ReactorActor (String) -> Void) {
        whyEnded = body
        if errors?.isClosed ?? true { return explain() }
        reasonTimer?.set(at: loop.nanosecondsSinceBoot + Self.reasonDelay)
    }

    private func explain() {
        guard let whyEnded else { return }
        self.whyEnded = nil
        let lines = String(decoding: errors?.kept.suffix(4096) ?? [], as: UTF8.self).split(whereSeparator: \.isNewline)
        whyEnded(lines.last.map { "ended: \($0.prefix(200))" } ?? "ended")
    }

    private func reasonIsLate() {
        explain()
        guard leader == nil else { return }
        errors?.close()
        reasonTimer = nil
    }

    /// Ends the program and the processes that it has started. It has 3 s.
    func end() {
        whyEnded = nil
        guard leader != nil else { return }
        kill(-process, SIGTERM)
        timer?.set(at: loop.nanosecondsSinceBoot + Self.killDelay)
    }

    private func reap() {
        var isSignalled: Int32 = 0
        var status: Int32 = 0
        guard linux_reap(processDescriptor, &isSignalled, &status) == 1 else { return }
        Self.living -= 1
        // Ends the processes that the program started and that still run, because they are in its group.
        kill(-process, SIGKILL)
        leader?.cancel()
        leader = nil
        timer?.cancel()
        timer = nil
        // The last line of the program's standard error may not have been read yet.
        reasonTimer?.set(at: loop.nanosecondsSinceBoot + Self.reasonDelay)
        Glibc.close(processDescriptor)
    }
}
