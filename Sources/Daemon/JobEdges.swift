import ButtonModel
import Edges
import Hub
import Reactor

/// The edges that do the jobs of rules. A new kind of job gets its edge here.
@ReactorActor
final class JobEdges {
    /// The longest time limit that a rule can give a step.
    private static let longestWebRequest = Duration.seconds(7 * 86_400)

    private let processes: ProcessEdge
    private let web: HTTPEdge

    init(loop: EventLoop) {
        processes = ProcessEdge(loop: loop)
        web = HTTPEdge(loop: loop)
    }

    /// - Parameter ended: called once, on a later turn of the loop.
    func start(_ id: JobID, _ job: Job, _ ended: @escaping @ReactorActor (JobResult) -> Void) {
        switch job {
        case .process(let request): processes.start(id.rawValue, request) { ended(.process($0)) }
        case .http(let request):
            // The time limit of the rule's step is shorter and takes effect first.
            web.start(id.rawValue, request, timeout: Self.longestWebRequest) { ended(.http($0)) }
        }
    }

    /// Ends a job early. Its result is reported as usual.
    func cancel(_ id: JobID, _ kind: JobKind) {
        switch kind {
        case .process: processes.cancel(id.rawValue)
        case .http: web.cancel(id.rawValue)
        }
    }

    /// Cancels all jobs, the programs first, and refuses new ones. Calls `done` when the last job has ended.
    func cancelAll(_ done: @escaping @ReactorActor () -> Void) {
        processes.cancelAll { [web] in web.cancelAll(done) }
    }
}
