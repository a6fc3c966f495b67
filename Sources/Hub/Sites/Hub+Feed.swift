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
        if !feed.outdatedChanges.isEmpty { record(feed.outdatedChanges) }
        advanceFeed(.source(.start(feed.storedPositions)), at: now)
        advanceFeed(.leadership(.start(term: feed.storedTerm)), at: now)
    }

    /// The broker is connected: subscribes to the topics of sites and engines.
    mutating func feedConnected(at now: Instant) {
        guard let subscriptions = feed?.subscriptions else { return }
        feed?.subscribesAnew()
        emit(.subscribe(subscriptions))
        advanceFeed(.source(.connected), at: now)
        advanceFeed(.leadership(.connected), at: now)
    }

    mutating func expiringMessageReceived(
        _ topicName: String, _ payload: [UInt8], retained: Bool, remaining: Duration, at now: Instant
    ) {
        let age = max(.zero, EngineFeed.expiry - remaining)
        if feed != nil, feedReceived(topicName, payload, retained: retained, brokerAge: age, at: now) { return }
        messageReceived(topicName, payload, retained: retained, at: now)
    }

    /// Gives a message to the feed if it is from a site or an engine.
    ///
    /// - Parameter brokerAge: how long the broker kept the message.
    /// - Returns: true if the message is on a topic of a feed, so that no other part of the hub uses it.
    mutating func feedReceived(
        _ topicName: String, _ payload: [UInt8], retained: Bool, brokerAge: Duration, at now: Instant
    ) -> Bool {
        guard lifecycle.isRunning, feed != nil else { return false }
        if retained, feed?.leadership.missesClaims == true { advanceFeed(.leadership(.backlog), at: now) }
        // The timer may be late, because the process was stopped.
        if feed?.leadership.hasLapsed(at: now) == true { advanceFeed(.leadership(.timerFired), at: now) }
        if feed?.leadership.filters.contains(topicName) == true {
            advanceFeed(
                .leadership(.received(topicName: topicName, payload: payload, isRetained: retained)), at: now)
            return false
        }
        guard let topic = FeedTopic(topicName) else { return false }
        if feed?.includes(site: topic.site) == true {
            feed?.overhear(topic, payload)
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
        if let input = feed?.rulesInUse(rules.set.fingerprint) { advanceFeed(.leadership(input), at: now) }
        for button in feed?.buttonsToSettle ?? [] where !rules.hasUndecided(of: button) {
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
}
