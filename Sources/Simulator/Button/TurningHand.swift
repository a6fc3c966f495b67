import ButtonModel

/// The hand at a dial: hundredths of a turn as units, so that a host that counts whole hundredths gets just as many.
///
/// A hundredth is no whole number of units. What was turned too far is taken off the next turn, as a host carries it to
/// the next one: of each dial for itself, and only within a session.
struct TurningHand: Hashable, Sendable {
    /// Hundredths of units.
    private var surplus: [Dial: Int] = [:]

    mutating func sessionBegan() { surplus = [:] }

    mutating func units(hundredths: Int, of dial: Dial) -> Int {
        let hundredths = min(max(hundredths, -Self.maximumTurn), Self.maximumTurn)
        let wanted = hundredths * Dial.unitsPerTurn - surplus[dial, default: 0]
        // Away from zero: a unit less would be a step less.
        let units = (wanted.magnitude + 99) / 100
        let signed = wanted < 0 ? -Int(units) : Int(units)
        surplus[dial] = 100 * signed - wanted
        return signed
    }

    /// A hundred whole turns.
    private static let maximumTurn = 10_000
}
