import ButtonModel
import Rules

/// The work that edges do for the hub at present: programs and web requests of rules, and reads of firmware files.
struct Jobs: Sendable {
    /// A program or a web request that a step of a run has started.
    struct StepJob: Hashable, Sendable {
        /// `nil` if the run does not wait for it any more.
        var step: ActionID?
        var rule: String
        var work: ExternalAction
    }

    /// A job that an edge has to cancel.
    enum Cancellation: Hashable, Sendable {
        case program(JobID)
        case webRequest(JobID)
    }

    private var steps: [JobID: StepJob] = [:]
    /// Buttons whose firmware images are being read.
    private var firmwareReads: [JobID: ButtonID] = [:]

    var stepCount: Int { steps.count }
    var firmwareReadCount: Int { firmwareReads.count }

    /// The programs that run, in the order in which they were started.
    var programs: [JobID] {
        steps.filter { if case .process = $0.value.work { true } else { false } }.keys.sorted()
    }

    mutating func started(_ id: JobID, _ job: StepJob) { steps[id] = job }

    /// The step that waits for a job.
    func step(of id: JobID) -> ActionID? { steps[id]?.step }

    /// The program has ended.
    mutating func programEnded(_ id: JobID) -> (step: ActionID?, rule: String, action: ProcessAction)? {
        guard let job = steps[id], case .process(let action) = job.work else { return nil }
        steps[id] = nil
        return (job.step, job.rule, action)
    }

    /// The web request has ended.
    mutating func webRequestEnded(_ id: JobID) -> (step: ActionID?, rule: String, action: HTTPAction)? {
        guard let job = steps[id], case .http(let action) = job.work else { return nil }
        steps[id] = nil
        return (job.step, job.rule, action)
    }

    /// The step does not wait for its job any more. A program remains until it has ended, because its end is shown.
    mutating func cancel(_ step: ActionID) -> [Cancellation] {
        var cancellations: [Cancellation] = []
        for (id, job) in steps where job.step == step {
            switch job.work {
            case .process:
                steps[id]?.step = nil
                cancellations.append(.program(id))
            case .http:
                steps[id] = nil
                cancellations.append(.webRequest(id))
            }
        }
        return cancellations
    }

    #if DEBUG
        /// The steps that wait for a job, in no order.
        var awaitedSteps: [ActionID] { steps.values.compactMap(\.step) }

        /// The invariants that the state violates between two inputs; empty unless this type has a bug.
        func problems() -> [String] {
            let steps = steps.values.compactMap(\.step)
            guard Set(steps).count != steps.count else { return [] }
            return ["two jobs are in progress for one step"]
        }
    #endif

    mutating func firmwareReadStarted(_ id: JobID, for button: ButtonID) { firmwareReads[id] = button }

    /// - Returns: the button whose image was read.
    mutating func firmwareReadEnded(_ id: JobID) -> ButtonID? { firmwareReads.removeValue(forKey: id) }
}
