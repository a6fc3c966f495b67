import ButtonModel

/// What `mode`, `cooldown` and `rate_limit` count by: a rule, or with `scope: button` a rule and one button.
struct LaneID: Hashable, Sendable {
    /// A place in `RuleSet.rules`.
    var rule: Int
    var button: ButtonID?
}

/// A dial. The slots of a selector are several; one that is pressed goes through them all.
struct TurnSource: Hashable, Sendable {
    var source: PressSource
    var slot: Int64

    init(_ source: PressSource, slot: Int64) {
        self.source = source
        self.slot = source.part == .push ? 0 : slot
    }
}

/// The runs of a rule, those that wait for their turn, and what holds the next one back.
struct Lane: Sendable {
    struct Waiting: Sendable {
        var run: RunID
        var occurrence: Occurrence
        var isDryRun: Bool
    }

    /// What a dial was turned by while the rule ran.
    struct Turned: Sendable {
        /// The latest of them, with all steps together.
        var event: Event
        var match: RuleIndex.Match
    }

    /// In the order of their starts.
    var running: [RunID] = []
    /// `mode: queued`; together with `running` no more than the rule's `max`.
    var waiting: [Waiting] = []
    var cooldownEnd: Instant?
    var rate = RateWindow()
    /// By what was turned.
    var turned: [TurnSource: Turned] = [:]
}
