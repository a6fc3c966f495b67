/// What happens, and when.
package struct Rule: Hashable, Sendable {
    package enum Mode: String, CaseIterable, Hashable, Sendable {
        /// While a run goes on, another match is dropped.
        case single
        /// The run that goes on is cancelled.
        case restart
        /// Runs follow one another.
        case queued
        /// Runs go side by side.
        case parallel
    }

    /// What `mode`, `cooldown` and `rate_limit` count by.
    package enum Scope: String, CaseIterable, Hashable, Sendable {
        case rule, button
    }

    /// At most so many in so long, a sliding window.
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

    /// Unique in a set.
    package var id: String
    /// What people call it.
    package var alias: String?
    package var isEnabled: Bool
    package var triggers: [Trigger]
    /// All must hold.
    package var conditions: [Condition]
    package var steps: [Step]
    package var mode: Mode
    /// Running and waiting together, 1…100; 1 for `single` and `restart`.
    package var maximum: Int
    package var scope: Scope
    /// `nil`: the button's, then the set's.
    package var queued: QueuedPolicy?
    package var cooldown: Duration
    package var rateLimit: Rate
    package var isFallback: Bool
    package var onError: [Step]
    package var onRestart: AfterRestart
    package var isDryRun: Bool
    /// How many results its own steps save: slots 0..<resultCount.
    package var resultCount: Int
    /// The same for two rules of the same content, scripts they call included, wherever they stand.
    package var fingerprint: String
    package var place: Place

    package init(
        id: String, alias: String? = nil, isEnabled: Bool = true, triggers: [Trigger], conditions: [Condition] = [],
        steps: [Step], mode: Mode = .single, maximum: Int = 1, scope: Scope = .rule, queued: QueuedPolicy? = nil,
        cooldown: Duration = .zero, rateLimit: Rate = .standard, isFallback: Bool = false, onError: [Step] = [],
        onRestart: AfterRestart = .drop, isDryRun: Bool = false, resultCount: Int = 0, fingerprint: String = "",
        place: Place = Place()
    ) {
        self.id = id
        self.alias = alias
        self.isEnabled = isEnabled
        self.triggers = triggers
        self.conditions = conditions
        self.steps = steps
        self.mode = mode
        self.maximum = maximum
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
        self.place = place
    }
}
