/// Converts the voltage of a button's coin cell to a percentage.
///
/// - Source: protocol notes, 6.7.
public enum Battery {
    /// The estimated remaining charge, 0…100. It is rough: a coin cell keeps its voltage for most of its life.
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

/// Reports the moment a battery becomes low. An unloaded cell recovers a little, so the alarm has hysteresis: it is
/// armed again only when a reading is above `good`.
public struct BatteryAlarm: Hashable, Sendable {
    /// In millivolts: the battery becomes low when a reading is below this threshold.
    public static let low = 2650
    /// In millivolts: a low battery is good again when a reading is above this threshold.
    public static let good = 2750

    /// `low` and `good` as percentages, for sources that report no voltage.
    public static let lowPercentage = Battery.percentage(millivolts: low)
    public static let goodPercentage = Battery.percentage(millivolts: good)

    public private(set) var isLow: Bool

    public init(isLow: Bool = false) { self.isLow = isLow }

    /// Takes a reading in millivolts.
    ///
    /// - Returns: whether this reading made the battery low.
    public mutating func update(millivolts: Int) -> Bool {
        let wasLow = isLow
        isLow = wasLow ? millivolts <= Self.good : millivolts < Self.low
        return isLow && !wasLow
    }

    /// Takes a reading in percent, 0…100.
    ///
    /// - Returns: whether this reading made the battery low.
    public mutating func update(percentage: Int) -> Bool {
        let wasLow = isLow
        isLow = wasLow ? percentage <= Self.goodPercentage : percentage < Self.lowPercentage
        return isLow && !wasLow
    }
}
