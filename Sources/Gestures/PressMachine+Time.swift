import ButtonModel

// What time decides, by the button's clock and by ours.
extension PressMachine {
    /// The moment at which time alone decides something.
    private var decisionMoment: Ticks? {
        if takesVerdicts { return nil }
        switch state {
        case .released:
            guard let last = train.last else { return nil }
            return (last.length == .long ? last.up ?? last.down : last.down).addingSaturating(grammar.clickGap)
        case .undecided:
            guard !isHeldBack, !isCut, let press = train.last else { return nil }
            if train.count == 1, let threshold = grammar.holdThreshold {
                return press.down.addingSaturating(threshold)
            }
            let (node, steps, _) = walk(train.count - 1)
            guard steps == train.count - 1, grammar.nodes[node].long != nil else { return nil }
            return press.down.addingSaturating(grammar.holdAfter)
        case .holding(let press, let fired):
            guard !isCut, let stage = grammar.holdStages.first(where: { $0 > fired }) else { return nil }
            return press.down.addingSaturating(stage)
        case .long, .spent:
            return nil
        }
    }

    /// Decides what the button's clock has decided by this moment. Each round ends a train, or takes its press or stage.
    ///
    /// - Parameter endsGap: no `down` can come at this very moment.
    mutating func advance(to moment: Ticks, endsGap: Bool = false, into output: inout [Recognised]) {
        while let next = decisionMoment, next < moment || (next == moment && (endsGap || state != .released)) {
            decide(at: next, into: &output)
        }
    }

    mutating func decide(at moment: Ticks, into output: inout [Recognised]) {
        switch state {
        case .released:
            settle(isOver: true, into: &output)
        case .undecided:
            if train.count == 1, grammar.holdThreshold != nil {
                var press = train.removeLast()
                let fired = giveStages(of: &press, after: -1, upTo: moment, into: &output)
                state = .holding(press, fired: fired)
            } else {
                train[train.count - 1].length = .long
                state = .long
                settle(isOver: false, into: &output)
            }
        case .holding(var press, let fired):
            let latest = giveStages(of: &press, after: fired, upTo: moment, into: &output)
            state = .holding(press, fired: latest)
        case .long, .spent:
            return
        }
    }

    var nextDeadline: Instant? {
        guard let holdEndsAt else { return nextDecision }
        return nextDecision.map { min($0, holdEndsAt) } ?? holdEndsAt
    }

    private var nextDecision: Instant? {
        if takesVerdicts { return nil }
        if let reviewsAt { return reviewsAt }
        guard let next = decisionMoment else { return isCut && train.count > 1 ? settlesAt : nil }
        let due = clock.instant(of: next)
        return settlesAt.map { max($0, due) } ?? due
    }

    mutating func timePassed(at now: Instant, into output: inout [Recognised]) {
        if let end = holdEndsAt, end <= now { endHold(at: now, into: &output) }
        // Verdicts come from the button, however late.
        guard !takesVerdicts else { return rearm() }
        review(into: &output)
        if let end = settlesAt, end <= now {
            settlesAt = nil
            if isRestored { ageRestoredPresses(by: now - clock.instant, to: clock.moment, clock.instant) }
            if linkLostAt != nil { ageStoredPresses(at: now) }
            if isCut { giveUpOpenPress(at: end, into: &output) }
        }
        while settlesAt == nil, let next = decisionMoment, clock.instant(of: next) <= now {
            decide(at: next, into: &output)
        }
        rearm()
    }

    /// Tells the end of the hold that is under way. Its `up` is not told, or comes too late.
    ///
    /// - Parameter lost: how long the button has not been heard of, at least.
    mutating func endHold(unheardFor lost: Duration = .zero, at now: Instant, into output: inout [Recognised]) {
        holdEndsAt = nil
        guard case .holding(var press, let fired) = state, fired >= 0 else { return }
        // The button was held for as long as that was told, and until the link was lost.
        let end = min(now, max(min(linkLostAt ?? now, now - lost), press.at.advanced(by: fired)))
        press.wasQueued = true
        press.age = max(press.age, now - end)
        state = .spent(press)
        give(.holdRelease, press, heldFor: max(.zero, end - press.at), isLinkLost: true, into: &output)
        rearm()
    }

    /// The presses before one whose end is not told wait no longer for it. It stays, as a train of its own.
    mutating func giveUpOpenPress(at now: Instant, into output: inout [Recognised]) {
        guard state == .undecided || state == .long, train.count > 1, var press = train.popLast() else { return }
        state = .released
        ageTrain(behind: press, at: now)
        settle(isOver: true, into: &output)
        press.length = nil
        train.append(press)
        state = .undecided
    }

    /// Stored presses that waited for a lost link are told now, and they are as old as they are now.
    private mutating func ageStoredPresses(at now: Instant) {
        for place in train.indices where train[place].wasQueued && train[place].up != nil {
            train[place].age = max(train[place].age, now - train[place].at)
        }
    }

    /// What its presses are without that one could have been told long ago: they are as late as stored ones.
    mutating func ageTrain(behind press: Press, at now: Instant) {
        guard now - press.at > PressMachine.longestWait else { return }
        for place in train.indices {
            train[place].wasQueued = true
            train[place].age = max(train[place].age, now - train[place].at)
        }
    }
}

// Another grammar takes the place of this one.
extension PressMachine {
    /// The train under way is read by the new grammar from its times, whoever decided so far.
    mutating func configure(_ grammar: Grammar, at now: Instant) {
        self.grammar = grammar
        takesVerdicts = false
        guard !isIdle else { return rearm() }
        reviewsAt = now
        for place in train.indices where train[place].length == .long {
            // Short by the new times; what counted as short remains so.
            guard !isLong(train[place].heldFor(at: clock.moment)) else { continue }
            train[place].length = train[place].up == nil ? nil : .short
            if state == .long, train[place].up == nil { state = .undecided }
        }
        rearm()
    }

    /// What was waiting for the end of a press that is still down, and need not by the new grammar, is as old as it is.
    mutating func review(into output: inout [Recognised]) {
        guard let now = reviewsAt else { return }
        reviewsAt = nil
        let told = output.count
        settle(isOver: false, into: &output)
        fireOnDown(into: &output)
        for place in output.indices.dropFirst(told) {
            guard case .pattern = output[place].what, now - output[place].at > PressMachine.longestWait else {
                continue
            }
            output[place].wasQueued = true
            output[place].age = max(output[place].age, now - output[place].at)
        }
    }
}
