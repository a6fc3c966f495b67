import ButtonModel

// The messages that engines publish.
extension FeedUplink {
    mutating func received(_ name: String, _ payload: [UInt8], at now: Instant) {
        guard session != nil, let feed = FeedTopic(name), feed.site == topic else { return }
        // An empty payload clears a retained topic. Engines take a site without a retained hello for gone, so it is said again.
        guard !payload.isEmpty else { return feed.kind == .hello ? sayHello(at: now) : () }
        do throws(FeedPayloadFailure) {
            switch feed.kind {
            case .cursor(let id):
                let cursor = try FeedCursor(parsing: payload)
                guard isOurs(cursor.installation, cursor.session, .claim(id, cursor.number), at: now) else { return }
                claimed(cursor.number, of: id, term: cursor.term, at: now)
            case .done(let id): done(try FeedDone(parsing: payload), of: id, at: now)
            case .want(let id):
                let want = try FeedWant(parsing: payload)
                guard isOurs(want.installation, want.session, .claim(id, want.after), at: now),
                    want.session.map({ $0 == session }) ?? true
                else { return }
                wanted(after: want.after, of: id, at: now)
            case .hello:
                let hello = try FeedHello(parsing: payload)
                let isOther = FeedLife(hello.installation).root != life.root
                if isOther {
                    noteAnomaly("\(name): another site says hello, whose installation is \(hello.installation)")
                }
                _ = isOurs(hello.installation, hello.session, .hello(session: hello.session), at: now)
            case .messages: break
            }
        } catch {
            noteAnomaly("\(name): \(error)")
        }
    }

    /// True if what another program says is about our life. A later life or session shows that our disk is an old copy.
    private mutating func isOurs(
        _ installation: String?, _ session: Int?, _ evidence: Evidence, at now: Instant
    ) -> Bool {
        guard let installation else { return true }
        let other = FeedLife(installation)
        let isLater = life.isBefore(other) || other == life && session ?? 0 > self.session ?? 0
        if isLater { beginLife(after: other.number, evidence, at: now) }
        return !isLater && other == life
    }

    /// True if the claim counts.
    @discardableResult
    private mutating func claimed(_ number: Int, of id: ButtonID, term: Int, at now: Instant) -> Bool {
        guard var button = buttons[id] else { return false }
        guard number <= button.claimable else {
            beginLife(after: 0, .claim(id, number), at: now)
            return false
        }
        guard term >= self.term else { return false }
        if term > self.term {
            self.term = term
            effects.append(.term(term))
        }
        guard number > button.facts.claimed else { return true }
        button.journal.button.claimed = number
        button.journal.first = max(button.journal.first, number + 1)
        if let former = button.facts.former, former.last <= number { button.journal.button.former = nil }
        button.unclaimed.removeAll { $0 <= number }
        button.position = max(button.position, number)
        buttons[id] = button
        effects.append(.claimed(id, number))
        awaitClaim(of: id, at: now)
        fill(id, at: now)
        return true
    }

    private mutating func done(_ done: FeedDone, of id: ButtonID, at now: Instant) {
        // An engine claims a message before it acts on it, so `done` also proves the claim, even if the retained `cursor`
        // arrives later. Numbers begin at 1, so a `done` with 0 claims nothing.
        guard isOurs(done.installation, nil, .claim(id, done.number), at: now),
            claimed(done.number, of: id, term: done.term, at: now),
            done.number > buttons[id]?.facts.done ?? 0
        else { return }
        buttons[id]?.journal.button.done = done.number
        effects.append(.done(id, done.number))
    }

    private mutating func wanted(after number: Int, of id: ButtonID, at now: Instant) {
        guard let button = buttons[id] else { return }
        guard number <= button.claimable else {
            return beginLife(after: 0, .claim(id, number), at: now)
        }
        if let answeredAt = button.answeredAt, now < answeredAt + Self.minimumWantInterval {
            buttons[id]?.waitingWant = number
            deadlines.set(.want(id), at: answeredAt + Self.minimumWantInterval)
        } else {
            answer(want: number, of: id, at: now)
        }
    }

    mutating func answer(want number: Int, of id: ButtonID, at now: Instant) {
        guard let facts = buttons[id]?.facts else { return }
        buttons[id]?.answeredAt = now
        buttons[id]?.waitingWant = nil
        deadlines.cancel(.want(id))
        asked(id)
        if number < facts.claimed { sayHello(at: now) }
        send(from: max(number, facts.claimed), of: id, at: now)
    }
}
