#if DEBUG
    package import ButtonModel
    import Expressions
    import Gestures

    extension RuleEngine {
        /// The actions for whose results runs wait without a time limit: messages that are not written yet.
        package var stepsWithoutTimeLimit: [ActionID] {
            scheduler.runs.values.compactMap { run in
                guard case .result(let attempt, nil) = run.waiting else { return nil }
                return attempt.step
            }
        }

        /// The invariants that are violated between two inputs, as sentences; empty unless the engine has a fault.
        package func problems() -> [String] {
            guard !isStopped else { return [] }
            var problems = recogniser.problems() + scheduler.problems(set.rules)
            func expect(_ holds: Bool, _ problem: @autoclosure () -> String) {
                if !holds { problems.append("rules: " + problem()) }
            }
            let deadlines = [
                recogniser.deadline, kept.nextDeadline, states.nextDeadline, scheduler.earliestDeadline,
                daily.nextDeadline, counts.nextDeadline,
            ]
            // The first timer is requested at the first input.
            expect(timer.armed == deadlines.compactMap(\.self).min(), "the timer is not at the earliest deadline")
            if let timer = timer.armed, let timerFiredAt {
                expect(timer >= timerFiredAt, "what was due when the timer fired is still due")
            }
            expect(!worldHasChanged, "waiting runs were not evaluated after a change of the world")
            expect(world.changed.isEmpty, "a change is not carried out")
            expect(records.count == set.rules.count && world.rules.count == set.rules.count, "a rule has no record")
            expect(world.variables.count == set.variables.count, "a variable has no value")
            expect(world.states.count == set.states.count, "a state has no value")
            for (index, rule) in set.rules.enumerated() {
                let running = scheduler.groups.filter { $0.key.rule == index }.reduce(0) { $0 + $1.value.running.count }
                expect(world.rules[index].running == Int64(running), "the runs of \(rule.id) are miscounted")
                expect(
                    world.rules[index].isEnabled == (overrides[rule.id]?.isEnabled ?? rule.isEnabled),
                    "whether \(rule.id) is enabled differs from its override, or without one from its file")
            }
            for (index, variable) in set.variables.enumerated() where assigned.contains(variable.name) {
                let value = world.variables[index]
                expect(variable.permitted(value) == value, "variable \(variable.name) has a value that it cannot have")
            }
            for (index, state) in set.states.enumerated() {
                expect(world.states[index] == states.value(at: index), "rules see an old value of state \(state.name)")
            }
            for (key, count) in counts.counts {
                let uses = prepared.stateUses[key.state] ?? []
                guard let use = uses.first(where: { $0.match == key.match }),
                    let value = states.receivedValue(at: key.state)
                else {
                    expect(false, "the time of a state runs without a trigger or a value: \(count.storedKey)")
                    continue
                }
                // An expression may also read variables, which may have changed since it was evaluated.
                expect(
                    use.trigger.hasExpressions
                        || use.trigger.goesOn(value, since: count.first, in: EvaluationContext()),
                    "the time of a `for` runs although the state has another value")
            }
            var resolved = RuleIndex(prepared.triggerTable)
            resolved.resolve(set, against: identities, modes: modes)
            expect(
                index.buttonByDeclaration == resolved.buttonByDeclaration && index.chords == resolved.chords
                    && index.vocabularies == resolved.vocabularies && plans.count == identities.count,
                "the names in rules are resolved to other buttons than those that are known")
            for case (let index, let button?) in index.buttonByDeclaration.enumerated() {
                expect(
                    world.buttons[index].isHeld == world.isHeld(button), "\(button) is held, and rules do not see it")
            }
            for id in storedWaits.keys {
                guard let run = scheduler.runs[id] else {
                    expect(false, "the store has a wait of run \(id.rawValue), which has ended")
                    continue
                }
                expect(set.rules[run.rule].onRestart == .resume, "run \(id.rawValue) is stored and not resumed")
                switch run.waiting {
                case .delay, .condition, .event: break
                case .result, .retry, .tick, nil: expect(false, "run \(id.rawValue) is stored where it does not wait")
                }
            }
            expect(orphanedValues.count <= RuleEngine.maximumOrphanedValues, "too many values of undeclared variables")
            for problem in kept.problems() { expect(false, problem) }
            return problems
        }
    }

    extension RuleEngine {
        /// True if these are the buttons that the engine was told of, as they are now. Firmware does not matter to rules.
        package func knows(_ buttons: [ButtonIdentity]) -> Bool {
            buttons.count == identities.count
                && buttons.allSatisfy { button in
                    guard var known = index[button.id]?.identity else { return isStopped }
                    known.firmwareVersion = button.firmwareVersion
                    return known == button
                }
        }

        /// How often a button was resolved to the names in rules.
        package var resolvedCount: Int { index.resolvedCount }
    }

    extension KeptEvents {
        fileprivate func problems() -> [String] {
            var problems: [String] = []
            for (button, events) in all {
                if events.isEmpty {
                    problems.append("\(button) has a time to wait for stored events, and none is kept")
                }
                if Set(events.map(\.match.rule)).count != events.count {
                    problems.append("a rule keeps two stored events of \(button)")
                }
            }
            return problems
        }
    }
#endif
