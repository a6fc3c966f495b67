import ButtonModel

// The messages of one button while we lead.
extension FeedSource {
    /// Takes messages of a button whose cursor is known: at once if there is room to ask for them, or later.
    mutating func begin(_ key: ButtonKey, at now: Instant) {
        guard term != nil, let button = self[key], sites[key.site]?.hello?.buttons[key.button] != nil else { return }
        // A button with open messages, or with messages that may have been lost, does not wait for room, because their claim has to
        // be announced before their actions may go on. While a button waits, no message of it is taken, because interrupted
        // messages have to be reported first.
        guard button.open != nil || button.unconfirmed != nil || hasRoomToAsk || asked.contains(key) else {
            return putOff(key)
        }
        start(key, at: now)
    }

    /// Takes nothing from a button until there is room to ask for its messages.
    private mutating func putOff(_ key: ButtonKey) {
        self[key]?.state = .unknown
        self[key]?.hasGap = false
        deadlines.cancel(.want(key))
        waiting.add(key)
    }

    private mutating func start(_ key: ButtonKey, at now: Instant) {
        guard let button = self[key] else { return }
        waiting.remove(key)
        asked.insert(key)
        let hasOpen = button.formerOpen != nil || button.accounted < button.cursor
        let received = receivedDone(of: key)
        let hasReports = report(self[key]?.takeReports(received: received) ?? [], of: key)
        let isOfOther = button.cursor > button.lastTaken ?? 0 && (hasOpen || button.lastTaken != nil)
        self[key]?.hasStoodBy = false
        if isOfOther || button.hasStoodBy && hasOpen {
            effects.append(.inherited(site: key.site, key.button, mayBeDown: hasOpen))
            self[key]?.lastTaken = button.cursor
        }
        // What an earlier connection may have lost is reported.
        if button.isReconnected {
            self[key]?.isReconnected = false
            self[key]?.unconfirmed = nil
        }
        announceIfNeeded(key)
        // A claim with the number 0 is recorded here, because it belongs to no message that would record it.
        if button.claim?.number == 0 { record(key) }
        ask(key, at: now)
        // `done` is published right behind the report. When the broker acknowledges `done`, it therefore has the report, too, and it
        // does so before it acknowledges later claims.
        if hasReports { publishDone(key, at: now) } else { doneChanged(key, at: now) }
    }

    /// Reports messages as interrupted, and what was claimed in an earlier life of the site.
    ///
    /// - Returns: false if there is nothing to report.
    private mutating func report(_ reports: [ClosedRange<Int>], of key: ButtonKey) -> Bool {
        let former = self[key]?.takeFormerReport()
        if let former { effects.append(.interrupted(former.place, first: former.first)) }
        for report in reports {
            effects.append(.interrupted(place(key, report.upperBound), first: report.lowerBound))
        }
        return former != nil || !reports.isEmpty
    }

    /// The broker has answered a report.
    mutating func reportEnded(_ place: FeedPlace, first: Int, isPublished: Bool, at now: Instant) {
        let key = ButtonKey(site: place.site, button: place.button)
        guard !isPublished, isConnected, self[key]?.reportRefused(place, first: first) == true else { return }
        // The broker may take some reports and refuse others, so one that it takes does not shorten the pauses.
        if let refusedAt = reportRefusedAt, now >= refusedAt + Self.reportPauses.upperBound * 2 {
            reportBackOff.reset()
        }
        reportRefusedAt = now
        // The disk may say that the messages are done.
        record(key)
        refusedReports.add(key)
        if deadlines.deadline(of: .reports) == nil { deadlines.set(.reports, at: now + reportBackOff.next()) }
    }

    /// Makes reports again that the broker has refused, those of `maximumAsked` buttons in each second. Those that it refuses again
    /// wait until all others were made, and for the next pause. Those of a button that is not taken from now are made when it is.
    mutating func reportAgain(at now: Instant) {
        if reportsToMake.members.isEmpty { swap(&reportsToMake, &refusedReports) }
        for _ in 0..<Self.maximumAsked {
            guard let key = reportsToMake.takeFirst() else { break }
            guard term != nil, self[key].map({ $0.state != .unknown }) ?? false else { continue }
            if report(self[key]?.takeRefusedReports() ?? [], of: key) { publishDone(key, at: now) }
        }
        if !reportsToMake.members.isEmpty {
            deadlines.set(.reports, at: now + Self.reportPauses.lowerBound)
        } else if !refusedReports.members.isEmpty {
            deadlines.set(.reports, at: now + reportBackOff.next())
        }
    }

