import ButtonModel

// The messages that sites and other engines publish.
extension FeedSource {
    mutating func received(_ name: String, _ payload: [UInt8], brokerAge: Duration, at now: Instant) {
        guard isConnected, let feed = FeedTopic(name) else { return }
        guard sites[feed.site] != nil || sites.count < Self.maximumSites else {
            return noteAnomaly("\(feed.site) is ignored, because there are \(Self.maximumSites) other sites")
        }
        do throws(FeedPayloadFailure) {
            switch feed.kind {
            case .hello:
                if payload.isEmpty {
                    sites[feed.site]?.waitingHello = nil
                    sites[feed.site]?.hasOldHello = false
                    siteLeft(feed.site)
                } else if admitsHello(payload, of: feed.site, at: now) {
                    said(try FeedHello(parsing: payload), feed.site, at: now)
                }
            case .messages(let id):
                let key = ButtonKey(site: feed.site, button: id)
                guard let state = self[key]?.state, state != .unknown else { return }
                received(try FeedMessage(parsing: payload, of: id), of: key, brokerAge: brokerAge, at: now)
            case .cursor(let id):
                let claim = payload.isEmpty ? nil : try FeedCursor(parsing: payload)
                heard(claim, of: ButtonKey(site: feed.site, button: id), at: now)
            case .done(let id):
                let done = payload.isEmpty ? nil : try FeedDone(parsing: payload)
                heard(done, of: ButtonKey(site: feed.site, button: id))
            case .want: break
            }
        } catch {
            noteAnomaly("\(name): \(error)")
        }
    }

    private mutating func siteLeft(_ site: String) {
        guard sites[site]?.isHere == true else { return }
        sites[site]?.isHere = false
        forgetStates(of: site)
        effects.append(.offline(site: site))
    }

    // MARK: Hello

    /// Counts a hello.
    ///
    /// - Returns: false if the site has said too many in a short time. It counts as gone then, and its last hello is handled
    ///   later, so that nothing is taken from it under a hello that is not the last one.
    private mutating func admitsHello(_ payload: [UInt8], of name: String, at now: Instant) -> Bool {
        var site = sites[name] ?? Site()
        if site.helloCountBegan.map({ now >= $0 + Self.helloInterval }) ?? true {
            (site.helloCount, site.helloCountBegan) = (0, now)
        }
        site.helloCount += 1
        let isAdmitted = site.helloCount <= Self.maximumHellos
        site.waitingHello = isAdmitted || payload.count > FeedHello.maximumLength ? nil : payload
        // A site whose payloads cannot be read is not remembered.
        if sites[name] != nil { sites[name] = site }
        guard !isAdmitted, sites[name] != nil else { return true }
        if site.helloCount == Self.maximumHellos + 1 {
            noteAnomaly("\(name): it has said hello more than \(Self.maximumHellos) times in a second")
        }
        siteLeft(name)
        deadlines.set(.hello(name), at: (site.helloCountBegan ?? now) + Self.helloInterval)
        return false
    }

    mutating func sayWaitingHello(of name: String, at now: Instant) {
        guard let payload = sites[name]?.waitingHello else { return }
        received(FeedTopic(name, .hello).description, payload, brokerAge: .zero, at: now)
    }

    private mutating func said(_ hello: FeedHello, _ name: String, at now: Instant) {
        let before = sites[name]?.hello
        if let before, before.installation == hello.installation, before.session > hello.session {
            noteAnomaly("\(name): its hello is of an earlier session, and is ignored")
            return answerStaleHello(name, before.session, before.installation, after: hello, at: now)
        }
        let claims = sites[name]?.buttons.values.flatMap { [$0.claim, $0.heardClaim].compactMap { $0 } } ?? []
        if let claim = claims.first(where: { $0.isLater(than: hello) }) {
            noteAnomaly("\(name): its hello is of an earlier session than its claims, and is ignored")
            return answerStaleHello(name, claim.session, claim.installation, after: hello, at: now)
        }
        let life = FeedLife(hello.installation)
        let isRestored =
            claims.contains { FeedLife($0.installation).isBefore(life) }
            && !claims.contains { $0.installation == hello.installation } && before?.installation != hello.installation
        sites[name]?.hasOldHello = false
        if isRestored { restored(name, life) }
        heard(siteTerm: hello.term, of: name)
        let isNew =
            sites[name]?.isHere != true || before?.session != hello.session
            || before?.installation != hello.installation
        sites[name, default: Site()].hello = hello
        sites[name]?.isHere = true
        if before != hello || isNew { effects.append(.known(site: name, hello)) }
        for id in sites[name]?.buttons.keys.sorted() ?? [] where hello.buttons[id] == nil {
            remove(ButtonKey(site: name, button: id))
        }
        for id in hello.buttons.keys.sorted() {
            let key = ButtonKey(site: name, button: id)
            let cursor = self[key]?.cursor
            let isRenewed = know(key)
            guard term != nil, let button = self[key] else { continue }
            // If messages of the site are missing here, or our claim is missing in its hello, our `want` was perhaps lost.
            let isMissing = hello.buttons[id].map { $0.last > button.cursor || $0.claimed < button.cursor } ?? false
            if isNew || isRenewed || isMissing || cursor != button.cursor || button.state == .unknown {
                begin(key, at: now)
            }
        }
        // The site may have been away when this engine began to lead.
        if term != nil { reportRestoreAgain(of: name) }
    }

