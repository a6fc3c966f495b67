import ButtonModel
import Buttons
import FlicdProtocol
import Gestures
import JSON
import MQTTTopics
import Rules

// One notification of a button, from its events to the acknowledgement.
extension Hub {
    /// Handles the events of one notification of a button.
    ///
    /// 1. Rules decide, and the events get their sequence numbers.
    /// 2. The journal records the events and the runs that they start.
    /// 3. Actions are performed, and messages are enqueued.
    /// 4. The journal requests a sync, after which the button may forget the events.
    mutating func pressed(
        _ button: ButtonID, _ events: [ButtonEvent], _ cursor: EventCursor, needsAcknowledgement: Bool, at now: Instant
    ) {
        guard let record = buttons[button] else { return }
        buttons.wasSeen(button, at: now)
        let ruleEffects = rules.pressed(events, at: now)
        let reports = reports(of: ruleEffects, at: now)
        buttons.handled(button, upTo: cursor)
        let token = identifiers.recordToken()
        carryOut(ruleEffects, reports, recordedAs: token, of: button, at: now)
        if record.source == nil { tellFlicd(.events(button, events), at: now) }
        let acknowledgement = needsAcknowledgement ? Acknowledgement(button: button, cursor: cursor) : nil
        carryOut(journal.sync(token, acknowledging: acknowledgement), at: now)
        announce(ButtonChange(button: button, fact: .activity), at: now)
    }

    // MARK: What others hear of it

    /// What is published and told of what buttons did.
    struct Reports {
        var buttons: Set<ButtonID> = []
        var messages: [Message] = []
        /// Empty if no client watches.
        var occurrences: [Occurrence] = []
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
            var timeToLive: Duration
        }
    }

    mutating func publish(_ messages: [Reports.Message], at now: Instant) {
        for message in messages {
            let (word, report) = (message.word, message.report)
            let owner = MessageOwner.event(NumberedMessage(button: report.button, sequence: report.sequence))
            switch message.kind {
            case .raw:
                publish(broker.topics.rawMessage(word, report), timeToLive: message.timeToLive, for: owner, at: now)
            case .gesture:
                for part in broker.topics.messages(word, report) {
                    publish(part, timeToLive: message.timeToLive, for: owner, at: now)
                }
            case .stale:
                publish(
                    broker.topics.staleMessage(word, report), timeToLive: message.timeToLive, mayRepeat: true,
                    for: owner,
                    at: now)
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
        if recognised.what == .down { buttons.countPress(of: button) }
        if isWatched { reports.occurrences.append(.event(name(of: button), word, recognised, at: at)) }
        let policy = rules.queuedPolicy(of: button)
        let isFresh = policy.admits(recognised)
        let isRaw = recognised.what == .down || recognised.what == .up
        guard isFresh || !isRaw else { return }
        let kind: Reports.Message.Kind = isRaw ? .raw : isFresh ? .gesture : .stale
        let awaited = configuration.hasBroker ? kind.messageCount : 0
        buttons.giveOutNumber(of: button, messageCount: awaited)
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
                timeToLive: isPress ? policy.timeToLive(at: recognised.age) : .seconds(60)))
    }
}

extension QueuedPolicy {
    /// How long a press that is this old already may wait for the broker.
    fileprivate func timeToLive(at age: Duration) -> Duration {
        switch self {
        case .drop: .seconds(3)
        case .accept: .seconds(86_400)
        case .limited(let maximumAge, _): max(.zero, maximumAge - age)
        }
    }
}