    /// The number up to which the retained `done` or the site says that everything is done.
    private func receivedDone(of key: ButtonKey) -> Int {
        guard let button = self[key], let hello = sites[key.site]?.hello else { return 0 }
        let heard = button.heardDone.flatMap { $0.installation == hello.installation ? $0.number : nil }
        return max(heard ?? 0, hello.buttons[key.button]?.done ?? 0)
    }

    /// Asks for the messages of buttons that wait, as many as there is room for.
    mutating func startWaiting(at now: Instant) {
        while hasRoomToAsk, let key = waiting.takeFirst() { start(key, at: now) }
    }

    mutating func received(_ message: FeedMessage, of key: ButtonKey, brokerAge: Duration, at now: Instant) {
        guard let button = self[key], message.number > button.cursor else { return }
        guard message.previous == button.cursor else {
            self[key]?.hasGap = true
            self[key]?.state = .asking
            if let askedAt = button.askedAt, now < askedAt + Self.minimumWantInterval {
                deadlines.set(.want(key), at: askedAt + Self.minimumWantInterval)
            } else {
                ask(key, at: now)
            }
            return
        }
        guard unacknowledgedCount < Self.maximumUnacknowledged else { return putOff(key) }
        take(message, of: key, brokerAge: brokerAge, at: now)
    }

    /// Records and publishes the claim, and then hands the message over.
    private mutating func take(_ message: FeedMessage, of key: ButtonKey, brokerAge: Duration, at now: Instant) {
        guard let term, let hello = sites[key.site]?.hello, var button = self[key] else { return }
        button.claim = FeedCursor(
            number: message.number, term: term, engine: engine, installation: hello.installation,
            session: hello.session)
        button.accounted = message.number
        button.lastTaken = message.number
        button.state = .inStep
        button.hasGap = false
        // A report of lost messages behind an open message needs no entry: it counts as done when nothing is open any more.
        if message.lostCount == nil || button.open == nil {
            button.open = (button.open?.lowerBound ?? message.previous + 1)...message.number
        }
        if message.lostCount == nil {
            button.awaitConfirmation(after: message.previous, message.number, at: now)
        }
        self[key] = button
        deadlines.cancel(.want(key))
        record(key)
        announce(key)
        switch message.content {
        case .lost:
            self[key]?.report((message.previous + 1)...message.number)
            effects.append(.lost(place(key, message.number), count: message.number - message.previous))
            if button.open?.upperBound == message.number { self[key]?.open = nil }
            doneChanged(key, at: now)
        case .steps(let steps):
            let aged = steps.map { step in
                var step = step
                step.age += brokerAge
                step.wasQueued = step.wasQueued || step.age > Self.liveAge
                return step
            }
            effects.append(.took(place(key, message.number), aged))
        }
    }

    /// Requests what follows the cursor.
    mutating func ask(_ key: ButtonKey, at now: Instant) {
        guard let button = self[key], let hello = sites[key.site]?.hello else { return }
        self[key]?.state = .asking
        self[key]?.askedAt = now
        deadlines.cancel(.want(key))
        let want = FeedWant(after: button.cursor, session: hello.session, installation: hello.installation)
        publish(key, .want(key.button), want.encoded(), isRetained: false)
    }

    /// Announces the claim of a button if the broker has a lower one, or the site would ignore that for its term.
    mutating func announceIfNeeded(_ key: ButtonKey) {
        guard let term, let button = self[key], let claim = button.claim, let hello = sites[key.site]?.hello,
            hello.buttons[key.button] != nil
        else { return }
        let isIgnored = (button.heardClaim?.term ?? 0) < hello.term && hello.term <= term
        if isIgnored || button.heardClaim?.covers(claim) != true { announce(key) }
    }

    private mutating func announce(_ key: ButtonKey) {
        guard let term, var claim = self[key]?.claim else { return }
        // A site ignores claims of a lower term than the highest that it has heard.
        claim.term = term
        claim.engine = engine
        self[key]?.claim = claim
        self[key]?.heardClaim = claim
        self[key]?.announced.append(claim.number)
        publish(key, .cursor(key.button), claim.encoded(), isRetained: true)
    }

    private mutating func record(_ key: ButtonKey) {
        guard let button = self[key], let claim = button.claim else { return }
        effects.append(
            .record(
                FeedPosition(
                    site: key.site, button: key.button, claim: claim, done: button.certainlyDone,
                    formerOpen: button.formerOpen)))
    }

    func place(_ key: ButtonKey, _ number: Int) -> FeedPlace {
        FeedPlace(
            site: key.site, button: key.button, installation: sites[key.site]?.hello?.installation ?? "",
            number: number)
    }

    // MARK: What the broker says of our messages

