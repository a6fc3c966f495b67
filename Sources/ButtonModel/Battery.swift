/// What the voltage of a button's coin cell means.
///
/// - Source: protocol notes, 6.7.
public enum Battery {
    /// 0…100: a rough estimate; a coin cell keeps its voltage for most of its life.
    public static func percentage(millivolts: Int) -> Int {
        switch millivolts {
        case 3000...: 100
        case 2900..<3000: 42 + (millivolts - 2900) * 58 / 100
        case 2740..<2900: 18 + (millivolts - 2740) * 24 / 160
        case 2440..<2740: 6 + (millivolts - 2440) * 12 / 300
        case 2100..<2440: (millivolts - 2100) * 6 / 340
        default: 0
        }
    }
}

/// Says once that a battery is low. A cell that is hardly low recovers a little when it rests, so it is armed again
/// only well above.
public struct BatteryAlarm: Hashable, Sendable {
    /// Millivolts: low below this, …
    public static let low = 2650
    /// … and good again above this.
    public static let good = 2750

    /// The same where only the percentage is told.
    public static let lowPercentage = Battery.percentage(millivolts: low)
    public static let goodPercentage = Battery.percentage(millivolts: good)

    public private(set) var isLow: Bool

    public init(isLow: Bool = false) { self.isLow = isLow }

    /// - Returns: whether the battery has become low with this reading.
    public mutating func measured(millivolts: Int) -> Bool {
        let wasLow = isLow
        isLow = wasLow ? millivolts <= Self.good : millivolts < Self.low
        return isLow && !wasLow
    }

    /// - Returns: whether the battery has become low with this reading.
    public mutating func measured(percentage: Int) -> Bool {
        let wasLow = isLow
        isLow = wasLow ? percentage <= Self.goodPercentage : percentage < Self.lowPercentage
        return isLow && !wasLow
    }
}
