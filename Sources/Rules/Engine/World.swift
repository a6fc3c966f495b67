import Almanac
import ButtonModel
import Expressions

/// What runs read and change besides themselves: the set, and the values of everything it declares.
///
/// The engine owns it. A run is handed the world, changes it, and leaves a note in `changed`; what follows from a change
/// is the engine's to do.
struct World: Sendable {
    var set: RuleSet
    /// By the places in `set`. States are `.unknown` until a message came, or their fallback.
    var states: [Value]
    var variables: [Value]
    /// The ages in `buttons` and `rules` are those of the latest `refreshAges`, and only of what some expression asks.
    var buttons: [ButtonFacts]
    var rules: [RuleFacts]
    var brokerIsConnected = false
    /// By the step's key: see `RuleState.cycles`.
    var cycles: [String: CyclePosition] = [:]
    /// `nil` until told.
    var clock: (utc: UTCTime, at: Instant)?
    var clockIsBelievable = true
    /// What runs changed since the engine last looked: it wakes the runs that wait for them, and keeps them.
    var changed: Set<Change> = []
    /// What is down now, of all buttons there are.
    var held: Set<PressSource> = []

    /// When the facts that have ages happened.
    var buttonEvents: [Instant?]
    var ruleStarts: [Instant?]
    /// The buttons and rules whose ages some expression reads.
    private let agedButtons: [Int]
    private let agedRules: [Int]
    private let readsTime, readsSun: Bool

    enum Change: Hashable, Sendable {
        case variable(Int)
        case cycle(String)
        /// By `enable` and `disable`: the engine carries it out.
        case enable(Int, Bool)
    }

    init(_ set: RuleSet) { self.init(PreparedRules(set)) }

    init(_ rules: PreparedRules) {
        let set = rules.set
        self.set = set
        states = set.states.map { $0.fallback ?? .unknown }
        variables = set.variables.map(\.initial)
        buttons = Array(repeating: ButtonFacts(), count: set.buttons.count)
        self.rules = set.rules.map { rule in
            var facts = RuleFacts()
            facts.isEnabled = rule.isEnabled
            return facts
        }
        buttonEvents = Array(repeating: nil, count: set.buttons.count)
        ruleStarts = Array(repeating: nil, count: set.rules.count)
        agedButtons = rules.agedButtons
        agedRules = rules.agedRules
        readsTime = rules.readsTime
        readsSun = rules.readsSun
    }

    /// Whether this button, or this part of it, is down. An empty part means any.
    func isHeld(_ button: ButtonID?, part: String = "") -> Bool {
        guard let button else { return false }
        return held.contains { $0.button == button && (part.isEmpty || $0.part?.rawValue == part) }
    }

    /// Whether what began this is still down.
    func isHeld(_ occurrence: Occurrence) -> Bool { isHeld(occurrence.button, part: occurrence.facts.part) }

    /// Brings the ages in `buttons` and `rules` up to now, in place: a snapshot then shares the arrays.
    mutating func refreshAges(at now: Instant) {
        for index in agedButtons { buttons[index].lastEventAge = buttonEvents[index].map { now - $0 } }
        for index in agedRules { rules[index].lastRunAge = ruleStarts[index].map { now - $0 } }
    }
}

// MARK: - Time

extension World {
    /// The wall clock at a moment of ours, unless it cannot be right.
    var believableClock: (utc: UTCTime, at: Instant)? { clockIsBelievable ? clock : nil }

    func wallClock(at now: Instant) -> UTCTime {
        guard let clock else { return UTCTime(milliseconds: 0) }
        return clock.utc + (now - clock.at)
    }

    /// RFC 3339 in the set's zone, as `trigger.at` has it.
    func timeStamp(_ time: UTCTime) -> String { set.timeZone.timeStamp(at: time) }

    /// What an expression sees at this moment.
    ///
    /// - Parameter time: of `now` and `sun`; in a rule's conditions that of the press.
    func environment(for facts: TriggerFacts, time: UTCTime, at now: Instant) -> Environment {
        var environment = Environment()
        environment.trigger = facts
        environment.states = states
        environment.variables = variables
        environment.buttons = buttons
        environment.rules = rules
        if readsTime { environment.now = set.timeZone.localTime(at: time) }
        environment.clockIsBelievable = clock != nil && clockIsBelievable
        if readsSun, let location = set.location { environment.sun = location.sun(at: time, in: set.timeZone) }
        environment.brokerIsConnected = brokerIsConnected
        return environment
    }
}

// MARK: - Variables

extension World {
    /// Assigns what fits: clamped to `min` and `max`.
    ///
    /// - Throws: R803 for a value that is not among `values`, or of another type.
    mutating func assign(_ value: Value, to variable: Int) throws(EvaluationFailure) {
        guard set.variables.indices.contains(variable), variables.indices.contains(variable) else { return }
        let declared = set.variables[variable]
        guard let fitting = declared.fitting(value) else {
            let written = value.text ?? "what is unknown"
            throw EvaluationFailure(
                .conversion, 0..<0, "\(declared.name) cannot be \(written): \(declared.expectation)")
        }
        guard variables[variable] != fitting else { return }
        variables[variable] = fitting
        changed.insert(.variable(variable))
    }
}

extension DeclaredVariable {
    /// The value as this variable holds it: of its type, clamped. `nil` where it cannot.
    func fitting(_ value: Value) -> Value? {
        guard let converted = value.converted(to: type) else { return nil }
        let clamped = clamped(converted)
        guard values.isEmpty || values.contains(where: { $0.isSame(as: clamped) }) else { return nil }
        return clamped
    }

    private func clamped(_ value: Value) -> Value {
        switch value {
        case .number(var number):
            if let minimum { number = max(number, minimum) }
            if let maximum { number = min(number, maximum) }
            return .number(number)
        case .integer(var integer):
            // A bound with a fraction: the nearest whole number inside; one out of reach of Int64 binds nothing.
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
    /// A whole number is taken where a number is wanted; everything else keeps to its type.
    fileprivate func converted(to type: ExpressionType.Scalar) -> Value? {
        switch (self, type) {
        case (.boolean, .boolean), (.integer, .integer), (.string, .string), (.duration, .duration): self
        case (.number(let number), .number): number.isFinite ? self : nil
        case (.integer(let integer), .number): .number(Double(integer))
        case (.unknown, _), (.boolean, _), (.integer, _), (.number, _), (.string, _), (.duration, _), (.list, _): nil
        }
    }
}

/// Where presses come from: a button, or one part of it.
struct PressSource: Hashable, Sendable {
    var button: ButtonID
    var part: ButtonPart?

    /// A button has few parts.
    func hash(into hasher: inout Hasher) { hasher.combine(button) }
}
