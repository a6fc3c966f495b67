import ButtonModel
import Expressions

/// The position of a run in a list of steps. The frames of a run, from the outermost to the innermost, are a path to a
/// step in its rule.
///
/// A frame contains neither steps nor indices of declarations, but only which part of the enclosing step is executed.
/// Therefore the frames of a run stay valid in every set in which the run's rule and the scripts that it calls are
/// unchanged.
struct Frame: Hashable, Sendable {
    /// The list of steps within the enclosing step; for the outermost frame, within the rule.
    enum Part: Hashable, Sendable {
        case actions, onError
        /// A branch, or the `else` part, of `choose` and `if`; the `then` part of `wait_for`, or the `else` part of `wait` and
        /// `wait_for`.
        case branch(Int), otherwise
        /// An entry of `cycle`.
        case entry(Int)
        /// The steps of a called script, which has its own `Locals`.
        case script
        case iteration(Repetition)
    }

    var part: Part
    /// The index of the current step; the list is complete if it is the number of steps.
    var position = 0
}

/// The state of a `repeat` step.
struct Repetition: Hashable, Sendable {
    var startedAt: Instant
    /// The number of iterations before this one.
    var index: Int64 = 0
    /// The tick at which this iteration began. Ticks during an iteration are skipped.
    var tick: Int64 = 0
    let isWhileHeld: Bool
    /// True if the current iteration is the last, because the button was released.
    var isReleased = false
}

/// The results and inputs that expressions can read: of the rule, or of a call of a script.
struct Locals: Hashable, Sendable {
    /// The maximum number of results, as many as a rule may have steps.
    static let maximumResults = 1000

    var results: [ResultFacts?]
    var inputs: [Value]

    init(resultCount: Int, inputs: [Value] = []) {
        results = Array(repeating: nil, count: min(max(0, resultCount), Locals.maximumResults))
        self.inputs = inputs
    }
}

extension RuleSet {
    /// The list of steps of the innermost frame; empty if the frames do not match the rule.
    func steps(in rule: Int, at frames: some Collection<Frame>) -> [Step] {
        guard rules.indices.contains(rule), let outermost = frames.first else { return [] }
        var steps: [Step]
        switch outermost.part {
        case .actions: steps = rules[rule].steps
        case .onError: steps = rules[rule].onError
        case .branch, .otherwise, .entry, .script, .iteration: return []
        }
        var position = outermost.position
        for frame in frames.dropFirst() {
            guard steps.indices.contains(position), let inner = self.steps(of: steps[position], frame.part) else {
                return []
            }
            steps = inner
            position = frame.position
        }
        return steps
    }

    /// The step at which the innermost frame is.
    func step(in rule: Int, at frames: some BidirectionalCollection<Frame>) -> Step? {
        guard let position = frames.last?.position else { return nil }
        let steps = steps(in: rule, at: frames)
        return steps.indices.contains(position) ? steps[position] : nil
    }

    private func steps(of step: Step, _ part: Frame.Part) -> [Step]? {
        switch part {
        case .actions, .onError: return nil
        case .branch(let index):
            switch step.action {
            case .choose(let branches, _, _): return branches.indices.contains(index) ? branches[index].steps : nil
            case .waitFor(let wait): return index == 0 ? wait.then : nil
            case .perform, .delay, .wait, .set, .cycle, .repeat, .script, .enable, .cancel, .log, .stop: return nil
            }
        case .otherwise:
            switch step.action {
            case .choose(_, let otherwise, _): return otherwise
            case .wait(_, _, let otherwise): return otherwise
            case .waitFor(let wait): return wait.otherwise
            case .perform, .delay, .set, .cycle, .repeat, .script, .enable, .cancel, .log, .stop: return nil
            }
        case .entry(let index):
            guard case .cycle(let entries, _) = step.action, entries.indices.contains(index) else { return nil }
            return entries[index]
        case .script:
            guard case .script(let index, _) = step.action, scripts.indices.contains(index) else { return nil }
            return scripts[index].steps
        case .iteration:
            guard case .repeat(let repetition) = step.action else { return nil }
            return repetition.steps
        }
    }
}
