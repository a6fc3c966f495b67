import ButtonModel

/// The position of a Twist's dial within a movable range of one turn.
///
/// The dial itself has no ends. Turning it beyond one end of the range moves the range along, so that turning it back
/// leaves the end immediately. The Twist does the same calculation for its LEDs; a rotation packet therefore contains
/// the highest and lowest position since the previous packet.
///
/// - Source: protocol notes, 8.2 ("Turns").
struct BoundedDial: Hashable, Sendable {
    /// The sum of all rotation, in units.
    private(set) var position: Int
    /// The position that is shown as 0; the other end of the range is `Dial.unitsPerTurn` above it.
    private(set) var minimum: Int

    /// - Parameter shown: 0…`Dial.unitsPerTurn`; other values are clamped.
    init(shown: Int) {
        position = min(max(shown, 0), Dial.unitsPerTurn)
        minimum = 0
    }

    /// The shown position, 0…`Dial.unitsPerTurn`.
    var shown: Int { position - minimum }

    mutating func turn(_ rotation: TwistRotation) {
        position += rotation.totalDelta
        let bottom = position - rotation.minimumDelta
        let top = position - rotation.maximumDelta
        if rotation.lastMinimumUpdateWasTop {
            include(bottom: bottom)
            include(top: top)
        } else {
            include(top: top)
            include(bottom: bottom)
        }
        // The extremes come from the packet and may be inconsistent, so the final position is included in any case.
        include(bottom: position)
        include(top: position)
    }

    /// Moves the range so that the current position is shown as `units`.
    ///
    /// - Parameter units: 0…`Dial.unitsPerTurn`; other values are clamped.
    mutating func show(_ units: Int) { minimum = position - min(max(units, 0), Dial.unitsPerTurn) }

    /// Replaces the minimum as of the time before the later rotations, and applies these again.
    mutating func move(minimum new: Int, before later: [TwistRotation]) {
        position -= later.reduce(0) { $0 + $1.totalDelta }
        // A minimum out of reach is clamped, so that the position stays within the range.
        minimum = min(max(new, position - Dial.unitsPerTurn), position)
        for rotation in later { turn(rotation) }
    }

    private mutating func include(bottom: Int) { minimum = min(minimum, bottom) }
    private mutating func include(top: Int) { minimum = max(minimum, top - Dial.unitsPerTurn) }
}
