/// What the battery readings of a Flic 2 mean.
///
/// - Source: protocol notes, 6.7.
public enum Battery {
    /// A raw reading has 10 bits of 3.6 V.
    public static func millivolts(raw: UInt16) -> Int { (Int(raw) * 3600 + 512) / 1024 }

    /// The raw reading that comes nearest; for simulated buttons.
    public static func raw(millivolts: Int) -> UInt16 {
        let clamped = min(max(millivolts, 0), 65_535)
        return UInt16((clamped * 1024 + 1800) / 3600)
    }

    /// 0…100: a rough estimate for a coin cell, which keeps its voltage for most of its life.
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
