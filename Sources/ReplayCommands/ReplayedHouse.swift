import ButtonModel
import CommandText
import Hub
import JSON
import Rules

/// A hub that replays a history or a recording, with any rules.
///
/// Inputs come from the recording. The broker's and the disk's answers do not, because other rules send other messages: the
/// house answers for both at once, without faults. Its timers are its own. Programs and web requests are not started: their
/// results are those of the recording where it has started the same (`ReplayedJobs`), and otherwise unknown.
///
/// | input                         | the house                                                        |
/// |-------------------------------|------------------------------------------------------------------|
/// | of buttons, messages, clock   | fires its timers up to the input's time, then replays the input  |
/// | results of programs           | looks for the job of its own rules, and gives it the result      |
/// | rules loaded                  | loads the given set                                              |
/// | answers of broker and disk    | ignores them                                                     |
struct ReplayedHouse {
    /// The lines and actions of one instant.
    struct Moment: Hashable, Sendable {
        var time: UTCTime
        /// Lines of the live stream.
        var lines: [JSONValue] = []
        /// The actions of rules.
        var actions: [RuleAction] = []
        /// `RuleTrace.events` and `RuleTrace.causes`, which belong to `lines`.
        var events: [RuleTrace.Event] = []
        var causes: [RuleTrace.Event?] = []
        /// The jobs that end here with an assumed result, or with one in which secrets are left out.
        var assumed: [JobID] = []
    }

    enum Failure: Error, Hashable, Sendable {
        /// The time of an input is before that of an earlier one, or years later.
        case badTime
        /// Rules go on without end at one instant.
        case endless
    }

    /// A longer time between two inputs is a mistake in the recording: a running daemon records the clock and its buttons.
    private static let longestPause = Duration.seconds(400 * 86_400)
    /// The longest time by which the house goes on after the last input.
    private static let rest = Duration.seconds(60)
    private static let maximumAnswerCount = 100_000

    private var hub: Hub
    private var clock: (utc: UTCTime, at: Instant)
    private var now = Instant(nanoseconds: 0)
    private var timer: Instant?
    private var jobs = ReplayedJobs()
    /// Inputs that answer the hub's effects at this instant.
    private var answers: [Hub.Input] = []
    /// The load of rules that the hub waits for.
    private var load: JobID?
    /// The state of rules that was stored so far, which a restart of the daemon would restore.
    private(set) var stored: RuleState
    private var isStopped = false
    private var moments: [Moment] = []

