package import ButtonModel
package import Expressions

/// What of the rules outlives the process.
package struct RuleState: Hashable, Sendable {
    /// By name.
    package var variables: [String: Value]
    /// By rule id and step path: `kitchen_scenes/actions[0].cycle`; in a script by the script's path alone.
    package var cycles: [String: CyclePosition]
    /// By rule id.
    package var enabled: [String: EnabledOverride]
    package var cooldowns: [Cooldown]
    /// Runs that waited in a `delay` or `wait` of a rule with `on_restart: resume`, in the order of their ids.
    package var waiting: [WaitingRun]

    package init(
        variables: [String: Value] = [:], cycles: [String: CyclePosition] = [:],
        enabled: [String: EnabledOverride] = [:], cooldowns: [Cooldown] = [], waiting: [WaitingRun] = []
    ) {
        self.variables = variables
        self.cycles = cycles
        self.enabled = enabled
        self.cooldowns = cooldowns
        self.waiting = waiting
    }
}

package struct CyclePosition: Hashable, Sendable {
    /// The entry that is next.
    package var next: Int
    /// When it was moved last, for `reset_after`.
    package var at: UTCTime

    package init(next: Int, at: UTCTime) {
        self.next = next
        self.at = at
    }
}

/// What was set at run time. It holds until the value in the file changes.
package struct EnabledOverride: Hashable, Sendable {
    package var isEnabled: Bool
    /// What the file said when it was set.
    package var inFile: Bool

    package init(isEnabled: Bool, inFile: Bool) {
        self.isEnabled = isEnabled
        self.inFile = inFile
    }
}

package struct Cooldown: Hashable, Sendable {
    package var rule: String
    /// With `scope: button`.
    package var button: ButtonID?
    package var endsAt: UTCTime

    package init(rule: String, button: ButtonID? = nil, endsAt: UTCTime) {
        self.rule = rule
        self.button = button
        self.endsAt = endsAt
    }
}

/// A run as it waited.
package struct WaitingRun: Hashable, Sendable {
    package var run: RunID
    package var rule: String
    /// Of the rule then; with another one it is not resumed.
    package var fingerprint: String
    package var occurrence: Occurrence
    /// When the wait would have ended; a run overdue by more than ten minutes is not resumed.
    package var endsAt: UTCTime
    /// Where it was and what it had, in the run's own notation.
    package var saved: String

    package init(
        run: RunID, rule: String, fingerprint: String, occurrence: Occurrence, endsAt: UTCTime, saved: String
    ) {
        self.run = run
        self.rule = rule
        self.fingerprint = fingerprint
        self.occurrence = occurrence
        self.endsAt = endsAt
        self.saved = saved
    }
}

/// One thing to keep. Each case says a final value.
package enum RuleStateChange: Hashable, Sendable {
    case variable(String, Value?)
    case cycle(String, CyclePosition?)
    case enabled(rule: String, EnabledOverride?)
    case cooldown(Cooldown)
    /// `nil`: it waits no longer.
    case waiting(RunID, WaitingRun?)
}
