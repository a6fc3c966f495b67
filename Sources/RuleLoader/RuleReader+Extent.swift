import Expressions
import Rules

/// What can be told of a whole list of steps, with those of the scripts they call.
extension RuleReader {
    struct Extent {
        /// Steps.
        var count = 0
        /// The longest way through the delays that are written out.
        var delay = Duration.zero

        /// One after the other.
        mutating func add(_ other: Extent) {
            count += other.count
            delay += other.delay
        }
    }

    func extent(of steps: [Step]) -> Extent {
        var extent = Extent()
        for step in steps {
            extent.count += 1
            switch step.action {
            case .publish, .process, .http, .wait, .set, .enable, .log, .stop: break
            case .delay(let template):
                if let text = template.literal, case .success(let delay) = DurationText.parse(text), step.isEnabled {
                    extent.delay += delay
                }
            case .cycle(let entries, _): extent.add(extentOfOne(of: entries))
            case .choose(let branches, let otherwise, _):
                extent.add(extentOfOne(of: branches.map(\.steps) + [otherwise]))
            case .repeat(let repetition):
                extent.add(self.extent(of: repetition.steps))
                extent.delay += repetition.limit
            case .script(let script, _): extent.add(self.extent(of: set.scripts[script].steps))
            }
        }
        return extent
    }

    /// All are counted, and one is run.
    private func extentOfOne(of ways: [[Step]]) -> Extent {
        let extents = ways.map { extent(of: $0) }
        return Extent(count: extents.reduce(0) { $0 + $1.count }, delay: extents.map(\.delay).max() ?? .zero)
    }

    /// No way through the steps goes on behind them.
    func alwaysStops(_ steps: [Step]) -> Bool {
        steps.contains { step in
            guard step.isEnabled else { return false }
            return switch step.action {
            case .stop: true
            case .publish, .process, .http, .delay, .wait, .set, .enable, .log: false
            case .cycle(let entries, _): entries.allSatisfy(alwaysStops)
            case .choose(let branches, let otherwise, _):
                alwaysStops(otherwise) && branches.allSatisfy { alwaysStops($0.steps) }
            case .repeat(let repetition): repetition.extent != .whileHeld && alwaysStops(repetition.steps)
            case .script(let script, _): alwaysStops(set.scripts[script].steps)
            }
        }
    }

    func repeatsWhileHeld(_ steps: [Step]) -> Bool {
        steps.contains { step in
            switch step.action {
            case .publish, .process, .http, .delay, .wait, .set, .enable, .log, .stop: false
            case .cycle(let entries, _): entries.contains(where: repeatsWhileHeld)
            case .choose(let branches, let otherwise, _):
                repeatsWhileHeld(otherwise) || branches.contains { repeatsWhileHeld($0.steps) }
            case .repeat(let repetition): repetition.extent == .whileHeld || repeatsWhileHeld(repetition.steps)
            case .script(let script, _): repeatsWhileHeld(set.scripts[script].steps)
            }
        }
    }
}
