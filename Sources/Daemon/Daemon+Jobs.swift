import ButtonModel
import Edges
import Hub

// Passes the jobs of rules to their edges.
extension Daemon {
    func start(_ job: Job, as id: JobID) {
        switch job {
        case .process(let request):
            processes.start(id.rawValue, request) { [weak self] in self?.deliver(.jobEnded(id, .process($0))) }
        case .http(let request):
            // The time limit of the rule's step is shorter and takes effect first.
            web.start(id.rawValue, request, timeout: Self.longestWebRequest) { [weak self] in
                self?.deliver(.jobEnded(id, .http($0)))
            }
        }
    }

    func cancel(_ id: JobID, _ kind: JobKind) {
        switch kind {
        case .process: processes.cancel(id.rawValue)
        case .http: web.cancel(id.rawValue)
        }
    }
}
