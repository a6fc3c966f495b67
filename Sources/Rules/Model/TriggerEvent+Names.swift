package import ButtonModel
import Gestures

extension TriggerEvent {
    /// Parses the name of an event: one of `fileNames`, or a number of clicks such as `clicks_3`.
    package init?(name: String) {
        if let event = TriggerEvent.byName[name] {
            self = event
        } else if let count = EventName.clickCount(name) {
            self = .pattern(Array(repeating: .short, count: count))
        } else {
            return nil
        }
    }

    /// The events by name, as `event` accepts them in a rule file.
    package static let byName: [String: TriggerEvent] = {
        var events: [TriggerEvent] = [
            .down, .up, .click, .doubleClick, .hold(after: nil), .holdRelease, .connected, .disconnected, .batteryLow,
        ]
        events += SwipeDirection.allCases.map(TriggerEvent.swipe)
        events += RotationDirection.allCases.map { .rotate($0, collect: standardCollect) }
        return Dictionary(uniqueKeysWithValues: events.map { ($0.name, $0) })
    }()

    package static let fileNames = byName.keys.sorted()

    /// The name of the event, the same as `RecognisedEvent.Kind.name`. It does not include the presses of a pattern with a
    /// long press, nor the times of a hold or a rotation.
    package var name: String {
        switch self {
        case .down: RecognisedEvent.Kind.down.name
        case .up: RecognisedEvent.Kind.up.name
        case .pattern(let presses): RecognisedEvent.Kind.pattern(presses).name
        case .hold: Gesture.hold.rawValue
        case .holdRelease: RecognisedEvent.Kind.holdRelease.name
        case .swipe(let direction): direction.rawValue
        case .rotate(let direction, _): direction.rawValue
        case .connected: EventName.connected
        case .disconnected: EventName.disconnected
        case .batteryLow: EventName.batteryLow
        }
    }

    /// The event as a rule file writes it: `double_click`, `clicks: 3`, `pattern: [short, long]`.
    package var notation: String {
        guard case .pattern(let presses) = self, self != .click, self != .doubleClick else { return name }
        return presses.contains(.long) ? "pattern: " + TriggerEvent.list(presses) : "clicks: \(presses.count)"
    }

    /// The event as named in messages about a rule: `clicks_3`, `pattern [short, long]`, `hold for 2s`.
    var messageName: String {
        switch self {
        case .pattern(let presses) where presses.contains(.long): "pattern " + TriggerEvent.list(presses)
        case .hold(let after?): "hold for \(after.text)"
        case .down, .up, .pattern, .hold, .holdRelease, .swipe, .rotate, .connected, .disconnected, .batteryLow: name
        }
    }

    private static func list(_ presses: [PressLength]) -> String {
        "[" + presses.map(\.rawValue).joined(separator: ", ") + "]"
    }
}

extension TriggerMode {
    /// True if the event can occur in this trigger mode. The times and stages of a hold are ignored.
    package func supports(_ event: TriggerEvent) -> Bool {
        switch event {
        case .click: true
        case .doubleClick: hasDoubleClick
        case .pattern: false
        case .hold, .holdRelease: hasHold
        case .down, .up, .swipe, .rotate, .connected, .disconnected, .batteryLow: true
        }
    }
}

extension FlicModel {
    /// True if buttons of this model report the event.
    package func supports(_ event: TriggerEvent) -> Bool {
        switch event {
        case .swipe(let direction): swipes.contains(direction)
        case .rotate(let direction, _): rotations.contains(direction)
        case .down, .up, .pattern, .hold, .holdRelease, .connected, .disconnected, .batteryLow: true
        }
    }
}
