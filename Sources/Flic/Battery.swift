public import ButtonModel

/// Conversion between millivolts and the battery reading of a Flic 2: 10 bits, 3.6 V full scale.
///
/// - Source: protocol notes, 6.7.
extension Battery {
    public static func millivolts(raw: UInt16) -> Int { (Int(raw) * 3600 + 512) / 1024 }

    /// The raw reading nearest to a voltage, for simulated buttons.
    public static func raw(millivolts: Int) -> UInt16 {
        let clamped = min(max(millivolts, 0), 65_535)
        return UInt16((clamped * 1024 + 1800) / 3600)
    }
}
