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

/// The properties of a model. Each model has one row.
private struct Capabilities {
    var productName: String
    var isPairable = true
    var parts: Set<ButtonPart> = []
    var swipes: [SwipeDirection] = []
    var rotations: [RotationDirection] = []
    var dials: [Dial] = []
    var hasLEDMode = false
    var hasConnectionSettings = true

    static let flic1 = Capabilities(productName: "Flic 1", isPairable: false)
    static let flic2 = Capabilities(productName: "Flic 2")
    static let duo = Capabilities(
        productName: "Flic Duo", parts: [.big, .small], swipes: SwipeDirection.allCases,
        rotations: RotationDirection.allCases, dials: [.part(.big), .part(.small)])
    static let twist = Capabilities(
        productName: "Flic Twist", parts: [.dial, .push], rotations: RotationDirection.allCases,
        dials: Dial.slots.map(Dial.slot) + [.free], hasLEDMode: true, hasConnectionSettings: false)
}

extension FlicModel {
    private var capabilities: Capabilities {
        switch self {
        case .flic1: .flic1
        case .flic2: .flic2
        case .duo: .duo
        case .twist: .twist
        }
    }

    /// The product name, for display.
    public var productName: String { capabilities.productName }

    /// True if Tryck can pair with the model, and rules can name it. A Flic 1 is paired with a flicd instead.
    public var isPairable: Bool { capabilities.isPairable }

    /// The models with which Tryck can pair, and which rules can name.
    public static let pairable = allCases.filter(\.isPairable)

    /// The parts that occur in events; empty for a model with a single part.
    public var parts: Set<ButtonPart> { capabilities.parts }

    /// True if the model has two buttons.
    public var hasTwoButtons: Bool { parts.contains(.small) }

    public var swipes: [SwipeDirection] { capabilities.swipes }
    public var rotations: [RotationDirection] { capabilities.rotations }

    /// The names of the swipes and rotations.
    public var movementNames: [String] { swipes.map(\.rawValue) + rotations.map(\.rawValue) }

    /// The dials with a position.
    public var dials: [Dial] { capabilities.dials }

    /// True if the model has a dial with slots, whose positions are independent of each other.
    public var hasSlots: Bool { parts.contains(.dial) }

    /// True if the model has lights whose `LEDMode` can be set.
    public var hasLEDMode: Bool { capabilities.hasLEDMode }

    /// True if `latencyMode` and `autoDisconnectTime` of `ButtonSettings` can be set. A Twist chooses both itself.
    public var hasConnectionSettings: Bool { capabilities.hasConnectionSettings }
}
