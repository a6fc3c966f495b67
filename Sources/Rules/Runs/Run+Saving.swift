import ButtonModel
import Expressions
import JSON

/// Encoding of a waiting run as JSON, and decoding after a restart.
///
///     {"wait": "delay", "frames": [["actions", 2], ["branch", 0, 1]], "locals": [{"results": [], "inputs": []}],
///      "next": 3, "left": 300000000000, "elapsed": 120000000000, "delayed": 300000000000,
///      "started": 1768475700000, "dry": false}
///
/// Durations are in nanoseconds, the wall clock is in milliseconds. If any part cannot be decoded, because a later
/// version wrote it or the store is damaged, the whole run is discarded.
extension Run {
    /// The maximum length of the JSON in octets. A run with larger results is not saved.
    static let maximumSavedLength = 1 << 20

    /// The encoded run, if it waits in `delay`, `wait` or `wait_for`; otherwise `nil`.
    func saved(in world: World, at now: Instant) -> WaitingRun? {
        let (kind, until): (SavedWait, Instant)
        var awaited: EventWait?
        switch waiting {
        case .delay(let instant): (kind, until) = (.delay, instant)
        case .condition(_, let instant, _): (kind, until) = (.wait, instant)
        case .event(let wait):
            (kind, until) = (.waitFor, wait.until)
            awaited = wait
        case nil, .result, .retry, .tick: return nil
        }
        guard world.set.rules.indices.contains(rule) else { return nil }
        var members: [JSONValue.Member] = [
            .init("wait", .string(kind.rawValue)),
            .init("frames", .array(frames.map { $0.saved(at: now) })),
            .init("locals", .array(locals.map(\.saved))),
            .init("next", .integer(Int64(nextStep))),
            .init("left", .integer(max(.zero, until - now).nanoseconds)),
            .init("elapsed", .integer((now - startedAt).nanoseconds)),
            .init("delayed", .integer(delayed.nanoseconds)),
            .init("started", .integer(trace.startedAt.milliseconds)),
            .init("dry", .bool(isDryRun)),
        ]
        if let error {
            members.append(.init("error", .array([.string(error.code), .string(error.message), .string(error.step)])))
        }
        if let awaited {
            members.append(.init("waited", .integer((now - awaited.since).nanoseconds)))
            members.append(.init("seen", awaited.savedSeen))
        }
        let saved = JSONValue.object(members).description
        guard saved.utf8.count <= Run.maximumSavedLength else { return nil }
        return WaitingRun(
            run: id, rule: trace.rule, fingerprint: world.set.rules[rule].fingerprint, cause: cause,
            endsAt: world.wallClock(at: now) + (until - now), saved: saved)
    }

    /// Decodes a run that `saved` encoded, whose wait then lasts another `remaining`, or has ended that long ago if it is
    /// negative; `nil` if it cannot be decoded.
    ///
    /// The time since the run was saved counts as elapsed time of the run. Buttons may have been released since, so a
    /// `while: held` repeat ends after its current iteration. The condition of a `wait` may have become true, so it is
    /// evaluated immediately.
    init?(_ waiting: WaitingRun, rule: Int, remaining: Duration, in world: World, at now: Instant) {
        guard world.set.rules.indices.contains(rule), world.set.rules[rule].id == waiting.rule,
            world.set.rules[rule].fingerprint == waiting.fingerprint,
            let saved = try? JSONValue(parsing: waiting.saved), let isDryRun = saved["dry"]?.boolValue,
            let started = saved["started"]?.integerValue, let left = saved["left"]?.duration,
            let elapsed = saved["elapsed"]?.duration,
            let delayed = saved["delayed"]?.duration, delayed <= StepValues.longestDelay,
            let next = saved["next"]?.integerValue, let nextStep = Int(exactly: next),
            (0...Int.max / 2).contains(nextStep),
            let savedFrames = saved["frames"]?.arrayValue, let savedLocals = saved["locals"]?.arrayValue
        else { return nil }
        self.init(waiting.run, rule: rule, waiting.cause, isDryRun: isDryRun, in: world, at: now)
        // If the wall clock was set back, the wait must not become longer.
        let remaining = min(remaining, left)
        let keptAt = now - (left - remaining)
        startedAt = keptAt - elapsed
        addedAt = startedAt
        trace.startedAt = UTCTime(milliseconds: started)
        self.delayed = delayed
        self.nextStep = nextStep
        frames = savedFrames.compactMap { Frame(saved: $0, at: keptAt) }
        locals = savedLocals.compactMap { Locals(saved: $0) }
        guard frames.count == savedFrames.count, locals.count == savedLocals.count,
            locals.count == 1 + frames.count(where: { $0.part == .script }), let step = currentStep(in: world)
        else { return nil }
        if let error = saved["error"] {
            guard let texts = error.arrayValue?.map(\.stringValue), texts.count == 3, let code = texts[0],
                let message = texts[1], let name = texts[2]
            else { return nil }
            self.error = ErrorFacts(code: code, message: message, step: name)
        }
        guard (error != nil) == (frames.first?.part == .onError) else { return nil }

        let until = now + max(.zero, remaining)
        guard let kind = saved["wait"]?.stringValue.flatMap(SavedWait.init(rawValue:)), kind == SavedWait(step.action)
        else { return nil }
        switch kind {
        case .delay: self.waiting = .delay(until: until)
        case .wait: self.waiting = .condition(since: now, until: until, nextEvaluation: now)
        case .waitFor:
            // A press while the program was stopped counts, if the button delivers it in time.
            guard let waited = saved["waited"]?.duration, case .waitFor(let step) = step.action else { return nil }
            var wait = EventWait(since: keptAt - waited, until: now + remaining)
            guard wait.readSeen(saved["seen"], step.triggers) else { return nil }
            wait.plan(step.triggers, in: world, at: now)
            self.waiting = .event(wait)
        }
        let time = DurationText.text(milliseconds: max(.zero, remaining).milliseconds)
        note(step, "continues after a restart, \(time) left", at: now)
        release()
    }
}

