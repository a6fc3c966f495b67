import ButtonModel
import Expressions
import Gestures

// Updates of `World`: buttons, states, and changes by runs and requests.
extension RuleEngine {
    /// The state of a button apart from its presses.
    struct Device: Sendable {
        var isConnected = false
        /// True if it has been connected since the start.
        var wasConnected = false
        /// The battery level in percent.
        var battery: Int64?
        var lastEvent = ""
        var lastEventAt: Instant?
    }

    /// The indices in `RuleSet.buttons` of the declarations that mean this button.
    func declarations(of button: ButtonID) -> [Int] {
        guard let entryIndex = index.entryIndex(of: button) else { return [] }
        return index.entries[entryIndex].declared.filter { index.buttonByDeclaration[$0] == button }
    }

    /// Copies the state of a button to the facts of its declarations.
    mutating func updateButtonFacts(_ button: ButtonID) {
        let declarations = declarations(of: button)
        guard !declarations.isEmpty else { return }
        let device = devices[button] ?? Device()
        for declaration in declarations {
            world.buttons[declaration].isConnected = device.isConnected
            world.buttons[declaration].isHeld = world.isHeld(button)
            world.buttons[declaration].battery = device.battery
            world.buttons[declaration].lastEvent = device.lastEvent
            world.buttonEvents[declaration] = device.lastEventAt
        }
        worldHasChanged = true
    }

    mutating func linkChanged(
        _ button: ButtonID, isConnected: Bool, repeatsEvents: Bool, reportsUnchanged: Bool, at now: Instant,
        _ effects: inout [Effect]
    ) {
        let device = devices[button] ?? Device()
        guard reportsUnchanged || device.isConnected != isConnected else { return }
        devices[button, default: Device()].isConnected = isConnected
        if isConnected {
            devices[button, default: Device()].wasConnected = true
            if repeatsEvents { recognised(recogniser.handle(.linkReturned(button), at: now), at: now, &effects) }
        } else {
            recognisedEarlier(recogniser.handle(.linkLost(button), at: now), at: now, &effects)
            world.held = world.held.filter { $0.button != button }
        }
        updateButtonFacts(button)
        if !isConnected { release(button, at: now, &effects) }
        guard reportsUnchanged || !isConnected || device.wasConnected else { return advance(at: now, &effects) }
        occurred(isConnected ? .connected : .disconnected, of: button, at: now, &effects)
    }

    /// Ends a reported hold of a button, because its `up` will not arrive, or not in time.
    mutating func loseHold(
        _ button: ButtonID, silentFor duration: Duration, at now: Instant, _ effects: inout [Effect]
    ) {
        recognisedEarlier(recogniser.handle(.holdEndMissed(button, silentFor: duration), at: now), at: now, &effects)
    }

    mutating func received(
        _ payload: [UInt8], on topicName: String, isRetained: Bool, at now: Instant, _ effects: inout [Effect]
    ) {
        if states.refusesFirst(payload, on: topicName) {
            effects.append(.oversizedState(topicName: topicName, count: payload.count))
        }
        let before = receivedValues(of: states.indices(of: topicName))
        copyStates(states.receive(payload, on: topicName, at: now))
        for fault in states.takeFaults() { effects.append(.stateFault(fault)) }
        for warning in states.takeWarnings() { effects.append(.log(.warning, warning)) }
        statesReceived(before, isRetained: isRetained, at: now, &effects)
    }

    /// Makes the values unknown that are too old.
    mutating func expireStates(at now: Instant, _ effects: inout [Effect]) {
        let before = receivedValues(of: states.expired(at: now))
        copyStates(states.expire(at: now))
        statesReceived(before, isRetained: false, at: now, &effects)
    }

    /// Copies the values of states.
    mutating func copyStates(_ indices: [Int]) {
        for stateIndex in indices {
            let value = states.value(at: stateIndex)
            guard world.states[stateIndex] != value else { continue }
            world.states[stateIndex] = value
            worldHasChanged = true
        }
    }
}

// MARK: - Changes by runs and requests

