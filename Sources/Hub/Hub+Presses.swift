import ButtonModel
import Buttons
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
        guard var record = buttons[button] else { return }
        let time = wallClock(at: now)
        record.lastSeen = time
        let policy = engine.queuedPolicy(of: button)
        var ruleEffects: [RuleEngine.Effect] = []
        var messages: [(MQTTMessage, Duration)] = []
        var lines: [JSONValue] = []

        for event in events {
            let at = time - event.age
            let isFresh = policy.admits(queued: event.wasQueued, age: event.age)
            if event.step == .down { record.pressCount += 1 }
            func report() -> PressReport {
                record.sequence += 1
                return PressReport(
                    button: button, name: record.displayName, sequence: record.sequence, pressCount: record.pressCount,
                    at: at, wasQueued: event.wasQueued, age: event.age)
            }
            func occurred(_ what: TriggerEvent, wasQueued: Bool) {
                if isWatched { lines.append(eventLine(what.word, of: button, at: at, wasQueued, event.age)) }
                ruleEffects += engine.handle(
                    .occurred(
                        Occurrence(
                            button: button, event: what, wasQueued: wasQueued, wasQueuedLast: event.wasQueuedLast,
                            age: event.age, at: at)),
                    at: now)
            }

            if let raw = event.step.raw {
                occurred(.raw(raw), wasQueued: event.wasQueued)
                if isFresh { messages.append((topics.message(for: raw, report()), policy.patience(at: event.age))) }
            }
            for recognised in record.recogniser.recognise(event.step, wasQueued: event.wasQueued, in: record.mode) {
                occurred(.gesture(recognised.gesture), wasQueued: recognised.wasQueued)
                if policy.admits(queued: recognised.wasQueued, age: event.age) {
                    for message in topics.messages(for: recognised.gesture, report()) {
                        messages.append((message, policy.patience(at: event.age)))
                    }
                } else {
                    messages.append((topics.staleMessage(for: recognised.gesture, report()), .seconds(60)))
                }
            }
        }
        record.cursor = cursor
        buttons[button] = record

        let token = takeToken()
        carryOut(ruleEffects, recordedAs: token, with: [record.progress], before: lines, at: now)
        for (message, patience) in messages { publish(message, patience: patience, at: now) }
        effects.append(.sync(token))
        if needsAcknowledgement { awaitingSync[token] = Acknowledgement(button: button, cursor: cursor) }
    }

    mutating func synced(_ token: UInt64, _ success: Bool, at now: Instant) {
        if success {
            storeFault = nil
        } else {
            recordFailed(token, "The disk refuses to take the state directory's data (sync failed).")
        }
        guard let waiting = awaitingSync.removeValue(forKey: token), success else { return }
        advanceButtons(.synced(waiting.button, waiting.cursor), at: now)
    }

    /// The button is not told: it keeps the event, and brings it again at its next connection.
    mutating func recordFailed(_ token: UInt64, _ reason: String) {
        awaitingSync[token] = nil
        if storeFault != reason { log(.error, reason) }
        storeFault = reason
    }

    mutating func reportInterrupted(_ run: StoredRun, at now: Instant) {
        log(.warning, "rule \(run.rule) was interrupted by a crash or a power cut; it is not repeated")
        let data: JSONValue = [
            "rule": .string(run.rule), "run": .integer(Int64(clamping: run.id)),
            "button": .string(run.button.description), "started_at": .string(run.startedAt.description),
        ]
        publish(topics.bridgeMessage("interrupted", data), patience: .seconds(3600), at: now)
    }

    private func eventLine(
        _ word: String, of button: ButtonID, at: UTCTime, _ wasQueued: Bool, _ age: Duration
    ) -> JSONValue {
        [
            "kind": "event", "button": .string(label(of: button)), "id": .string(button.description),
            "event": .string(word),
            "queued": .bool(wasQueued), "age_ms": .integer(age.milliseconds), "at": .string(at.description),
        ]
    }
}

extension PressStep {
    fileprivate var raw: RawEvent? {
        switch self {
        case .down: .down
        case .up: .up
        case .hold, .clickTimeout: nil
        }
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
