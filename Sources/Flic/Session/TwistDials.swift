import ButtonModel

/// The host's copy of all dials of a Twist: their positions, their ranges, and which ranges were sent to the Twist.
///
/// At the start of a session, Twist and host agree on the positions in the init request; then both apply every rotation
/// packet. To change the shown position, the host moves the range of a dial, not its position. `UpdatePosition`
/// contains the number of rotation packets that the host has received, so that the Twist can apply the new range at the
/// same rotation packet, and the later rotation packets again.
///
/// - Source: protocol notes, 8.2.
struct TwistDials: Sendable {
    private struct Mode: Sendable {
        var dial: BoundedDial
        /// The rotation that is not a whole step yet, in hundredths of units.
        var remainder = 0
    }

    private var modes: [Mode]
    var ledMode: LEDMode
    /// The number of rotation packets in this session.
    private var receivedCount: UInt32 = 0
    /// Modes whose range the host has moved and not sent.
    private var unsent: Set<Int> = []
    /// Modes whose range was sent and may still be rejected as too old: the rejection does not name the mode.
    private var sent: Set<Int> = []

    init(_ positions: [Dial: Int], ledMode: LEDMode) {
        modes = (0..<TwistModeConfiguration.count).map {
            Mode(dial: BoundedDial(shown: positions[Dial(mode: $0)] ?? 0))
        }
        self.ledMode = ledMode
    }

    /// Resets the state for a new session, and returns the configurations for the init request.
    mutating func begin() -> [TwistModeConfiguration] {
        modes = modes.map { Mode(dial: BoundedDial(shown: $0.dial.shown)) }
        receivedCount = 0
        unsent = []
        sent = []
        return configurations
    }

    var configurations: [TwistModeConfiguration] {
        modes.enumerated().map { index, mode in
            TwistModeConfiguration(
                ledMode: index == TwistModeConfiguration.pushMode ? LEDMode.selector.code : ledMode.code,
                position: UInt16(clamping: mode.dial.shown))
        }
    }

    /// Applies a rotation packet. `nil` if there is neither a whole step, including earlier remainders, nor a change of
    /// the shown position, and for an invalid mode.
    mutating func turned(_ rotation: TwistRotation, of button: ButtonID) -> ButtonMovement? {
        receivedCount &+= 1
        guard modes.indices.contains(rotation.mode) else { return nil }
        let before = modes[rotation.mode].dial.shown
        modes[rotation.mode].dial.turn(rotation)
        if rotation.lastUpdateWasTooOld {
            unsent.formUnion(sent.isEmpty ? [rotation.mode] : sent)
            sent = []
        }
        let turned = modes[rotation.mode].remainder + 100 * rotation.totalDelta
        modes[rotation.mode].remainder = turned % Dial.unitsPerTurn
        let units = modes[rotation.mode].dial.shown
        guard turned / Dial.unitsPerTurn != 0 || units != before else { return nil }
        let isPush = rotation.mode == TwistModeConfiguration.pushMode
        return ButtonMovement(
            button: button, part: isPush ? .push : .dial, steps: turned / Dial.unitsPerTurn,
            position: Dial.percentage(units: units), slot: 1 + (isPush ? Self.slot(at: units) : rotation.mode),
            dial: Dial(mode: rotation.mode), units: units)
    }

    /// Changes the shown position of a dial. Ignored for a dial that a Twist does not have.
    mutating func show(_ units: Int, on dial: Dial) {
        guard let mode = modes.indices.first(where: { Dial(mode: $0) == dial }) else { return }
        modes[mode].dial.show(units)
        unsent.insert(mode)
    }

    /// The new ranges that must be sent to the Twist now.
    mutating func updates() -> [TwistHostPacket.UpdatePosition] {
        let updates = unsent.sorted().map {
            TwistHostPacket.UpdatePosition(
                mode: $0, newMinimum: modes[$0].dial.minimum, receivedCount: receivedCount)
        }
        sent.formUnion(unsent)
        unsent = []
        return updates
    }

    /// The slot that a Twist chooses when it is released with its pressed dial at this position, 0…11.
    static func slot(at units: Int) -> Int { min(max(units, 0) / detent, Dial.slots.count - 1) }

    private static let detent = 4096
}

extension Dial {
    /// - Parameter mode: 0…12.
    init(mode: Int) { self = mode == TwistModeConfiguration.pushMode ? .free : .slot(mode + 1) }
}

extension LEDMode {
    var code: UInt8 {
        switch self {
        case .none: 0
        case .fill: 1
        case .point: 2
        case .selector: 3
        }
    }

    /// Decodes the code; unknown codes are treated as `none`, as by a Twist.
    init(code: UInt8) { self = LEDMode.allCases.first { $0.code == code } ?? .none }
}
