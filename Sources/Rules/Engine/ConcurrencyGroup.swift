import ButtonModel

/// The scope in which `mode`, `cooldown` and `rate_limit` apply: a rule, or with `scope: button` a rule and a button.
struct ConcurrencyGroupID: Hashable, Comparable, Sendable {
    /// An index in `RuleSet.rules`.
    var rule: Int
    var button: ButtonID?

    static func < (left: ConcurrencyGroupID, right: ConcurrencyGroupID) -> Bool {
        (left.rule, left.button?.rawValue ?? 0) < (right.rule, right.button?.rawValue ?? 0)
    }
}

/// A dial. Each slot of a selector is a separate dial, except while it is pressed, when the dial passes through all
/// slots.
struct TurnSource: Hashable, Sendable {
    var source: PressSource
    var slot: Int

    init(_ source: PressSource, slot: Int) {
        self.source = source
        self.slot = source.part == .push ? 0 : slot
    }
}

/// The runs of a rule in progress, the queue of waiting runs, and the limits for the next run.
struct ConcurrencyGroup: Sendable {
    /// The rotation of a dial while the rule was running.
    struct AccumulatedRotation: Sendable {
        /// The latest event, with the steps of all events added up.
        var event: Event
        var match: RuleIndex.Match
        /// When the first of the events was added.
        var addedAt: Instant
    }

    /// In the order in which they started.
    var running: [RunID] = []
    /// The queue of `mode: queued`. Together, `running` and `queued` have at most `Rule.maximumRuns` elements.
    var queued: [RunScheduler.Start] = []
    var cooldownEnd: Instant?
    var rate = RateWindow()
    /// The rotation of each dial.
    var rotations: [TurnSource: AccumulatedRotation] = [:]
}
