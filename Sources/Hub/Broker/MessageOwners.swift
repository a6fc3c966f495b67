import ButtonModel
import Feed
import Rules

/// A message about an event of a button, by its sequence number.
struct NumberedMessage: Hashable, Sendable {
    var button: ButtonID
    var sequence: Int64
    /// True if the message tells clients that messages from `sequence` on may have been lost.
    var isReport = false
}

/// The purpose of a message in the `Outbox`, which decides what follows from its end.
enum MessageOwner: Hashable, Sendable {
    /// A step of a run. The topic is for the log.
    case step(ActionID, rule: String, topicName: String)
    /// The report of a run that a crash has interrupted. The store keeps the run until the report is published.
    case interruptedRun(UInt64)
    case event(NumberedMessage)
    /// The report of an engine about messages of a site. The place is the last of them.
    case report(FeedPlace, first: Int)
}

/// The owners of the messages in the `Outbox`, and the runs that wait for their messages to be written.
struct MessageOwners: Sendable {
    /// Messages of one run that are not written to the network yet, or not acknowledged.
    private struct RunMessages: Hashable, Sendable {
        var count = 0
        /// True if the run has ended, which is recorded when the last of its messages is written.
        var isOver = false
        /// The change that records the run's wait. It is recorded when the last message is written, because a run that is resumed
        /// from it does not send its earlier messages again.
        var wait: StoreChange?
    }

    private var owners: [MessageID: MessageOwner] = [:]
    private var runs: [RunID: RunMessages] = [:]

    var count: Int { owners.count }

    subscript(id: MessageID) -> MessageOwner? { owners[id] }

    /// Adds the owner of a message that is about to be published.
    mutating func add(_ owner: MessageOwner, of id: MessageID) {
        owners[id] = owner
        if case .step(let step, _, _) = owner { runs[step.run, default: RunMessages()].count += 1 }
    }

    mutating func remove(_ id: MessageID) -> MessageOwner? { owners.removeValue(forKey: id) }

    /// The messages of a step, in no order.
    func messages(of step: ActionID) -> [MessageID] {
        owners.compactMap { id, owner in
            if case .step(step, _, _) = owner { id } else { nil }
        }
    }

    // MARK: Messages of runs

    /// True if all messages of the run are written.
    func hasWritten(_ run: RunID) -> Bool { runs[run] == nil }

    /// The run waits, or waits no longer. If messages of it are not written yet, this is recorded with the last of them.
    mutating func waitChanged(of run: RunID, _ wait: StoreChange?) { runs[run]?.wait = wait }

    /// The run has ended.
    ///
    /// - Returns: whether that may be recorded at once. Until its messages are written, a crash may still lose them, and the
    ///   next process reports the run.
    mutating func runEnded(_ run: RunID) -> Bool {
        guard runs[run] != nil else { return true }
        runs[run]?.isOver = true
        return false
    }

    /// A message of the run is written, or given up.
    ///
    /// - Returns: what is to be recorded now.
    mutating func messageEnded(of run: RunID) -> [StoreChange] {
        guard var messages = runs[run] else { return [] }
        messages.count -= 1
        runs[run] = messages.count > 0 ? messages : nil
        guard messages.count <= 0 else { return [] }
        return [messages.wait, messages.isOver ? .runEnded(run.rawValue) : nil].compactMap(\.self)
    }

    #if DEBUG
        /// The runs with messages that are not written yet, in no order.
        var runsWithMessages: [RunID] { Array(runs.keys) }

        /// The steps with messages that have not ended.
        var stepsWithMessages: Set<ActionID> {
            Set(
                owners.values.compactMap { owner in
                    if case .step(let step, _, _) = owner { step } else { nil }
                })
        }

        /// The sequence numbers of the messages about events of a button, in ascending order.
        func sequences(of button: ButtonID) -> [Int64] {
            var sequences: [Int64] = []
            for case .event(let message) in owners.values where message.button == button {
                sequences.append(message.sequence)
            }
            return sequences.sorted()
        }

        /// The invariants that the state violates between two inputs; empty unless this type has a bug.
        func problems() -> [String] {
            var counts: [RunID: Int] = [:]
            for case .step(let step, _, _) in owners.values { counts[step.run, default: 0] += 1 }
            var problems: [String] = []
            for (run, messages) in runs where counts[run] != messages.count {
                problems.append(
                    "run \(run.rawValue) waits for \(messages.count) messages, and there are \(counts[run] ?? 0)")
            }
            for run in counts.keys where runs[run] == nil {
                problems.append("run \(run.rawValue) has messages that nothing waits for")
            }
            return problems.sorted()
        }
    #endif
}
