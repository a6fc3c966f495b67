import ButtonModel

/// Converts hundredths of a turn to units, so that a host that counts whole hundredths counts exactly as many.
///
/// A hundredth of a turn is not a whole number of units. The conversion rounds up and subtracts the surplus from the
/// next turn, as a host adds its remainder to the next turn: separately for each dial, and only within a session.
struct TurnConverter: Hashable, Sendable {
    /// The surplus of each dial, in hundredths of units.
    private var surplus: [Dial: Int] = [:]

    mutating func sessionBegan() { surplus = [:] }

    mutating func units(hundredths: Int, of dial: Dial) -> Int {
        let hundredths = min(max(hundredths, -Self.maximumTurn), Self.maximumTurn)
        let wanted = hundredths * Dial.unitsPerTurn - surplus[dial, default: 0]
        // Rounds away from zero, because a unit less would be a hundredth less for the host.
        let units = (wanted.magnitude + 99) / 100
        let signed = wanted < 0 ? -Int(units) : Int(units)
        surplus[dial] = 100 * signed - wanted
        return signed
    }

    /// The largest turn at once, in hundredths: a hundred turns.
    private static let maximumTurn = 10_000
}
