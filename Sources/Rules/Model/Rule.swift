/// A rule: triggers, conditions and steps.
package struct Rule: Hashable, Sendable {
    package enum Mode: String, CaseIterable, Hashable, Sendable {
        /// Drops a match while a run is in progress.
        case single
        /// Cancels the run in progress.
        case restart
        /// Runs one after another.
        case queued
        /// Runs concurrently.
        case parallel
    }

    /// The scope of `mode`, `cooldown` and `rate_limit`: the whole rule, or each of its buttons separately.
    package enum LimitScope: String, CaseIterable, Hashable, Sendable {
        case rule, button
    }

    /// A rate limit: the maximum number of runs in a sliding window.
    package struct Rate: Hashable, Sendable {
        package static let standard = Rate(count: 600, per: .seconds(60))
        package static let largestCount = 10_000
        /// 1…`largestCount`
        package var count: Int
        package var per: Duration

        package init(count: Int, per: Duration) {
            self.count = count
            self.per = per
        }
    }

    package enum AfterRestart: String, CaseIterable, Hashable, Sendable {
        case drop, resume
    }

    /// The id, unique in a set.
    package var id: String
    /// A name for display.
    package var alias: String?
    package var isEnabled: Bool
    package var triggers: [Trigger]
    /// Conditions that must all be true.
    package var conditions: [Condition]
    package var steps: [Step]
    package var mode: Mode
    /// The maximum number of runs in progress and waiting, 1…100; 1 for `single` and `restart`.
    package var maximumRuns: Int
    package var scope: LimitScope
    /// The policy for queued events; if `nil`, that of the button, or else of the set.
    package var queued: QueuedPolicy?
    package var cooldown: Duration
    package var rateLimit: Rate
    package var isFallback: Bool
    package var onError: [Step]
    package var onRestart: AfterRestart
    package var isDryRun: Bool
    /// The number of results that its own steps save, in slots from 0.
    package var resultCount: Int
    /// A hash of the rule's content, including the scripts that it calls, regardless of its location.
    package var fingerprint: String
    package var location: SourceLocation

    package init(
        id: String, alias: String? = nil, isEnabled: Bool = true, triggers: [Trigger], conditions: [Condition] = [],
        steps: [Step], mode: Mode = .single, maximumRuns: Int = 1, scope: LimitScope = .rule,
        queued: QueuedPolicy? = nil,
        cooldown: Duration = .zero, rateLimit: Rate = .standard, isFallback: Bool = false, onError: [Step] = [],
        onRestart: AfterRestart = .drop, isDryRun: Bool = false, resultCount: Int = 0, fingerprint: String = "",
        location: SourceLocation = SourceLocation()
    ) {
        self.id = id
        self.alias = alias
        self.isEnabled = isEnabled
        self.triggers = triggers
        self.conditions = conditions
        self.steps = steps
        self.mode = mode
        self.maximumRuns = maximumRuns
        self.scope = scope
        self.queued = queued
        self.cooldown = cooldown
        self.rateLimit = rateLimit
        self.isFallback = isFallback
        self.onError = onError
        self.onRestart = onRestart
        self.isDryRun = isDryRun
        self.resultCount = resultCount
        self.fingerprint = fingerprint
        self.location = location
    }
}
