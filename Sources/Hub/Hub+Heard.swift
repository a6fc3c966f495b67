import ButtonModel
import HomeAssistant
import JSON
import Rules

/// A message about what a button did, by its number.
struct NumberedMessage: Hashable, Sendable {
    var button: ButtonID
    var sequence: Int64
    /// It tells of those from `sequence` on.
    var isReport = false
}

// What became of the messages about presses, kept so that none goes with a crash unsaid.
extension Hub {
    /// From an acknowledgement to the record of it, where no press comes before that and takes it along.
    static let heardDelay = Duration.seconds(1)

    mutating func numberedMessageEnded(_ message: NumberedMessage, _ outcome: StepOutcome, at now: Instant) {
        // What we break off ourselves when we end is not given up.
        if isFinished, case .failed = outcome { return }
        buttons[message.button]?.hearing.ended(message.sequence)
        guard let record = buttons[message.button], record.heard != record.hearing.recorded else { return }
        // A report is made once: there may be no second to wait.
        if message.isReport || isFinished { return recordHeard() }
        if deadlines.deadline(of: .heard) == nil { deadlines.set(.heard, at: now + Hub.heardDelay) }
    }

    /// What has been heard since that was last recorded. Nothing waits for it to be on the disk.
    mutating func recordHeard() {
        var changes: [StoreChange] = []
        for (id, record) in buttons.sorted(by: { $0.key < $1.key }) where record.heard != record.hearing.recorded {
            buttons[id]?.hearing.recorded = record.heard
            changes.append(.heard(id, record.heard))
        }
        if !changes.isEmpty { effects.append(.record(Hub.nobody, changes)) }
    }

    /// Messages that a process left behind when it ended are not sent: they may have arrived. They count as heard when the
    /// broker has the report: a process that dies before that leaves it to the next.
    mutating func reportUnheard(of button: ButtonID, at now: Instant) {
        guard configuration.hasBroker, let record = buttons[button], record.hearing.recorded < record.sequence.value
        else { return }
        let first = record.hearing.recorded + 1
        let count = record.sequence.value - record.hearing.recorded
        let messages =
            count == 1 ? "1 message (seq \(first))" : "\(count) messages (seq \(first) to \(record.sequence.value))"
        log(
            .warning,
            "\(label(of: button)): \(messages) may not have reached the broker before a crash, a power cut or a restart; "
                + "not repeated")
        buttons[button]?.hearing.opened(first)
        let data: JSONValue = [
            "rule": .null, "run": .null, "button": .string(button.description), "first_seq": .integer(first),
            "last_seq": .integer(record.sequence.value),
        ]
        publish(
            topics.bridgeMessage("interrupted", data), patience: .seconds(3600), mayRepeat: true,
            for: Job(numbered: NumberedMessage(button: button, sequence: first, isReport: true)), at: now)
    }
}