    /// Answers a hello that counts as an old one. This is done at most once in `staleHelloReplyInterval`, because a site of an
    /// earlier version repeats the same hello after each answer.
    private mutating func answerStaleHello(
        _ name: String, _ session: Int, _ installation: String, after hello: FeedHello, at now: Instant
    ) {
        sites[name]?.hasOldHello = true
        guard term != nil, let id = hello.buttons.keys.min() else { return }
        if let toldAt = sites[name]?.toldAt, now < toldAt + Self.staleHelloReplyInterval { return }
        sites[name, default: Site()].toldAt = now
        let want = FeedWant(after: 0, session: session, installation: installation)
        publish(ButtonKey(site: name, button: id), .want(id), want.encoded(), isRetained: false)
    }

    mutating func remove(_ key: ButtonKey) {
        guard let button = self[key] else { return }
        sites[key.site]?.buttons[key.button] = nil
        cancelDeadlines(of: key)
        asked.remove(key)
        waiting.remove(key)
        effects.append(.forget(site: key.site, key.button))
        effects.append(.removed(site: key.site, key.button))
        let clearsClaim = term != nil && button.heardClaim != nil
        let clearsDone = term != nil && button.heardDone != nil
        if clearsClaim { publish(key, .cursor(key.button), [], isRetained: true) }
        if clearsDone { publish(key, .done(key.button), [], isRetained: true) }
        awaitAcknowledgements(.cursor(key.button), of: key, button.announced.count + (clearsClaim ? 1 : 0))
        awaitAcknowledgements(.done(key.button), of: key, button.announcedDone.count + (clearsDone ? 1 : 0))
    }

    private mutating func awaitAcknowledgements(_ kind: FeedTopic.Kind, of key: ButtonKey, _ count: Int) {
        if count > 0 { sentBeforeRemoval[FeedTopic(key.site, kind).description, default: 0] += count }
    }

