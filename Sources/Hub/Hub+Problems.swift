#if DEBUG
    package import ButtonModel
    import Buttons
    import Rules

    // Statements that hold after each input. Scenarios, stories and the fuzzing targets check them.
    extension Hub {
        /// How often a button was resolved to the names in rules, for tests that count the work.
        package var resolvedCount: Int { rules.resolvedCount }

        /// The invariants that the hub and its parts violate after an input; empty unless there is a bug.
        package func problems(at now: Instant) -> [String] {
            var problems = buttons.problems() + journal.problems() + radios.problems() + broker.problems()
            problems += missedPresses.problems { buttons[$0] != nil }
            problems += jobs.problems() + flicd.problems() + (uplink?.problems() ?? [])
            // The actions of a press are performed in its second input.
            if incompletePress == nil { problems += feed?.problems() ?? [] }
            if collectedIdentityChanges != nil {
                problems.append("the identities of buttons were changed, and nobody was told")
            }
            if incompletePress == nil, lifecycle.isRunning, !rules.knows(buttons.values.map(\.identity)) {
                problems.append("the rules know other buttons than there are")
            }
            problems += rules.problems(isTurnIncomplete: incompletePress != nil) + buttonSource.problems()
            func expect(_ isSo: Bool, _ problem: @autoclosure () -> String) {
                if !isSo { problems.append(problem()) }
            }
            expect(!hasMistakenPreview, "the early effects of a press were not those of its handling")
            expect(effects.isEmpty, "effects are left in the hub")
            expect(buttonInputs.isEmpty, "inputs for buttons are left")
            for key in deadlines.keys {
                expect(deadlines.deadline(of: key).map { $0 >= now } ?? true, "the deadline of \(key) is in the past")
            }
            checkEvents(expect)
            checkRuns(expect)
            checkBroker(expect)
            checkTimers(expect)
            checkLinks(expect)
            return problems
        }

        private typealias Expectation = (Bool, @autoclosure () -> String) -> Void

        /// Checks that no button may forget events that are not on the disk, and that their messages are counted.
        private func checkEvents(_ expect: Expectation) {
            for (_, events) in journal.unsynced {
                let acknowledged = buttonSource.acknowledgedCursor(of: events.button)
                expect(
                    acknowledged?.covers(events.cursor) != true,
                    "an event of \(label(of: events.button)) is acknowledged that is not on the disk")
            }
            for button in journal.heldBack.keys {
                expect(buttons[button] != nil, "events of \(button) are held back, which is not known")
            }
            guard incompletePress == nil, !isFinished else { return }
            for record in buttons.values {
                expect(
                    record.watermark.open == broker.sequences(of: record.identity.id),
                    "the publish watermark of \(label(of: record.identity.id)) is not that of its messages")
            }
        }

        private func checkRuns(_ expect: Expectation) {
            for step in jobs.awaitedSteps {
                expect(rules.awaits(step), "a job is in progress for run \(step.run.rawValue), which does not await it")
            }
            for step in feed?.fencedSteps ?? [] {
                expect(rules.awaits(step), "an action of run \(step.run.rawValue) is held, which does not await it")
            }
            for run in broker.runsWithMessages {
                expect(journal.hasRecord(ofRun: run.rawValue), "run \(run.rawValue) sends messages and has no record")
            }
            for step in jobs.awaitedSteps {
                expect(
                    journal.hasRecord(ofRun: step.run.rawValue), "run \(step.run.rawValue) waits and has no record")
            }
            guard incompletePress == nil else { return }
            let progressing = broker.stepsWithMessages.union(feed?.fencedSteps ?? [])
            for step in rules.stepsWithoutTimeLimit {
                expect(
                    progressing.contains(step),
                    "run \(step.run.rawValue) waits for a message that is not sent")
            }
        }

        private func checkBroker(_ expect: Expectation) {
            expect(
                broker.waitingCount == 0 || isFinished || deadlines.deadline(of: .outbox) != nil,
                "messages wait for the broker without a deadline")
            expect(
                broker.waitingCount > 0 || deadlines.deadline(of: .outbox) == nil,
                "no message waits for the broker, and the deadline of the first is set")
        }

        /// Checks that everything that waits for a timer has one.
        private func checkTimers(_ expect: Expectation) {
            func isSet(_ key: TimerKey) -> Bool { deadlines.deadline(of: key) != nil }
            expect(!rules.areStatisticsScheduled || isSet(.statistics), "statistics wait for a timer that is not set")
            expect(!broker.isSettling || isSet(.settling), "topics settle without a timer")
            expect(isSet(.store) == journal.isRetryScheduled, "the timer of the store is not that of its journal")
            let opensRadio = radios.ids.contains { isSet(.transport($0)) }
            expect(!isFinished || !opensRadio, "a daemon that has finished has a timer for the adapter")
            expect(!isFinished || !isSet(.sources), "a daemon that has finished has a timer for a flicd")
            expect(!isFinished || !isSet(.flicdListener), "a daemon that has finished has a timer for its listener")
            expect(!radios.isHeldClosed || !opensRadio, "a timer opens an adapter that must stay closed")
            guard startedAt != nil, !isFinished else { return }
            expect(journal.heldBack.isEmpty || journal.fault != nil, "events are held back, and the store has no fault")
            expect(
                !buttons.values.contains(where: \.hasUnrecordedDials) || isSet(.dials), "dials wait to be recorded")
            expect(
                !configuration.hasBroker || !buttons.values.contains(where: \.hasUnrecordedWatermark)
                    || isSet(.watermarks), "publish watermarks wait to be recorded")
        }

        private func checkLinks(_ expect: Expectation) {
            for record in buttons.values where record.state == .ready {
                let name = label(of: record.identity.id)
                if let source = record.source {
                    expect(
                        flicd.upstreams.contains { $0.name == source && $0.isConnected }
                            || feed?.isHere(source: source) == true,
                        "\(name) is ready without its flicd or its site")
                } else {
                    expect(radios.isReady, "\(name) is ready without an adapter")
                }
            }
            for source in flicd.upstreams {
                expect(
                    source.foreign.allSatisfy { buttons[$0]?.source != source.name },
                    "\(source.name) releases a button that belongs to it")
            }
        }
    }
#endif
