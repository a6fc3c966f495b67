extension RuleState {
    /// Applies a change, as a store would.
    package mutating func apply(_ change: RuleStateChange) {
        switch change {
        case .variable(let name, let value): variables[name] = value
        case .cycle(let key, let position): cycles[key] = position
        case .enabled(let rule, let override): enabled[rule] = override
        case .cooldown(let cooldown):
            cooldowns.removeAll { $0.rule == cooldown.rule && $0.button == cooldown.button }
            cooldowns.append(cooldown)
        case .waiting(let run, let waitingRun):
            waitingRuns.removeAll { $0.run == run }
            if let waitingRun { waitingRuns.append(waitingRun) }
            waitingRuns.sort { $0.run < $1.run }
        case .kept(let rule, let button, let event):
            keptEvents.removeAll { $0.rule == rule && $0.button == button }
            if let event { keptEvents.append(event) }
            keptEvents.sort(by: KeptEvent.comesFirst)
        case .daily(let key, let time): dailyTimes[key] = time
        }
    }
}

extension KeptEvent {
    package static func comesFirst(_ left: KeptEvent, _ right: KeptEvent) -> Bool {
        (left.button, left.number, left.rule) < (right.button, right.number, right.rule)
    }
}
