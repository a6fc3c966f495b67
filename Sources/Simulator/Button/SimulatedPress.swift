/// A scripted press of a simulated button. The raw value is the name on the command line.
public enum SimulatedPress: String, CaseIterable, Hashable, Sendable {
    /// Down, and up 80 ms later.
    case click
    /// Two clicks; the second `down` comes 200 ms after the first.
    case doubleClick = "double_click"
    /// Down, and up 1.3 s later.
    case hold
    case down
    case up
    /// Down, and up 7.5 s later, so that an unconnected button enters public mode.
    case makePublic = "make_public"
}

extension SimulatedPress {
    struct Movement: Hashable, Sendable {
        /// The time since the previous movement.
        var pause: Duration
        var isDown: Bool
    }

    var movements: [Movement] {
        switch self {
        case .click: Self.shortPress
        case .doubleClick: Self.shortPress + [Movement(pause: .milliseconds(120), isDown: true), Self.shortPress[1]]
        case .hold: [Movement(pause: .zero, isDown: true), Movement(pause: .milliseconds(1300), isDown: false)]
        case .down: [Movement(pause: .zero, isDown: true)]
        case .up: [Movement(pause: .zero, isDown: false)]
        case .makePublic:
            [Movement(pause: .zero, isDown: true), Movement(pause: .milliseconds(7500), isDown: false)]
        }
    }

    private static let shortPress = [
        Movement(pause: .zero, isDown: true), Movement(pause: .milliseconds(80), isDown: false),
    ]
}
