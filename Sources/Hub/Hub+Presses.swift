import ButtonModel
import Buttons
import Feed
import FlicdProtocol
import Gestures
import JSON
import MQTTTopics
import Rules

// A notification of a button, from its events to the acknowledgement.
extension Hub {
    /// Handles the events of one notification of a button, up to the actions of rules.
    ///
    /// 1. Rules decide, and the events get their sequence numbers.
    /// 2. The journal records the events, also those that go to an engine, and the runs that they start. In an engine, the
    ///    claim of the events is published.
    /// 3. Actions are performed.
    ///
    /// `completePress` does the rest as a second input, `goOn`, so that the messages of rules are written before it begins:
    ///
    /// 4. Messages about the events are enqueued, and clients are told.
    /// 5. The journal requests a sync, after which the button may forget the events.
    mutating func pressed(
        _ button: ButtonID, _ events: [ButtonEvent], _ cursor: EventCursor, needsAcknowledgement: Bool,
        claim: FeedClaim? = nil, at now: Instant
    ) {
        // Only the last notification of an input waits for `goOn`.
        completePress(at: now)
        // What arrives after the rules have stopped is neither recorded nor acknowledged, so a button or a site of an engine keeps it
        // for the next process. A press of a flicd that arrives now is lost, because flicd keeps none.
        guard let record = buttons[button], !rules.isStopped else { return }
        buttons.wasSeen(button, at: now)
        let ruleEffects = rules.pressed(events, at: now)
        let reports = reports(of: ruleEffects, at: now)
        buttons.handled(button, upTo: cursor)
        let token = identifiers.recordToken()
        var changes = progress(of: button).map { [$0] } ?? []
        if let claim { changes += claim.changes }
        if uplink != nil { changes += addToUplink(events.map(FeedStep.press), of: button, as: token, at: now) }
        recordTurn(ruleEffects, as: token, with: changes, at: now)
        #if DEBUG
            if !events.isEmpty { journal.recorded(Acknowledgement(button: button, cursor: cursor), as: token) }
        #endif
        if let claim { publishFeedMessages(claim.messages) }
        let lines = act(on: ruleEffects, at: now)
        incompletePress = IncompletePress(
            button: button, events: record.source == nil ? events : [], ruleEffects: ruleEffects, reports: reports,
            lines: lines, token: token,
            acknowledgement: needsAcknowledgement ? Acknowledgement(button: button, cursor: cursor) : nil)
    }

    /// Completes the press that `pressed` began, if there is one: statistics, messages about the events, the sync.
    mutating func completePress(at now: Instant) {
        // `take` copies the large value even if there is none, and most inputs have none to complete.
        guard incompletePress != nil, let press = incompletePress.take() else { return }
        rules.prepare(for: press.button)
        completeTurn(press.ruleEffects, press.reports, press.lines, after: nil, at: now)
        carryOutTurns(at: now)
        if !press.events.isEmpty { advanceFlicdServer(.events(press.button, press.events), at: now) }
        sync(press.token, acknowledging: press.acknowledgement)
        reportMissedPresses(before: press.events, at: now)
        announce(buttons.notificationHandled(press.button), at: now)
    }

    private mutating func reportMissedPresses(before events: [ButtonEvent], at now: Instant) {
        let count = missedPresses.received(events)
        guard count > 0, let button = events.first?.button else { return }
        let presses = count == 1 ? "1 press was made and never arrived" : "\(count) presses were made and never arrived"
        let sentence = """
            \(label(of: button)): \(presses). A button that is out of reach keeps only the last ones; or another program has \
            received them
            """
        log(.missedPresses, .warning, sentence, at: now)
    }

    /// The values of a press that `completePress` needs.
    struct IncompletePress: Sendable {
        var button: ButtonID
        /// Empty for a button of another flicd, whose events the server of this daemon does not pass on.
        var events: [ButtonEvent]
        var ruleEffects: [RuleEngine.Effect]
        var reports: Reports
        /// The result of `act`.
        var lines: [[Occurrence]]
        /// The record that the sync is for.
        var token: RecordToken
        var acknowledgement: Acknowledgement?
    }

    // MARK: Reports

