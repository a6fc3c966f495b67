import ButtonModel
import Expressions

/// Where a run stands in one list of steps. The frames of a run, from the outside in, name a place in its rule.
///
/// A frame holds no step and no place in the set: only what was chosen in the step it is inside. So the frames of a run
/// mean the same in every set in which its rule and the scripts it calls read the same.
struct Frame: Hashable, Sendable {
    /// Which list of the step around it; the outermost frame: which list of the rule.
    enum Part: Hashable, Sendable {
        case actions, onError
        /// Of `choose` and `if`.
        case branch(Int), otherwise
        /// Of `cycle`.
        case entry(Int)
        /// It has `Locals` of its own.
        case script
        case iteration(Repetition)
    }

    var part: Part
    /// The step that goes on; behind the last one: the list is done.
    var position = 0
}

/// What a `repeat` knows of itself.
struct Repetition: Hashable, Sendable {
    var startedAt: Instant
    /// Iterations begun before this one.
    var index: Int64 = 0
    /// Which tick this iteration began at: ticks that came while one went on are skipped.
    var tick: Int64 = 0
    let isWhileHeld: Bool
    /// The iteration that goes on is the last.
    var isReleased = false
}

/// What steps see of one another: those of the rule, and those of each call of a script.
struct Locals: Hashable, Sendable {
    /// More results than any rule has steps are a mistake.
    static let maximumResults = 1000

    var results: [ResultFacts?]
    var inputs: [Value]

    init(resultCount: Int, inputs: [Value] = []) {
        results = Array(repeating: nil, count: min(max(0, resultCount), Locals.maximumResults))
        self.inputs = inputs
    }
}

extension RuleSet {
    /// The list of steps that the innermost frame goes through; none if the frames do not fit the rule.
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

    /// The step that the innermost frame stands at.
    func step(in rule: Int, at frames: some BidirectionalCollection<Frame>) -> Step? {
        guard let position = frames.last?.position else { return nil }
        let steps = steps(in: rule, at: frames)
        return steps.indices.contains(position) ? steps[position] : nil
    }

    private func steps(of step: Step, _ part: Frame.Part) -> [Step]? {
        switch part {
        case .actions, .onError: return nil
        case .branch(let index):
            guard case .choose(let branches, _, _) = step.action, branches.indices.contains(index) else { return nil }
            return branches[index].steps
        case .otherwise:
            guard case .choose(_, let otherwise, _) = step.action else { return nil }
            return otherwise
        case .entry(let index):
            guard case .cycle(let entries, _) = step.action, entries.indices.contains(index) else { return nil }
            return entries[index]
        case .script:
            guard case .script(let place, _) = step.action, scripts.indices.contains(place) else { return nil }
            return scripts[place].steps
        case .iteration:
            guard case .repeat(let repetition) = step.action else { return nil }
            return repetition.steps
        }
    }
}
