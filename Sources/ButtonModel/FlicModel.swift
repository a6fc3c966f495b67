/// The model of a button. The raw value is its name in topics, rules and records.
public enum FlicModel: String, CaseIterable, Hashable, Sendable {
    /// Flic 1. It is supported only through a flicd, because its protocol is not public.
    case flic1
    case flic2
    /// Flic Duo: two buttons, `big` and `small`. It recognizes swipes, and turns while it is pressed.
    case duo
    /// Flic Twist: a dial that can also be pressed.
    case twist
}

// The capabilities of each model.
extension FlicModel {
    /// The product name, for display.
    public var productName: String {
        switch self {
        case .flic1: "Flic 1"
        case .flic2: "Flic 2"
        case .duo: "Flic Duo"
        case .twist: "Flic Twist"
        }
    }

    /// The parts that occur in events; empty for a model with a single part.
    public var parts: Set<ButtonPart> {
        switch self {
        case .flic1, .flic2: []
        case .duo: [.big, .small]
        case .twist: [.dial, .push]
        }
    }

    /// True if the model has two buttons.
    public var hasTwoButtons: Bool { parts.contains(.small) }

    public var swipes: [SwipeDirection] {
        switch self {
        case .duo: SwipeDirection.allCases
        case .flic1, .flic2, .twist: []
        }
    }

    public var rotations: [RotationDirection] {
        switch self {
        case .duo, .twist: RotationDirection.allCases
        case .flic1, .flic2: []
        }
    }

    /// The names of the swipes and rotations.
    public var movementNames: [String] { swipes.map(\.rawValue) + rotations.map(\.rawValue) }

    /// The dials with a position.
    public var dials: [Dial] {
        switch self {
        case .flic1, .flic2: []
        case .duo: [.part(.big), .part(.small)]
        case .twist: Dial.slots.map(Dial.slot) + [.free]
        }
    }

    /// True if the model has lights whose `LEDMode` can be set.
    public var hasLEDMode: Bool {
        switch self {
        case .twist: true
        case .flic1, .flic2, .duo: false
        }
    }

    /// True if `latencyMode` and `autoDisconnectTime` of `ButtonSettings` can be set. A Twist chooses both itself.
    public var hasConnectionSettings: Bool {
        switch self {
        case .flic1, .flic2, .duo: true
        case .twist: false
        }
    }
}
