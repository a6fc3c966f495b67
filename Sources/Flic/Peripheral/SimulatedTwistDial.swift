public import ButtonModel

/// The dial of a simulated Twist: the positions of its thirteen modes, of which the last is used while it is pressed.
///
/// | on                       | action                                                                      |
/// |--------------------------|-----------------------------------------------------------------------------|
/// | an init request          | set each mode to the position in its configuration                          |
/// | a turn                   | move the active mode, or mode 12 while the dial is pressed                  |
/// | a release after a turn   | activate the slot that the position of mode 12 selects                      |
/// | a new minimum            | apply it as of the packet that it counts to, and the later packets again    |
/// | a new minimum, too old   | ignore it, and report this in the next rotation packet                      |
///
/// - Source: protocol notes, 8.2.
struct SimulatedTwistDial: Sendable {
    /// The number of rotation packets that an `UpdatePosition` can refer back to.
    static let maximumSentCount = 8

    private(set) var configurations: [TwistModeConfiguration]
    private var dials: [BoundedDial]
    private(set) var activeMode = 0
    private var isPressed = false
    private var wasTurned = false
    private var sentCount: UInt32 = 0
    private var sent: [TwistRotation] = []
    private var lastUpdateCount: UInt16 = 0
    private var hasRefused = false

    init() {
        configurations = Array(
            repeating: TwistModeConfiguration(ledMode: 0, position: 0), count: TwistModeConfiguration.count)
        dials = configurations.map { _ in BoundedDial(shown: 0) }
    }

    /// The mode that a turn moves now.
    var mode: Int { isPressed ? TwistModeConfiguration.pushMode : activeMode }
    /// The shown position of each mode, 0…`Dial.unitsPerTurn`.
    var positions: [Int] { dials.map(\.shown) }

    mutating func begin(_ new: [TwistModeConfiguration]) {
        configure(new)
        dials = new.map { BoundedDial(shown: Int($0.position)) }
        sentCount = 0
        sent = []
        lastUpdateCount = 0
        hasRefused = false
    }

    /// Sets LEDs and timeouts. The positions are ignored during a session.
    mutating func configure(_ new: [TwistModeConfiguration]) { configurations = new }

    mutating func pressed() {
        isPressed = true
        wasTurned = false
    }

    mutating func released() {
        isPressed = false
        guard wasTurned else { return }
        activeMode = TwistDials.slot(at: positions[TwistModeConfiguration.pushMode])
    }

    /// - Parameter isReceived: whether a session receives the rotation packet.
    mutating func turned(units: Int, isReceived: Bool) -> TwistRotation {
        if isPressed { wasTurned = true }
        let units = min(max(units, TwistRotation.deltas.lowerBound), TwistRotation.deltas.upperBound)
        let rotation = TwistRotation(
            mode: mode, lastMinimumUpdateWasTop: units > 0, lastUpdateWasTooOld: hasRefused, totalDelta: units,
            minimumDelta: max(units, 0), maximumDelta: min(units, 0), lastUpdateCount: lastUpdateCount)
        dials[mode].turn(rotation)
        guard isReceived else { return rotation }
        hasRefused = false
        sentCount &+= 1
        if sent.count == Self.maximumSentCount { sent.removeFirst() }
        sent.append(rotation)
        return rotation
    }

    mutating func update(_ update: TwistHostPacket.UpdatePosition) {
        guard dials.indices.contains(update.mode) else { return }
        let missing = sentCount &- update.receivedCount
        guard missing <= sent.count else {
            hasRefused = true
            return
        }
        lastUpdateCount = UInt16(truncatingIfNeeded: update.receivedCount)
        let later = sent.suffix(Int(missing)).filter { $0.mode == update.mode }
        dials[update.mode].move(minimum: update.newMinimum, before: later)
    }
}

/// The state of a simulated Twist's dial, for inspection from outside.
public struct DialSnapshot: Hashable, Sendable {
    /// The active slot, 1…12.
    public var slot: Int
    /// The shown positions, 0…`Dial.unitsPerTurn`.
    public var positions: [Dial: Int]
    public var ledModes: [Dial: LEDMode]
}
