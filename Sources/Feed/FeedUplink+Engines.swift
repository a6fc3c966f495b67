import ButtonModel

// The messages that engines publish.
extension FeedUplink {
    mutating func received(_ name: String, _ payload: [UInt8], at now: Instant) {
        // An empty payload clears a retained topic.
        guard session != nil, let feed = FeedTopic(name), feed.site == topic, !payload.isEmpty else { return }
        do throws(FeedPayloadFailure) {
            switch feed.kind {
            case .cursor(let id):
                let cursor = try FeedCursor(parsing: payload)
                claimed(cursor.number, of: id, term: cursor.term, installation: cursor.installation, at: now)
            case .done(let id): done(try FeedDone(parsing: payload), of: id, at: now)
            case .want(let id): wanted(after: try FeedWant(parsing: payload).after, of: id, at: now)
            case .hello, .messages: break
            }
        } catch {
            noteAnomaly("\(name): \(error)")
        }
    }

    /// True if the claim counts.
    @discardableResult
    private mutating func claimed(
        _ number: Int, of id: ButtonID, term: Int, installation: String, at now: Instant
    ) -> Bool {
        guard var button = buttons[id], installation == self.installation, term >= self.term else { return false }
        guard number <= button.facts.last else {
            noteAnomaly("\(id): message \(number) is claimed, and the journal ends with \(button.facts.last)")
            return false
        }
        if term > self.term {
            self.term = term
            effects.append(.term(term))
        }
        guard number > button.facts.claimed else { return true }
        button.journal.button.claimed = number
        button.journal.first = max(button.journal.first, number + 1)
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
        guard claimed(done.number, of: id, term: done.term, installation: done.installation, at: now),
            done.number > buttons[id]?.facts.done ?? 0
        else { return }
        buttons[id]?.journal.button.done = done.number
        effects.append(.done(id, done.number))
    }

    private mutating func wanted(after number: Int, of id: ButtonID, at now: Instant) {
        guard let button = buttons[id] else { return }
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
        guard number <= facts.last else {
            return noteAnomaly("\(id): what follows \(number) is wanted, and the journal ends with \(facts.last)")
        }
        if number < facts.claimed { sayHello(at: now) }
        send(from: max(number, facts.claimed), of: id, at: now)
    }
}
