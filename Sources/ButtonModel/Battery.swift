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
