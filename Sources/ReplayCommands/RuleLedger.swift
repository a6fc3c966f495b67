import ButtonModel
import CommandText
import Hub
import JSON
import MQTTTopics
import Rules

/// The deeds of rules for each event of a replay.
struct RuleLedger: Sendable {
    /// An event of a button, or another cause of runs.
    ///
    /// Events of the same press with the same name are equal, even at different times: the time of a press is corrected while its
    /// gesture is undecided, and how long that takes depends on the rules. Events without a press are equal if they have the same
    /// time.
    struct Event: Hashable, Sendable {
        /// The last press of an event.
        struct Press: Hashable, Sendable {
            /// Counts the processes of the replay, because each has its own numbers.
            var process: Int
            var press: RuleTrace.Press
        }

        var at: UTCTime
        /// The id of a button; empty for other causes.
        var button: String
        var name: String
        /// The rule, for a cause other than a button, which has no line of its own.
        var rule = ""
        /// `nil` for an event without a press.
        var press: Press?

        private var key: Key {
            Key(button: button, name: name, rule: rule, press: press, at: press == nil ? at : nil)
        }
        private struct Key: Hashable {
            var button, name, rule: String
            var press: Press?
            var at: UTCTime?
        }

        static func == (left: Self, right: Self) -> Bool { left.key == right.key }
        func hash(into hasher: inout Hasher) { key.hash(into: &hasher) }
    }

    /// The time from the beginning of a run to a deed.
    ///
    /// Two times are equal if they differ only in the waits for programs and web requests. A replay takes the results from the
    /// history and gives them at their times in the history. So a run that starts a program earlier than the history waits longer
    /// for it.
    struct RunTime: Hashable, Sendable {
        var total = Duration.zero
        /// The part of `total` for which the run waited for programs and web requests.
        var waited = Duration.zero

        private var withoutWaits: Duration { total - waited }

        static func == (left: Self, right: Self) -> Bool { left.withoutWaits == right.withoutWaits }
        func hash(into hasher: inout Hasher) { withoutWaits.hash(into: &hasher) }
    }

    /// Something that a rule did.
    struct Deed: Hashable, Sendable {
        var rule: String
        var after = RunTime()
        /// `publish`, `run`, `http`, `log`, `started`, `failed`, `variable`, or the outcome of a rule that did not run.
        var kind: String
        /// The details, redacted.
        var text: String
        /// All values of an action, without the facts of the event, among which is the button's name: a button may have
        /// another name in the other rules. Secrets are placeholders with their names, as everywhere in a replay.
        var aspects: [ActionAspect] = []
        /// True if it depends on the result of a program or of a web request that is unknown, or on a secret in a message.
        var isUncertain = false
        /// The difference from a deed of the other rules with the same `text`, for people: `qos 1`. The comparison sets it.
        var remark = ""

        /// False for a rule that did not run, which only explains what another rule set does.
        var counts = true
    }

    struct Account: Hashable, Sendable {
        var deeds: [Deed] = []
        /// The age of a late press in milliseconds.
        var lateness: Int64?
        /// True for a `down` or an `up`, and for an event that has no line of its own.
        var isMinor = true

        /// True if a result counts the event.
        var isCounted: Bool { !isMinor || deeds.contains(where: \.counts) }
    }

    private struct Run {
        var event: Event
        var rule: String
        var startedAt: UTCTime
        var isUncertain = false
        /// True if it has read a variable, or began with a cycle, whose value depends on an unknown result.
        var hasReadDoubt = false
        /// How long it has waited for programs and web requests, and since when it waits for one. A run has one at a time.
        var waited = Duration.zero
        var waitsSince: UTCTime?

        mutating func goOn(at time: UTCTime) {
            if let since = waitsSince.take() { waited += max(.zero, time.duration(since: since)) }
        }
    }

    private(set) var accounts: [Event: Account] = [:]
    /// The names of the buttons by id.
    private(set) var names: [String: String] = [:]
    /// A step that failed.
    struct StepFailure: Hashable, Sendable {
        var event: Event
        /// The deed with which the account of the event has it.
        var deed: Deed
        var error: StepError
    }

    /// A step of a rule with an error, and the step's place in the file.
    struct StepError: Hashable, Sendable {
        var rule, step: String
        var location: SourceLocation
        /// The code and the message.
        var reason: String

