package import ButtonModel

/// One run of a rule, from its first step to its last.
///
/// Part of the interface between the engine and its runs; to be written. A run holds no step: it finds them in the world's
/// set by rule and path, so that a reload that leaves its rule as it was leaves the run as it was.
struct Run: Sendable {
    let id: RunID
    /// A place in `RuleSet.rules`; a reload moves it.
    var rule: Int
    let occurrence: Occurrence
    /// Evaluates and traces everything and performs nothing; variables keep their values.
    let isDryRun: Bool
    private(set) var trace: RunTrace
    /// `nil` while it goes on.
    private(set) var result: RunResult?

    /// When `timerFired` is wanted.
    var deadline: Instant? { nil }
    /// It stands in a `wait`: `worldChanged` is wanted.
    var isWaitingForWorld: Bool { false }
    /// It stands in a `repeat: while: held`.
    var isRepeatingWhileHeld: Bool { false }

    init(_ id: RunID, rule: Int, _ occurrence: Occurrence, isDryRun: Bool, in world: World, at now: Instant) {
        self.id = id
        self.rule = rule
        self.occurrence = occurrence
        self.isDryRun = isDryRun
        trace = RunTrace(run: id, rule: world.set.rules[rule].id, occurrence: occurrence, startedAt: world.wallClock(at: now))
    }

    /// From what `saved` gave; `nil` if it cannot be understood. With it the wait goes on for `remaining`.
    init?(
        _ waiting: WaitingRun, rule: Int, remaining: Duration, in world: World, at now: Instant
    ) { return nil }

    /// Where it waits, if it is in `delay` or `wait` and nothing else is going on; `nil` otherwise.
    func saved(in world: World, at now: Instant) -> WaitingRun? { nil }

    // Each goes on until the run waits for something, or ends. `.perform`, `.cancel` and `.stepFailed` come out here;
    // `.started`, `.finished` and what is kept are the engine's.
    mutating func begin(in world: inout World, at now: Instant, _ effects: inout [RuleEngine.Effect]) {}
    mutating func handedOver(_ step: StepID, in world: inout World, at now: Instant, _ effects: inout [RuleEngine.Effect]) {}
    mutating func stepFinished(
        _ step: StepID, _ outcome: StepOutcome, in world: inout World, at now: Instant,
        _ effects: inout [RuleEngine.Effect]
    ) {}
    mutating func timerFired(in world: inout World, at now: Instant, _ effects: inout [RuleEngine.Effect]) {}
    mutating func worldChanged(in world: inout World, at now: Instant, _ effects: inout [RuleEngine.Effect]) {}
    /// The button was let go, or its link was lost: `repeat: while: held` ends after what it is doing.
    mutating func released(in world: inout World, at now: Instant, _ effects: inout [RuleEngine.Effect]) {}
    /// `on_error` does not run.
    mutating func cancel(in world: inout World, at now: Instant, _ effects: inout [RuleEngine.Effect]) {}
}
