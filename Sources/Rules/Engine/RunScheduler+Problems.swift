#if DEBUG
    import ButtonModel

    extension RunScheduler {
        /// The invariants that are violated between two inputs, as sentences; empty unless there is a fault.
        func problems(_ rules: [Rule]) -> [String] {
            var problems = deadlines.problems()
            func expect(_ holds: Bool, _ problem: @autoclosure () -> String) {
                if !holds { problems.append("runs: " + problem()) }
            }
            expect(starts.isEmpty, "\(starts.count) runs could begin and were not taken")
            expect(turnedGroups.isEmpty, "rotations are not delivered, although their runs have ended")
            expect(count <= RunScheduler.maximumRuns, "\(count) runs are in progress")
            expect(queuedCount == groups.values.reduce(0) { $0 + $1.queued.count }, "the queued runs are miscounted")
            expect(
                runsWaitingForWorld == Set(runs.values.filter(\.isWaitingForWorld).map(\.id)),
                "the runs in a wait or wait_for step are not those that are noted")
            expect(
                deadlines.count == runs.values.count { $0.deadline != nil }, "a run that has ended has a deadline")
            for (id, run) in runs {
                expect(run.id == id, "run \(run.id.rawValue) is kept as \(id.rawValue)")
                expect(id < nextRun, "the number \(id.rawValue) was not given out")
                expect(deadlines.deadline(of: id) == run.deadline, "the deadline of run \(id.rawValue) is another one")
                expect(
                    rules.indices.contains(run.rule) && rules[run.rule].id == run.trace.rule,
                    "run \(id.rawValue) is of another rule")
                if let group = groupOfRun[id] {
                    expect(group.rule == run.rule, "run \(id.rawValue) is in the group of another rule")
                    expect(groups[group]?.running.contains(id) ?? false, "run \(id.rawValue) is not in its group")
                } else {
                    expect(run.isDryRun, "run \(id.rawValue) is in no group")
                }
                for problem in run.problems() { expect(false, "run \(id.rawValue) " + problem) }
            }
            expect(groupOfRun.keys.allSatisfy { runs[$0] != nil }, "a run that has ended is in a group")
            for (id, group) in groups {
                guard rules.indices.contains(id.rule) else {
                    expect(false, "a group is of no rule")
                    continue
                }
                let rule = rules[id.rule]
                expect((id.button == nil) || rule.scope == .button, "\(rule.id) has a group for a button")
                expect(Set(group.running).count == group.running.count, "\(rule.id) counts a run twice")
                expect(
                    group.running.allSatisfy { groupOfRun[$0] == id }, "\(rule.id) counts a run that has ended")
                expect(group.queued.isEmpty || !group.running.isEmpty, "\(rule.id) has queued runs, and none goes on")
                expect(
                    group.rotations.isEmpty || !group.running.isEmpty, "\(rule.id) keeps rotations, and no run goes on")
                expect(
                    group.queued.allSatisfy { $0.rule == id.rule && $0.group == id },
                    "\(rule.id) has queued a run of another group")
                switch rule.mode {
                case .single, .restart:
                    expect(group.running.count <= 1 && group.queued.isEmpty, "\(rule.id) has several runs")
                case .queued:
                    expect(
                        group.running.count <= 1 && group.running.count + group.queued.count <= rule.maximumRuns,
                        "\(rule.id) has more runs than it queues")
                case .parallel:
                    expect(
                        group.running.count <= rule.maximumRuns && group.queued.isEmpty,
                        "\(rule.id) has more parallel runs than it may")
                }
            }
            return problems
        }
    }

    extension Run {
        fileprivate func problems() -> [String] {
            var problems: [String] = []
            func expect(_ holds: Bool, _ problem: @autoclosure () -> String) {
                if !holds { problems.append(problem()) }
            }
            expect(result == nil, "has ended and is kept")
            switch waiting {
            case nil: expect(false, "waits for nothing")
            case .result(let attempt, let deadline):
                expect(attempt.step.run == id && attempt.step.index < nextStep, "waits for an action of another run")
                // The time limit of a message begins when the message is handed over.
                expect(deadline != nil || attempt.action.isMessage, "waits without a time limit")
            case .retry(let attempt, _): expect(attempt.failures > 0, "repeats an action that did not fail")
            case .condition(let since, let until, _): expect(since <= until, "waits until before it began to wait")
            case .event(let wait):
                expect(wait.since <= wait.until, "waits for an event until before it began to wait")
                expect(
                    Set(wait.counts.map { [$0.state, String($0.trigger)] }).count == wait.counts.count,
                    "counts how long a state lasts twice")
            case .tick:
                if case .iteration? = frames.last?.part {
                } else {
                    expect(false, "waits for a tick and repeats nothing")
                }
            case .delay: break
            }
            expect(!frames.isEmpty, "is at no step")
            expect(
                (error != nil) == (frames.first?.part == .onError),
                "executes `on_error` without an error, or has an error outside `on_error`")
            expect(
                locals.count == 1 + frames.count { $0.part == .script },
                "has \(locals.count) local scopes, which differs from one plus the depth of its script calls")
            expect(frames.count <= Run.maximumDepth + 64, "is \(frames.count) lists deep")
            expect(delayed <= StepValues.longestDelay, "was told to wait for too long")
            expect(trace.lines.count <= RunTrace.maximumLines, "has \(trace.lines.count) lines of trace")
            return problems
        }
    }
#endif
