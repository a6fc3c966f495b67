import ButtonModel
import Expressions

// Replaces the rule set between two events.
//
// Unchanged parts keep their state: rules with their runs, counters, cooldowns and positions in cycles, states with
// their values, and undecided press trains. Changed parts start with their initial state.
extension RuleEngine {
    mutating func reload(_ rules: PreparedRules, at now: Instant, _ effects: inout [Effect]) {
        let new = rules.set
        let moves = RuleIndexMap(from: prepared, to: rules)
        endChangedRules(moves, to: rules, at: now, &effects)
        forgetCycles(of: new, moves, &effects)
        let old = world
        let before = names
        prepared = rules
        world = World(rules)
        moveRules(from: old, moves)
        moveOverrides(from: old, before, moves, &effects)
        moveVariables(from: old, before, &effects)
        moveStates(at: now, &effects)
        world.brokerIsConnected = old.brokerIsConnected
        world.isPaused = old.isPaused
        world.held = old.held
        world.clock = old.clock
        world.clockIsPlausible = old.clockIsPlausible
        world.draws = old.draws
        index = RuleIndex(rules.triggerTable)
        configure(at: now)
        reportModels(&effects)
        dropModesThatCannotServe(at: now, &effects)
        for identity in identities { updateButtonFacts(identity.id) }
        world.refreshAges(at: now)
        worldHasChanged = true
        moveCounts(moves, from: old.set.states, &effects)
        moveAwaitedCounts(from: old.set.states, before.states, at: now, &effects)
        reloadDailyTimes(from: old.set, at: now, &effects)
    }

    /// Ends the runs of changed rules. This happens with the old set, which contains the steps of these runs.
    private mutating func endChangedRules(
        _ moves: RuleIndexMap, to rules: PreparedRules, at now: Instant, _ effects: inout [Effect]
    ) {
        let changed = moves.ended.map { (ruleIndex: $0, rule: names.ruleIDs[$0]) }
        // The trace of a run that is cancelled below becomes the first trace of the changed rule.
        for (_, rule) in changed {
            archive.forget(rule)
            stoppedMatches.forget(rule)
        }
        drop(kept.move(to: moves), because: "its rule was changed by a reload", &effects)
        for (id, group) in scheduler.groups.sorted(by: { $0.key < $1.key }) where moves[id.rule] == nil {
            endQueued(in: id, as: .cancelled, &effects)
            guard let end = group.cooldownEnd, end > now else { continue }
            // The cooldown ends now, because it belonged to the old rule.
            effects.append(
                .store(
                    .cooldown(
                        Cooldown(rule: set.rules[id.rule].id, button: id.button, endsAt: world.wallClock(at: now)))))
        }
        for id in scheduler.ids where scheduler.runs[id].map({ moves[$0.rule] == nil }) ?? false {
            cancel(id, because: .ruleChanged, at: now, &effects)
        }
        for (ruleIndex, rule) in changed where !rules.has(rule: rule, at: ruleIndex) {
            archive.forget(rule)
            stoppedMatches.forget(rule)
        }
    }

    /// Removes the positions of cycles in rules and scripts that were changed or removed.
    private mutating func forgetCycles(of new: RuleSet, _ moves: RuleIndexMap, _ effects: inout [Effect]) {
        guard !world.cycles.isEmpty else { return }
        let kept = Set(moves.unchanged.map { set.rules[$0.before].id })
        let scripts = Set(new.scripts)
        let keptScripts = Set(set.scripts.filter(scripts.contains).map(\.name))
        for key in world.cycles.keys.sorted() {
            let isKept =
                if let slash = key.firstIndex(of: "/") {
                    kept.contains(String(key[..<slash]))
                } else {
                    keptScripts.contains(String(key.prefix { $0 != "." }))
                }
            guard !isKept else { continue }
            world.cycles[key] = nil
            effects.append(.store(.cycle(key, nil)))
        }
    }
}

// MARK: - State of unchanged parts

extension RuleEngine {
    private mutating func moveRules(from old: World, _ moves: RuleIndexMap) {
        world.cycles = old.cycles
        let oldRecords = records
        records = Array(repeating: RuleRecord(), count: set.rules.count)
        for (before, ruleIndex) in moves.unchanged {
            world.rules[ruleIndex] = old.rules[before]
            world.ruleStarts[ruleIndex] = old.ruleStarts[before]
            records[ruleIndex] = oldRecords[before]
        }
        scheduler.move(to: moves)
    }

    /// Keeps `enabled` as set at run time, until the value in the file changes.
    private mutating func moveOverrides(
        from old: World, _ before: Names, _ moves: RuleIndexMap, _ effects: inout [Effect]
    ) {
        for id in overrides.keys.sorted() {
            let isInForce = names.rules[id].map { set.rules[$0].isEnabled == overrides[id]?.inFile } ?? false
            guard !isInForce else { continue }
            overrides[id] = nil
            effects.append(.store(.enabled(rule: id, nil)))
        }
        for ruleIndex in moves.begun {
            let id = set.rules[ruleIndex].id
            let isEnabled = overrides[id]?.isEnabled ?? set.rules[ruleIndex].isEnabled
            world.rules[ruleIndex].isEnabled = isEnabled
            guard let oldIndex = before.rules[id], old.rules[oldIndex].isEnabled != isEnabled else { continue }
            effects.append(.enabledChanged(rule: id, isEnabled))
        }
    }

    private mutating func moveVariables(from old: World, _ before: Names, _ effects: inout [Effect]) {
        for (variableIndex, variable) in old.set.variables.enumerated()
        where names.variables[variable.name] == nil && assigned.remove(variable.name) != nil {
            if variable.isPersisted, orphanedValues.count < RuleEngine.maximumOrphanedValues {
                orphanedValues[variable.name] = old.variables[variableIndex]
            }
        }
        for (variableIndex, variable) in set.variables.enumerated() {
            let oldIndex = before.variables[variable.name]
            if let oldIndex, assigned.contains(variable.name) {
                adopt(old.variables[oldIndex], for: variableIndex, &effects)
                noteInitial(of: variable, old.set.variables[oldIndex], variableIndex, &effects)
            } else if let stored = orphanedValues.removeValue(forKey: variable.name) {
                adopt(stored, for: variableIndex, &effects)
            }
            guard let oldIndex, old.variables[oldIndex] != world.variables[variableIndex] else { continue }
            effects.append(.variableChanged(variable.name, world.variables[variableIndex]))
        }
    }

    private func noteInitial(
        of variable: DeclaredVariable, _ before: DeclaredVariable, _ variableIndex: Int, _ effects: inout [Effect]
    ) {
        guard assigned.contains(variable.name), variable.initial != before.initial,
            let value = world.variables[variableIndex].text, let initial = variable.initial.text
        else { return }
        effects.append(
            .log(
                .info,
                "variable \(variable.name) keeps its value \(value), though its initial value is \(initial) now; to change it, "
                    + "publish the new value to variables/\(variable.name)/set"))
    }

    private mutating func moveStates(at now: Instant, _ effects: inout [Effect]) {
        let before = states
        states = StateTable(set.states)
        states.continueCount(of: before)
        let missing = states.takeOver(before, at: now)
        copyStates(Array(set.states.indices))
        let wanted = Set(states.topics)
        let unwanted = before.topics.filter { !wanted.contains($0) }
        if !unwanted.isEmpty { effects.append(.unsubscribe(unwanted)) }
        // Topics with an existing subscription are subscribed again, so that the broker sends their retained messages
        // for the new states.
        if !missing.isEmpty { effects.append(.subscribe(missing)) }
    }
}
