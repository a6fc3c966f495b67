import Almanac
import ButtonModel
import Expressions

/// What runs read and change besides themselves: the set, and the values of everything it declares.
///
/// Part of the interface between the engine, which owns it, and its runs.
struct World: Sendable {
    var set: RuleSet
    /// By the places in `set`. States are `.unknown` until a message came, or their fallback.
    var states: [Value] = []
    var variables: [Value] = []
    var buttons: [ButtonFacts] = []
    var rules: [RuleFacts] = []
    var brokerIsConnected = false
    /// By the step's key: see `RuleState.cycles`.
    var cycles: [String: CyclePosition] = [:]
    /// `nil` until told.
    var clock: (utc: UTCTime, at: Instant)?
    var clockIsBelievable = true
    /// What runs changed since the engine last looked: it wakes the runs that wait for them, and keeps them.
    var changed: Set<Change> = []

    enum Change: Hashable, Sendable {
        case variable(Int)
        case cycle(String)
        /// By `enable` and `disable`: the engine carries it out.
        case enable(Int, Bool)
    }

    init(_ set: RuleSet) { self.set = set }

    func wallClock(at now: Instant) -> UTCTime {
        guard let clock else { return UTCTime(milliseconds: 0) }
        return clock.utc + (now - clock.at)
    }

    /// What an expression sees at this moment.
    ///
    /// - Parameter time: of `now` and `sun`; in a rule's conditions that of the press.
    func environment(for facts: TriggerFacts, time: UTCTime, at now: Instant) -> Environment { Environment() }

    /// Whether a condition holds, and what it saw: `states.lux < 20 is false (states.lux = 31)`. A failure of evaluation is
    /// false with the failure as its reason.
    func verdict(on condition: Condition, in environment: Environment, time: UTCTime) -> (holds: Bool, reason: String, isError: Bool) {
        (false, "", false)
    }

    /// Assigns what fits: clamped to `min` and `max`.
    ///
    /// - Throws: R803 for a value that is not among `values`, or of another type.
    mutating func assign(_ value: Value, to variable: Int) throws(EvaluationFailure) {}
}