    /// Finds the cursor of a button of a site that is here, from all claims.
    ///
    /// - Returns: true if the button begins anew.
    @discardableResult
    private mutating func know(_ key: ButtonKey) -> Bool {
        guard let hello = sites[key.site]?.hello, let facts = hello.buttons[key.button] else { return false }
        let life = FeedLife(hello.installation)
        func isOfEarlierLife(_ installation: String) -> Bool { FeedLife(installation).isBefore(life) }
        var button = self[key] ?? Button()
        let claims = [button.claim, button.heardClaim].compactMap { $0 }
        let valid = claims.filter { $0.installation == hello.installation }
        let earlier = claims.filter { isOfEarlierLife($0.installation) }
        let former = valid.isEmpty ? claims.max { $0.number < $1.number } : nil
        if let heard = button.heardClaim, !valid.contains(heard) { button.heardClaim = nil }
        let certain = facts.former?.certain ?? 0
        if let former {
            // Also what was reported, if the broker may not have the report.
            button.accounted =
                button.claim?.installation == former.installation
                ? button.certainlyReported(button.accounted) : 0
            if isOfEarlierLife(former.installation) {
                var done = max(button.accounted, facts.done)
                if let heard = button.heardDone, heard.installation == former.installation {
                    done = max(done, heard.number)
                }
                if button.claim?.installation == former.installation { done = button.notRefused(done) }
                if done < former.number {
                    let place = FeedPlace(
                        site: key.site, button: key.button, installation: former.installation, number: former.number)
                    button.formerOpen = FeedFormerOpen(place: place, first: done + 1)
                }
                button.accounted = min(former.number, certain)
            } else {
                button.accounted = 0
            }
        } else if let own = button.claim, own.installation != hello.installation {
            // Another engine has claimed in this life, and has reported what was interrupted in the former one.
            button.accounted = isOfEarlierLife(own.installation) ? min(own.number, certain) : 0
        }
        if let own = button.claim, own.installation != hello.installation {
            button.forgetFormer()
            // Their acknowledgements say nothing about the numbers of this installation.
            button.announced = button.announced.map { _ in 0 }
            button.confirmNoReports()
            deadlines.cancel(.done(key))
        }
        // Only claims of the latest earlier life count, because that life may have used the numbers of those before it again.
        let last = earlier.map { FeedLife($0.installation).number }.max()
        let carried =
            earlier.filter { FeedLife($0.installation).number == last }.map { facts.former?.carried($0) ?? 0 }.max()
            ?? 0
        let cursor = max(facts.claimed, valid.map(\.number).max() ?? 0, carried)
        var done = max(facts.done, button.accounted)
        if let heard = button.heardDone {
            if heard.installation == hello.installation {
                if heard.number <= cursor { done = max(done, heard.number) }
                // The engine that published this `done` led then, and has reported the messages of the earlier life. While we lead, it is
                // our own, which the broker may not have. It also has the `done` behind a report of ours that it has refused.
                if term == nil, !button.isFormerRefused { button.formerOpen = nil }
            } else {
                button.heardDone = nil
            }
        }
        // The cursor may be that of an earlier life, so not everything up to it counts as done.
        button.accounted = min(done, cursor)
        // Even a cursor of 0 becomes a claim. It replaces the claim of an earlier life, which would otherwise be reported again
        // each time that it is received.
        button.claim =
            claims.isEmpty && cursor == 0
            ? nil
            : FeedCursor(
                number: cursor, term: max(valid.map(\.term).max() ?? 0, term ?? 0), engine: engine,
                installation: hello.installation,
                session: valid.first { $0.number == cursor }?.session ?? hello.session)
        self[key] = button
        guard let former else { return false }
        effects.append(.beganAnew(place(key, cursor), former: former))
        return true
    }

    // MARK: Other engines, and retained messages of earlier ones

    private mutating func heard(_ claim: FeedCursor?, of key: ButtonKey, at now: Instant) {
        guard let claim else {
            self[key]?.heardClaim = nil
            return
        }
        guard isRoom(for: key) else { return }
        heard(term: claim.term)
        noteAnswer(claim, at: key.site)
        // Our own messages come back after later ones were sent.
        guard self[key]?.heardClaim?.covers(claim) != true else { return }
        sites[key.site, default: Site()].buttons[key.button, default: Button()].heardClaim = claim
        guard let site = sites[key.site], site.isHere, let hello = site.hello else { return }
        if claim.isLater(than: hello) {
            // The hello is an old one, so its numbers are not used.
            sites[key.site]?.hasOldHello = true
            return siteLeft(key.site)
        }
        let isEarlier = FeedLife(claim.installation).isBefore(FeedLife(hello.installation))
        guard isEarlier || claim.installation == hello.installation, let facts = hello.buttons[key.button] else {
            return
        }
        if (isEarlier ? facts.former?.carried(claim) ?? 0 : claim.number) > self[key]?.cursor ?? 0 {
            know(key)
            if term != nil { begin(key, at: now) }
        }
    }

    private mutating func heard(_ done: FeedDone?, of key: ButtonKey) {
        guard let done else {
            self[key]?.heardDone = nil
            return
        }
        // While we lead, only we publish it, and our own messages come back after later ones were sent.
        guard term == nil, isRoom(for: key) else { return }
        sites[key.site, default: Site()].buttons[key.button, default: Button()].heardDone = done
        if sites[key.site]?.isHere == true { know(key) }
    }

    /// True if the button is in the table, or there is room for it.
    private func isRoom(for key: ButtonKey) -> Bool {
        guard let site = sites[key.site], site.buttons[key.button] == nil else { return true }
        return site.buttons.count < FeedHello.maximumButtons
    }
}
