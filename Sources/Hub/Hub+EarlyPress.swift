import ButtonModel
import Buttons
import MQTTTopics
import Radios
import Rules

// The first effects of the usual press, computed before the hub handles the press.
extension Hub {
    /// A packet whose first effects were returned, and which is not handled yet.
    struct EarlyPress: Sendable {
        var packet: ButtonManager.Input
        /// The record, all actions of the press, and `goOn`.
        var effects: [Effect]
    }

    /// The record and the actions that handling a packet will yield, without changing the hub.
    ///
    /// A person waits only for these. To find them takes a tenth of the instructions of handling the press, because nothing
    /// is counted, traced, scheduled or encoded for other purposes. The hub answers with them and `goOn`, then handles the
    /// packet, and leaves these effects out of its effects. So the handling of the packet remains what decides, and each press
    /// compares the early effects with it.
    ///
    /// It is `mutating` because the hub, which has 20 KB, would be copied for a call of another function.
    ///
    /// - Returns: `nil` unless the packet is one event of one press, and everything that it starts is known in advance, and the
    ///   store has no fault, and the broker takes the messages of the rules at once, if there are any.
    mutating func earlyEffects(of packet: ButtonManager.Input, at now: Instant) -> [Effect]? {
        guard findsEarlyEffects, !hasMistakenPreview, feed == nil, lifecycle.isRunning, journal.fault == nil,
            buttonInputs.isEmpty, let (event, cursor) = buttonSource.preview(packet, at: now),
            var progress = buttons.ownProgress(of: event.button), let preview = rules.preview(event, at: now),
            broker.sendsAtOnce || !preview.publishes
        else { return nil }
        progress.wasSeen(at: now)
        for recognised in preview.recognised {
            progress.count(
                recognised, Reports.Message.Kind(of: recognised, isFresh: true), isAwaited: configuration.hasBroker)
        }
        progress.cursor = cursor
        var identifiers = identifiers
        let token = identifiers.recordToken()
        var changes: [StoreChange] = []
        changes.reserveCapacity(1 + preview.runs.count)
        changes.append(progress.take(recogniser: preview.train, wallClock: believableClock))
        let startedAt = wallClock(at: now)
        for run in preview.runs {
            changes.append(
                .runStarted(
                    StoredRun(
                        id: run.run.rawValue, rule: run.rule, button: event.button, event: cursor, startedAt: startedAt)
                ))
        }
        var effects: [Effect] = []
        effects.reserveCapacity(2 + preview.runs.count)
        effects.append(.record(token, changes))
        for run in preview.runs {
            for action in run.actions { effects.append(earlyEffect(of: action, &identifiers)) }
        }
        effects.append(.goOn)
        #if DEBUG
            changesEarlyEffects?(&effects)
        #endif
        return effects
    }

    private func earlyEffect(of action: Action, _ identifiers: inout IdentifierSequence) -> Effect {
        switch action {
        case .message(.publish(let publish)):
            .publish(
                identifiers.messageID(), MQTTMessage(publish),
                expiry: publish.retain ? nil : max(.seconds(1), publish.maximumAge))
        case .external(let external):
            .startJob(
                identifiers.jobID(),
                Job(external, configuration.processEnvironment, in: configuration.stateDirectory))
        case .log(let level, let message): .log(level, message)
        }
    }

    /// Handles the packet of an early press. The effects that were returned early are not emitted again.
    mutating func completeEarlyPress(at now: Instant) {
        guard let press = earlyPress.take() else { return }
        advanceButtons(press.packet, at: now)
        var next = 0
        effects.removeAll { effect in
            guard effect == press.effects[next] else { return false }
            next += 1
            return true
        }
        // The hub emits the last of them, `goOn`, after this.
        guard next < press.effects.count - 1 else { return }
        hasMistakenPreview = true
        log(.error, "a press was handled early in another way than its rules say; please report this with your rules")
        omitActions(Array(press.effects[next..<press.effects.count - 1]), at: now)
    }

    /// Removes effects of a press that cannot be carried out any more: actions that were carried out early, in another place or
    /// under another number, and jobs whose number an early job has already.
    ///
    /// An edge reports the end of an early action under its early number. If the run knows the action under another number, or if
    /// the job was not started at all, this function reports the end to the run, because no edge will.
    ///
    /// - Parameter early: the early effects that were not found in their places.
    private mutating func omitActions(_ early: [Effect], at now: Instant) {
        let usedJobs = Set(early.compactMap(\.job))
        var early = early
        var ends: [Input] = []
        effects.removeAll { effect in
            if let index = early.firstIndex(where: { $0.isSameAction(as: effect) }) {
                if early.remove(at: index) != effect, let end = effect.unknownEnd { ends.append(end) }
                return true
            }
            // Another job has this number already, and an edge takes a number only once.
            guard let job = effect.job, usedJobs.contains(job), let end = effect.unknownEnd else { return false }
            ends.append(end)
            return true
        }
        guard !ends.isEmpty else { return }
        completePress(at: now)
        for end in ends {
            if case .published(let id) = end { published(id, at: now) }
            if case .jobEnded(let id, let result) = end { jobEnded(id, result, at: now) }
        }
    }
}

extension Hub.Input {
    /// A packet of the radio, for the button manager; `nil` for other inputs.
    var radioPacket: ButtonManager.Input? {
        if case .received(let packet, let radio) = self { return .received(packet, radio) }
        if case .bus(let report, let radio) = self, case .received = report { return .bus(report, radio) }
        return nil
    }
}

extension Hub.Effect {
    /// True if both are the same action, under any number.
    fileprivate func isSameAction(as other: Hub.Effect) -> Bool {
        if case .publish(_, let message, let expiry) = self,
            case .publish(_, let otherMessage, let otherExpiry) = other
        {
            return message == otherMessage && expiry == otherExpiry
        }
        if case .startJob(_, let job) = self, case .startJob(_, let otherJob) = other { return job == otherJob }
        return false
    }

    /// The number of the job that this starts; `nil` for other effects.
    fileprivate var job: JobID? {
        if case .startJob(let id, _) = self { return id }
        return nil
    }

    /// The input with which an edge would report an action whose result is not known.
    fileprivate var unknownEnd: Hub.Input? {
        if case .publish(let id, _, _) = self { return .published(id) }
        if case .startJob(let id, let job) = self {
            return .jobEnded(id, job.kind.failure("the result is not known, because of a mistake in Tryck"))
        }
        return nil
    }
}

extension MQTTMessage {
    /// The message of a `publish` step.
    init(_ publish: PublishAction) {
        self.init(topicName: publish.topicName, payload: publish.payload, qos: publish.qos, retain: publish.retain)
    }
}
