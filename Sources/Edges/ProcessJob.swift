import CLinux
import Glibc
import Hub
import Platform
package import Reactor

/// A program from its start to the end of its job, as `ProcessEdge` defines it.
@ReactorActor
package final class ProcessJob {
    package struct StartFailure: Error {
        var sentence: String
    }

    private let loop: EventLoop
    private let ended: @ReactorActor (ProcessResult) -> Void
    private let started: Int64
    /// When the program's own code began.
    let began: Int64
    private let process: pid_t
    private let processDescriptor: Int32
    private var leader: Watch?
    private var input: InputPipe?
    private var outputs: [OutputPipe] = []
    /// When the program ended; `nil` while it is running.
    private var leaderEnded: Int64?
    private var isCancelled = false
    private var isKilled = false
    /// When a cancelled job receives SIGKILL, or received it.
    private var killTime = Int64.max
    /// When a job whose program has ended no longer waits for its outputs to be closed.
    private var graceTime = Int64.max
    private var timer: Timer?

    /// Starts the program. Our ends of the streams belong to the job if it was started.
    init(
        loop: EventLoop, _ request: ProcessRequest, _ texts: ProgramTexts?, _ streams: StandardStreams,
        ended: @escaping @ReactorActor (ProcessResult) -> Void
    ) throws(StartFailure) {
        self.loop = loop
        self.ended = ended
        started = loop.nanosecondsSinceBoot
        process = try spawn(request, texts, streams)
        began = loop.nanosecondsSinceBoot
        processDescriptor = try openProcess(process)
        streams.programHasStarted()
        leader = loop.watch(processDescriptor, .read) { [unowned self] _ in leaderHasEnded() }
        timer = loop.timer { [unowned self] in timerFired() }
        if let descriptor = streams.input { input = InputPipe(loop, descriptor, request.standardInput) }
        outputs = [streams.output, streams.error].map { descriptor in
            OutputPipe(loop, descriptor) { [unowned self] in outputHasEnded() }
        }
    }

    func cancel() {
        guard !isCancelled else { return }
        isCancelled = true
        kill(-process, SIGTERM)
        let now = loop.nanosecondsSinceBoot
        killTime = now + ProcessEdge.killDelay
        timer?.set(at: leaderEnded == nil ? killTime : now)
    }

    private func timerFired() {
        if isCancelled, !isKilled, loop.nanosecondsSinceBoot >= killTime {
            isKilled = true
            kill(-process, SIGKILL)
            graceTime = loop.nanosecondsSinceBoot + ProcessEdge.outputTimeout
        }
        if leaderEnded != nil { goOn() }
    }

    private func leaderHasEnded() {
        leader?.set([])
        input?.close()
        let now = loop.nanosecondsSinceBoot
        leaderEnded = now
        graceTime = now + ProcessEdge.outputTimeout
        goOn()
    }

    private func outputHasEnded() {
        if leaderEnded != nil { goOn() }
    }

    /// Finishes the job of a program that has ended, or sets the timer for what it waits for.
    private func goOn() {
        let now = loop.nanosecondsSinceBoot
        if isCancelled, !isKilled, isProcessGroupAlive(process) {
            // The remaining processes of a cancelled group have until `killTime` to end.
            timer?.set(at: min(killTime, now + ProcessEdge.groupPollInterval))
        } else if outputs.allSatisfy(\.isClosed) || now >= graceTime {
            finish()
        } else {
            timer?.set(at: graceTime)
        }
    }

    private func finish() {
        timer?.cancel()
        leader?.cancel()
        for output in outputs { output.close() }
        let status = reap()
        close(processDescriptor)
        ended(
            ProcessResult(
                status: status, standardOutput: outputs[0].kept, standardError: outputs[1].kept,
                duration: .nanoseconds((leaderEnded ?? started) - started)))
    }

    private func reap() -> ProcessResult.Status {
        var isSignalled: Int32 = 0
        var status: Int32 = 0
        switch linux_reap(processDescriptor, &isSignalled, &status) {
        case 1:
            return isSignalled != 0 ? .signalled(status) : .exited(status)
        case 0:
            // The program is still running, but epoll could not watch it (fs.epoll.max_user_watches). It is killed,
            // because its end would not be noticed.
            kill(-process, SIGKILL)
            waitpid(process, nil, 0)
            return .signalled(SIGKILL)
        default:
            preconditionFailure(
                "waitid failed: \(systemMessage(errno)), although no other code reaps this process")
        }
    }
}
