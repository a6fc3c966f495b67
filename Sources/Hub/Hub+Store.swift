import ButtonModel
import Buttons
import JSON
import Rules

// Carries out what the journal of the store decides, and makes the records of buttons.
extension Hub {
    mutating func carryOut(_ journalEffects: [StoreJournal.Effect], at now: Instant) {
        for effect in journalEffects { carryOut(effect, at: now) }
    }

    mutating func carryOut(_ effect: StoreJournal.Effect, at now: Instant) {
        switch effect {
        case .record(let token, let changes): emit(.record(token, changes))
        case .sync(let token): emit(.sync(token))
        case .acknowledge(let acknowledgement):
            advanceButtons(.synced(acknowledgement.button, acknowledgement.cursor), at: now)
        case .faulted(let sentence): log(.error, sentence)
        case .mended:
            uplink?.storeMended()
            if announcesBridge { invalidate(.bridgeConfig) }
            log(.info, "what could not be recorded is on the disk now")
        case .reserveMade: log(.info, "the reserve for presses on a full disk has been created")
        case .ringMade: log(.info, "the record ring has been created, and presses do not wait for the disk any more")
        case .canRecord(let canRecord):
            // The radios are held closed while nothing can be recorded.
            let couldRecord = !radios.isHeldClosed
            if canRecord { allowOpening() } else { holdRadiosClosed(at: now) }
            // The id of the bridge is stored only now.
            if !couldRecord, announcesBridge { invalidate(.bridgeConfig) }
            if feed != nil { feedCanRecord(canRecord, at: now) }
        case .setTimer(let deadline): setTimer(.store, at: deadline)
        case .cancelTimer: cancelTimer(.store)
        }
    }

    /// The change that records everything that was handled of the button so far.
    mutating func progress(of button: ButtonID) -> StoreChange? {
        buttons.takeProgress(
            of: button, recogniser: rules.savedTrain(of: button), wallClock: believableClock)
    }

    /// Records the last contact with these buttons, unless it is recorded already.
    mutating func recordSightings(of seen: [ButtonID]) {
        let changes = sightings(of: seen)
        if !changes.isEmpty { record(changes) }
    }

    /// The changes that record the last contact with these buttons, unless it is recorded already. A record of an event
    /// contains the last contact too, so these changes are needed only when a link or the daemon ends.
    mutating func sightings(of seen: [ButtonID]) -> [StoreChange] {
        let wallClock = believableClock
        return seen.compactMap { button in
            buttons.takeSighting(of: button, wallClock: wallClock).map { StoreChange.fact(button, .lastSeen($0)) }
        }
    }

    var believableClock: BelievableClock { BelievableClock(clock: clock, builtAt: configuration.builtAt) }

    // MARK: Publish watermarks

    /// The delay from the broker's acknowledgement to the record of the watermark, unless an event of the button is recorded
    /// earlier.
    static let watermarkDelay = Duration.seconds(1)

    mutating func numberedMessageEnded(_ message: NumberedMessage, _ outcome: ActionResult, at now: Instant) {
        // The next process reports a message that was aborted because the daemon ends.
        if isFinished, case .failed = outcome { return }
        guard buttons.messageEnded(of: message.button, message.sequence) else { return }
        // A repeated report would alarm users, so the watermark of a report is recorded immediately.
        if message.isReport || isFinished { return recordWatermarks() }
        if !isTimerSet(.watermarks) { setTimer(.watermarks, at: now + Hub.watermarkDelay) }
    }

    /// Records the watermarks that have risen since they were recorded, without a sync.
    mutating func recordWatermarks() {
        let changes = buttons.takeWatermarks()
        if !changes.isEmpty { carryOut(journal.record(changes, as: nil), at: handledAt) }
    }

    /// Reports messages that the previous process may not have published. They are not sent again, because they may have
    /// arrived. The watermark rises when the broker has acknowledged the report, so if this process ends earlier, the next
    /// process reports them.
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

    // MARK: Records

    /// Records the positions of all dials that have moved since their last record.
    mutating func recordDials() {
        let changes = buttons.keys.sorted().compactMap { buttons.takeMovedDials(of: $0) }
        if !changes.isEmpty { record(changes) }
    }

    /// Records changes without a sync.
    mutating func record(_ changes: [StoreChange]) {
        carryOut(journal.record(changes, as: identifiers.recordToken()), at: handledAt)
    }

    /// Records changes, and requests a sync of them.
    mutating func recordAndSync(_ changes: [StoreChange]) {
        let token = identifiers.recordToken()
        carryOut(journal.record(changes, as: token), at: handledAt)
        carryOut(journal.sync(token), at: handledAt)
    }

    /// The changes that record, for each of these buttons, its progress and the positions of dials that have moved since they were
    /// last recorded.
    mutating func progressAndDials(of pressed: [ButtonID]) -> [StoreChange] {
        var changes: [StoreChange] = []
        for button in pressed {
            if let progress = progress(of: button) { changes.append(progress) }
            if let dials = buttons.takeMovedDials(of: button) { changes.append(dials) }
        }
        return changes
    }

    /// The cursor up to which the button's events are handled.
    func cursor(of button: ButtonID) -> EventCursor? { buttons[button]?.cursor }

    /// Records changes under the token of a sync that follows, or without one.
    mutating func record(_ changes: [StoreChange], as token: RecordToken?) {
        carryOut(journal.record(changes, as: token ?? identifiers.recordToken()), at: handledAt)
    }

    /// Requests a sync of everything that was recorded up to now.
    mutating func sync(_ token: RecordToken, acknowledging acknowledgement: Acknowledgement? = nil) {
        carryOut(journal.sync(token, acknowledging: acknowledgement), at: handledAt)
    }

    /// The timer of the journal has expired.
    mutating func retryRecords(at now: Instant) {
        for effect in journal.retry(as: identifiers.recordToken(), at: now) { carryOut(effect, at: now) }
    }

    mutating func recordFailed(
        _ token: RecordToken?, _ reason: String, _ refuge: RecordRefuge, at now: Instant
    ) {
        carryOut(journal.recordFailed(token, reason, refuge, at: now), at: now)
    }

    mutating func synced(_ token: RecordToken, _ success: Bool, at now: Instant) {
        carryOut(journal.synced(token, success, at: now), at: now)
        if uplink != nil, success { uplinkSynced(token, at: now) }
    }

    /// Forgets the events of a removed button that wait for an acknowledgement.
    mutating func forgetRecords(of button: ButtonID) { journal.forget(button) }
}