extension RuleEngine {
    /// Stores and reports the changes, and marks the world as changed for the runs that wait for it.
    ///
    /// - Parameter run: that has made the changes; `nil` if none has.
    mutating func carryOutChanges(by run: RunID? = nil, at now: Instant, _ effects: inout [Effect]) {
        guard !world.changed.isEmpty else { return }
        let changes = world.changed.sorted(by: World.Change.comesFirst)
        world.changed = []
        worldHasChanged = true
        for change in changes {
            switch change {
            case .variable(let variableIndex):
                guard set.variables.indices.contains(variableIndex) else { continue }
                let variable = set.variables[variableIndex]
                assigned.insert(variable.name)
                let value = world.variables[variableIndex]
                if variable.isPersisted { effects.append(.store(.variable(variable.name, value))) }
                let rule = run.flatMap { scheduler.runs[$0]?.trace.rule }
                effects.append(.variableChanged(variable.name, value, by: run, rule: rule))
            case .cycle(let key):
                effects.append(.store(.cycle(key, world.cycles[key])))
            case .enable(let ruleIndex, let isEnabled):
                setEnabled(ruleIndex, isEnabled, at: now, &effects)
            case .cancel(let ruleIndex):
                // Only a run makes this change. The scheduler still has that run here, even if the `cancel` step was its last
                // one.
                let rule = run.flatMap { scheduler.runs[$0]?.trace.rule } ?? ""
                cancelRuns(of: ruleIndex, because: .rule(rule), at: now, &effects)
            }
        }
    }

    /// Enables or disables a rule, until the value in the file changes.
    ///
    /// Disabling a rule cancels its runs that are queued or in a `wait_for`, and ends its `repeat: while: held` steps. Its other runs
    /// continue, up to a `wait_for`.
    mutating func setEnabled(_ ruleIndex: Int, _ isEnabled: Bool, at now: Instant, _ effects: inout [Effect]) {
        guard set.rules.indices.contains(ruleIndex) else { return }
        let rule = set.rules[ruleIndex]
        let override =
            isEnabled == rule.isEnabled ? nil : EnabledOverride(isEnabled: isEnabled, inFile: rule.isEnabled)
        if overrides[rule.id] != override {
            overrides[rule.id] = override
            effects.append(.store(.enabled(rule: rule.id, override)))
        }
        guard world.rules[ruleIndex].isEnabled != isEnabled else { return }
        world.rules[ruleIndex].isEnabled = isEnabled
        worldHasChanged = true
        effects.append(.enabledChanged(rule: rule.id, isEnabled))
        guard !isEnabled else { return }
        for group in scheduler.groups(ofRule: ruleIndex) { endQueued(in: group, as: .cancelled, &effects) }
        for id in scheduler.ids
        where scheduler.runs[id]?.rule == ruleIndex && scheduler.runs[id]?.isRepeatingWhileHeld ?? false {
            resume(id, at: now, &effects) { $0.released(in: &$1, at: now, &$2) }
        }
        endWaitsForEvents(of: ruleIndex, at: now, &effects)
    }
}

extension World.Change {
    /// The order in which changes take effect: variables, cycles, enabled and disabled rules, cancelled rules. Changes of the same
    /// kind are in the order of the rule files, and cycles in the order of their keys.
    fileprivate static func comesFirst(_ left: World.Change, _ right: World.Change) -> Bool {
        switch (left, right) {
        case (.variable(let left), .variable(let right)): left < right
        case (.cycle(let left), .cycle(let right)): left < right
        case (.enable(let left, let isFirst), .enable(let right, _)): left == right ? isFirst : left < right
        case (.cancel(let left), .cancel(let right)): left < right
        case (.variable, .cycle), (.variable, .enable), (.cycle, .enable), (.variable, .cancel), (.cycle, .cancel),
            (.enable, .cancel):
            true
        case (.cycle, .variable), (.enable, .variable), (.enable, .cycle), (.cancel, .variable), (.cancel, .cycle),
            (.cancel, .enable):
            false
        }
    }
}
