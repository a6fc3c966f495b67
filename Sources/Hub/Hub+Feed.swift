import ButtonModel
import Buttons
import Feed
import JSON
import MQTTTopics
import Rules

// The hub as an engine: it receives the presses of sites over the broker, and acts on them while it leads.
extension Hub {
    mutating func startFeed(at now: Instant) {
        guard let feed else { return }
        advanceFeed(.source(.start(feed.storedPositions)), at: now)
        advanceFeed(.leadership(.start(term: feed.storedTerm)), at: now)
    }

    /// The broker is connected: subscribes to the topics of sites and engines.
    mutating func feedConnected(at now: Instant) {
        guard let subscriptions = feed?.subscriptions else { return }
        emit(.subscribe(subscriptions))
        advanceFeed(.source(.connected), at: now)
        advanceFeed(.leadership(.connected), at: now)
    }

    mutating func expiringMessageReceived(
        _ topicName: String, _ payload: [UInt8], retained: Bool, remaining: Duration, at now: Instant
    ) {
        let age = max(.zero, EngineFeed.expiry - remaining)
        if feed != nil, feedReceived(topicName, payload, brokerAge: age, at: now) { return }
        messageReceived(topicName, payload, retained: retained, at: now)
    }

    /// Gives a message to the feed if it is from a site or an engine.
    ///
    /// - Parameter brokerAge: how long the broker kept the message.
    /// - Returns: true if the message is on a topic of a feed, so that no other part of the hub uses it.
    mutating func feedReceived(
        _ topicName: String, _ payload: [UInt8], brokerAge: Duration, at now: Instant
    ) -> Bool {
        guard lifecycle.isRunning, let feed else { return false }
        // The timer may be late, because the process was stopped.
        if feed.leadership.hasLapsed(at: now) { advanceFeed(.leadership(.timerFired), at: now) }
        if feed.leadership.filters.contains(topicName) {
            advanceFeed(.leadership(.received(topicName: topicName, payload: payload)), at: now)
            return false
        }
        guard let topic = FeedTopic(topicName) else { return false }
        if self.feed?.includes(site: topic.site) == true {
            advanceFeed(
                .source(.received(topicName: topicName, payload: payload, brokerAge: brokerAge)), at: now)
        }
        return true
    }

    mutating func expireFeed(at now: Instant) {
        for key in feed?.takeDue(at: now) ?? [] {
            switch key {
            case .source: advanceFeed(.source(.timerFired), at: now)
            case .leadership: advanceFeed(.leadership(.timerFired), at: now)
            }
        }
        rearmFeed()
    }

    /// Tells the feed, at the end of an input, which taken messages are settled, and whether the rules have changed.
    mutating func tendFeed(at now: Instant) {
        guard lifecycle.isRunning else { return }
        if feed?.announcedRules != rules.set.fingerprint {
            feed?.announcedRules = rules.set.fingerprint
            advanceFeed(.leadership(.rules(String(rules.set.fingerprint.prefix(64)))), at: now)
        }
        for button in feed?.buttonsToSettle ?? [] where rules.savedTrain(of: button).isEmpty {
            for place in feed?.settle(button) ?? [] { advanceFeed(.source(.settled(place)), at: now) }
        }
    }

    private mutating func rearmFeed() {
        switch feed?.rearm() {
        case .set(let deadline): setTimer(.feed, at: deadline)
        case .cancel: cancelTimer(.feed)
        case nil: break
        }
    }

    mutating func advanceFeed(_ input: EngineFeed.Input, at now: Instant) {
        guard feed?.add(input) == true else { return }
        metrics.invalidate()
        while let input = feed?.takeInput() {
            switch input {
            case .source(let input): carryOut(feed?.handle(input, at: now) ?? [], at: now)
            case .leadership(let input):
                for effect in feed?.handle(input, at: now) ?? [] { carryOut(effect, at: now) }
            case .act(let continues): act(continues: continues, at: now)
            case .disconnected:
                feed?.forgetSent()
                for effect in feed?.handle(EngineLeadership.Input.disconnected, at: now) ?? [] {
                    carryOut(effect, at: now)
                }
                carryOut(feed?.handle(FeedSource.Input.disconnected, at: now) ?? [], at: now)
            }
        }
        rearmFeed()
    }

    // MARK: Who leads

