/// Decides which of the programs given to `ProcessEdge` run, which wait, and which are refused.
struct ProcessQueue: Hashable, Sendable {
    enum Input: Hashable, Sendable {
        /// The id must not be in use by another job.
        case start(UInt64)
        case cancel(UInt64)
        /// Cancels all jobs and refuses new ones.
        case cancelAll
        /// A launched job has ended, or could not be started.
        case ended(UInt64)
    }

    enum Effect: Hashable, Sendable {
        case launch(UInt64)
        /// Report that the job was not started, for this reason.
        case refuse(UInt64, String)
        /// End a running job early; its end is reported as `Input.ended`.
        case cancel(UInt64)
        /// The last job has ended after `cancelAll`.
        case allEnded
    }

    /// The maximum number of running programs; others wait.
    static let maximumRunning = 32
    /// The maximum number of waiting programs; others are refused.
    static let maximumWaiting = 1_024

    private var running: Set<UInt64> = []
    private var waiting: [UInt64] = []
    private var isStopping = false

    mutating func handle(_ input: Input) -> [Effect] {
        switch input {
        case .start(let id):
            precondition(!running.contains(id), "a job with this id is running already")
            if isStopping { return [.refuse(id, Self.stopping)] }
            guard waiting.count < Self.maximumWaiting else {
                return [.refuse(id, "\(Self.maximumWaiting) programs are waiting to be started already")]
            }
            waiting.append(id)
            return launchWaiting()
        case .cancel(let id):
            if running.contains(id) { return [.cancel(id)] }
            guard let index = waiting.firstIndex(of: id) else { return [] }
            waiting.remove(at: index)
            return [.refuse(id, "it was cancelled before it started")]
        case .cancelAll:
            isStopping = true
            let refused = waiting.map { Effect.refuse($0, Self.stopping) }
            waiting = []
            return refused + running.sorted().map(Effect.cancel) + (running.isEmpty ? [.allEnded] : [])
        case .ended(let id):
            running.remove(id)
            return launchWaiting() + (isStopping && running.isEmpty ? [.allEnded] : [])
        }
    }

    private static let stopping = "the daemon is stopping"

    private mutating func launchWaiting() -> [Effect] {
        let next = waiting.prefix(max(0, Self.maximumRunning - running.count))
        running.formUnion(next)
        waiting.removeFirst(next.count)
        return next.map(Effect.launch)
    }
}
