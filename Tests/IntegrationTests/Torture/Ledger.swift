/// What became of every press, held together from what was pressed and what was seen of it.
///
/// A press is in order when its rule's marks are there once, or when its run was reported as cut off or as failed, or
/// when it was too old for its rule by the time it came. A run may be so reported although all its marks are there: the
/// process died between the last of them and the record that it was the last, or the broker before it said that it has it.
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

    /// How old a press was when it came, measured by what its rule takes.
    enum Age: Hashable {
        case fresh, tooOld
        /// Either would be right.
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
        /// Seen, and never pressed.
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

    /// - Parameter steps: how many marks its rule leaves.
    mutating func pressed(_ press: Press, steps: Int = 1) { entries[press, default: Entry()].steps = steps }

    /// The button brought it; it does so again until it is told not to.
    mutating func delivered(_ press: Press, _ age: Age) { entries[press, default: Entry()].ages.insert(age) }

    mutating func marked(_ press: Press, step: Int = 0) {
        entries[press, default: Entry()].marks[step, default: 0] += 1
    }

    /// - Parameter run: one that is reported twice is one.
    mutating func interrupted(_ press: Press, run: UInt64) { entries[press, default: Entry()].runs.insert(run) }

    /// Its rule says so itself.
    mutating func failed(_ press: Press) { entries[press, default: Entry()].hasFailed = true }

    /// In the order of the presses.
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
        // A press that was too old has no marks at all; a run that began is interrupted or ends.
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
