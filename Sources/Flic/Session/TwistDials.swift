import ButtonModel

/// All dials of a Twist as its host knows them: where each stands, what it shall show, and what was told of it.
///
/// A Twist and its host begin each session with the positions of the init request, and both follow every turn from there.
/// What is shown is changed by moving the range, not the dial: with the number of rotation packets we had until then, so
/// that the Twist can do the same to the ones that were on their way.
///
/// - Source: protocol notes, 8.2.
struct TwistDials: Sendable {
    private struct Mode: Sendable {
        var dial: BoundedDial
        /// Hundredths of units that were turned and are no step yet.
        var rest = 0
    }

    private var modes: [Mode]
    var ledMode: LEDMode
    /// Rotation packets of this session.
    private var receivedCount: UInt32 = 0
    /// Modes whose range we moved, and did not say so.
    private var untold: Set<Int> = []
    /// Modes whose range we said, of which the Twist may yet say that it came too late: it does not say of which.
    private var told: Set<Int> = []

    init(_ positions: [Dial: Int], ledMode: LEDMode) {
        modes = (0..<TwistModeConfiguration.count).map {
            Mode(dial: BoundedDial(shown: positions[Dial(mode: $0)] ?? 0))
        }
        self.ledMode = ledMode
    }

    /// What a session begins with.
    mutating func begin() -> [TwistModeConfiguration] {
        modes = modes.map { Mode(dial: BoundedDial(shown: $0.dial.shown)) }
        receivedCount = 0
        untold = []
        told = []
        return configurations
    }

    var configurations: [TwistModeConfiguration] {
        modes.enumerated().map { index, mode in
            TwistModeConfiguration(
                ledMode: index == TwistModeConfiguration.pushMode ? LEDMode.selector.code : ledMode.code,
                position: UInt16(clamping: mode.dial.shown))
        }
    }

    /// A turn, with what was left over before: of no step where that is less than one. `nil` for one that leaves all where
    /// it was, and for a mode that no Twist has.
    mutating func turned(_ rotation: TwistRotation, of button: ButtonID) -> ButtonMovement? {
        receivedCount &+= 1
        guard modes.indices.contains(rotation.mode) else { return nil }
        let before = modes[rotation.mode].dial.shown
        modes[rotation.mode].dial.turn(rotation)
        if rotation.lastUpdateWasTooOld {
            untold.formUnion(told.isEmpty ? [rotation.mode] : told)
            told = []
        }
        let turned = modes[rotation.mode].rest + 100 * rotation.totalDelta
        modes[rotation.mode].rest = turned % Dial.unitsPerTurn
        let units = modes[rotation.mode].dial.shown
        guard turned / Dial.unitsPerTurn != 0 || units != before else { return nil }
        let isPush = rotation.mode == TwistModeConfiguration.pushMode
        return ButtonMovement(
            button: button, part: isPush ? .push : .dial, kind: .rotation(steps: turned / Dial.unitsPerTurn),
            position: Dial.percentage(units: units), slot: 1 + (isPush ? Self.slot(at: units) : rotation.mode),
            dial: Dial(mode: rotation.mode), units: units)
    }

    /// Nothing happens to a dial that a Twist does not have.
    mutating func show(_ units: Int, on dial: Dial) {
        guard let mode = modes.indices.first(where: { Dial(mode: $0) == dial }) else { return }
        modes[mode].dial.show(units)
        untold.insert(mode)
    }

    /// What the Twist has to be told now.
    mutating func updates() -> [TwistHostPacket.UpdatePosition] {
        let updates = untold.sorted().map {
            TwistHostPacket.UpdatePosition(
                mode: $0, newMinimum: modes[$0].dial.minimum, receivedCount: receivedCount)
        }
        told.formUnion(untold)
        untold = []
        return updates
    }

    /// The mode that a Twist takes when it is let go with its pressed dial there: one of twelve.
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

    /// A Twist takes a code that it does not know for none.
    init(code: UInt8) { self = LEDMode.allCases.first { $0.code == code } ?? .none }
}