    /// The messages for the broker and the lines for clients that watch, about events of buttons.
    struct Reports {
        var buttons: Set<ButtonID> = []
        var messages: [Message] = []
        /// Empty if no client watches.
        var occurrences: [Occurrence] = []
        /// There are events other than rotations.
        var hasPresses = false
        var isEmpty: Bool { buttons.isEmpty }

        /// A message about an event. Its payload is encoded after the rules have acted.
        struct Message {
            enum Kind {
                case raw, gesture, stale

                /// The number of messages that `publish` makes.
                var messageCount: Int { self == .gesture ? 2 : 1 }

                /// - Parameter isFresh: whether the event is not too late.
                /// - Returns: `nil` for a `down` or an `up` that is too late, about which there are no messages.
                init?(of event: RecognisedEvent, isFresh: Bool) {
                    switch event.kind {
                    case .down where isFresh, .up where isFresh: self = .raw
                    case .down, .up: return nil
                    case .pattern, .hold, .holdRelease, .chord, .swipe, .rotation: self = isFresh ? .gesture : .stale
                    }
                }
            }

            var kind: Kind
            var eventName: String
            var report: PressReport
            var timeToLive: Duration
            var endsHold: Bool
        }
    }

    mutating func reports(of ruleEffects: [RuleEngine.Effect], at now: Instant) -> Reports {
        var reports = Reports()
        for case .recognised(let recognised) in ruleEffects { addReport(of: recognised, to: &reports, at: now) }
        return reports
    }

    private mutating func addReport(of recognised: RecognisedEvent, to reports: inout Reports, at now: Instant) {
        let button = recognised.button
        // The leading engine reports the gestures of sites' buttons. A stand-by may still complete a gesture that began before it
        // stood by or was restarted, and does not report it.
        if feed?.mode == .standingBy, buttons[button]?.source.map({ EngineFeed.isSite(source: $0) }) ?? false { return }
        // A rotation is collected for several durations if rules ask for them, and is published for the standard one.
        if case .rotation(_, let collect) = recognised.kind {
            guard collect == TriggerEvent.standardCollect else { return }
        } else {
            reports.hasPresses = true
        }
        reports.buttons.insert(button)
        // A press has a single published hold, even if rules have several hold stages.
        guard let eventName = recognised.kind.publishedName, !recognised.isFurtherStage, buttons.contains(button) else {
            return
        }
        // `recognised.at` is the start of the press. A hold or release happened later.
        let at = wallClock(at: recognised.at + recognised.heldFor)
        if isWatched { reports.occurrences.append(.event(name(of: button), eventName, recognised, at: at)) }
        let policy = rules.queuedPolicy(of: button)
        let isFresh = policy.admits(recognised)
        let kind = Reports.Message.Kind(of: recognised, isFresh: isFresh)
        buttons.count(recognised, kind, isAwaited: configuration.hasBroker)
        guard let kind else { return }
        if !isFresh { metrics.countStale() }
        guard let record = buttons[button] else { return }
        let report = PressReport(
            button: button, name: record.displayName, sequence: record.sequence.value,
            pressCount: record.pressCount.value, at: at, facts: recognised.facts, steps: recognised.steps)
        let timeToLive: Duration =
            if kind == .stale {
                .seconds(60)
            } else if recognised.kind == .holdRelease {
                // The end of a hold stops what the hold began, so it waits a day for the broker. If the broker was away during the whole
                // hold, it does not know of it.
                broker.isConnected || broker.connectionEndedAt > recognised.at ? .seconds(86_400) : .seconds(60)
            } else {
                policy.timeToLive(at: recognised.age)
            }
        reports.messages.append(
            Reports.Message(
                kind: kind, eventName: eventName, report: report,
                timeToLive: timeToLive, endsHold: recognised.kind == .holdRelease))
    }
}

extension QueuedPolicy {
    /// How long a press of this age may wait for the broker.
    fileprivate func timeToLive(at age: Duration) -> Duration {
        switch self {
        case .drop: .seconds(3)
        case .accept: .seconds(86_400)
        case .limited(let maximumAge, _): max(.zero, maximumAge - age)
        }
    }
}