        var text: String { "rule \(rule), \(step) (\(location)): \(reason)" }
        var json: JSONValue {
            .object([.init("message", .string("rule \(rule), \(step): \(reason)"))] + location.members)
        }
    }

    private(set) var failures: [StepFailure] = []
    private var runs: [Int64: Run] = [:]
    private var ids: [String: String] = [:]
    /// The latest event of each button with each name.
    private var latest: [String: Event] = [:]
    /// The runs that have started a job, by the job.
    private var jobs: [JobID: Int64] = [:]
    private var doubt = Doubt()
    /// The number of processes until now.
    private var process = 0

    /// A process begins. Its runs have new numbers.
    ///
    /// - Parameters:
    ///   - stored: the state with which it begins.
    ///   - isRestored: true if the process begins with the variables that this replay has stored, and not with those of
    ///     the history.
    mutating func begin(_ rules: RuleSet, _ stored: RuleState, isRestored: Bool) {
        process += 1
        runs = [:]
        latest = [:]
        jobs = [:]
        if !isRestored { doubt.clear() }
        doubt.begin(hidden: Set(stored.variables.filter { Redaction.hasMark("\($0.value)") }.keys))
        doubt.load(rules)
    }

    /// Other rules are loaded.
    mutating func load(_ rules: RuleSet) { doubt.load(rules) }

    /// A message is received.
    ///
    /// - Returns: the states that read it, if it contains a secret, which is unknown here.
    mutating func received(_ topicName: String, _ payload: [UInt8]) -> [String] {
        let isHidden = Redaction.hasMark(String(decoding: payload, as: UTF8.self))
        let states = doubt.received(topicName, isHidden: isHidden)
        return isHidden ? states : []
    }

    /// - Parameter redacted: hides the secrets of the rules.
    mutating func take(_ moment: ReplayedHouse.Moment, isIgnored: Bool, redacted: (String) -> String) {
        for job in moment.assumed { if let run = jobs.removeValue(forKey: job) { runs[run]?.isUncertain = true } }
        var ended: [(run: Int64, isComplete: Bool)] = []
        var (events, causes) = (moment.events[...], moment.causes[...])
        for line in moment.lines {
            let kind = StreamKind(line)
            if kind == .event { take(event: line, of: &events, at: moment.time, isIgnored) }
            if kind?.isEndOfJob == true, let run = line["run"]?.integerValue {
                runs[run]?.goOn(at: moment.time)
            }
            // Messages, programs, web requests and logs are among the actions of the moment.
            if kind == .variable {
                let run = line["run"]?.integerValue
                if let run { look(at: run) }
                doubt.set(line.text("variable"), isUncertain: run.flatMap { runs[$0]?.isUncertain } ?? false)
                add(
                    "variable", redacted("\(line.text("variable")) = \(line["value"] ?? .null)"),
                    to: run, at: moment.time)
            }
            if kind == .rule {
                let run = line["run"]?.integerValue
                switch line.text("outcome") {
                case "started":
                    let cause = causes.popFirst() ?? nil
                    guard let run else { break }
                    if isIgnored { break }
                    let event = event(of: line, cause, at: moment.time)
                    let rule = line.text("rule")
                    let isUncertain = doubt.concerns(rule)
                    runs[run] = Run(
                        event: event, rule: rule, startedAt: moment.time, isUncertain: isUncertain,
                        hasReadDoubt: isUncertain)
                    accounts[event, default: Account()].deeds.append(
                        Deed(rule: rule, kind: "started", text: "", isUncertain: isUncertain))
                case "step_failed": take(failure: line, of: run, at: moment.time, redacted)
                case "completed": if let run { ended.append((run, true)) }
                case "failed", "cancelled", "interrupted":
                    if line.text("outcome") != "failed" { add(line.text("outcome"), "", to: run, at: moment.time) }
                    if let run { ended.append((run, false)) }
                case let gate:
                    let cause = causes.popFirst() ?? nil
                    guard !isIgnored else { break }
                    let event = event(of: line, cause, at: moment.time)
                    let (rule, reason) = (line.text("rule"), redacted(line.text("reason")))
                    let isBusy =
                        gate == Gate.mode.rawValue && runs.values.contains { $0.rule == rule && $0.isUncertain }
                    accounts[event, default: Account()].deeds.append(
                        Deed(
                            rule: rule, kind: gate, text: reason, isUncertain: isBusy || doubt.concerns(rule),
                            counts: false))
                }
            }
        }
        for action in moment.actions {
            let run = Int64(clamping: action.step.run.rawValue)
            add(
                action.action.kind.rawValue, redacted(action.action.details), action.action.aspects, to: run,
                at: moment.time)
            if let job = action.job {
                jobs[job] = run
                runs[run]?.waitsSince = moment.time
            }
        }
        for (run, isComplete) in ended {
            guard let ended = runs.removeValue(forKey: run) else { continue }
            doubt.ended(
                ended.rule, isUncertain: ended.isUncertain, hasRead: ended.hasReadDoubt, isComplete: isComplete)
        }
    }