    private mutating func carryOut(_ effect: EngineLeadership.Effect, at now: Instant) {
        completePress(at: now)
        let share = feed?.configuration.share.description ?? ""
        switch effect {
        case .record(let term): record([.feed(.term(term))])
        case .publish(let message): publish([message])
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
            advanceFeed(.source(.standBy), at: now)
            advanceRules(.acting(false, endingRuns: false), at: now)
        case .stop:
            advanceFeed(.source(.standBy), at: now)
            endRuns("this engine does not lead share \(share) any more", at: now)
        case .rulesDiffer(let engine, let leads):
            let role = leads ? "leads" : "stands by for"
            log(.warning, "the engine \(engine), which \(role) share \(share), has other rules than this one")
        case .namesake(let installation):
            feed?.heardNamesake(installation)
            if let fault = feed?.fault {
                log(.error, fault)
            } else {
                log(.info, "the other engine with the name of this one is gone")
            }
        case .otherShare(let share, let engine):
            feed?.heardShare(share, of: engine)
            if share != nil, let fault = feed?.fault {
                log(.error, fault)
            } else {
                log(.info, "no engine with another share than this one's is heard any more")
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

    private mutating func endRuns(_ reason: String, at now: Instant) {
        log(.warning, "\(reason); its runs are interrupted")
        let isTimerDue = feed?.stop() == true
        advanceRules(.acting(false, endingRuns: true), at: now)
        if isTimerDue { advanceRules(.timerFired, at: now) }
    }

    /// Lets rules act, and performs the held actions if `continues`; otherwise drops them.
    private mutating func act(continues: Bool, at now: Instant) {
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
    mutating func publish(_ messages: [MQTTMessage]) {
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

    // MARK: Messages of sites

    private mutating func carryOut(_ effects: [FeedSource.Effect], at now: Instant) {
        var claim = FeedClaim()
        for effect in effects {
            switch effect {
            case .record(let position): claim.changes.append(.feed(.claimed(position)))
            case .forget(let site, let button): claim.changes.append(.feed(.removed(site: site, button)))
            case .publish(let message): claim.messages.append(message)
            case .took(let place, let steps):
                took(place, steps, claim, at: now)
                claim = FeedClaim()
            case .lost, .interrupted, .known, .offline, .removed, .beganAnew, .restored, .outranked, .setTimer,
                .cancelTimer, .anomaly:
                carryOut(claim)
                claim = FeedClaim()
                carryOut(effect, at: now)
            }
        }
        carryOut(claim)
    }

    private mutating func carryOut(_ claim: FeedClaim) {
        if !claim.changes.isEmpty { record(claim.changes) }
        publish(claim.messages)
    }

    private mutating func carryOut(_ effect: FeedSource.Effect, at now: Instant) {
        switch effect {
        case .lost, .interrupted, .known, .offline, .removed, .beganAnew, .restored: completePress(at: now)
        case .record, .forget, .publish, .took, .outranked, .setTimer, .cancelTimer, .anomaly: break
        }
        switch effect {
        case .record, .forget, .publish, .took: break
        case .lost(let place, let count):
            log(.warning, "\(place.site): the journal has lost \(count) messages of \(label(of: place.button))")
            publishEvent(
                "lost", described(place, ["lost": .integer(Int64(count))]), timeToLive: .seconds(3600), as: .press,
                at: now)
        case .interrupted(let place, let first):
            let messages = first == place.number ? "message \(first)" : "messages \(first) to \(place.number)"
            let rest = first == place.number ? "is not repeated" : "are not repeated"
            let isFormer = feed?.sites[place.site].map { $0.installation != place.installation } ?? false
            let life = isFormer ? " (as installation \(place.installation))" : ""
            log(
                .warning,
                "\(place.site): \(messages) of \(label(of: place.button))\(life) may have had no effect, and \(rest)"
            )
            publishEvent(
                "interrupted",
                described(
                    place, ["first_n": .integer(Int64(first)), "last_n": .integer(Int64(place.number))]),
                timeToLive: .seconds(3600), as: .press, at: now)
        case .known(let site, let hello): siteIsHere(site, hello, at: now)
        case .offline(let site): siteIsGone(site, at: now)
        case .removed(let site, let button):
            feed?.handledPresses.forget(button)
            guard buttons[button]?.source == EngineFeed.source(of: site) else { break }
            gone(button, .removed, at: now)
            otherSiteHas(button, than: site, at: now)
        case .beganAnew(let place, let former):
            // For a site that was restored from a copy, `restored` warns once for all its buttons.
            let isSameSite = FeedLife(place.installation).root == FeedLife(former.installation).root
            log(
                isSameSite ? .debug : .warning,
                "\(place.site): the numbers of \(label(of: place.button)) were \(former.number) and start again at \(place.number)"
            )
        case .restored(let site, let life):
            log(
                .warning,
                "\(site) was restored from an old copy of its disk, and goes on as installation \(life.installation). Presses "
                    + "that are in the copy and were handled since are not repeated; new presses are handled as usual")
            guard feed?.isLeading == true else { break }
            publishEvent(
                "restored", ["site": .string(site), "installation": .string(life.installation)],
                timeToLive: .seconds(3600), at: now)
        case .outranked: break
        case .setTimer(let deadline): feed?.setTimer(.source, at: deadline)
        case .cancelTimer: feed?.setTimer(.source, at: nil)
        case .anomaly(let text): log(.debug, "feed: \(text)")
        }
    }

    private func described(_ place: FeedPlace, _ facts: KeyValuePairs<String, JSONValue>) -> JSONValue {
        let place: KeyValuePairs<String, JSONValue> = [
            "site": .string(place.site), "button": .string(place.button.description),
        ]
        return .object((Array(place) + Array(facts)).map { JSONValue.Member($0.key, $0.value) })
    }

    private mutating func took(_ place: FeedPlace, _ steps: [FeedStep], _ claim: FeedClaim, at now: Instant) {
        let button = place.button
        let cursor = buttons[button]?.stored.cursor ?? EventCursor()
        // A button repeats at its other site what it has told the first one and was not told to forget.
        let old = steps.compactMap { step in
            if case .press(let event) = step, cursor.covers(EventCursor(event)) { event } else { nil }
        }
        if let former = buttons[button]?.source, former != EngineFeed.source(of: place.site),
            EngineFeed.isSite(source: former)
        {
            // Old presses do not show where the button is now.
            guard old.count < steps.count else { return tookOld(place, old, claim, at: now) }
            moved(button, to: place.site, at: now)
        }
        guard let record = buttons[button], record.source == EngineFeed.source(of: place.site) else {
            carryOut(claim)
            log(
                .foreignButton, .warning,
                "\(place.site): a press of \(place.button) is not handled, because this engine uses another button with this id",
                at: now)
            return advanceFeed(.source(.settled(place)), at: now)
        }
        var events: [ButtonEvent] = []
        var movements: [ButtonMovement] = []
        for step in steps {
            switch step {
            case .press(let event) where cursor.covers(EventCursor(event)): break
            case .press(let event): events.append(event)
            case .turn(let movement): movements.append(movement)
            }
        }
        feed?.took(place)
        for event in events { feed?.handledPresses.add(event, from: place.site) }
        if let last = events.last {
            var newest = EventCursor(last)
            if last.part == .small {
                newest.eventCount = record.stored.cursor.eventCount
            } else {
                newest.smallEventCount = record.stored.cursor.smallEventCount
            }
            pressed(button, events, newest, needsAcknowledgement: false, claim: claim, at: now)
        } else {
            completePress(at: now)
            carryOut(claim)
        }
        if !movements.isEmpty {
            completePress(at: now)
            moved(button, movements, at: now)
        }
        reportUnhandled(old, of: place, at: now)
    }

    /// Reports a message of the site that had the button before. All of its presses are older than the newest press of the
    /// button, so the button stays with its present site.
    private mutating func tookOld(_ place: FeedPlace, _ old: [ButtonEvent], _ claim: FeedClaim, at now: Instant) {
        completePress(at: now)
        carryOut(claim)
        reportUnhandled(old, of: place, at: now)
        advanceFeed(.source(.settled(place)), at: now)
    }

    /// Reports a message whose presses came too late, unless they were handled when another site sent them. They are not acted
    /// on, because the presses of a button are handled in their order.
    private mutating func reportUnhandled(_ old: [ButtonEvent], of place: FeedPlace, at now: Instant) {
        guard let feed, !old.allSatisfy({ feed.handledPresses.contains($0) }) else { return }
        carryOut(FeedSource.Effect.interrupted(place, first: place.number), at: now)
    }

    /// A site has heard a button that another site had until now. A button has one link, so it is where it was heard last.
    private mutating func moved(_ button: ButtonID, to site: String, at now: Instant) {
        guard let facts = feed?.sites[site]?.buttons[button] else { return }
        completePress(at: now)
        let label = label(of: button)
        log(.foreignButton, .info, "\(site) hears \(label) now", at: now)
        announce(buttons.adopted(button, by: EngineFeed.source(of: site)), at: now)
        sitesHave([(button, facts, site)], at: now)
    }

    // MARK: Buttons of sites

    private mutating func siteIsHere(_ site: String, _ hello: FeedHello, at now: Instant) {
        if feed?.sites[site] == nil {
            let count = hello.buttons.count
            log(.info, "\(site) is connected, with \(count) button\(count == 1 ? "" : "s")")
        }
        sitesHave(hello.buttons.sorted { $0.key < $1.key }.map { ($0.key, $0.value, site) }, at: now)
        feed?.arrived(site, saying: hello)
    }

    /// Takes over the buttons of a site. The parts that know all buttons are told once, because each may have work in
    /// proportion to the number of all buttons.
    private mutating func sitesHave(
        _ known: [(id: ButtonID, facts: FeedHello.Button, site: String)], at now: Instant
    ) {
        collectedIdentityChanges = IdentityChanges()
        var new: [ButtonID] = []
        for (id, facts, site) in known where siteHas(id, facts, site, at: now) { new.append(id) }
        if let changes = collectedIdentityChanges.take() { tell(changes, at: now) }
        for id in new { introduce(id, at: now) }
        for (id, facts, site) in known where buttons[id]?.source == EngineFeed.source(of: site) {
            // A hello is repeated whenever something else in it changes.
            guard let battery = facts.battery, battery != buttons[id]?.batteryPercentage else { continue }
            batteryReported(id, battery, wallClock(at: now), at: now)
        }
        for (id, _, site) in known where buttons[id]?.source == EngineFeed.source(of: site) {
            if buttons[id]?.state != .ready { stateChanged(id, .ready, at: now) }
        }
    }

    /// - Returns: true if the button was not known before.
    private mutating func siteHas(
        _ id: ButtonID, _ facts: FeedHello.Button, _ site: String, at now: Instant
    ) -> Bool {
        let source = EngineFeed.source(of: site)
        if let record = buttons[id] {
            if record.source != source {
                guard let former = record.source, EngineFeed.isSite(source: former),
                    feed?.isHere(source: former) != true
                else {
                    log(.debug, "\(site) also has \(label(of: id)), which another source has already")
                    return false
                }
                announce(buttons.adopted(id, by: source), at: now)
            }
            announce(buttons.firmwareReported(id, facts.firmware), at: now)
            announce(buttons.nicknameReported(id, nickname(facts, of: id)), at: now)
            return false
        } else {
            // Rules may name a button by its serial number, so a site must not claim that of another button.
            guard !buttons.isSerialTaken(facts.serial) else {
                log(
                    .foreignButton, .warning,
                    "\(site): the button \(id) is not used, because another one has its serial number, \(facts.serial)",
                    at: now)
                return false
            }
            let identity = ButtonIdentity(
                address: BluetoothAddress(rawValue: id.rawValue), uuid: "", serial: facts.serial,
                nickname: nickname(facts, of: id),
                firmwareVersion: facts.firmware, model: facts.model)
            add(StoredButton(identity: identity, pairing: nil, source: source, pairedAt: wallClock(at: now)), at: now)
            return true
        }
    }

    /// The nickname of a button of a site; empty if another button has it, because rules may name a button by its nickname.
    private func nickname(_ facts: FeedHello.Button, of id: ButtonID) -> String {
        buttons.isNicknameTaken(facts.name, byOtherThan: id) ? "" : facts.name
    }

    /// The button of a site is gone. Another connected site may have it, too.
    private mutating func otherSiteHas(_ button: ButtonID, than site: String, at now: Instant) {
        if let (other, facts) = feed?.other(than: site, having: button) {
            sitesHave([(button, facts, other)], at: now)
        }
    }

    private mutating func siteIsGone(_ site: String, at now: Instant) {
        log(.info, "\(site) is not connected")
        for id in feed?.left(site) ?? [] where buttons[id]?.source == EngineFeed.source(of: site) {
            stateChanged(id, .disconnected, at: now)
            otherSiteHas(id, than: site, at: now)
        }
    }
}

extension EventCursor {
    /// The cursor of one event: its counter, and nothing of the other part of a Duo.
    fileprivate init(_ event: ButtonEvent) {
        self.init(bootID: event.bootID)
        if event.part == .small { smallEventCount = event.counter } else { eventCount = event.counter }
    }
}
