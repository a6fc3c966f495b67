import ButtonModel
import Expressions
import TestSupport
import Testing

@testable import Rules

/// A run and its world as a state machine for `Transcript`.
struct RunInWorld: StateMachine {
    enum Input {
        case begin
        case handedOver(Int)
        case finished(Int, ActionResult)
        case timerFired
        /// Sets the value of a state.
        case state(Int, Value)
        case variable(Int, Value)
        case released
        case cancel
    }

    var world: World
    var run: Run

    mutating func handle(_ input: Input, at now: Instant) -> [RuleEngine.Effect] {
        var effects: [RuleEngine.Effect] = []
        switch input {
        case .begin: run.begin(in: &world, at: now, &effects)
        case .handedOver(let step): run.handedOver(id(step), in: &world, at: now, &effects)
        case .finished(let step, let outcome): run.actionFinished(id(step), outcome, in: &world, at: now, &effects)
        case .timerFired: run.timerFired(in: &world, at: now, &effects)
        case .state(let place, let value):
            world.states[place] = value
            run.worldChanged(in: &world, at: now, &effects)
        case .variable(let place, let value):
            world.variables[place] = value
            run.worldChanged(in: &world, at: now, &effects)
        case .released:
            world.held = []
            run.released(in: &world, at: now, &effects)
        case .cancel: run.cancel(because: .ruleChanged, in: &world, at: now, &effects)
        }
        return effects
    }

    private func id(_ index: Int) -> ActionID { ActionID(run: run.id, index: index) }
}

extension RuleEngine.Effect {
    static func perform(_ index: Int, _ action: Action) -> RuleEngine.Effect {
        .perform(ActionID(run: RunKit.id, index: index), action, rule: RunKit.rule, RunKit.cause)
    }

    static func cancel(_ index: Int) -> RuleEngine.Effect { .cancel(ActionID(run: RunKit.id, index: index)) }

    static func failed(_ step: String, _ code: String, _ message: String, isFinal: Bool = true) -> RuleEngine.Effect {
        .stepFailed(
            RunKit.id, rule: RunKit.rule, step: step, SourceLocation(), code: code, message: message, isFinal: isFinal)
    }
}

extension Transcript<RunInWorld> {
    init(
        _ steps: Step..., onError: [Step] = [], scripts: [Script] = [], variables: [DeclaredVariable] = [],
        cause: RunCause = RunKit.cause, isDryRun: Bool = false
    ) {
        self.init(
            set: RunKit.set(steps, onError: onError, scripts: scripts, variables: variables), cause: cause,
            isDryRun: isDryRun)
    }

    init(set: RuleSet, cause: RunCause = RunKit.cause, isDryRun: Bool = false) {
        let start = Instant(sinceBoot: .seconds(100))
        let world = RunKit.world(set, at: start)
        let run = Run(RunKit.id, rule: 0, cause, isDryRun: isDryRun, in: world, at: start)
        self.init(RunInWorld(world: world, run: run), at: start)
    }

    var result: RunResult? { machine.run.result }
    /// The time from now to the run's deadline.
    var timer: Duration? { machine.run.deadline.map { $0 - now } }
    var trace: [String] { machine.run.trace.lines.map { "\($0.step): \($0.text)" } }

    /// Expects the deadline to be `wait` from now, lets that time pass, and expects these effects of the timer.
    mutating func whenTimerFires(
        after wait: Duration, expect effects: RuleEngine.Effect...,
        sourceLocation: Testing.SourceLocation = #_sourceLocation
    ) {
        #expect(timer == wait, sourceLocation: sourceLocation)
        self.wait(wait)
        let happened = given(.timerFired)
        #expect(happened == effects, sourceLocation: sourceLocation)
    }
}
