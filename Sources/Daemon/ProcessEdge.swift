import CLinux
import Glibc
package import Hub
package import Reactor

/// The programs the daemon runs.
///
/// Every program leads a process group of its own, so that what it started can be ended with it. Its job ends when
/// the program has ended and its output pipes are closed; a descendant that lives on and holds them is given
/// `outputGrace`. A cancelled group is sent TERM, and KILL when there is something left of it after `killDelay`; until
/// then its job goes on, if only for a descendant that holds nothing of ours.
///
/// The leader is reaped last of all, when its job ends: until then its number cannot belong to another group, and a
/// signal to the group cannot meet strangers.
///
/// Nothing is reported from inside a call: `ended` comes on a later turn of the loop, once for each start.
@ReactorActor
package final class ProcessEdge {
    /// How many run at once; the rest wait in line.
    package nonisolated static let maximumRunning = 32
    /// How many wait; what comes then is refused.
    package nonisolated static let maximumWaiting = 1_024
    /// Octets kept of each output; the rest is read and dropped.
    package nonisolated static let maximumOutput = 64 * 1024
    package nonisolated static let searchPath = ["/usr/local/bin", "/usr/bin", "/bin"]

    static let killDelay: Int64 = 2_000_000_000
    static let outputGrace: Int64 = 100_000_000
    /// How often one looks whether anything is left of a cancelled group whose leader has ended.
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
    /// Set by `cancelAll`; nothing starts any more.
    private var allEnded: (@ReactorActor () -> Void)?

    package init(loop: EventLoop) {
        self.loop = loop
        // Where the parent left it ignored, children would reap themselves and take their status with them.
        signal(SIGCHLD, SIG_DFL)
    }

    /// - Parameter id: for `cancel`; not in use by another job.
    package func start(_ id: UInt64, _ request: ProcessRequest, _ ended: @escaping Ended) {
        precondition(running[id] == nil, "job \(id) is running already")
        guard allEnded == nil else { return refuse("the daemon is stopping", ended) }
        guard waiting.count < Self.maximumWaiting else {
            return refuse("\(Self.maximumWaiting) programs are waiting to be started already", ended)
        }
        waiting.append(Waiting(id: id, request: request, ended: ended))
        launchWaiting()
    }

    /// Ends the job early. Its result is reported as always; a job that is unknown or has ended is left alone.
    package func cancel(_ id: UInt64) {
        if let job = running[id] {
            job.cancel()
        } else if let index = waiting.firstIndex(where: { $0.id == id }) {
            refuse("it was cancelled before it started", waiting.remove(at: index).ended)
        }
    }

    /// Cancels everything for good and calls `done` when the last job has ended.
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
        // Still stopping, but with nobody left to tell.
        allEnded = {}
        done()
    }
}
