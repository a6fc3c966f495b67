import Almanac
import ButtonModel
import Expressions

/// When variables with `reset` return to their initial values.
struct ResetSchedule: Sendable {
    /// After the clock was set back by more than this, the stored times are not trusted any more.
    static let longestStepBack = Duration.seconds(36 * 3600)

    private struct Entry: Sendable {
        /// An index in `RuleSet.variables`.
        var variable: Int
        var name: String
        var time: TimeOfDay
        /// All resets until this time were carried out, or came before the variable was declared. `nil` until the clock is
        /// known.
        var handled: UTCTime?
        var next: UTCTime?
    }

    /// What happens to a variable.
    struct Step: Sendable {
        var variable: Int
        var name: String
        /// False if only the time is stored, because the variable is new.
        var resets: Bool
        var handled: UTCTime
    }

    private var entries: [Entry] = []
    private(set) var nextDeadline: Instant?

    init(_ variables: [DeclaredVariable] = [], handled: [String: UTCTime] = [:]) {
        for (index, variable) in variables.enumerated() {
            guard let time = variable.reset else { continue }
            entries.append(
                Entry(
                    variable: index, name: variable.name, time: time,
                    // The calendar cannot calculate with a stored time at the end of its range.
                    handled: handled[variable.name].map { max($0, UTCTime(milliseconds: 0)) }))
        }
    }

    /// The schedule after a reload. A variable whose time of day has changed counts as new, and has missed nothing.
    func continued(with variables: [DeclaredVariable]) -> ResetSchedule {
        let times = Dictionary(variables.map { ($0.name, $0.reset) }) { first, _ in first }
        let handled = entries.filter { times[$0.name] == $0.time }.compactMap { entry in
            entry.handled.map { (entry.name, $0) }
        }
        return ResetSchedule(variables, handled: Dictionary(handled) { first, _ in first })
    }

    func contains(_ variable: String) -> Bool { entries.contains { $0.name == variable } }

    var isEmpty: Bool { entries.isEmpty }

    /// The times until which resets were carried out, by the name of the variable.
    var handled: [String: UTCTime] {
        Dictionary(entries.compactMap { entry in entry.handled.map { (entry.name, $0) } }) { first, _ in first }
    }

    /// Carries out what was due until now, however late: while the program was stopped, the computer slept, or the clock
    /// jumped over it. Afterwards, `nextDeadline` is the next time.
    mutating func advance(to time: UTCTime, at now: Instant, in set: RuleSet) -> [Step] {
        var steps: [Step] = []
        nextDeadline = nil
        for index in entries.indices {
            let entry = entries[index]
            var handled = entry.handled ?? time
            if handled > time + ResetSchedule.longestStepBack { handled = time }
            var resets = false
            if let due = entry.time.next(after: handled, in: set.timeZone, at: set.coordinates), due <= time {
                handled = time
                resets = true
            }
            if handled != entry.handled {
                steps.append(Step(variable: entry.variable, name: entry.name, resets: resets, handled: handled))
            }
            entries[index].handled = handled
            let next = entry.time.next(after: max(handled, time), in: set.timeZone, at: set.coordinates)
            entries[index].next = next
            guard let next else { continue }
            let deadline = now + .milliseconds(next.milliseconds - time.milliseconds)
            nextDeadline = nextDeadline.map { min($0, deadline) } ?? deadline
        }
        return steps
    }

    /// Stops until the clock is known again.
    mutating func pause() { nextDeadline = nil }

    /// Forgets which resets were carried out, because a test begins at another time.
    mutating func restart() {
        for index in entries.indices { entries[index].handled = nil }
    }
}

extension RuleEngine {
    /// Resets the variables whose time has come, and plans the next time.
    mutating func carryOutResets(at now: Instant, _ effects: inout [Effect]) {
        guard !resets.isEmpty else { return }
        guard world.clock != nil, world.clockIsPlausible else { return resets.pause() }
        for step in resets.advance(to: world.wallClock(at: now), at: now, in: set) {
            effects.append(.store(.reset(step.name, step.handled)))
            guard step.resets, set.variables.indices.contains(step.variable) else { continue }
            // The initial value always fits the variable.
            try? world.assign(set.variables[step.variable].initial, to: step.variable)
        }
        carryOutChanges(at: now, &effects)
    }

    /// Resets the variables whose deadline has come.
    mutating func carryOutDueResets(at now: Instant, _ effects: inout [Effect]) {
        guard let deadline = resets.nextDeadline, deadline <= now else { return }
        carryOutResets(at: now, &effects)
    }

    /// Continues the schedule with the variables of a new set.
    mutating func reloadResets(at now: Instant, _ effects: inout [Effect]) {
        let before = resets
        resets = before.continued(with: set.variables)
        for name in before.handled.keys.sorted() where !resets.contains(name) {
            effects.append(.store(.reset(name, nil)))
        }
        carryOutResets(at: now, &effects)
    }
}
