import ButtonModel

/// Where a Twist's dial stands between its two ends.
///
/// The dial has none, so the ends move: who turns beyond one takes the range along, and turned back it leaves the end at
/// once. The Twist works the same out for its lights; both know how far it went either way since the last packet.
///
/// - Source: protocol notes, 8.2 ("Bounded position").
struct BoundedDial: Hashable, Sendable {
    /// Everything it was turned, in units.
    private(set) var position: Int
    /// The position that is shown as 0; `Dial.unitsPerTurn` above it is the other end.
    private(set) var minimum: Int

    /// - Parameter shown: 0…`Dial.unitsPerTurn`.
    init(shown: Int) {
        position = min(max(shown, 0), Dial.unitsPerTurn)
        minimum = 0
    }

    /// 0…`Dial.unitsPerTurn`.
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
        // What was said of the way may not be true; where it ended is.
        include(bottom: position)
        include(top: position)
    }

    /// - Parameter units: 0…`Dial.unitsPerTurn`.
    mutating func show(_ units: Int) { minimum = position - min(max(units, 0), Dial.unitsPerTurn) }

    /// The range is another one, since before these turns.
    mutating func move(minimum new: Int, before later: [TwistRotation]) {
        position -= later.reduce(0) { $0 + $1.totalDelta }
        // So far away that no dial can be turned there: the range stays where the position is in it.
        minimum = min(max(new, position - Dial.unitsPerTurn), position)
        for rotation in later { turn(rotation) }
    }

    private mutating func include(bottom: Int) { minimum = min(minimum, bottom) }
    private mutating func include(top: Int) { minimum = max(minimum, top - Dial.unitsPerTurn) }
}
