/// Decides which of the programs given to `ProcessEdge`, or of the web requests given to `HTTPEdge`, run, which wait, and which are
/// refused.
struct JobQueue: Hashable, Sendable {
    enum Input: Hashable, Sendable {
        /// The id must not be in use by another job.
        case start(UInt64)
        case cancel(UInt64)
        /// Cancels all jobs and refuses new ones.
        case cancelAll
        /// A launched job has ended, or could not be started.
        case ended(UInt64)
    }

    /// Why a job is refused or cancelled.
    enum Reason: Hashable, Sendable {
        /// `maximumWaiting` jobs wait already.
        case full
        case cancelled
        case stopping

        /// - Parameter jobs: what the jobs are, in the plural.
        func sentence(about jobs: String) -> String {
            switch self {
            case .full: "\(JobQueue.maximumWaiting) \(jobs) are already waiting"
            case .cancelled: "it was cancelled"
            case .stopping: "the daemon is stopping"
            }
        }
    }

    enum Effect: Hashable, Sendable {
        case launch(UInt64)
        /// Report that the job was not started.
        case refuse(UInt64, Reason)
        /// End a running job early; its end is reported as `Input.ended`.
        case cancel(UInt64, Reason)
        /// The last job has ended after `cancelAll`.
        case allEnded
    }

    /// The maximum number of running jobs; others wait.
    static let maximumRunning = 32
    /// The maximum number of waiting jobs; others are refused.
    static let maximumWaiting = 1_024

    private var running: Set<UInt64> = []
    private var waiting: [UInt64] = []
    private var isStopping = false

    mutating func handle(_ input: Input) -> [Effect] {
        switch input {
        case .start(let id):
            precondition(!running.contains(id), "a job with this id is running already")
            if isStopping { return [.refuse(id, .stopping)] }
            guard running.count >= Self.maximumRunning else {
                running.insert(id)
                return [.launch(id)]
            }
            guard waiting.count < Self.maximumWaiting else { return [.refuse(id, .full)] }
            waiting.append(id)
            return []
        case .cancel(let id):
            if running.contains(id) { return [.cancel(id, .cancelled)] }
            guard let index = waiting.firstIndex(of: id) else { return [] }
            waiting.remove(at: index)
            return [.refuse(id, .cancelled)]
        case .cancelAll:
            isStopping = true
            let refused = waiting.map { Effect.refuse($0, .stopping) }
            waiting = []
            return refused + running.sorted().map { .cancel($0, .stopping) } + (running.isEmpty ? [.allEnded] : [])
        case .ended(let id):
            running.remove(id)
            return launchWaiting() + (isStopping && running.isEmpty ? [.allEnded] : [])
        }
    }

    private mutating func launchWaiting() -> [Effect] {
        let next = waiting.prefix(max(0, Self.maximumRunning - running.count))
        running.formUnion(next)
        waiting.removeFirst(next.count)
        return next.map(Effect.launch)
    }
}
