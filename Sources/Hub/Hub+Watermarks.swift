import ButtonModel
import JSON
import MQTTTopics
import Rules

// Publish watermarks: which messages about events have been published, so that a crash loses none without a report.
extension Hub {
    /// The delay from an acknowledgement to the record of the watermark, unless an event of the button is recorded before.
    static let watermarkDelay = Duration.seconds(1)

    mutating func numberedMessageEnded(_ message: NumberedMessage, _ outcome: StepOutcome, at now: Instant) {
        // A message that is broken off because the daemon ends is reported by the next process.
        if isFinished, case .failed = outcome { return }
        guard buttons.messageEnded(of: message.button, message.sequence) else { return }
        // A report that is made twice would alarm users, so its watermark is recorded at once.
        if message.isReport || isFinished { return recordWatermarks() }
        if deadlines.deadline(of: .watermarks) == nil { deadlines.set(.watermarks, at: now + Hub.watermarkDelay) }
    }

    /// Records the watermarks that have risen since they were recorded. Nothing waits until they are on the disk.
    mutating func recordWatermarks() {
        let changes = buttons.takeWatermarks()
        if !changes.isEmpty { carryOut(journal.record(changes, as: nil), at: handledAt) }
    }

    /// Reports messages that the process before may not have published. They are not sent again, because they may have
    /// arrived. The watermark rises when the broker has the report, so a process that dies before that leaves it to the next.
    mutating func reportUnacknowledged(of button: ButtonID, at now: Instant) {
        guard configuration.hasBroker, let record = buttons[button], record.watermark.recorded < record.sequence.value
        else { return }
        let first = record.watermark.recorded + 1
        let count = record.sequence.value - record.watermark.recorded
        let messages =
            count == 1 ? "1 message (seq \(first))" : "\(count) messages (seq \(first) to \(record.sequence.value))"
        log(
            .warning,
            "\(label(of: button)): \(messages) may not have reached the broker before a crash, a power cut or a restart; "
                + "not repeated")
        buttons.reportOpened(of: button, from: first)
        let data: JSONValue = [
            "rule": .null, "run": .null, "button": .string(button.description), "first_seq": .integer(first),
            "last_seq": .integer(record.sequence.value),
        ]
        publishEvent(
            "interrupted", data, timeToLive: .seconds(3600), as: .press,
            for: .event(NumberedMessage(button: button, sequence: first, isReport: true)), at: now)
    }
}
