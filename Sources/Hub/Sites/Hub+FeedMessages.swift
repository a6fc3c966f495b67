import ButtonModel
import Buttons
import Feed
import JSON
import MQTTTopics
import Rules

// The messages of sites, which an engine takes, passes over, or reports as lost or interrupted.
extension Hub {
    mutating func carryOut(_ effects: [FeedSource.Effect], at now: Instant) {
        var claim = FeedClaim()
        for effect in effects {
            switch effect {
            case .record(let position): claim.changes.append(.feed(.claimed(position)))
            case .forget(let site, let button): claim.changes.append(.feed(.removed(site: site, button)))
            case .publish(let message): claim.messages.append(message)
            case .took(let place, let steps):
                took(place, steps, claim, at: now)
                claim = FeedClaim()
            case .lost, .interrupted, .gaveUp, .inherited, .known, .offline, .removed, .beganAnew, .restored, .setTimer,
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
        publishFeedMessages(claim.messages)
    }

    private mutating func carryOut(_ effect: FeedSource.Effect, at now: Instant) {
        switch effect {
        case .lost, .interrupted, .gaveUp, .inherited, .known, .offline, .removed, .beganAnew, .restored:
            completePress(at: now)
        case .record, .forget, .publish, .took, .setTimer, .cancelTimer, .anomaly: break
        }
        switch effect {
        case .record, .forget, .publish, .took: break
        case .lost(let place, let count):
            feed?.reported(lost: place, count: count)
            let label = label(of: place.button)
            log(
                .lostPress, .warning, "\(place.site): the journal has lost \(count) messages of \(label)", at: now)
            publishEvent(
                "lost", described(place, ["lost": .integer(Int64(count))]), timeToLive: .seconds(3600),
                repetition: .never, as: .press, for: .report(place, first: place.number - count + 1), at: now)
        case .interrupted(let place, let first):
            let isNew = feed?.reported(interrupted: place, first: first) ?? true
            let messages = first == place.number ? "message \(first)" : "messages \(first) to \(place.number)"
            let rest = first == place.number ? "is not repeated" : "are not repeated"
            let isFormer = feed?.sites[place.site].map { $0.installation != place.installation } ?? false
            let life = isFormer ? " (as installation \(place.installation))" : ""
            let label = label(of: place.button)
            let sentence = "\(place.site): \(messages) of \(label)\(life) may have had no effect, and \(rest)"
            if isNew {
                log(.interruptedPress, .warning, sentence, at: now)
            } else {
                log(.debug, "\(sentence); this was said before")
            }
            // `FeedSource` makes a report again if the broker has perhaps not received it.
            publishEvent(
                "interrupted",
                described(
                    place, ["first_n": .integer(Int64(first)), "last_n": .integer(Int64(place.number))]),
                timeToLive: .seconds(3600), repetition: .never, as: .press, for: .report(place, first: first), at: now)
        case .gaveUp(let givenUp): giveUp(givenUp, at: now)
        case .inherited(let site, let button, let mayBeDown):
            guard buttons[button]?.source == EngineFeed.source(of: site) else { break }
            feed?.inherits(button)
            inherit(button, .inherited(button, mayBeDown: mayBeDown), at: now)
        case .known(let site, let hello): siteIsHere(site, hello, at: now)
        case .offline(let site): siteIsGone(site, at: now)
        case .removed(let site, let button):
            // A button that another site has is pressed there.
            let (owner, source) = (buttons[button]?.source, EngineFeed.source(of: site))
            if owner == nil || owner == source { feed?.removed(button) }
            guard owner == source else { break }
            gone(button, .removed, at: now)
            otherSiteHas(button, than: site, at: now)
        case .beganAnew(let place, let former):
            // For a site that was restored from a copy, `restored` warns once for all its buttons.
            let isSameSite = FeedLife(place.installation).root == FeedLife(former.installation).root
            let sentence =
                "\(place.site): the numbers of \(label(of: place.button)) were \(former.number) and start again at \(place.number)"
            if isSameSite { log(.debug, sentence) } else { log(.renumberedButton, .warning, sentence, at: now) }
        case .restored(let site, let life):
            let sentence =
                "\(site) was restored from an old copy of its disk, and goes on as installation \(life.installation)"
            guard feed?.isLeading == true else {
                // A stand-by says so at each start, because only the engine that leads records claims of the new life.
                log(.restoredSite, .info, "\(sentence); the engine that leads handles its presses", at: now)
                break
            }
            log(
                .restoredSite, .warning,
                "\(sentence). Presses that are in the copy and were handled since are not repeated; new presses are handled as "
                    + "usual", at: now)
            publishEvent(
                "restored", ["site": .string(site), "installation": .string(life.installation)],
                timeToLive: .seconds(3600), at: now)
        case .setTimer(let deadline): feed?.setTimer(.source, at: deadline)
        case .cancelTimer: feed?.setTimer(.source, at: nil)
        case .anomaly(let text): log(.debug, "feed: \(text)")
        }
    }

    private func described(_ place: FeedPlace, _ facts: KeyValuePairs<String, JSONValue>) -> JSONValue {
        let place: KeyValuePairs<String, JSONValue> = [
            "site": .string(place.site), "installation": .string(place.installation),
            "button": .string(place.button.description),
        ]
        return .object((Array(place) + Array(facts)).map { JSONValue.Member($0.key, $0.value) })
    }

    private mutating func took(_ place: FeedPlace, _ steps: [FeedStep], _ claim: FeedClaim, at now: Instant) {
        let button = place.button
        let cursor = buttons[button]?.stored.cursor ?? EventCursor()
        // A button repeats at its other site what it has told the first one and was not told to forget.
        let old = steps.compactMap { step in
            if case .press(let event) = step, cursor.covers(EventCursor(event)) || feed?.isOver(event) == true {
                event
            } else {
                nil
            }
        }
        if let former = buttons[button]?.source, former != EngineFeed.source(of: place.site),
            EngineFeed.isSite(source: former)
        {
            // Old presses and turns do not show where the button is now. Turns, and presses of another boot, are old by their time.
            let isOld = steps.allSatisfy { step in
                if case .press(let event) = step, old.contains(event) { return true }
                return step.bootID != cursor.bootID && feed?.isOver(step, of: place.site, at: now) == true
            }
            guard !isOld else { return tookOld(place, steps, claim, at: now) }
            buttonChangedSite(button, to: place.site, at: now)
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
            case .press(let event) where old.contains(event): break
            case .press(let event): events.append(event)
            case .turn(let movement): movements.append(movement)
            }
        }
        feed?.took(place, events, movements, at: now)
        // Another engine, or an earlier process, has taken the beginning of this press, and it was acted on or reported. So the rest is in
        // no gesture, also if the engine that has reported it is gone as well, and everything counts as done. Nothing of this part has
        // begun here since, but another part may be pressed, and a turn may be collected.
        for part in feed?.begins(events, of: button) ?? [] {
            completePress(at: now)
            inherit(button, .begunElsewhere(button, part), at: now)
        }
        if let bootID = events.last?.bootID {
            // A button that has rebooted counts anew, and so does each part of a Duo.
            let stored = record.stored.cursor
            var newest = stored.bootID == bootID ? stored : EventCursor(bootID: bootID)
            for event in events { newest.raise(to: event) }
            pressed(button, events, newest, needsAcknowledgement: false, claim: claim, at: now)
        } else {
            completePress(at: now)
            carryOut(claim)
        }
        if !movements.isEmpty {
            completePress(at: now)
            dialsTurned(button, movements, at: now)
        }
        // The message was acted on. A button sends its presses in order and without gaps, so the old ones among them were handled,
        // perhaps before this process began.
        if events.isEmpty { reportUnhandled(old.map(FeedStep.press), of: place, at: now) }
    }

    /// Reports a message of the site that had the button before. All of its presses and turns are older than the newest one of
    /// the button, so the button stays with its present site.
    private mutating func tookOld(_ place: FeedPlace, _ steps: [FeedStep], _ claim: FeedClaim, at now: Instant) {
        completePress(at: now)
        carryOut(claim)
        reportUnhandled(steps, of: place, at: now)
        advanceFeed(.source(.settled(place)), at: now)
    }

    /// Reports a message whose presses or turns came too late, unless it has only presses that were handled when another site sent
    /// them. They are not acted on, because the presses of a button are handled in their order. A button does not repeat a turn.
    private mutating func reportUnhandled(_ steps: [FeedStep], of place: FeedPlace, at now: Instant) {
        let isHandled = steps.allSatisfy { step in
            switch step {
            case .press(let event): feed?.hasHandled(event) == true
            case .turn: false
            }
        }
        if !isHandled { advanceFeed(.source(.unhandled(place)), at: now) }
    }
}

extension EventCursor {
    /// The cursor of one event: its counter, and nothing of the other part of a Duo.
    fileprivate init(_ event: ButtonEvent) {
        self.init(bootID: event.bootID)
        raise(to: event)
    }

    /// Advances the counter of the event's part to that of an event of the same boot.
    fileprivate mutating func raise(to event: ButtonEvent) {
        if event.part == .small {
            smallEventCount = max(smallEventCount, event.counter)
        } else {
            eventCount = max(eventCount, event.counter)
        }
    }
}
