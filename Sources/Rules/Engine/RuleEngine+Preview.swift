package import ButtonModel
import Expressions
package import Gestures

/// The runs that an event of a button will start, before the engine has handled the event.
package struct PressPreview: Sendable {
    /// A run that starts, and the actions that it performs at once.
    package struct PreviewedRun: Sendable {
        package var run: RunID
        /// The id of the rule.
        package var rule: String
        package var actions: [Action]
    }

    /// The events that are recognised, in order.
    package var recognised: [RecognisedEvent]
    /// The result that `RuleEngine.savedTrain` will have for the button.
    package var train: String
    /// In the order in which they start; never empty.
    package var runs: [PreviewedRun]

    /// True if an action is a message.
    package var publishes: Bool { runs.contains { $0.actions.contains(where: \.isMessage) } }
}

extension RuleEngine {
    /// Makes the plan of a button's presses, so that `preview` can use it, and from now on whenever rules or buttons change.
    package mutating func preparePlan(of button: ButtonID) {
        guard plannedButtons.insert(button).inserted, let entry = index.entryIndex(of: button) else { return }
        plans[entry] = plan(of: button)
    }

    /// Makes the plans again, after a change of the index.
    mutating func makePlans() {
        plannedButtons.formIntersection(identities.map(\.id))
        plans = []
        plans.reserveCapacity(index.entries.count)
        addPlans()
    }

    /// Makes the plans for the entries that were added to the index.
    mutating func addPlans() {
        for entry in index.entries[plans.count...] {
            let button = entry.identity.id
            plans.append(plannedButtons.contains(button) ? plan(of: button) : nil)
        }
    }

    private func plan(of button: ButtonID) -> PressPlan {
        PressPlan(of: button, set, index) { kind in
            let recognised = RecognisedEvent(button: button, kind: kind.recognised, at: Instant(sinceBoot: .zero))
            return event(recognised, at: recognised.at).cause.facts
        }
    }

    /// The runs that `handle(.pressed([event]))` will start, and all actions that they will perform at once, without changing
    /// anything. `handle` must follow with the same event at the same time.
    ///
    /// It is `mutating` because the engine would be copied for a call of another function.
    ///
    /// - Returns: `nil` if the event starts no run, or if only `handle` knows what it starts.
    package mutating func preview(_ event: ButtonEvent, at now: Instant) -> PressPreview? {
        guard !isStopped, isActing, initialEffects.isEmpty, event.part == nil, !event.wasQueued,
            scheduler.isUndisturbed, kept.isEmpty(for: event.button),
            let entry = index.entryIndex(of: event.button), plans.indices.contains(entry), let plan = plans[entry],
            let (recognised, train) = recogniser.preview(
                event, at: now, by: world.plausibleClock.map { (instant: $0.at, time: $0.utc) })
        else { return nil }
        var runs: [PressPreview.PreviewedRun] = []
        // Events and rules are read in their places, because copies of them take as long as the decision.
        for event in recognised.indices {
            guard !recognised[event].facts.wasQueued, claims.claimant(of: recognised[event]) == nil,
                let kind = PressPlan.Kind(recognised[event].kind),
                let rules = plan[kind]
            else { return nil }
            switch kind {
            // The end of a press ends `repeat: while: held` in runs in progress.
            case .up, .holdRelease: guard scheduler.runs.isEmpty else { return nil }
            case .down, .click, .doubleClick: break
            }
            // The event with its facts, once a rule needs them; an optional of its size takes longer than an array.
            var facts: [Event] = []
            for rule in rules.indices where world.rules[rules[rule].rule].isEnabled {
                switch scheduler.admission(of: rules[rule].group, rules[rule].rateLimit, after: runs.count, at: now) {
                case .stops: continue
                case .unknown: return nil
                case .starts: break
                }
                guard !runs.contains(where: { $0.rule == rules[rule].id }) else { return nil }
                var actions = recognised[event].facts.age == .zero ? rules[rule].constantActions : nil
                if actions == nil {
                    if facts.isEmpty { facts.append(self.event(recognised[event], at: now)) }
                    let cause = facts[0].cause(for: rules[rule].trigger)
                    guard holds(rules[rule].conditions, cause, of: facts[0], at: now) else { continue }
                    actions = self.actions(of: rules[rule], cause, at: now)
                }
                guard let actions, world.brokerIsConnected || !rules[rule].publishes else { return nil }
                let run = RunID(rawValue: scheduler.nextRun.rawValue &+ UInt64(runs.count))
                runs.append(PressPreview.PreviewedRun(run: run, rule: rules[rule].id, actions: actions))
            }
        }
        return runs.isEmpty ? nil : PressPreview(recognised: recognised, train: train, runs: runs)
    }

    private func holds(_ conditions: [Condition], _ cause: RunCause, of event: Event, at now: Instant) -> Bool {
        guard !conditions.isEmpty else { return true }
        var snapshot = snapshot(for: event, at: now)
        snapshot.trigger.id = cause.facts.id
        return world.evaluate(on: conditions, in: &snapshot, time: cause.at, isExplaining: false).holds
    }

    /// - Returns: `nil` if an action cannot be evaluated, so that its step fails.
    private func actions(of rule: PressPlan.PlannedRule, _ cause: RunCause, at now: Instant) -> [Action]? {
        var values = StepValues(
            environment: world.environment(for: cause.facts, time: world.wallClock(at: now), at: now), rule: rule.id)
        var actions: [Action] = []
        for step in rule.steps {
            guard let action = try? step.action(&values) else { return nil }
            actions.append(action)
        }
        return actions
    }
}

extension RunScheduler {
    /// True if nothing but the event itself starts or resumes a run when an event is handled.
    fileprivate var isUndisturbed: Bool { starts.isEmpty && turnedGroups.isEmpty && runsWaitingForWorld.isEmpty }

    fileprivate enum Admission {
        case starts
        /// A gate stops the rule.
        case stops
        /// The rule has a run or a rotation of a dial, or too many runs exist.
        case unknown
    }

    /// - Parameter count: the number of runs that the event has started before this one.
    fileprivate func admission(
        of group: ConcurrencyGroupID, _ rateLimit: Rule.Rate, after count: Int, at now: Instant
    ) -> Admission {
        guard self.count + count < RunScheduler.maximumRuns else { return .unknown }
        guard let index = groups.index(forKey: group) else { return .starts }
        return groups.values[index].admission(rateLimit, at: now)
    }
}

extension ConcurrencyGroup {
    fileprivate func admission(_ rateLimit: Rule.Rate, at now: Instant) -> RunScheduler.Admission {
        guard running.isEmpty, queued.isEmpty, rotations.isEmpty else { return .unknown }
        return rate.hasRoom(rateLimit, at: now) ? .starts : .stops
    }
}
