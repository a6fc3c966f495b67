/// Something that has a position, 0…100 for people. Its `word` is used everywhere.
public enum Dial: Hashable, Sendable {
    /// A Duo that is turned while this button is down.
    case part(ButtonPart)
    /// A Twist's dial, for each slot on its own: 1…12.
    case slot(Int)
    /// A Twist's dial while it is pressed.
    case free

    /// A whole turn, from 0 to 100.
    ///
    /// - Source: protocol notes, 8.2 ("One turn").
    public static let unitsPerTurn = 49_152
    public static let slots = 1...12

    public static func all(of model: FlicModel) -> [Dial] {
        switch model {
        case .flic1, .flic2: []
        case .duo: [.part(.big), .part(.small)]
        case .twist: slots.map(Dial.slot) + [.free]
        }
    }

    /// `big`, `small`, `slot_3`, `free`.
    public var word: String {
        switch self {
        case .part(let part): part.rawValue
        case .slot(let number): "slot_\(number)"
        case .free: "free"
        }
    }

    public init?(word: String) {
        let all = Dial.all(of: .duo) + Dial.all(of: .twist)
        guard let dial = all.first(where: { $0.word == word }) else { return nil }
        self = dial
    }

    /// 0…100, of a position in units.
    public static func percentage(units: Int) -> Int {
        (min(max(units, 0), unitsPerTurn) * 100 + unitsPerTurn / 2) / unitsPerTurn
    }

    /// 0…`unitsPerTurn`.
    public static func units(percentage: Int) -> Int {
        (min(max(percentage, 0), 100) * unitsPerTurn + 50) / 100
    }
}

/// What the lights of a Twist show of its position. The raw value is the word used everywhere.
public enum LEDMode: String, CaseIterable, Hashable, Sendable {
    case none, fill, point, selector
}
