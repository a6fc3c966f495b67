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
            // The loop could not watch it, by the system's limit of watches. It is not left running unseen.
            kill(-process, SIGKILL)
            waitpid(process, nil, 0)
            return .signalled(SIGKILL)
        default:
            preconditionFailure("waitid: \(describe(errno)): nobody else waits for our children")
        }
    }
}
