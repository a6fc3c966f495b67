import ButtonModel
import Gestures
import Rules

extension Buttons {
    /// `event:` — something the button did, past the recogniser; turns go through it, to be summed.
    func inputs(for event: SimulatedEvent, at now: Instant) -> [RuleEngine.Input] {
        guard let id = id(of: event.button), let button = declared(event.button) else { return [] }
        func recognised(_ what: Recognised.What, heldFor: Duration = .zero) -> RuleEngine.Input {
            .recognised(
                Recognised(
                    button: id, part: event.part, what: what, wasQueued: event.wasQueued,
                    wasQueuedLast: event.wasQueuedLast, age: event.age, at: now - event.age, heldFor: heldFor))
        }
        switch event.event {
        case .down: return [recognised(.down)]
        case .up: return [recognised(.up, heldFor: event.heldFor ?? .zero)]
        case .pattern(let presses): return [recognised(.pattern(presses))]
        case .hold(let after):
            let wanted = after ?? event.heldFor ?? button.holdAfter
            return [recognised(.hold(after: wanted), heldFor: wanted)]
        case .holdRelease: return [recognised(.holdRelease, heldFor: event.heldFor ?? button.holdAfter)]
        case .swipe(let direction): return [moved(id, event, .swipe(direction), part: event.part ?? .big)]
        case .rotate(let direction, _):
            let steps = direction == .clockwise ? abs(event.steps) : -abs(event.steps)
            let part = event.part ?? (button.model == .twist ? .dial : .big)
            return [moved(id, event, .rotation(steps: steps), part: part)]
        case .connected: return [.linkChanged(id, isConnected: true)]
        case .disconnected: return [.linkChanged(id, isConnected: false)]
        case .batteryLow: return [.batteryLow(id)]
        }
    }

    private func moved(
        _ id: ButtonID, _ event: SimulatedEvent, _ kind: ButtonMovement.Kind, part: ButtonPart
    ) -> RuleEngine.Input {
        .moved(
            ButtonMovement(
                button: id, part: part, kind: kind, wasQueued: event.wasQueued, wasQueuedLast: event.wasQueuedLast,
                age: event.age))
    }
}
