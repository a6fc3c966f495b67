package import ButtonModel
package import Expressions
package import Gestures

/// The state of the rules that is stored and survives a restart.
package struct RuleState: Hashable, Sendable {
    /// The values of variables, by name.
    package var variables: [String: Value]
    /// The positions of cycles, by rule id and step path, such as `kitchen_scenes/actions[0].cycle`; in a script only by the step path.
    package var cycles: [String: CyclePosition]
    /// The values of `enabled` that were set at run time, by rule id.
    package var enabled: [String: EnabledOverride]
    package var cooldowns: [Cooldown]
    /// Runs of rules with `on_restart: resume` that waited in a `delay` or `wait`, ordered by id.
    package var waitingRuns: [WaitingRun]
    /// The stored events that `keep: last` has not decided, ordered by button and number.
    package var keptEvents: [KeptEvent]
    /// The times until which daily times were carried out: of variables with `reset`, by name, and of `at` triggers with
    /// `missed`, by `TimeTrigger.key`. Also the times since when values last, of `state` triggers with `for`, by
    /// `StateCounts.Count.storedKey`.
    package var dailyTimes: [String: UTCTime]

    package init(
        variables: [String: Value] = [:], cycles: [String: CyclePosition] = [:],
        enabled: [String: EnabledOverride] = [:], cooldowns: [Cooldown] = [], waitingRuns: [WaitingRun] = [],
        keptEvents: [KeptEvent] = [], dailyTimes: [String: UTCTime] = [:]
    ) {
        self.variables = variables
        self.cycles = cycles
        self.enabled = enabled
        self.cooldowns = cooldowns
        self.waitingRuns = waitingRuns
        self.keptEvents = keptEvents
        self.dailyTimes = dailyTimes
    }
}

package struct CyclePosition: Hashable, Sendable {
    /// The index of the next entry.
    package var next: Int
    /// When the position was last changed, for `reset_after`.
    package var at: UTCTime

    package init(next: Int, at: UTCTime) {
        self.next = next
        self.at = at
    }
}

/// The value of `enabled` that was set at run time. It applies until the value in the file changes.
package struct EnabledOverride: Hashable, Sendable {
    package var isEnabled: Bool
    /// The value in the file when the override was set.
    package var inFile: Bool

    package init(isEnabled: Bool, inFile: Bool) {
        self.isEnabled = isEnabled
        self.inFile = inFile
    }
}

package struct Cooldown: Hashable, Sendable {
    package var rule: String
    /// The button, if the rule has `scope: button`.
    package var button: ButtonID?
    package var endsAt: UTCTime

    package init(rule: String, button: ButtonID? = nil, endsAt: UTCTime) {
        self.rule = rule
        self.button = button
        self.endsAt = endsAt
    }
}

/// A stored run that waits in a `delay` or `wait`.
package struct WaitingRun: Hashable, Sendable {
    package var run: RunID
    package var rule: String
    /// The fingerprint of the rule. The run is not resumed if the rule has another fingerprint.
    package var fingerprint: String
    package var cause: RunCause
    /// When the wait ends. A run that is overdue by more than ten minutes is not resumed.
    package var endsAt: UTCTime
    /// The position and the values of the run, encoded by `Run.saved`.
    package var saved: String

    package init(
        run: RunID, rule: String, fingerprint: String, cause: RunCause, endsAt: UTCTime, saved: String
    ) {
        self.run = run
        self.rule = rule
        self.fingerprint = fingerprint
        self.cause = cause
        self.endsAt = endsAt
        self.saved = saved
    }
}

/// An event that a button had stored, which a rule with `keep: last` has accepted. After a restart it is judged again, by its
/// true age.
package struct KeptEvent: Hashable, Sendable {
    package var rule: String
    /// The fingerprint of the rule. If the rule has another one after a restart, the event is dropped.
    package var fingerprint: String
    /// The index of the trigger in the rule.
    package var trigger: Int
    package var button: ButtonID
    /// Equal for all rules that keep the same event, and larger for a later one.
    package var number: UInt64
    /// Without `trigger.id`.
    package var cause: RunCause
    /// For the end of a hold: how late the hold was reported.
    package var hold: RecognisedEvent.Lateness?

    package init(
        rule: String, fingerprint: String, trigger: Int, button: ButtonID, number: UInt64, cause: RunCause,
        hold: RecognisedEvent.Lateness?
    ) {
        self.rule = rule
        self.fingerprint = fingerprint
        self.trigger = trigger
        self.button = button
        self.number = number
        self.cause = cause
        self.hold = hold
    }
}

/// A change to store. Each case contains the new value, so that repeating it has no effect.
package enum RuleStateChange: Hashable, Sendable {
    case variable(String, Value?)
    case cycle(String, CyclePosition?)
    case enabled(rule: String, EnabledOverride?)
    case cooldown(Cooldown)
    /// `nil` if the run does not wait any more.
    case waiting(RunID, WaitingRun?)
    /// `nil` if the rule keeps no event of the button any more.
    case kept(rule: String, ButtonID, KeptEvent?)
    /// An entry of `RuleState.dailyTimes`; `nil` if the variable or the trigger does not exist any more.
    case daily(String, UTCTime?)
}
