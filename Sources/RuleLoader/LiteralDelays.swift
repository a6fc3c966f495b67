import Expressions
import Rules

/// The total of the literal delays on the longest path through a list of steps.
struct LiteralDelays {
    private(set) var total = Duration.zero
    /// The longest single delay and its step, for the position of a message.
    private(set) var longest: (duration: Duration, step: Step)?

    /// - Parameter scripts: the delays of the scripts of the set, by index.
    init(of steps: [Step], scripts: [LiteralDelays] = []) {
        for step in steps where step.isEnabled {
            switch step.action {
            case .delay(let template):
                guard let text = template.literal, let milliseconds = try? DurationText.milliseconds(text)
                else { continue }
                add(.milliseconds(milliseconds), at: step)
            case .script(let script, _):
                guard scripts.indices.contains(script), scripts[script].total > .zero else { continue }
                add(scripts[script].total, at: step)
            case .repeat(let repetition):
                let inner = LiteralDelays(of: repetition.steps, scripts: scripts)
                if case .count(let count) = repetition.extent {
                    add(min(inner.total * count, repetition.limit), inner)
                } else {
                    add(min(inner.total, repetition.limit), inner)
                }
            case .cycle, .choose, .wait, .waitFor:
                let branches = step.inner.map { LiteralDelays(of: $0, scripts: scripts) }
                if let branch = branches.max(by: { $0.total < $1.total }) { add(branch.total, branch) }
            case .perform, .set, .enable, .cancel, .log, .stop: break
            }
        }
    }

    private mutating func add(_ duration: Duration, at step: Step) {
        total += duration
        if duration > longest?.duration ?? .zero { longest = (duration, step) }
    }

    private mutating func add(_ duration: Duration, _ inner: LiteralDelays) {
        total += duration
        if let step = inner.longest, step.duration > longest?.duration ?? .zero { longest = step }
    }
}