/// The steps whose wait is saved. The raw value is the step's name in the JSON.
private enum SavedWait: String {
    case delay
    case wait
    case waitFor = "wait_for"

    /// - Returns: `nil` for steps that wait only for a result, which a restart does not bring back, or that do not wait.
    init?(_ action: StepAction) {
        switch action {
        case .delay: self = .delay
        case .wait: self = .wait
        case .waitFor: self = .waitFor
        case .perform, .set, .cycle, .repeat, .choose, .script, .enable, .cancel, .log, .stop: return nil
        }
    }
}

extension Frame {
    /// The maximum of all decoded counts and positions.
    private static let maximumCount: Int64 = 1 << 30

    fileprivate func saved(at now: Instant) -> JSONValue {
        let position = JSONValue.integer(Int64(position))
        switch part {
        case .actions: return ["actions", position]
        case .onError: return ["on_error", position]
        case .branch(let index): return ["branch", position, .integer(Int64(index))]
        case .otherwise: return ["otherwise", position]
        case .entry(let index): return ["entry", position, .integer(Int64(index))]
        case .script: return ["script", position]
        case .iteration(let repetition):
            return [
                "iteration", position, .integer(repetition.index), .integer(repetition.tick),
                .integer((now - repetition.startedAt).nanoseconds), .bool(repetition.isWhileHeld),
                .bool(repetition.isReleased),
            ]
        }
    }

    fileprivate init?(saved: JSONValue, at now: Instant) {
        guard let fields = saved.arrayValue, let kind = fields.first?.stringValue,
            let position = Frame.count(fields, 1)
        else { return nil }
        self.init(part: .actions, position: Int(position))
        switch (kind, fields.count) {
        case ("actions", 2): part = .actions
        case ("on_error", 2): part = .onError
        case ("otherwise", 2): part = .otherwise
        case ("script", 2): part = .script
        case ("branch", 3):
            guard let index = Frame.count(fields, 2) else { return nil }
            part = .branch(Int(index))
        case ("entry", 3):
            guard let index = Frame.count(fields, 2) else { return nil }
            part = .entry(Int(index))
        case ("iteration", 7):
            guard let index = Frame.count(fields, 2), let tick = Frame.count(fields, 3),
                let elapsed = fields[4].duration, let isWhileHeld = fields[5].boolValue,
                let isReleased = fields[6].boolValue
            else { return nil }
            part = .iteration(
                Repetition(
                    startedAt: now - elapsed, index: index, tick: tick, isWhileHeld: isWhileHeld,
                    isReleased: isReleased))
        default: return nil
        }
    }

    private static func count(_ fields: [JSONValue], _ index: Int) -> Int64? {
        guard fields.indices.contains(index), let count = fields[index].integerValue else { return nil }
        return (0...maximumCount).contains(count) ? count : nil
    }
}

extension Locals {
    fileprivate var saved: JSONValue {
        ["results": .array(results.map { $0?.saved ?? .null }), "inputs": .array(inputs.map(\.saved))]
    }

    fileprivate init?(saved: JSONValue) {
        guard let results = saved["results"]?.arrayValue, results.count <= Locals.maximumResults,
            let inputs = saved["inputs"]?.arrayValue
        else { return nil }
        self.init(resultCount: 0)
        for result in results {
            if result == .null {
                self.results.append(nil)
            } else {
                guard let facts = ResultFacts(saved: result) else { return nil }
                self.results.append(facts)
            }
        }
        for input in inputs {
            guard let value = Value(saved: input) else { return nil }
            self.inputs.append(value)
        }
    }
}

