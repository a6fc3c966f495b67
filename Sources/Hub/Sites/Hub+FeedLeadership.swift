import ButtonModel
import Feed
import MQTTTopics
import Rules

// The leadership of this engine, and the actions and programs that wait for it or for a claim.
extension Hub {
    mutating func carryOut(_ effect: EngineLeadership.Effect, at now: Instant) {
        completePress(at: now)
        let share = feed?.configuration.share.description ?? ""
        switch effect {
        case .record(let term): record([.feed(.term(term))])
        case .publish(let message): publishFeedMessages([message])
        case .lead(let term, let continues):
            if feed?.isFencedTooLong(at: now) == true { endRuns("the broker was gone for too long", at: now) }
            log(feed?.isLeading == true ? .debug : .info, "this engine leads share \(share) in term \(term)")
            feed?.leads(in: term)
            advanceFeed(.source(.lead(term: term)), at: now)
            advanceFeed(.act(continues: continues), at: now)
        case .fence:
            let what = broker.isConnected ? "silent" : "gone"
            log(.warning, "the broker is \(what), so this engine acts on nothing until it is known to lead again")
            feed?.fence(at: now)
            advanceFeed(.source(.fence), at: now)
            advanceRules(.acting(false, endingRuns: false), at: now)
        case .stop:
            endRuns("this engine does not lead share \(share) any more", at: now)
        case .rulesDiffer(let engine, let leads):
            let role = leads ? "leads" : "stands by for"
            log(.warning, "the engine \(engine), which \(role) share \(share), has other rules than this one")
        case .namesake(let installation):
            feed?.heardNamesake(installation)
            if let fault = feed?.nameFault {
                log(.error, fault)
            } else {
                log(.info, "the other engine with the name of this one is gone")
            }
        case .otherShare(let share, let engine):
            feed?.heardShare(share, of: engine)
            if let fault = feed?.shareFault {
                log(.error, fault)
            } else {
                log(.info, "no engine with another share than this one's is heard any more")
            }
        case .deaf(let isDeaf):
            if isDeaf {
                if let fault = feed?.deafFault { log(.error, fault) }
            } else {
                log(.info, "what this engine publishes about its leadership comes back from the broker again")
            }
        case .setTimer(let deadline): feed?.setTimer(.leadership, at: deadline)
        case .cancelTimer: feed?.setTimer(.leadership, at: nil)
        case .anomaly(let text): log(.debug, "engine: \(text)")
        }
    }

    /// Claims can be recorded, or cannot, so that another engine has to lead.
    mutating func feedCanRecord(_ canRecord: Bool, at now: Instant) {
        advanceFeed(.leadership(.canRecord(canRecord)), at: now)
    }

    /// The process ends in order, and hands over to another engine.
    mutating func resignFeed(at now: Instant) {
        tendFeed(at: now)
        advanceFeed(.source(.resign), at: now)
        advanceFeed(.leadership(.resign), at: now)
    }

    /// Ends everything that is under way: runs, held actions, and the presses of sites that are undecided. The engine that leads next
    /// reports these presses.
    private mutating func endRuns(_ reason: String, at now: Instant) {
        log(.warning, "\(reason); its runs are interrupted")
        advanceFeed(.source(.standBy), at: now)
        let unsettled = feed?.unsettled.mapValues { _ in now } ?? [:]
        let isTimerDue = feed?.stop() == true
        advanceRules(.acting(false, endingRuns: true), at: now)
        // Nothing acts any more, so that a press that a chord has held back has no effect when the chord fails.
        abandon(unsettled, at: now)
        if isTimerDue { advanceRules(.timerFired, at: now) }
    }

