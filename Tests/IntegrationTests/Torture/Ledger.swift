/// Compares the presses that were made with what was observed of them.
///
/// A press is correct if each mark of its rule was seen once, or if its run was reported as interrupted or failed, or if
/// it was too old for its rule on arrival. A run may be reported although all its marks were seen: the process died
/// before it recorded the last mark, or the broker before it acknowledged it.
struct Ledger {
    /// A press, identified by the event counter of its button.
    struct Press: Hashable, Comparable, CustomStringConvertible {
        var button: String
        var bootID: UInt32
        /// The counter of the release.
        var counter: UInt32

        static func < (left: Press, right: Press) -> Bool {
            (left.button, left.bootID, left.counter) < (right.button, right.bootID, right.counter)
        }

        var description: String { "\(button) boot \(bootID) event \(counter)" }
    }

    /// The age of a press on arrival, compared with the maximum age of its rule.
    enum Age: Hashable {
        case fresh, tooOld
        /// The rule may run or not.
        case doubtful
    }

    enum Fault: Hashable {
        /// Some marks of the press are missing without a report.
        case lost
        case markedTwice(step: Int)
        /// The press was reported as interrupted by two runs.
        case interruptedTwice
        /// The press was too old each time, but its rule has run.
        case stale
        /// The press was observed, and never made.
        case invented
    }

    struct Finding: Hashable, CustomStringConvertible {
        var press: Press
        var fault: Fault
        var description: String { "\(press): \(fault)" }
    }

    struct Summary: Hashable {
        var pressed = 0
        var handled = 0
        var queued = 0
        var interrupted = 0
        var failed = 0
    }

    private struct Entry {
        var steps: Int?
        var marks: [Int: Int] = [:]
        var runs: Set<UInt64> = []
        var hasFailed = false
        var ages: Set<Age> = []

        var isHandled: Bool { steps.map { (0..<$0).allSatisfy { marks[$0] != nil } } ?? false }
        var isReported: Bool { hasFailed || !runs.isEmpty }
        var mayHaveBeenTooOld: Bool { ages.contains(.tooOld) || ages.contains(.doubtful) }
    }

    private var entries: [Press: Entry] = [:]

    /// - Parameter steps: the number of marks that the rule leaves.
    mutating func pressed(_ press: Press, steps: Int = 1) { entries[press, default: Entry()].steps = steps }

    /// The button delivered the press, which it repeats until the acknowledgement.
    mutating func delivered(_ press: Press, _ age: Age) { entries[press, default: Entry()].ages.insert(age) }

    mutating func marked(_ press: Press, step: Int = 0) {
        entries[press, default: Entry()].marks[step, default: 0] += 1
    }

    /// - Parameter run: reports of the same run count once.
    mutating func interrupted(_ press: Press, run: UInt64) { entries[press, default: Entry()].runs.insert(run) }

    /// The rule itself reported the failure.
    mutating func failed(_ press: Press) { entries[press, default: Entry()].hasFailed = true }

    /// Ordered by press.
    var findings: [Finding] {
        entries.sorted { $0.key < $1.key }.flatMap { press, entry in
            faults(of: entry).map { Finding(press: press, fault: $0) }
        }
    }

    private func faults(of entry: Entry) -> [Fault] {
        guard entry.steps != nil else { return [.invented] }
        var faults = entry.marks.sorted { $0.key < $1.key }.filter { $0.value > 1 }
            .map { Fault.markedTwice(step: $0.key) }
        if entry.runs.count > 1 { faults.append(.interruptedTwice) }
        if !entry.marks.isEmpty, entry.ages == [.tooOld] { faults.append(.stale) }
        // A press that was too old has no marks; a run that began is reported or ends.
        let isJudged = entry.marks.isEmpty && entry.mayHaveBeenTooOld
        if !entry.isHandled, !entry.isReported, !isJudged { faults.append(.lost) }
        return faults
    }

    var summary: Summary {
        var summary = Summary()
        for entry in entries.values {
            summary.pressed += entry.steps == nil ? 0 : 1
            if entry.isHandled {
                summary.handled += 1
            } else if entry.isReported {
                if entry.hasFailed { summary.failed += 1 } else { summary.interrupted += 1 }
            } else if entry.mayHaveBeenTooOld {
                summary.queued += 1
            }
        }
        return summary
    }
}
