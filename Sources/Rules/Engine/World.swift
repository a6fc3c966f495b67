import Almanac
import ButtonModel
import Expressions

/// The rule set and the values of all its declarations.
///
/// The engine owns it and passes it to a run, which reads and changes it. The run records its changes in `changed`, and
/// the engine then carries out their consequences.
struct World: Sendable {
    var set: RuleSet
    /// The values of states, by index in `set`. Until a message is received, the value of a state is its fallback, or else `.unknown`.
    var states: [Value]
    var variables: [Value]
    /// Ages in `buttons` and `rules` are as of the last `refreshAges`, and only present if an expression reads them.
    var buttons: [ButtonFacts]
    var rules: [RuleFacts]
    var brokerIsConnected = false
    /// True if events do not start runs now, and this engine may go on. The owner holds all actions until then, so a run waits for
    /// each of its messages: a run that has ended could not be interrupted any more if its press is given up.
    var isPaused = false
    /// The positions of cycles, by the keys of `RuleState.cycles`.
    var cycles: [String: CyclePosition] = [:]
    /// The wall clock time at an instant; `nil` until it is set.
    var clock: (utc: UTCTime, at: Instant)?
    var clockIsPlausible = true
    /// The numbers of the function `random`.
    var draws = RandomDraws()
    /// How late the present timer has fired; zero for another input. In a replay, each timer fires exactly at its deadline.
    var lateness = Duration.zero
    /// The changes that the engine has not yet stored and reported.
    var changed: Set<Change> = []
    /// The buttons and parts that are down now, including undeclared buttons.
    var held: Set<PressSource> = []

    /// The instants from which ages are computed.
    var buttonEvents: [Instant?]
    var ruleStarts: [Instant?]
    /// The buttons and rules whose ages are read by expressions.
    private let agedButtons: [Int]
    private let agedRules: [Int]
    private let readsTime, readsSun: Bool

    enum Change: Hashable, Sendable {
        case variable(Int)
        case cycle(String)
        /// A rule that an `enable` or `disable` step wants to change; the engine changes it.
        case enable(Int, Bool)
        /// A rule whose runs a `cancel` step ends.
        case cancel(Int)
    }

    init(_ set: RuleSet) { self.init(PreparedRules(set)) }

    init(_ rules: PreparedRules) {
        let set = rules.set
        self.set = set
        states = set.states.map(\.fallback)
        variables = set.variables.map(\.initial)
        buttons = Array(repeating: ButtonFacts(), count: set.buttons.count)
        self.rules = rules.ruleFacts
        buttonEvents = Array(repeating: nil, count: set.buttons.count)
        ruleStarts = Array(repeating: nil, count: set.rules.count)
        agedButtons = rules.agedButtons
        agedRules = rules.agedRules
        readsTime = rules.readsTime
        readsSun = rules.readsSun
    }

    /// True if the button is down. `part` limits this to one part of the button; `nil` means any part.
    func isHeld(_ button: ButtonID?, part: ButtonPart? = nil) -> Bool {
        guard let button else { return false }
        return held.contains { $0.button == button && (part == nil || $0.part == part) }
    }

    /// True if the button or part that caused the run is still down.
    func isHeld(_ cause: RunCause) -> Bool { isHeld(cause.button, part: cause.facts.part) }

    /// Updates the ages in `buttons` and `rules` in place. Snapshots taken afterwards share the arrays.
    mutating func refreshAges(at now: Instant) {
        for index in agedButtons { buttons[index].lastEventAge = buttonEvents[index].map { now - $0 } }
        for index in agedRules { rules[index].lastRunAge = ruleStarts[index].map { now - $0 } }
    }
}

// MARK: - Time

extension World {
    /// The wall clock time at an instant; `nil` if the clock is implausible.
    var plausibleClock: (utc: UTCTime, at: Instant)? { clockIsPlausible ? clock : nil }

    func wallClock(at now: Instant) -> UTCTime {
        guard let clock else { return UTCTime(milliseconds: 0) }
        return clock.utc.advanced(from: clock.at, to: now)
    }

    /// The time in RFC 3339 format in the set's time zone, as in `trigger.at`.
    func timeStamp(_ time: UTCTime) -> String { set.timeZone.timeStamp(at: time) }

