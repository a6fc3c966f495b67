import ButtonModel

// Decisions by time, on the button's clock and on the host's clock.
extension PressMachine {
    /// The moment of the next decision if no event arrives; `nil` if time decides nothing.
    private var decisionMoment: Ticks? {
        if usesButtonVerdicts { return nil }
        switch state {
        case .released:
            guard let last = train.last else { return nil }
            return (last.length == .long ? last.up ?? last.down : last.down).addingSaturating(grammar.clickGap)
        case .undecided:
            guard !isReservedForChord, !lostLinkDuringPress, let press = train.last else { return nil }
            if train.count == 1, let threshold = grammar.holdThreshold {
                return press.down.addingSaturating(threshold)
            }
            let (node, steps, _) = walk(train.count - 1)
            guard steps == train.count - 1, grammar.nodes[node].long != nil else { return nil }
            return press.down.addingSaturating(grammar.holdAfter)
        case .holding(let press, let fired):
            guard !lostLinkDuringPress, let stage = grammar.holdStages.first(where: { $0 > fired }) else { return nil }
            return press.down.addingSaturating(stage)
        case .long, .spent:
            return nil
        }
    }

    /// Makes all decisions that are due on the button's clock by this moment. The loop ends, because each decision
    /// settles a train, makes a press long, or uses up a hold stage.
    ///
    /// - Parameter endsGap: whether a `clickGap` that ends at `moment` is over, because no `down` can follow.
    mutating func advance(to moment: Ticks, endsGap: Bool = false, into output: inout [RecognisedEvent]) {
        while let next = decisionMoment, next < moment || (next == moment && (endsGap || state != .released)) {
            decide(at: next, into: &output)
        }
    }

    mutating func decide(at moment: Ticks, into output: inout [RecognisedEvent]) {
        switch state {
        case .released:
            settle(isOver: true, into: &output)
        case .undecided:
            if train.count == 1, grammar.holdThreshold != nil {
                var press = train.removeLast()
                let fired = reportStages(of: &press, after: -1, upTo: moment, into: &output)
                state = .holding(press, fired: fired)
            } else {
                train[train.count - 1].length = .long
                state = .long
                settle(isOver: false, into: &output)
            }
        case .holding(var press, let fired):
            let latest = reportStages(of: &press, after: fired, upTo: moment, into: &output)
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
        if usesButtonVerdicts { return nil }
        if let reevaluatesAt { return reevaluatesAt }
        guard let next = decisionMoment else { return lostLinkDuringPress && train.count > 1 ? settlesAt : nil }
        let due = clock.instant(of: next)
        return settlesAt.map { max($0, due) } ?? due
    }

    mutating func timePassed(at now: Instant, into output: inout [RecognisedEvent]) {
        if let end = holdEndsAt, end <= now { endHold(at: now, into: &output) }
        // The button decides this train, however long its verdict takes.
        guard !usesButtonVerdicts else { return rearm() }
        reevaluate(into: &output)
        if let end = settlesAt, end <= now {
            settlesAt = nil
            if isRestored { ageRestoredPresses(by: now - clock.instant, to: clock.moment, clock.instant) }
            if linkLostAt != nil { ageStoredPresses(at: now) }
            if lostLinkDuringPress { settleBeforeOpenPress(at: end, into: &output) }
        }
        while settlesAt == nil, let next = decisionMoment, clock.instant(of: next) <= now {
            decide(at: next, into: &output)
        }
        rearm()
    }

    /// Reports the end of a hold in progress without its `up`, which was lost or would arrive too late.
    ///
    /// - Parameter silence: the minimum time since the last packet of the button.
    mutating func endHold(silentFor silence: Duration = .zero, at now: Instant, into output: inout [RecognisedEvent]) {
        holdEndsAt = nil
        guard case .holding(var press, let fired) = state, fired >= 0 else { return }
        // The button was held at least until the latest reported stage, and presumably until the link was lost.
        let end = min(now, max(min(linkLostAt ?? now, now - silence), press.at.advanced(by: fired)))
        press.wasQueued = true
        press.age = max(press.age, now - end)
        state = .spent(press)
        report(.holdRelease, press, heldFor: max(.zero, end - press.at), isLinkLost: true, into: &output)
        rearm()
    }

    /// Settles the presses before a press whose `up` is missing. That press stays as a train of its own.
    mutating func settleBeforeOpenPress(at now: Instant, into output: inout [RecognisedEvent]) {
        guard state == .undecided || state == .long, train.count > 1, var press = train.popLast() else { return }
        state = .released
        ageTrain(behind: press, at: now)
        settle(isOver: true, into: &output)
        press.length = nil
        train.append(press)
        state = .undecided
    }

    /// Updates the ages of stored presses that waited for a lost link, because their gestures are reported only now.
    private mutating func ageStoredPresses(at now: Instant) {
        for index in train.indices where train[index].wasQueued && train[index].up != nil {
            train[index].age = max(train[index].age, now - train[index].at)
        }
    }

    /// Marks the train as stored if it waited longer than `lateThreshold` for the end of a later press.
    mutating func ageTrain(behind press: Press, at now: Instant) {
        guard now - press.at > PressMachine.lateThreshold else { return }
        for index in train.indices {
            train[index].wasQueued = true
            train[index].age = max(train[index].age, now - train[index].at)
        }
    }
}

// MARK: - Change of the grammar

extension PressMachine {
    /// Replaces the grammar. A train in progress is from now on decided by its times and no longer by verdicts.
    mutating func configure(_ grammar: Grammar, at now: Instant) {
        self.grammar = grammar
        usesButtonVerdicts = false
        guard !isIdle else { return rearm() }
        reevaluatesAt = now
        for index in train.indices where train[index].length == .long {
            // A long press may be short by the new times. A press that counted as short stays short.
            guard !isLong(train[index].heldFor(at: clock.moment)) else { continue }
            train[index].length = train[index].up == nil ? nil : .short
            if state == .long, train[index].up == nil { state = .undecided }
        }
        rearm()
    }

    /// Settles the train again after a change of the grammar. A pattern that has waited for a press that is still down,
    /// and needs it no longer, is marked as stored if it is too old.
    mutating func reevaluate(into output: inout [RecognisedEvent]) {
        guard let now = reevaluatesAt else { return }
        reevaluatesAt = nil
        let told = output.count
        settle(isOver: false, into: &output)
        fireOnDown(into: &output)
        for index in output.indices.dropFirst(told) {
            guard case .pattern = output[index].kind, now - output[index].at > PressMachine.lateThreshold else {
                continue
            }
            output[index].wasQueued = true
            output[index].age = max(output[index].age, now - output[index].at)
        }
    }
}