    private mutating func take(
        failure line: JSONValue, of run: Int64?, at time: UTCTime, _ redacted: (String) -> String
    ) {
        let reason = "\(line.text("code")) \(line.text("reason"))"
        // The text does not contain the place of the step, which moves when the file is edited. The same failure is
        // therefore equal in both ledgers.
        add("failed", redacted("\(line.text("step")): \(reason)"), to: run, at: time)
        guard let event = run.flatMap({ runs[$0]?.event }), let deed = accounts[event]?.deeds.last else { return }
        let location = SourceLocation(
            file: line.text("file"), line: Int(line["line"]?.integerValue ?? 0),
            column: Int(line["column"]?.integerValue ?? 0))
        let error = StepError(
            rule: line.text("rule"), step: redacted(line.text("step")), location: location, reason: redacted(reason))
        failures.append(StepFailure(event: event, deed: deed, error: error))
    }

    private mutating func add(
        _ kind: String, _ text: String, _ aspects: [ActionAspect] = [], to run: Int64?, at time: UTCTime
    ) {
        guard let run else { return }
        look(at: run)
        // A run that does something no longer waits, for instance because the time limit of its step has ended.
        runs[run]?.goOn(at: time)
        guard let known = runs[run] else { return }
        let after = time.duration(since: known.startedAt)
        accounts[known.event, default: Account()].deeds.append(
            Deed(
                rule: known.rule, after: RunTime(total: after, waited: known.waited), kind: kind, text: text,
                aspects: aspects, isUncertain: known.isUncertain))
    }

    /// A run that goes on reads variables as they are now.
    private mutating func look(at run: Int64) {
        guard let rule = runs[run]?.rule, doubt.concerns(rule) else { return }
        runs[run]?.isUncertain = true
        runs[run]?.hasReadDoubt = true
    }

    /// - Parameter events: the recognised events of the lines that follow.
    private mutating func take(
        event line: JSONValue, of events: inout ArraySlice<RuleTrace.Event>, at time: UTCTime, _ isIgnored: Bool
    ) {
        let (id, label, name) = (line.text("id"), line.text("button"), line.text("event"))
        names[id] = label
        ids[label] = id
        let at = UTCTime(parsing: line.text("at")) ?? time
        // `battery_low` is recognised in no press.
        let isRecognised = events.first.map { $0.button.description == id && $0.name == name } ?? false
        let press = isRecognised ? events.popFirst()?.press : nil
        let event = Event(at: at, button: id, name: name, press: press.map { Event.Press(process: process, press: $0) })
        latest["\(id) \(name)"] = event
        guard !isIgnored else { return }
        if line["queued"]?.boolValue == true {
            accounts[event, default: Account()].lateness = line["age_ms"]?.integerValue
        }
        if RawEvent(rawValue: name) == nil { accounts[event, default: Account()].isMinor = false }
    }

    /// The event that a line about a rule names.
    ///
    /// - Parameter cause: the event that was recognised before the line.
    private func event(of line: JSONValue, _ cause: RuleTrace.Event?, at time: UTCTime) -> Event {
        let name = line.text("event")
        guard let label = line["button"]?.stringValue else {
            return Event(at: time, button: "", name: name, rule: line.text("rule"))
        }
        if let cause, let press = cause.press, cause.name == name,
            ids[label].map({ $0 == cause.button.description }) ?? true
        {
            let id = cause.button.description
            let event = Event(
                at: time, button: id, name: name, rule: cause.isPublished ? "" : line.text("rule"),
                press: Event.Press(process: process, press: press))
            // That of the line has the time that is shown.
            return latest["\(id) \(name)"].flatMap { $0 == event ? $0 : nil } ?? event
        }
        let id = ids[label] ?? label
        return latest["\(id) \(name)"] ?? Event(at: time, button: id, name: name, rule: line.text("rule"))
    }
}
