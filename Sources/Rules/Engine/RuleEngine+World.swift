import ButtonModel
import Expressions
import Gestures

// What is known of the world, and what runs and people change in it.
extension RuleEngine {
    /// What is known of a button apart from its presses.
    struct Device: Sendable {
        var isConnected = false
        /// It was, since the start.
        var wasConnected = false
        /// Percent.
        var battery: Int64?
        var lastEvent = ""
        var lastEventAt: Instant?
    }

    /// The declarations whose facts this button gives.
    func declarations(of button: ButtonID) -> [Int] {
        guard let place = index.place(of: button) else { return [] }
        return index.entries[place].declared.filter { index.meant[$0] == button }
    }

    /// Copies what is known of a button to the declarations that mean it.
    mutating func showDevice(_ button: ButtonID) {
        let declarations = declarations(of: button)
        guard !declarations.isEmpty else { return }
        let device = devices[button] ?? Device()
        for place in declarations {
            world.buttons[place].isConnected = device.isConnected
            world.buttons[place].isHeld = world.isHeld(button)
            world.buttons[place].battery = device.battery
            world.buttons[place].lastEvent = device.lastEvent
            world.buttonEvents[place] = device.lastEventAt
        }
        worldMoved = true
    }

    mutating func linkChanged(
        _ button: ButtonID, isConnected: Bool, isAlwaysTold: Bool, at now: Instant, _ effects: inout [Effect]
    ) {
        let device = devices[button] ?? Device()
        guard isAlwaysTold || device.isConnected != isConnected else { return }
        devices[button, default: Device()].isConnected = isConnected
        if isConnected {
            devices[button, default: Device()].wasConnected = true
            recognised(recogniser.handle(.linkReturned(button), at: now), at: now, &effects)
        } else {
            recognised(recogniser.handle(.linkLost(button), at: now), at: now, &effects)
            world.held = world.held.filter { $0.button != button }
        }
        showDevice(button)
        if !isConnected { release(button, at: now, &effects) }
        guard isAlwaysTold || !isConnected || device.wasConnected else { return advance(at: now, &effects) }
        occurred(isConnected ? .connected : .disconnected, of: button, at: now, &effects)
    }

    /// Ends the told hold of a button whose link is lost, because no event tells when the button was released.
    mutating func loseHold(
        _ button: ButtonID, unheardFor duration: Duration, at now: Instant, _ effects: inout [Effect]
    ) {
        recognised(recogniser.handle(.holdLost(button, unheardFor: duration), at: now), at: now, &effects)
    }

    mutating func received(_ payload: [UInt8], on topicName: String, at now: Instant, _ effects: inout [Effect]) {
        if states.refusesFirst(payload, on: topicName) {
            effects.append(.oversizedState(topicName: topicName, count: payload.count))
        }
        show(states.receive(payload, on: topicName, at: now))
    }

    /// Copies what states have become.
    mutating func show(_ places: [Int]) {
        for place in places {
            let value = states.value(at: place)
            guard world.states[place] != value else { continue }
            world.states[place] = value
            worldMoved = true
        }
    }
}

// MARK: - What runs and people change

extension RuleEngine {
    /// What was changed is kept, told, and wakes who waits for it.
    mutating func carryOutChanges(at now: Instant, _ effects: inout [Effect]) {
        guard !world.changed.isEmpty else { return }
        let changes = world.changed.sorted(by: World.Change.comesFirst)
        world.changed = []
        worldMoved = true
        for change in changes {
            switch change {
            case .variable(let place):
                guard set.variables.indices.contains(place) else { continue }
                let variable = set.variables[place]
                assigned.insert(variable.name)
                if variable.isPersisted { effects.append(.keep(.variable(variable.name, world.variables[place]))) }
                effects.append(.variableChanged(variable.name, world.variables[place]))
            case .cycle(let key):
                effects.append(.keep(.cycle(key, world.cycles[key])))
            case .enable(let place, let isEnabled):
                setEnabled(place, isEnabled, at: now, &effects)
            }
        }
    }

    /// Holds until the value in the file changes. Runs go on, but what waits its turn is dropped, and what repeats while
    /// a button is held ends.
    mutating func setEnabled(_ place: Int, _ isEnabled: Bool, at now: Instant, _ effects: inout [Effect]) {
        guard set.rules.indices.contains(place) else { return }
        let rule = set.rules[place]
        let override =
            isEnabled == rule.isEnabled ? nil : EnabledOverride(isEnabled: isEnabled, inFile: rule.isEnabled)
        if overrides[rule.id] != override {
            overrides[rule.id] = override
            effects.append(.keep(.enabled(rule: rule.id, override)))
        }
        guard world.rules[place].isEnabled != isEnabled else { return }
        world.rules[place].isEnabled = isEnabled
        worldMoved = true
        effects.append(.enabledChanged(rule: rule.id, isEnabled))
        guard !isEnabled else { return }
        for group in scheduler.groups(ofRule: place) { endQueued(in: group, as: .cancelled, &effects) }
        for id in scheduler.ids
        where scheduler.runs[id]?.rule == place && scheduler.runs[id]?.isRepeatingWhileHeld ?? false {
            resume(id, at: now, &effects) { $0.released(in: &$1, at: now, &$2) }
        }
    }
}

extension World.Change {
    /// Variables, then cycles, then rules, each in the order of the file or of the name.
    fileprivate static func comesFirst(_ left: World.Change, _ right: World.Change) -> Bool {
        switch (left, right) {
        case (.variable(let left), .variable(let right)): left < right
        case (.cycle(let left), .cycle(let right)): left < right
        case (.enable(let left, let isFirst), .enable(let right, _)): left == right ? isFirst : left < right
        case (.variable, .cycle), (.variable, .enable), (.cycle, .enable): true
        case (.cycle, .variable), (.enable, .variable), (.enable, .cycle): false
        }
    }
}