    /// Gives up messages that are reported, those of the same button that another site has sent, and those of other buttons that belong
    /// to the same chord.
    mutating func giveUp(_ givenUp: [FeedSource.GivenUp], at now: Instant) {
        // The site that had the button before may have sent the beginning of the gesture, so the earliest time counts.
        let earliest = Dictionary(givenUp.map { ($0.button, $0.since) }, uniquingKeysWith: min)
        var starts: [ButtonID: Instant] = [:]
        for item in givenUp where buttons[item.button]?.source == EngineFeed.source(of: item.site) {
            starts[item.button] = earliest[item.button]
        }
        for place in starts.keys.sorted().flatMap({ feed?.unsettled[$0] ?? [] })
        where !givenUp.contains(where: { $0.site == place.site && $0.button == place.button }) {
            advanceFeed(.source(.giveUp(site: place.site, place.button)), at: now)
        }
        for button in Set(starts.keys.flatMap { rules.partners(of: $0) }).subtracting(starts.keys).sorted() {
            guard let site = buttons[button]?.source.flatMap({ EngineFeed.site(of: $0) }) else { continue }
            advanceFeed(.source(.giveUp(site: site, button)), at: now)
        }
        abandon(starts, at: now)
    }

    /// Gives up everything that presses of sites' buttons since these times have caused, because these presses are reported.
    mutating func abandon(_ starts: [ButtonID: Instant], at now: Instant) {
        guard !starts.isEmpty else { return }
        advanceRules(.abandoned(starts), at: now)
        // The presses are not undecided any more.
        let changes = starts.keys.sorted().compactMap { progress(of: $0) }
        if !changes.isEmpty { record(changes) }
    }

    /// Begins anew with a button whose last messages another engine has claimed, or with a part of it: forgets the undecided presses
    /// that this engine knew.
    ///
    /// - Parameter input: `inherited` or `begunElsewhere`, of this button.
    mutating func inherit(_ button: ButtonID, _ input: RuleEngine.Input, at now: Instant) {
        let wasUndecided = !rules.savedTrain(of: button).isEmpty
        advanceRules(input, at: now)
        if wasUndecided, let progress = progress(of: button) { record([progress]) }
    }

    /// Lets rules act, and performs the held actions if `continues`; otherwise drops them.
    mutating func act(continues: Bool, at now: Instant) {
        guard feed?.isLeading == true else { return }
        advanceRules(.acting(true, endingRuns: false), at: now)
        let held = feed?.takeHeld() ?? []
        for held in continues ? held : [] {
            if case .message(let message) = held.action, now > held.at + message.maximumAge {
                fail(held, "the broker was disconnected for too long", at: now)
            } else if feed?.holds(held.step, held.action, rule: held.rule, at: now) != true {
                perform(held.step, held.action, rule: held.rule, at: now)
            }
        }
        if feed?.takeRulesTimer() == true { advanceRules(.timerFired, at: now) }
    }

    private mutating func fail(_ held: EngineFeed.HeldAction, _ reason: String, at now: Instant) {
        advanceRules(.actionFinished(held.step, .failed(code: "R824", message: reason)), at: now)
    }

    // MARK: Claims

    /// Publishes messages of the feed on the present connection. Without one they are dropped, because they must not be
    /// published on a later connection (`FeedSource.Effect.publish`).
    mutating func publishFeedMessages(_ messages: [MQTTMessage]) {
        guard broker.isConnected else { return }
        for message in messages {
            let id = identifiers.messageID()
            if message.qos > 0 {
                let isCursor = if case .cursor = FeedTopic(message.topicName)?.kind { true } else { false }
                feed?.sent(id, on: message.topicName, isClaim: isCursor && !message.payload.isEmpty)
            }
            emit(.publish(id, message, expiry: nil))
        }
    }

    mutating func claimPublished(_ id: MessageID, at now: Instant) {
        guard let topicName = feed?.takeAcknowledged(id), FeedTopic(topicName) != nil else { return }
        for held in feed?.claimEnded(id) ?? [] { perform(held.step, held.action, rule: held.rule, at: now) }
        advanceFeed(.source(.acknowledged(topicName: topicName)), at: now)
    }

    mutating func claimFailed(_ id: MessageID, _ reason: String, at now: Instant) {
        guard let topicName = feed?.takeSent(id) else { return }
        if let sentence = feed?.refused(topicName, reason) { log(.error, sentence) }
        guard FeedTopic(topicName) != nil else { return }
        advanceFeed(.source(.refused(topicName: topicName)), at: now)
        guard let held = feed?.claimEnded(id) else { return }
        log(.error, "the claim of a press was not published: \(reason); other engines may act on it, too")
        for held in held { fail(held, "the claim of the press was not published: \(reason)", at: now) }
    }
}
