import CLinux
import Glibc
package import Hub
import Platform
package import Reactor

/// Runs the programs of rules. `JobQueue` decides which of them run.
///
/// Each program leads its own process group, so that processes that it started can be ended with it. A job ends when
/// the program has ended and its output pipes are closed; if a descendant keeps them open, `outputTimeout` later. A
/// cancelled group receives SIGTERM, and after `killDelay` SIGKILL if processes remain. Until then the job goes on,
/// even if the remaining processes do not hold the pipes.
///
/// The leader is reaped at the end of its job. Until then its process id cannot be reused for another group, so signals
/// to the group cannot reach other processes.
///
/// `ended` is called once for each `start`, on a later turn of the loop, and never from inside a method.
@ReactorActor
package final class ProcessEdge {
    /// The octets kept of each output stream; further octets are read and discarded.
    package nonisolated static let maximumOutput = 64 * 1024
    package nonisolated static let searchPath = ["/usr/local/bin", "/usr/bin", "/bin"]

    package static let killDelay: Int64 = 2_000_000_000
    static let outputTimeout: Int64 = 100_000_000
    /// How often to check whether processes of a cancelled group remain after its leader has ended.
    static let groupPollInterval: Int64 = 20_000_000
    /// The number of programs whose texts are kept for their next start.
    private static let maximumKnownPrograms = 16

    package typealias Ended = @ReactorActor (ProcessResult) -> Void

    private struct Waiting {
        var request: ProcessRequest
        var ended: Ended
    }

    private let loop: EventLoop
    private var queue = JobQueue()
    private var waiting: [UInt64: Waiting] = [:]
    private var running: [UInt64: ProcessJob] = [:]
    /// The streams of the next program, after the end of another one.
    private var streams: StandardStreams?
    /// The texts of programs without input that were started last.
    private var knownPrograms: [(request: ProcessRequest, texts: ProgramTexts)] = []
    private var allEnded: (@ReactorActor () -> Void)?

    package init(loop: EventLoop) {
        self.loop = loop
        // If SIGCHLD was inherited as ignored, the kernel would reap children, and their exit status would be lost.
        signal(SIGCHLD, SIG_DFL)
    }

    /// - Parameter id: identifies the job for `cancel`; must not be in use by another job.
    /// - Returns: when the program's own code began, in nanoseconds since boot; `nil` if it has not begun.
    @discardableResult
    package func start(_ id: UInt64, _ request: ProcessRequest, _ ended: @escaping Ended) -> Int64? {
        let effects = queue.handle(.start(id))
        // The usual program does not wait.
        if case .launch? = effects.first { return launch(id, request, ended) }
        waiting[id] = Waiting(request: request, ended: ended)
        carryOut(effects)
        return nil
    }

    /// Ends the job early. Its result is reported as usual. An unknown or ended job is ignored.
    package func cancel(_ id: UInt64) { carryOut(queue.handle(.cancel(id))) }

    /// Cancels all jobs, refuses new ones, and calls `done` when the last job has ended.
    package func cancelAll(_ done: @escaping @ReactorActor () -> Void) {
        allEnded = done
        carryOut(queue.handle(.cancelAll))
    }

    private func carryOut(_ effects: [JobQueue.Effect]) {
        for effect in effects {
            switch effect {
            case .launch(let id):
                guard let job = waiting.removeValue(forKey: id) else { break }
                launch(id, job.request, job.ended)
            case .refuse(let id, let reason): refuse(id, reason.sentence(about: "programs"))
            case .cancel(let id, _): running[id]?.cancel()
            case .allEnded: loop.onNextTurn { [self] in reportAllEnded() }
            }
        }
    }

    /// - Returns: when the program's own code began; `nil` if it could not be started.
    @discardableResult
    private func launch(_ id: UInt64, _ request: ProcessRequest, _ ended: @escaping Ended) -> Int64? {
        do throws(ProcessJob.StartFailure) {
            let job = try ProcessJob(loop: loop, request, texts(of: request), takeStreams(for: request)) {
                [unowned self] result in
                running[id] = nil
                // The report comes first, because it may cancel the job that would be launched next.
                ended(result)
                carryOut(queue.handle(.ended(id)))
                if streams == nil { streams = try? StandardStreams(hasInput: false) }
            }
            running[id] = job
            return job.began
        } catch {
            report(error.sentence, to: ended)
            carryOut(queue.handle(.ended(id)))
            return nil
        }
    }

    private func takeStreams(for request: ProcessRequest) throws(ProcessJob.StartFailure) -> StandardStreams {
        guard request.standardInput.isEmpty else { return try StandardStreams(hasInput: true) }
        defer { streams = nil }
        if let streams { return streams }
        return try StandardStreams(hasInput: false)
    }

    private func texts(of request: ProcessRequest) -> ProgramTexts? {
        // Not by `first`: an isolated closure checks on which thread it is called, which takes longer than the search.
        for index in knownPrograms.indices where knownPrograms[index].request == request {
            return knownPrograms[index].texts
        }
        guard let texts = ProgramTexts(request) else { return nil }
        if request.standardInput.isEmpty {
            if knownPrograms.count == Self.maximumKnownPrograms { knownPrograms.removeFirst() }
            knownPrograms.append((request, texts))
        }
        return texts
    }

    private func refuse(_ id: UInt64, _ sentence: String) {
        if let job = waiting.removeValue(forKey: id) { report(sentence, to: job.ended) }
    }

    private func report(_ sentence: String, to ended: @escaping Ended) {
        loop.onNextTurn {
            ended(
                ProcessResult(status: .couldNotStart(sentence), standardOutput: [], standardError: [], duration: .zero))
        }
    }

    private func reportAllEnded() {
        let done = allEnded
        allEnded = nil
        done?()
    }
}