    mutating func acknowledged(_ name: String) {
        unacknowledgedCount = max(0, unacknowledgedCount - 1)
        guard !answersRemoved(name) else { return }
        guard let feed = FeedTopic(name), let id = feed.button else { return }
        let key = ButtonKey(site: feed.site, button: id)
        switch feed.kind {
        case .want: asked.remove(key)
        case .cursor, .done:
            let before = self[key]
            if case .cursor = feed.kind { self[key]?.confirmed() } else { self[key]?.doneAnswered(isPublished: true) }
            // The record of what was published as done may be from before the acknowledgement.
            let isNews =
                self[key]?.certainlyDone != before?.certainlyDone || self[key]?.formerOpen != before?.formerOpen
            if isNews, deadlines.deadline(of: .done(key)) == nil { record(key) }
        case .hello, .messages: break
        }
    }

    /// True if the broker answers a message about a button that was removed.
    private mutating func answersRemoved(_ name: String) -> Bool {
        guard let count = sentBeforeRemoval[name] else { return false }
        sentBeforeRemoval[name] = count > 1 ? count - 1 : nil
        return true
    }

    /// A message of ours was not published, so it is published again after a pause.
    mutating func refused(_ name: String, at now: Instant) {
        unacknowledgedCount = max(0, unacknowledgedCount - 1)
        guard let feed = FeedTopic(name), let id = feed.button else { return }
        let key = ButtonKey(site: feed.site, button: id)
        if self[key] == nil, answersRemoved(name) { return }
        // The broker does not have the message. This is noted even if this engine does not lead now and publishes nothing again.
        switch feed.kind {
        case .cursor: self[key]?.notPublished()
        case .done:
            self[key]?.doneAnswered(isPublished: false)
            self[key]?.heardDone = nil
        case .want, .hello, .messages: break
        }
        guard term != nil, self[key] != nil, sites[feed.site]?.isHere == true else { return }
        switch feed.kind {
        case .cursor: deadlines.set(.claim(key), at: now + Self.refusalPause)
        case .done: doneChanged(key, at: now)
        case .want:
            asked.remove(key)
            if self[key]?.state == .asking {
                self[key]?.hasGap = true
                deadlines.set(.want(key), at: now + Self.refusalPause)
            }
        case .hello, .messages: break
        }
    }

    // MARK: What is done

    mutating func settled(_ place: FeedPlace, at now: Instant) {
        let key = ButtonKey(site: place.site, button: place.button)
        guard let button = self[key], let open = button.open, button.claim?.installation == place.installation,
            place.number >= open.lowerBound
        else { return }
        self[key]?.settle(upTo: place.number, of: open)
        doneChanged(key, at: now)
    }

    /// The owner has not acted on a message that it was handed, so the message is reported.
    mutating func unhandled(_ place: FeedPlace) {
        let key = ButtonKey(site: place.site, button: place.button)
        if let claim = self[key]?.claim, claim.installation == place.installation, claim.number >= place.number {
            self[key]?.report(place.number...place.number)
        }
        effects.append(.interrupted(place, first: place.number))
    }

    private mutating func doneChanged(_ key: ButtonKey, at now: Instant) {
        guard term != nil, let button = self[key], button.claim != nil, !button.isDoneAnnounced else { return }
        if let doneAt = button.doneAt, now < doneAt + Self.minimumDoneInterval {
            deadlines.set(.done(key), at: doneAt + Self.minimumDoneInterval)
        } else if unacknowledgedCount >= Self.maximumUnacknowledged {
            deadlines.set(.done(key), at: now + Self.minimumDoneInterval)
        } else {
            publishDone(key, at: now)
        }
    }

    mutating func publishDone(_ key: ButtonKey, at now: Instant) {
        guard let term, let button = self[key], let claim = button.claim else { return }
        let done = FeedDone(number: button.done, term: term, installation: claim.installation)
        self[key]?.heardDone = done
        self[key]?.announcedDone.append(done.number)
        self[key]?.doneAt = now
        deadlines.cancel(.done(key))
        record(key)
        publish(key, .done(key.button), done.encoded(), isRetained: true)
    }
}

extension FeedSource.Button {
    /// True if the retained message says how far everything is done.
    var isDoneAnnounced: Bool {
        guard let heardDone, heardDone.installation == claim?.installation else {
            return done == 0 && formerOpen == nil
        }
        return heardDone.number >= done
    }
}

extension FeedCursor {
    /// True if this claim includes `claim`, so that `claim` need not be published.
    func covers(_ claim: FeedCursor) -> Bool { installation == claim.installation && number >= claim.number }

    /// True if the claim was made after the site said this hello.
    func isLater(than hello: FeedHello) -> Bool {
        installation == hello.installation
            ? session > hello.session : FeedLife(hello.installation).isBefore(FeedLife(installation))
    }
}
