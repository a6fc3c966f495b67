import ButtonModel
import Hub

/// Finds the recorded results of the programs and web requests that rules start in a replay.
///
/// A job and a recorded job with the same fingerprint belong together if the job starts at most `window` after the
/// recorded one, or `assumedDuration` before it. The first recorded job is used first. Recorded jobs to which no job
/// belongs are forgotten after `window`.
struct ReplayedJobs: Sendable {
    private static let window = Duration.seconds(60)
    /// A job without a recorded one ends after this time with an assumed result, or earlier if its step's time limit
    /// ends.
    private static let assumedDuration = Duration.seconds(2)

    private struct Recorded {
        var id: JobID
        var fingerprint: String
        var at: Instant
    }

    private struct Waiting {
        var id: JobID
        var fingerprint: String
        var startedAt: Instant
        var deadline: Instant
        var kind: JobKind
    }

    /// The recorded jobs of the last `window`, in their order, from `recentStart` on.
    private var recent: [Recorded] = []
    private var recentStart = 0
    /// The recorded jobs in `recent` that are not matched to a job of the replay yet, by fingerprint, in their order.
    private var free: [String: [JobID]] = [:]
    private(set) var freeIDs: Set<JobID> = []
    /// The recorded results of `free`.
    private var results: [JobID: JobResult] = [:]
    /// The jobs without a recorded job, in the order of their deadlines.
    private var waiting: [Waiting] = []
    /// The job for a recorded job.
    private var jobs: [JobID: JobID] = [:]

    var nextDeadline: Instant? { waiting.first?.deadline }

    /// The recording has started a job.
    mutating func recorded(_ job: RecordedJob, at now: Instant) {
        forget(at: now)
        guard let index = waiting.firstIndex(where: { $0.fingerprint == job.fingerprint }) else {
            recent.append(Recorded(id: job.id, fingerprint: job.fingerprint, at: now))
            free[job.fingerprint, default: []].append(job.id)
            freeIDs.insert(job.id)
            return
        }
        jobs[job.id] = waiting.remove(at: index).id
    }

    private mutating func forget(at now: Instant) {
        while recentStart < recent.count, now - recent[recentStart].at > Self.window {
            let old = recent[recentStart]
            recentStart += 1
            if freeIDs.contains(old.id) { _ = takeFree(old.fingerprint) }
        }
        guard recentStart > recent.count / 2 else { return }
        recent.removeFirst(recentStart)
        recentStart = 0
    }

    /// Takes the first recorded job with this fingerprint, and its result if it has ended.
    private mutating func takeFree(_ fingerprint: String) -> (id: JobID, result: JobResult?)? {
        guard let id = free[fingerprint]?.removeFirst() else { return nil }
        if free[fingerprint]?.isEmpty == true { free[fingerprint] = nil }
        freeIDs.remove(id)
        return (id, results.removeValue(forKey: id))
    }

    /// A job starts.
    ///
    /// - Parameter end: of its step's time limit.
    /// - Returns: its end, if the recording has that already.
    mutating func started(
        _ id: JobID, _ kind: JobKind, _ fingerprint: String, until end: Instant?, at now: Instant
    ) -> Hub.Input? {
        forget(at: now)
        if let recorded = takeFree(fingerprint) {
            if let result = recorded.result { return .jobEnded(id, result) }
            jobs[recorded.id] = id
            return nil
        }
        let deadline = min(now + Self.assumedDuration, end ?? now + Self.assumedDuration)
        waiting.insert(
            Waiting(id: id, fingerprint: fingerprint, startedAt: now, deadline: deadline, kind: kind),
            at: waiting.firstIndex { $0.deadline > deadline } ?? waiting.endIndex)
        return nil
    }

    /// A recorded job has ended.
    ///
    /// - Returns: the input for the job that belongs to it; `nil` if there is none.
    mutating func ended(_ id: JobID, _ result: JobResult) -> Hub.Input? {
        guard let job = jobs.removeValue(forKey: id) else {
            if freeIDs.contains(id) { results[id] = result }
            return nil
        }
        return .jobEnded(job, result)
    }

    mutating func cancelled(_ id: JobID) {
        waiting.removeAll { $0.id == id }
        for (recorded, job) in jobs where job == id { jobs[recorded] = nil }
    }

    /// The jobs whose results are unknown, with their ends, which are assumed to be good and without output.
    mutating func takeUnknown(at now: Instant) -> [(job: JobID, end: Hub.Input)] {
        let due = waiting.prefix { $0.deadline <= now }
        waiting.removeFirst(due.count)
        return due.map { ($0.id, .jobEnded($0.id, $0.kind.success(after: $0.deadline - $0.startedAt))) }
    }
}
