public import ButtonModel

/// The dial of a simulated Twist: twelve modes that it turns, a thirteenth while it is pressed, and where each stands.
///
/// | on                       | we                                                                         |
/// |--------------------------|----------------------------------------------------------------------------|
/// | an init request          | begin in each mode where it says                                           |
/// | a turn                   | move the mode that is active, or the thirteenth while it is pressed        |
/// | let go, turned meanwhile | make the mode active that the thirteenth one's position stands for         |
/// | a new minimum            | apply it as of the packet it counts to, and what was sent after that again |
/// | the same, too old        | leave it, and say so with the next turn                                    |
///
/// - Source: protocol notes, 8.2.
struct TwistDial: Sendable {
    /// Rotation packets that can be gone back over.
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

    /// The one that a turn moves now.
    var mode: Int { isPressed ? TwistModeConfiguration.pushMode : activeMode }
    /// 0…`Dial.unitsPerTurn`, of each mode.
    var positions: [Int] { dials.map(\.shown) }

    mutating func begin(_ new: [TwistModeConfiguration]) {
        configure(new)
        dials = new.map { BoundedDial(shown: Int($0.position)) }
        sentCount = 0
        sent = []
        lastUpdateCount = 0
        hasRefused = false
    }

    /// Lights and timeouts; where a dial stands is no matter of these any more.
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

    /// - Parameter isHeard: somebody is told of it.
    mutating func turned(units: Int, isHeard: Bool) -> TwistRotation {
        if isPressed { wasTurned = true }
        let units = min(max(units, TwistRotation.deltas.lowerBound), TwistRotation.deltas.upperBound)
        let rotation = TwistRotation(
            mode: mode, lastMinimumUpdateWasTop: units > 0, lastUpdateWasTooOld: hasRefused, totalDelta: units,
            minimumDelta: max(units, 0), maximumDelta: min(units, 0), lastUpdateCount: lastUpdateCount)
        dials[mode].turn(rotation)
        guard isHeard else { return rotation }
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

/// What a Twist knows of its dial, for those who want to see from outside what a host has made of it.
public struct DialMemory: Hashable, Sendable {
    /// 1…12.
    public var slot: Int
    /// 0…`Dial.unitsPerTurn`.
    public var positions: [Dial: Int]
    public var ledModes: [Dial: LEDMode]
}
