import ButtonModel
import Gestures
import Rules

extension SimulatedButtons {
    /// The inputs for the engine that simulate an `event:` step. Gestures bypass the recogniser; rotations go through
    /// it, because it sums them.
    ///
    /// - Parameter stages: the hold durations that rules use.
    mutating func inputs(for event: SimulatedEvent, stages: [Duration], at now: Instant) -> [RuleEngine.Input] {
        guard let id = id(of: event.button) else { return [] }
        if case .hold = event.event {
            holds[id] = RecognisedEvent.Lateness(wasQueued: event.wasQueued, age: event.age)
        }
        defer { if event.event == .holdRelease || event.event == .up { holds[id] = nil } }
        switch event.event {
        case .hold(after: nil):
            guard let held = event.heldFor, let longest = recognised(event, at: now) else { fallthrough }
            return stages.filter { $0 <= held }.map { stage in
                var stageEvent = longest
                stageEvent.kind = .hold(after: stage)
                stageEvent.heldFor = stage
                return .given(.recognised(stageEvent))
            }
        case .down, .up, .pattern, .hold, .holdRelease, .swipe:
            return recognised(event, at: now).map { [.given(.recognised($0))] } ?? []
        case .rotate(let direction, _): return [moved(id, event, by: event.signedSteps(direction))]
        case .connected: return [.given(.linkChanged(id, isConnected: true))]
        case .disconnected: return [.given(.linkChanged(id, isConnected: false))]
        case .batteryLow: return [.batteryLow(id)]
        }
    }

    /// The event as the recogniser would report it; `nil` for connections and low batteries.
    func recognised(_ event: SimulatedEvent, at now: Instant) -> RecognisedEvent? {
        guard let id = id(of: event.button), let button = declared(event.button) else { return nil }
        let what: RecognisedEvent.Kind
        var heldFor = event.heldFor ?? .zero
        switch event.event {
        case .down: what = .down
        case .up: what = .up
        case .pattern(let presses): what = .pattern(presses)
        case .hold(let after):
            heldFor = after ?? event.heldFor ?? button.holdAfter
            what = .hold(after: heldFor)
        case .holdRelease:
            heldFor = event.heldFor ?? button.holdAfter
            what = .holdRelease
        case .swipe(let direction): what = .swipe(direction)
        case .rotate(let direction, let collect):
            what = .rotation(steps: event.signedSteps(direction), collect: collect)
        case .connected, .disconnected, .batteryLow: return nil
        }
        let turn = turned(event, of: button)
        return RecognisedEvent(
            button: id, part: turn?.part ?? event.part ?? button.model.pressedPart, kind: what,
            wasQueued: event.wasQueued, wasQueuedLast: event.wasQueuedLast, age: event.age, at: now - event.age,
            heldFor: heldFor, hold: what == .holdRelease ? holds[id] : nil, position: turn?.position ?? 0,
            slot: turn?.slot ?? 0)
    }

    private func moved(_ id: ButtonID, _ event: SimulatedEvent, by steps: Int) -> RuleEngine.Input {
        let button = declared(event.button)
        let turn = button.flatMap { turned(event, of: $0) }
        return .moved(
            ButtonMovement(
                button: id, part: turn?.part ?? event.part ?? button?.model.pressedPart ?? .big, steps: steps,
                position: turn?.position ?? 0, slot: turn?.slot ?? 0, dial: turn?.dial,
                units: Dial.units(percentage: turn?.position ?? 0), wasQueued: event.wasQueued,
                wasQueuedLast: event.wasQueuedLast, age: event.age))
    }

    private struct Turn {
        var part: ButtonPart
        var position: Int
        var slot: Int
        var dial: Dial
    }

    /// The dial and its position after an event; `nil` if the event is not a rotation.
    private func turned(_ event: SimulatedEvent, of button: DeclaredButton) -> Turn? {
        guard case .rotate = event.event else { return nil }
        let part = event.part ?? button.model.turnedPart
        let position = event.position ?? 0
        switch part {
        case .big, .small: return Turn(part: part, position: position, slot: 0, dial: .part(part))
        case .dial:
            let slot = event.slot ?? Dial.slots.lowerBound
            return Turn(part: part, position: position, slot: slot, dial: .slot(slot))
        case .push:
            let slot = event.slot ?? min(1 + Dial.units(percentage: position) * 12 / Dial.unitsPerTurn, 12)
            return Turn(part: part, position: position, slot: slot, dial: .free)
        }
    }
}

extension SimulatedEvent {
    fileprivate func signedSteps(_ direction: RotationDirection) -> Int {
        switch direction {
        case .clockwise: abs(steps)
        case .counterClockwise: -abs(steps)
        }
    }
}
