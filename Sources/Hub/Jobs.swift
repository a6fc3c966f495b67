import ButtonModel
import Rules

/// The work that edges do for the hub at present: jobs of rules, and reads of firmware files.
struct Jobs: Sendable {
    /// A job that a step of a run has started.
    struct StepJob: Hashable, Sendable {
        /// `nil` if the run does not wait for it any more.
        var step: ActionID?
        var run: RunID
        var rule: String
        var action: ExternalAction

        var kind: JobKind { JobKind(of: action) }
    }

    private var steps: [JobID: StepJob] = [:]
    /// Buttons whose firmware images are being read.
    private var firmwareReads: [JobID: ButtonID] = [:]

    var stepCount: Int { steps.count }
    var firmwareReadCount: Int { firmwareReads.count }

    /// The jobs whose ends are awaited also when they are cancelled, in the order in which they were started.
    var withAwaitedEnds: [(JobID, JobKind)] {
        steps.filter { $0.value.kind.resultWhenCancelled != nil }.sorted { $0.key < $1.key }.map { ($0, $1.kind) }
    }

    mutating func started(_ id: JobID, _ job: StepJob) { steps[id] = job }

    /// The step that waits for a job.
    func step(of id: JobID) -> ActionID? { steps[id]?.step }

    /// Removes a job that has ended.
    ///
    /// - Returns: `nil` if there is no job of the result's kind.
    mutating func ended(_ id: JobID, _ result: JobResult) -> (StepJob, EndedJob)? {
        guard let job = steps[id], let ended = EndedJob(job.action, result) else { return nil }
        steps[id] = nil
        return (job, ended)
    }

    /// The step does not wait for its job any more. The job remains until it has ended if its end is awaited nevertheless.
    ///
    /// - Returns: the jobs to cancel.
    mutating func cancel(_ step: ActionID) -> [(JobID, JobKind)] {
        let cancelled = steps.filter { $0.value.step == step }.map { ($0, $1.kind) }
        for (id, kind) in cancelled {
            if kind.resultWhenCancelled == nil { steps[id] = nil } else { steps[id]?.step = nil }
        }
        return cancelled
    }

    #if DEBUG
        /// The steps that wait for a job, in no order.
        var awaitedSteps: [ActionID] { steps.values.compactMap(\.step) }

        /// The invariants that the state violates between two inputs; empty unless this type has a bug.
        func problems() -> [String] {
            let steps = steps.values.compactMap(\.step)
            var problems: [String] = []
            if Set(steps).count != steps.count { problems.append("two jobs are in progress for one step") }
            if self.steps.values.contains(where: { $0.step == nil && $0.kind.resultWhenCancelled == nil }) {
                problems.append("a job remains whose end nobody awaits")
            }
            return problems
        }
    #endif

    mutating func firmwareReadStarted(_ id: JobID, for button: ButtonID) { firmwareReads[id] = button }

    /// - Returns: the button whose image was read.
    mutating func firmwareReadEnded(_ id: JobID) -> ButtonID? { firmwareReads.removeValue(forKey: id) }
}
