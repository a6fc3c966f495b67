import ButtonModel
import Buttons
import FlicdProtocol
import Gestures
import HomeAssistant
import JSON
import Rules

/// What a button waits for.
struct Acknowledgement: Hashable, Sendable {
    var button: ButtonID
    var cursor: EventCursor
}

// One notification of a button, from its events to the acknowledgement.
extension Hub {
    mutating func pressed(
        _ button: ButtonID, _ events: [ButtonEvent], _ cursor: EventCursor, needsAcknowledgement: Bool, at now: Instant
    ) {
        guard buttons[button] != nil else { return }
        buttons[button]?.wasSeen(at: now)
        let ruleEffects = engine.handle(.pressed(events), at: now)
        let reports = reports(of: ruleEffects, at: now)
        buttons[button]?.cursor = cursor

        let token = takeToken()
        carryOut(ruleEffects, reports, recordedAs: token, of: button, at: now)
        if buttons[button]?.source == nil { tellFlicd(.events(button, events), at: now) }
        effects.append(.sync(token))
        saySoon(.status(button), at: now)
        if needsAcknowledgement { awaitingSync[token] = Acknowledgement(button: button, cursor: cursor) }
    }

    mutating func synced(_ token: UInt64, _ success: Bool, at now: Instant) {
        if success {
            // A sync requested before the failed record does not prove that the record reached the disk.
            if let fault = latestStoreFault, token > fault { storeMended(at: now) }
        } else {
            recordFailed(
                token, "The disk refuses to take the state directory's data (sync failed)", .memory, at: now)
        }
        guard let waiting = awaitingSync.removeValue(forKey: token), success else { return }
        advanceButtons(.synced(waiting.button, waiting.cursor), at: now)
    }

    /// The database did not take a record, which is tried again with the next one, and by itself with longer and longer
    /// waits. A button whose event is not on the disk is not told so: it keeps the event until the store is mended.
    mutating func recordFailed(_ token: UInt64, _ reason: String, _ refuge: RecordRefuge, at now: Instant) {
        if refuge != .disk, let waiting = awaitingSync.removeValue(forKey: token) {
            heldBack[waiting.button] = waiting.cursor
        }
        let fault = "\(reason); \(refuge.consequence)"
        if storeFault != fault { log(.error, fault) }
        storeFault = fault
        // A record without a token failed just now.
        latestStoreFault = token == Hub.nobody ? nextToken - 1 : token
        if refuge == .nowhere { stopListening(at: now) } else { listenAgain() }
        guard deadlines.deadline(of: .store) == nil else { return }
        deadlines.set(.store, at: now + storeBackOff.next())
    }

    /// Everything that was recorded is on the disk, so every button may forget what was held back.
    private mutating func storeMended(at now: Instant) {
        storeFault = nil
        latestStoreFault = nil
        storeBackOff.reset()
        deadlines.cancel(.store)
        log(.info, "what could not be kept is on the disk now")
        let safe = heldBack.sorted { $0.key < $1.key }
        heldBack = [:]
        for (button, cursor) in safe { advanceButtons(.synced(button, cursor), at: now) }
        listenAgain()
    }

    private mutating func listenAgain() {
        guard isDeaf else { return }
        isDeaf = false
        // Before `start` it was not opened yet.
        if configuration.hasTransport, startedAt != nil, !isFinished { effects.append(.openTransport) }
    }

    /// Ends all links: a press that is not delivered stays in its button, and is judged by its age when it comes.
    private mutating func stopListening(at now: Instant) {
        guard !isDeaf else { return }
        isDeaf = true
        switch adapter {
        case .closed, .down: deadlines.cancel(.transport)
        case .starting, .ready:
            effects.append(.closeTransport)
            transportClosed("The adapter is closed until presses can be recorded.", .absent, at: now)
        }
    }

    /// The record of everything processed so far.
    mutating func progress(of button: ButtonID) -> StoreChange? {
        guard let record = buttons[button] else { return nil }
        let heard = record.heard
        buttons[button]?.hearing.recorded = heard
        return .progress(
            button, record.cursor, recogniser: engine.savedTrain(of: button), pressCount: record.pressCount,
            sequence: record.sequence, heard: heard, seen: takeSighting(of: button))
    }

    /// When the button was last heard of, unless that is on file, or the clock cannot be believed.
    private mutating func takeSighting(of button: ButtonID) -> UTCTime? {
        guard let record = buttons[button], record.hasUnrecordedSighting, let seen = record.lastSeen else { return nil }
        let time = wallClock(at: seen)
        guard clock != nil, time >= configuration.builtAt else { return nil }
        buttons[button]?.hasUnrecordedSighting = false
        return time
    }

    /// Writes down when buttons were last heard of that were only connected: when their links end, and at the end.
    mutating func recordSightings(of seen: [ButtonID]) {
        let changes = seen.compactMap { button in takeSighting(of: button).map { StoreChange.seen(button, $0) } }
        if !changes.isEmpty { record(changes) }
    }