    /// The values that an expression reads now.
    ///
    /// - Parameter time: the time for `now` and `sun`; for a rule's conditions, the time of the press.
    func environment(for facts: TriggerFacts, time: UTCTime, at now: Instant) -> EvaluationContext {
        var environment = EvaluationContext()
        environment.trigger = facts
        environment.states = states
        environment.variables = variables
        environment.buttons = buttons
        environment.rules = rules
        if readsTime { environment.now = set.timeZone.localTime(at: time) }
        environment.clockIsPlausible = clock != nil && clockIsPlausible
        if readsSun, let coordinates = set.coordinates { environment.sun = coordinates.sun(at: time, in: set.timeZone) }
        environment.brokerIsConnected = brokerIsConnected
        environment.draws = draws
        return environment
    }
}

// MARK: - Random numbers

extension World {
    /// Begins the random numbers of an input. They depend only on the wall clock time of the input, so that a recording,
    /// which contains the times of all inputs, replays to the same numbers. Inputs at the same time share a sequence.
    mutating func beginDraws(at now: Instant) {
        lateness = .zero
        guard let clock else { return }
        draws.begin(milliseconds: clock.utc.milliseconds, nanoseconds: now.nanoseconds(since: clock.at))
    }
}

extension World {
    /// Begins the random numbers of a timer. A history does not contain timers, and a replay fires them exactly at their
    /// deadlines, so the numbers depend on the deadline and not on the time at which the timer fired. They are other numbers than
    /// those of an input at the deadline, because a deadline may be the time of the input that has set it.
    mutating func beginDraws(of deadline: Instant, at now: Instant) {
        lateness = max(.zero, now - deadline)
        guard let clock else { return }
        let nanoseconds = min(deadline, now).nanoseconds(since: clock.at)
        draws.begin(milliseconds: clock.utc.milliseconds, nanoseconds: nanoseconds.addingSaturating(1))
    }
}

// MARK: - Variables

extension World {
    /// Assigns a value, clamped to `min` and `max`.
    ///
    /// - Throws: R803 for a value of another type, or that is not among `values`.
    mutating func assign(_ value: Value, to variable: Int) throws(EvaluationFailure) {
        guard set.variables.indices.contains(variable), variables.indices.contains(variable) else { return }
        let declared = set.variables[variable]
        guard let fitting = declared.permitted(value) else {
            let written = value.text ?? "an unknown value"
            throw EvaluationFailure(
                .conversion, 0..<0, "\(declared.name) cannot be \(written): \(declared.expectation)")
        }
        guard variables[variable] != fitting else { return }
        variables[variable] = fitting
        changed.insert(.variable(variable))
    }
}

extension DeclaredVariable {
    /// The value converted to the variable's type and clamped; `nil` if it is not permitted.
    func permitted(_ value: Value) -> Value? {
        guard let converted = value.converted(to: type) else { return nil }
        let clamped = clamped(converted)
        guard values.isEmpty || values.contains(where: { $0.isEqual(to: clamped) }) else { return nil }
        return clamped
    }

    private func clamped(_ value: Value) -> Value {
        switch value {
        case .number(var number):
            if let minimum { number = max(number, minimum) }
            if let maximum { number = min(number, maximum) }
            return .number(number)
        case .integer(var integer):
            // A fractional bound is rounded to the nearest whole number inside the range; a bound beyond Int64 has no
            // effect.
            if let minimum, let bound = Int64(exactly: minimum.rounded(.up)) { integer = max(integer, bound) }
            if let maximum, let bound = Int64(exactly: maximum.rounded(.down)) { integer = min(integer, bound) }
            return .integer(integer)
        case .unknown, .boolean, .string, .duration, .list: return value
        }
    }

    fileprivate var expectation: String {
        guard values.isEmpty else {
            return "it must be one of " + values.map { $0.text ?? "" }.joined(separator: ", ")
        }
        return "it is declared as \(type.rawValue)"
    }
}

extension Value {
    /// Converts an integer to a number where a number is required; other types are not converted.
    fileprivate func converted(to type: ExpressionType.Scalar) -> Value? {
        switch (self, type) {
        case (.boolean, .boolean), (.integer, .integer), (.string, .string), (.duration, .duration): self
        case (.number(let number), .number): number.isFinite ? self : nil
        case (.integer(let integer), .number): .number(Double(integer))
        case (.unknown, _), (.boolean, _), (.integer, _), (.number, _), (.string, _), (.duration, _), (.list, _): nil
        }
    }
}

/// The source of presses: a button, or a part of it.
struct PressSource: Hashable, Sendable {
    var button: ButtonID
    var part: ButtonPart?

    /// Hashes only the button: a button has few parts, so collisions are rare.
    func hash(into hasher: inout Hasher) { hasher.combine(button) }
}
