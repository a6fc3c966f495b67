/// Trigonometric functions of angles in degrees, for modules without I/O, which do not import the C library. The
/// results are within 10⁻¹² of the C library's; `arcsine` near ±90° is within 10⁻⁹.
enum Trigonometry {
    static func sine(_ degrees: Double) -> Double {
        let turned = degrees.remainder(dividingBy: 360)
        let folded = turned > 90 ? 180 - turned : turned < -90 ? -180 - turned : turned
        let angle = folded * .pi / 180
        let square = angle * angle
        var term = angle
        var sum = angle
        for count in stride(from: 2.0, through: 22, by: 2) {
            term *= -square / (count * (count + 1))
            sum += term
        }
        return sum
    }

    static func cosine(_ degrees: Double) -> Double { sine(degrees.remainder(dividingBy: 360) + 90) }

    static func tangent(_ degrees: Double) -> Double { sine(degrees) / cosine(degrees) }

    /// The angle in degrees, −90…90. Values beyond ±1, which rounding errors produce, are clamped.
    static func arcsine(_ value: Double) -> Double {
        let value = max(-1, min(1, value))
        // asin x = 2 atan(x / (1 + √(1 − x²))); applying atan x = 2 atan(x / (1 + √(1 + x²))) twice makes the series
        // short.
        var ratio = value / (1 + (1 - value * value).squareRoot())
        for _ in 0..<2 { ratio /= 1 + (1 + ratio * ratio).squareRoot() }
        let square = ratio * ratio
        var power = ratio
        var sum = 0.0
        for divisor in stride(from: 1.0, through: 19, by: 2) {
            sum += power / divisor
            power *= -square
        }
        return 8 * sum * 180 / .pi
    }
}
