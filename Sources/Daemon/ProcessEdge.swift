import CLinux
import Glibc
package import Hub
package import Reactor

/// Runs the programs of rules.
///
/// Each program leads its own process group, so that processes that it started can be ended with it. A job ends when
/// the program has ended and its output pipes are closed; if a descendant keeps them open, `outputGrace` later. A
/// cancelled group receives SIGTERM, and after `killDelay` SIGKILL if processes remain. Until then the job goes on,
/// even if the remaining processes do not hold the pipes.
///
/// The leader is reaped at the end of its job. Until then its process id cannot be reused for another group, so signals
/// to the group cannot reach other processes.
///
/// `ended` is called once for each `start`, on a later turn of the loop, and never from inside a method.
@ReactorActor
package final class ProcessEdge {
    /// The maximum number of running programs; others wait.
    package nonisolated static let maximumRunning = 32
    /// The maximum number of waiting programs; others are refused.
    package nonisolated static let maximumWaiting = 1_024
    /// The octets kept of each output stream; the rest is read and dropped.
    package nonisolated static let maximumOutput = 64 * 1024
    package nonisolated static let searchPath = ["/usr/local/bin", "/usr/bin", "/bin"]

    static let killDelay: Int64 = 2_000_000_000
    static let outputGrace: Int64 = 100_000_000
    /// How often to check whether processes of a cancelled group remain after its leader has ended.
    static let remainsInterval: Int64 = 20_000_000

    package typealias Ended = @ReactorActor (ProcessResult) -> Void

    private struct Waiting {
        var id: UInt64
        var request: ProcessRequest
        var ended: Ended
    }

    private let loop: EventLoop
    private var running: [UInt64: ProcessJob] = [:]
    private var waiting: [Waiting] = []
    /// Set by `cancelAll`, after which nothing starts any more.
    private var allEnded: (@ReactorActor () -> Void)?

    package init(loop: EventLoop) {
        self.loop = loop
        // If SIGCHLD was inherited as ignored, the kernel would reap children, and their exit status would be lost.
        signal(SIGCHLD, SIG_DFL)
    }

    /// - Parameter id: identifies the job for `cancel`; must not be in use by another job.
    package func start(_ id: UInt64, _ request: ProcessRequest, _ ended: @escaping Ended) {
        precondition(running[id] == nil, "job \(id) is running already")
        guard allEnded == nil else { return refuse("the daemon is stopping", ended) }
        guard waiting.count < Self.maximumWaiting else {
            return refuse("\(Self.maximumWaiting) programs are waiting to be started already", ended)
        }
        waiting.append(Waiting(id: id, request: request, ended: ended))
        launchWaiting()
    }

    /// Ends the job early. Its result is reported as usual. An unknown or ended job is ignored.
    package func cancel(_ id: UInt64) {
        if let job = running[id] {
            job.cancel()
        } else if let index = waiting.firstIndex(where: { $0.id == id }) {
            refuse("it was cancelled before it started", waiting.remove(at: index).ended)
        }
    }

    /// Cancels all jobs, refuses new ones, and calls `done` when the last job has ended.
    package func cancelAll(_ done: @escaping @ReactorActor () -> Void) {
        allEnded = done
        for job in waiting { refuse("the daemon is stopping", job.ended) }
        waiting = []
        for job in running.values { job.cancel() }
        if running.isEmpty { loop.soon { [self] in reportAllEnded() } }
    }

    private func launchWaiting() {
        while running.count < Self.maximumRunning, !waiting.isEmpty {
            let next = waiting.removeFirst()
            do throws(ProcessJob.StartFailure) {
                running[next.id] = try ProcessJob(loop: loop, next.request) { [unowned self] result in
                    running[next.id] = nil
                    next.ended(result)
                    launchWaiting()
                    if running.isEmpty { reportAllEnded() }
                }
            } catch {
                refuse(error.sentence, next.ended)
            }
        }
    }

    private func refuse(_ sentence: String, _ ended: @escaping Ended) {
        loop.soon {
            ended(
                ProcessResult(status: .couldNotStart(sentence), standardOutput: [], standardError: [], duration: .zero))
        }
    }

    private func reportAllEnded() {
        guard let done = allEnded else { return }
        // Jobs are still refused, but `done` is called only once.
        allEnded = {}
        done()
    }
}
