/// The shortest decimal representation that reads back as the same `Double`.
///
/// The value is 0.d₁d₂d₃… × 10^`exponent`, so `exponent` is the number of digits before the point.
struct Decimal: Hashable {
    private(set) var isNegative: Bool
    /// The digits 0…9, neither beginning nor ending with 0; empty for zero.
    private(set) var digits: [UInt8]
    private(set) var exponent: Int

    /// - Parameter number: must be finite.
    init(_ number: Double) {
        isNegative = number < 0
        digits = []
        exponent = 0
        var pointAfter: Int?
        var rest = number.magnitude.description.utf8[...]
        while let octet = rest.popFirst() {
            switch octet {
            case UInt8(ascii: "."): pointAfter = digits.count
            case UInt8(ascii: "e"):
                exponent = Int(String(Substring(rest))) ?? 0
                rest = rest[rest.endIndex...]
            default: digits.append(octet &- UInt8(ascii: "0"))
            }
        }
        exponent += pointAfter ?? digits.count
        normalise()
    }

    private mutating func normalise() {
        let leadingZeros = digits.prefix { $0 == 0 }.count
        digits.removeFirst(leadingZeros)
        exponent -= leadingZeros
        while digits.last == 0 { digits.removeLast() }
        if digits.isEmpty {
            exponent = 0
            isNegative = false
        }
    }

    /// Rounds half away from zero, based on the decimal digits that are shown and not on the binary value.
    ///
    /// - Parameter places: the number of digits after the point, at least 0.
    func rounded(toPlaces places: Int) -> Decimal {
        let (kept, overflow) = exponent.addingReportingOverflow(places)
        guard !overflow, kept < digits.count else { return self }
        var rounded = self
        let roundsUp = kept >= 0 && digits[kept] >= 5
        rounded.digits = kept > 0 ? Array(digits[..<kept]) : []
        if roundsUp {
            var index = rounded.digits.count - 1
            while index >= 0, rounded.digits[index] == 9 {
                rounded.digits[index] = 0
                index -= 1
            }
            if index >= 0 {
                rounded.digits[index] += 1
            } else {
                rounded.digits.insert(1, at: 0)
                rounded.exponent += 1
            }
        }
        rounded.normalise()
        return rounded
    }

    /// The number without an exponent below 10²¹, and with an exponent as in JSON from there on. Zero has no sign.
    var text: String {
        guard !digits.isEmpty else { return "0" }
        var text: [UInt8] = isNegative ? [UInt8(ascii: "-")] : []
        let zero = UInt8(ascii: "0")
        func append(_ digits: some Sequence<UInt8>) { text.append(contentsOf: digits.map { $0 + zero }) }
        func appendZeros(_ count: Int) { text.append(contentsOf: repeatElement(zero, count: max(0, count))) }
        if exponent > 21 {
            append(digits.prefix(1))
            if digits.count > 1 {
                text.append(UInt8(ascii: "."))
                append(digits.dropFirst())
            }
            text.append(contentsOf: "e+\(exponent - 1)".utf8)
        } else if exponent <= 0 {
            text.append(contentsOf: "0.".utf8)
            appendZeros(-exponent)
            append(digits)
        } else {
            append(digits.prefix(exponent))
            appendZeros(exponent - digits.count)
            if digits.count > exponent {
                text.append(UInt8(ascii: "."))
                append(digits.dropFirst(exponent))
            }
        }
        return String(decoding: text, as: UTF8.self)
    }

    /// The number that the digits denote.
    var value: Double { Double(text) ?? 0 }
}
