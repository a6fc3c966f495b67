import ButtonModel
import Hub

/// Finds the recorded results of the programs and web requests that rules start in a replay.
///
/// A job and a recorded job with the same fingerprint belong together if the job starts at most `window` after the recorded one,
/// or `patience` before it. The first recorded job is used first.
struct ReplayedJobs: Sendable {
    private static let window = Duration.seconds(60)
    /// A job without a recorded one ends after this time with an assumed result.
    private static let patience = Duration.seconds(2)

    private struct Recorded {
        var id: JobID
        var at: Instant
    }

    private struct Waiting {
        var id: JobID
        var fingerprint: String
        var deadline: Instant
        var isProgram: Bool
    }

    /// The recorded jobs that no job belongs to, by fingerprint, in their order.
    private var free: [String: [Recorded]] = [:]
    /// The recorded results of `free`.
    private var results: [JobID: Hub.Input] = [:]
    /// The jobs without a recorded job, in the order of their deadlines.
    private var waiting: [Waiting] = []
    /// The job for a recorded job.
    private var jobs: [JobID: JobID] = [:]

    var nextDeadline: Instant? { waiting.first?.deadline }

    /// The recording has started a job.
    mutating func recorded(_ job: RecordedJob, at now: Instant) {
        guard let index = waiting.firstIndex(where: { $0.fingerprint == job.fingerprint }) else {
            let before = free[job.fingerprint] ?? []
            let kept = before.drop { now - $0.at > Self.window }
            for old in before.dropLast(kept.count) { results[old.id] = nil }
            return free[job.fingerprint] = kept + [Recorded(id: job.id, at: now)]
        }
        jobs[job.id] = waiting.remove(at: index).id
    }

    /// A job starts.
    ///
    /// - Returns: its end, if the recording has that already.
    mutating func started(_ id: JobID, _ fingerprint: String, _ effect: Hub.Effect, at now: Instant) -> Hub.Input? {
        while let recorded = free[fingerprint]?.first {
            free[fingerprint]?.removeFirst()
            if free[fingerprint]?.isEmpty == true { free[fingerprint] = nil }
            let result = results.removeValue(forKey: recorded.id)
            guard now - recorded.at <= Self.window else { continue }
            if let result { return result.withID(id) }
            jobs[recorded.id] = id
            return nil
        }
        let isProgram = if case .startProcess = effect { true } else { false }
        waiting.append(
            Waiting(id: id, fingerprint: fingerprint, deadline: now + Self.patience, isProgram: isProgram))
        return nil
    }

    /// A recorded job has ended.
    ///
    /// - Returns: the input for the job that belongs to it; `nil` if there is none.
    mutating func ended(_ id: JobID, _ input: Hub.Input) -> Hub.Input? {
        guard let job = jobs.removeValue(forKey: id) else {
            if free.values.contains(where: { $0.contains { $0.id == id } }) { results[id] = input }
            return nil
        }
        return input.withID(job)
    }

    mutating func cancelled(_ id: JobID) {
        waiting.removeAll { $0.id == id }
        for (recorded, job) in jobs where job == id { jobs[recorded] = nil }
    }

    /// The ends of the jobs whose results are unknown. They are assumed to be good, and without output.
    mutating func takeUnknown(at now: Instant) -> [Hub.Input] {
        let due = waiting.prefix { $0.deadline <= now }
        waiting.removeFirst(due.count)
        return due.map { job in
            job.isProgram
                ? .processEnded(
                    job.id,
                    ProcessResult(
                        status: .exited(0), standardOutput: [], standardError: [], duration: Self.patience))
                : .webAnswered(
                    job.id, HTTPResult(outcome: .answered(status: 200), body: [], duration: Self.patience, note: nil))
        }
    }
}

extension Hub.Input {
    /// The end of another job with the same result.
    fileprivate func withID(_ id: JobID) -> Hub.Input {
        switch self {
        case .processEnded(_, let result): .processEnded(id, result)
        case .webAnswered(_, let result): .webAnswered(id, result)
        default: self
        }
    }
}