extension ResultFacts {
    fileprivate var saved: JSONValue {
        [
            .bool(isOK), .integer(status), .string(stdout), .string(stderr), .string(body),
            .integer(duration.nanoseconds), .bool(happened), .string(event), .string(button), .string(triggerID),
        ]
    }

    fileprivate init?(saved: JSONValue) {
        guard let fields = saved.arrayValue, fields.count == 6 || fields.count == 10, let isOK = fields[0].boolValue,
            let status = fields[1].integerValue, let stdout = fields[2].stringValue,
            let stderr = fields[3].stringValue, let body = fields[4].stringValue, let duration = fields[5].duration
        else { return nil }
        self.init()
        self.isOK = isOK
        self.status = status
        self.stdout = stdout
        self.stderr = stderr
        self.body = body
        self.duration = duration
        // Earlier versions stored only the first six fields.
        guard fields.count == 10 else { return }
        guard let happened = fields[6].boolValue, let event = fields[7].stringValue,
            let button = fields[8].stringValue, let triggerID = fields[9].stringValue
        else { return nil }
        self.happened = happened
        self.event = event
        self.button = button
        self.triggerID = triggerID
    }
}

extension Value {
    /// The value together with its type, because JSON does not distinguish `2` from `2.0`, nor a duration from text.
    fileprivate var saved: JSONValue {
        switch self {
        case .unknown: .null
        case .boolean(let value): .bool(value)
        case .string(let text): .string(text)
        case .integer(let value): ["integer", .integer(value)]
        case .number(let value): ["number", .number(value)]
        case .duration(let milliseconds): ["duration", .integer(milliseconds)]
        case .list(let values): ["list", .array(values.map(\.saved))]
        }
    }

    fileprivate init?(saved: JSONValue) {
        switch saved {
        case .null: self = .unknown
        case .bool(let value): self = .boolean(value)
        case .string(let text): self = .string(text)
        case .array(let fields):
            guard fields.count == 2, let kind = fields[0].stringValue else { return nil }
            switch (kind, fields[1]) {
            case ("integer", .integer(let value)): self = .integer(value)
            case ("number", .number(let value)): self = .number(value)
            case ("number", .integer(let value)): self = .number(Double(value))
            case ("duration", .integer(let milliseconds)): self = .duration(milliseconds: milliseconds)
            case ("list", .array(let elements)):
                let values = elements.compactMap { Value(saved: $0) }
                guard values.count == elements.count else { return nil }
                self = .list(values)
            default: return nil
            }
        case .integer, .number, .object: return nil
        }
    }
}

extension JSONValue {
    /// A duration in nanoseconds; `nil` if it is negative.
    fileprivate var duration: Duration? {
        guard let nanoseconds = integerValue, nanoseconds >= 0 else { return nil }
        return .nanoseconds(nanoseconds)
    }
}

extension EventWait {
    /// What has been seen since the step began: the time of day up to which `at` triggers are over, in milliseconds, and the
    /// `state` triggers with `for` whose time goes on, with the value with which it began.
    ///
    ///     [1768475700000, [[1, "door", "open"]]]
    var savedSeen: JSONValue {
        [
            handled.map { .integer($0.milliseconds) } ?? .null,
            .array(counts.map { [.integer(Int64($0.trigger)), .string($0.state), $0.first.saved] }),
        ]
    }

    /// Decodes what `savedSeen` encoded. An earlier version stored nothing.
    ///
    /// - Returns: false if it cannot be decoded.
    fileprivate mutating func readSeen(_ saved: JSONValue?, _ triggers: [Trigger]) -> Bool {
        guard let saved else { return true }
        guard let fields = saved.arrayValue, fields.count == 2, let counts = fields[1].arrayValue,
            counts.count <= EventWait.maximumCounts
        else { return false }
        if fields[0] != .null {
            guard let milliseconds = fields[0].integerValue else { return false }
            // The calendar cannot calculate with a time at the end of its range.
            handled = UTCTime(milliseconds: max(0, milliseconds))
        }
        for count in counts {
            guard let parts = count.arrayValue, parts.count == 3,
                let trigger = parts[0].integerValue.flatMap(Int.init(exactly:)), triggers.indices.contains(trigger),
                case .states(let use) = triggers[trigger].origin, let state = parts[1].stringValue,
                use.states.contains(state), let first = Value(saved: parts[2])
            else { return false }
            self.counts.append(Count(trigger: trigger, state: state, first: first))
        }
        return true
    }
}