    // MARK: What others hear of it

    /// What is published and told of what buttons did.
    struct Reports {
        var buttons: Set<ButtonID> = []
        var messages: [Message] = []
        var lines: [JSONValue] = []
        /// Not turns alone.
        var hasPresses = false
        var isEmpty: Bool { buttons.isEmpty }

        /// Not written out yet: what rules do comes first.
        struct Message {
            enum Kind {
                case raw, gesture, stale

                /// As `publish` makes of it.
                var messageCount: Int { self == .gesture ? 2 : 1 }
            }

            var kind: Kind
            var word: String
            var report: PressReport
            var patience: Duration
        }
    }

    mutating func publish(_ messages: [Reports.Message], at now: Instant) {
        for message in messages {
            let (word, report) = (message.word, message.report)
            let job = Job(numbered: NumberedMessage(button: report.button, sequence: report.sequence))
            switch message.kind {
            case .raw: publish(topics.rawMessage(word, report), patience: message.patience, for: job, at: now)
            case .gesture:
                for part in topics.messages(word, report) {
                    publish(part, patience: message.patience, for: job, at: now)
                }
            case .stale:
                publish(
                    topics.staleMessage(word, report), patience: message.patience, mayRepeat: true, for: job, at: now)
            }
        }
    }

    mutating func reports(of ruleEffects: [RuleEngine.Effect], at now: Instant) -> Reports {
        var reports = Reports()
        for case .recognised(let recognised) in ruleEffects { add(recognised, to: &reports, at: now) }
        return reports
    }

    private mutating func add(_ recognised: Recognised, to reports: inout Reports, at now: Instant) {
        let button = recognised.button
        // A turn is told to others in one length of time, whatever lengths the rules have.
        if case .rotation(_, let collect) = recognised.what {
            guard collect == TriggerEvent.standardCollect else { return }
        } else {
            reports.hasPresses = true
        }
        reports.buttons.insert(button)
        // Of one press there is one hold, whatever stages the rules have.
        guard let word = recognised.what.publishedName, !recognised.isFurtherStage, buttons[button] != nil else {
            return
        }
        // A hold and a release have happened when they were found; their press began before.
        let at = wallClock(at: recognised.at + recognised.heldFor)
        if recognised.what == .down { buttons[button]?.countPress() }
        if isWatched { reports.lines.append(eventLine(word, recognised, at: at)) }
        let policy = engine.queuedPolicy(of: button)
        let isFresh = policy.admits(recognised)
        let isRaw = recognised.what == .down || recognised.what == .up
        guard isFresh || !isRaw else { return }
        let kind: Reports.Message.Kind = isRaw ? .raw : isFresh ? .gesture : .stale
        let awaited = configuration.hasBroker ? kind.messageCount : 0
        buttons[button]?.giveOutNumber(messageCount: awaited)
        if !isFresh { metrics.stale += 1 }
        guard let record = buttons[button] else { return }
        let report = PressReport(
            button: button, name: record.displayName, sequence: record.sequence.value,
            pressCount: record.pressCount.value, at: at, facts: recognised.facts, steps: recognised.steps)
        // The end of a hold waits for the broker longer than a press: what the hold began must end.
        let isPress = recognised.what != .holdRelease && (isRaw || isFresh)
        reports.messages.append(
            Reports.Message(
                kind: kind, word: word, report: report,
                patience: isPress ? policy.patience(at: recognised.age) : .seconds(60)))
    }

    private func eventLine(_ word: String, _ recognised: Recognised, at: UTCTime) -> JSONValue {
        var line: [JSONValue.Member] = [
            .init("kind", "event"), .init("button", .string(label(of: recognised.button))),
            .init("id", .string(recognised.button.description)), .init("event", .string(word)),
            .init("queued", .bool(recognised.wasQueued)), .init("age_ms", .integer(recognised.age.milliseconds)),
            .init("at", .string(at.description)),
        ]
        if recognised.isLinkLost { line.append(.init("reason", .string(PressReport.linkLost))) }
        if let part = recognised.part { line.append(.init("part", .string(part.rawValue))) }
        if let steps = recognised.steps {
            line.append(.init("steps", .integer(Int64(steps))))
            line.append(.init("position", .integer(Int64(recognised.position))))
            if recognised.slot != 0 { line.append(.init("slot", .integer(Int64(recognised.slot)))) }
        }
        return .object(line)
    }
}

extension Recognised {
    fileprivate var steps: Int? {
        if case .rotation(let steps, _) = what { steps } else { nil }
    }
}

extension QueuedPolicy {
    /// How long a press that is this old already may wait for the broker.
    fileprivate func patience(at age: Duration) -> Duration {
        switch self {
        case .drop: .seconds(3)
        case .accept: .seconds(86_400)
        case .limited(let maximumAge, _): max(.zero, maximumAge - age)
        }
    }
}