    init(_ header: RecordingHeader, rules: RuleSet) {
        hub = Hub(replaying: header, rules: rules)
        hub.collectRuleTrace()
        clock = (header.startedAt, now)
        stored = header.stored.rules
        _ = hub.handle(.controlLine(ReplayRun.watcher, Array(#"{"request":"watch"}"#.utf8)), at: now)
    }

    /// The time of the latest input.
    var time: UTCTime { clock.utc.advanced(from: clock.at, to: now) }

    /// The topics of messages that a state reads.
    func isState(_ topicName: String) -> Bool { hub.isState(topicName) }
    func redacted(_ text: String) -> String { hub.redacted(text) }

    /// - Parameter rules: the set to load, if the input is the end of a load without errors; `nil`: the set stays.
    mutating func take(_ recorded: RecordedInput, rules: RuleSet?) throws(Failure) -> [Moment] {
        // The clock, which is repeated with the time at which it was set, may have been set years before the segment began.
        let isNear =
            recorded.isRepeated || now == Instant(nanoseconds: 0) || recorded.at - now < Self.longestPause
        guard recorded.at >= now, isNear else { throw .badTime }
        for job in recorded.started { jobs.recorded(job, at: recorded.at) }
        // The header of a segment already contains the effects of the inputs that the segment repeats, so no timer is
        // fired between them.
        if recorded.isRepeated { now = recorded.at } else { try advance(to: recorded.at) }
        if case .wallClock(let utc) = recorded.input { clock = (utc, now) }
        switch recorded.input {
        case .jobEnded(let id, let result):
            guard let end = jobs.ended(id, result) else { break }
            if Redaction.hasMark(String(decoding: result.received, as: UTF8.self)), case .jobEnded(let job, _) = end {
                note([], assuming: job)
            }
            try handle(end)
        case .rulesLoaded: if let rules { try reload(rules) }
        case .timerFired where !recorded.hasReports: break
        case .published, .publishFailed, .synced, .recordFailed, .reserveFault, .ringFault, .historyFault,
            .subscriptionRefused, .subscriptionGranted, .messageDropped, .reloadRules, .firmwareRead, .logLevel, .flicd,
            .clientGone,
            .brokerAddress, .uplink:
            break
        case .stop:
            isStopped = true
            try handle(.stop)
        case .start, .wallClock, .transportOpened, .busOpened, .transportClosed, .received, .bus, .goOn, .entropy,
            .source,
            .timerFired, .brokerConnected, .brokerDisconnected, .brokerSentMalformedPacket, .messageReceived,
            .firmwareFiles, .controlLine, .expiringMessageReceived:
            note(hub.replay(recorded))
            try answer()
        }
        defer { moments = [] }
        return moments
    }

    /// Lets time pass after the last input, for clicks that wait and rules that have not ended.
    ///
    /// | the process              | the house goes on                                                                |
    /// |--------------------------|----------------------------------------------------------------------------------|
    /// | ended in order           | not at all                                                                       |
    /// | runs                     | until now, because nothing later has happened                                    |
    /// | was killed and restarted | until no rule runs and no press waits, if nothing of that was left for the next  |
    /// |                          | start: all of it had then happened before the kill. Otherwise not at all         |
    /// | is unknown               | not at all, because it may have been killed right after the last input           |
    ///
    /// It never goes on for more than a minute, because inputs may be missing after the last one if the disk was full then.
    mutating func finish(_ end: HistoryFiles.End) throws(Failure) -> [Moment] {
        guard !isStopped else { return [] }
        switch end {
        case .running(let limit): try advance(to: instant(of: limit))
        case .restarted(let next):
            guard next.stored.isIdle else { return [] }
            let awaitsPresses = next.stored.buttons.allSatisfy(\.recogniser.isEmpty)
            try advance(to: instant(of: next.startedAt)) { house in
                !house.hub.isBetweenRuns || awaitsPresses && house.hub.hasUndecidedPress
            }
        case .unknown: break
        }
        defer { moments = [] }
        return moments
    }

    /// The instant of a time, not before now, and within `rest`.
    private func instant(of time: UTCTime) -> Instant {
        now + min(Self.rest, max(.zero, time.duration(since: self.time)))
    }

    // MARK: Time

    private mutating func advance(
        to end: Instant, while isNeeded: (ReplayedHouse) -> Bool = { _ in true }
    ) throws(Failure) {
        try answer()
        while let next = [timer, jobs.nextDeadline].compactMap(\.self).min(), next <= end, isNeeded(self) {
            now = max(now, next)
            // An unknown result comes before the end of its step's time limit, which is at the same instant.
            if jobs.nextDeadline == next {
                for (job, end) in jobs.takeUnknown(at: now) {
                    note([], assuming: job)
                    try handle(end)
                }
            } else {
                timer = nil
                try handle(.timerFired)
            }
        }
        now = end
    }

    private mutating func handle(_ input: Hub.Input) throws(Failure) {
        note(hub.handleCompletely(input, at: now))
        try answer()
    }

    private mutating func answer() throws(Failure) {
        var count = 0
        while !answers.isEmpty {
            let inputs = answers
            answers = []
            count += inputs.count
            guard count < Self.maximumAnswerCount else { throw .endless }
            for input in inputs { note(hub.handleCompletely(input, at: now)) }
        }
    }

    private mutating func reload(_ rules: RuleSet) throws(Failure) {
        if load == nil { try handle(.reloadRules) }
        guard let id = load else { return }
        load = nil
        try handle(.rulesLoaded(id, RuleLoadReport(set: rules)))
    }

    // MARK: Effects

    private mutating func note(_ effects: [Hub.Effect], assuming job: JobID? = nil) {
        var moment = Moment(time: time)
        for effect in effects {
            switch effect {
            case .broadcast(let clients, let line): if clients.contains(ReplayRun.watcher) { moment.lines.append(line) }
            case .setTimer(let deadline): timer = deadline
            case .cancelTimer: timer = nil
            case .publish(let id, _, _): answers.append(.published(id))
            case .record(_, let changes):
                for case .rules(let change) in changes { stored.apply(change) }
            case .sync(let token): answers.append(.synced(token, true))
            case .startJob(let id, let job):
                guard let recorded = hub.recordedJob(effect) else { break }
                let end = jobs.started(id, job.kind, recorded.fingerprint, until: hub.deadline(of: id), at: now)
                if let end { answers.append(end) }
            case .cancelJob(let id, let kind):
                jobs.cancelled(id)
                if let result = kind.resultWhenCancelled { answers.append(.jobEnded(id, result)) }
            case .loadRules(let id, _): load = id
            case .readFirmware(let id, _): answers.append(.firmwareRead(id, .failed("not in a replay")))
            case .needsEntropy, .goOn, .openTransport, .closeTransport, .send, .bus, .source, .subscribe,
                .unsubscribe, .uplink, .discard, .respond, .flicd, .pressSimulated, .log, .setLogLevel, .status,
                .writeMetrics,
                .finish:
                break
            }
        }
        let trace = hub.takeRuleTrace()
        (moment.actions, moment.events, moment.causes) = (trace.actions, trace.events, trace.causes)
        if let job { moment.assumed.append(job) }
        if !moment.lines.isEmpty || !moment.actions.isEmpty || job != nil { moments.append(moment) }
    }
}

extension StoredState {
    /// True if no run waited for its end, and no kept event for its decision.
    fileprivate var isIdle: Bool { runs.isEmpty && rules.waitingRuns.isEmpty && rules.keptEvents.isEmpty }
}
