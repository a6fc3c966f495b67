/// A dial with a position. Its `name` is its name in topics, rules and records.
public enum Dial: Hashable, Sendable {
    /// The position that a Duo has when it is turned while this button is down.
    case part(ButtonPart)
    /// A Twist's dial turned while released, in the given slot, 1…12. Each slot has a position of its own.
    case slot(Int)
    /// A Twist's dial turned while pressed.
    case free

    /// The number of position units in a whole turn, which moves the position from 0 to 100 percent.
    ///
    /// - Source: protocol notes, 8.2 ("One turn").
    public static let unitsPerTurn = 49_152
    public static let slots = 1...12

    public static func all(of model: FlicModel) -> [Dial] { model.dials }

    /// The dial's name: `big`, `small`, `slot_3` or `free`.
    public var name: String {
        switch self {
        case .part(let part): part.rawValue
        case .slot(let number): "slot_\(number)"
        case .free: "free"
        }
    }

    public init?(name: String) {
        guard let dial = FlicModel.allCases.flatMap(\.dials).first(where: { $0.name == name }) else { return nil }
        self = dial
    }

    /// Converts a position in units to percent, 0…100, rounded.
    public static func percentage(units: Int) -> Int {
        (min(max(units, 0), unitsPerTurn) * 100 + unitsPerTurn / 2) / unitsPerTurn
    }

    /// Converts a position in percent to units, 0…`unitsPerTurn`, rounded.
    public static func units(percentage: Int) -> Int {
        (min(max(percentage, 0), 100) * unitsPerTurn + 50) / 100
    }
}

/// The display mode of a Twist's lights. The raw value is its name in topics and records.
public enum LEDMode: String, CaseIterable, Hashable, Sendable {
    case none, fill, point, selector
}
