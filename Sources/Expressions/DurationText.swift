/// The text form of durations, such as `1h30m`: whole numbers with units in descending order.
package enum DurationText {
    /// Why a text is not a duration. The message follows the quoted text, as in `"5x" is not a duration`.
    package struct Fault: Error, Hashable, Sendable {
        package var message: String
        package var hint: Hint?

        package init(message: String, hint: Hint? = nil) {
            self.message = message
            self.hint = hint
        }

        /// The message says itself what to write, so the hint needs no sentence.
        package static func withoutUnit(_ text: String) -> Fault {
            Fault(message: "needs a unit: \(text)s or \(text)ms?", hint: Hint(nil, replacing: "\(text)s", "\(text)ms"))
        }
    }

    /// The longest duration: a hundred years.
    package static let longestMilliseconds: Int64 = 100 * 366 * 86_400_000

    private static let units: [(name: String, milliseconds: Int64)] = [
        ("d", 86_400_000), ("h", 3_600_000), ("m", 60_000), ("s", 1000), ("ms", 1),
    ]

    /// Parses a duration of at most `longestMilliseconds`.
    package static func milliseconds(_ text: String) throws(Fault) -> Int64 {
        var total: Int64 = 0
        var rest = text.utf8[...]
        var unitsLeft = units[...]
        repeat {
            let digits = rest.prefix { $0.isDigit }
            rest = rest.dropFirst(digits.count)
            let letters = rest.prefix { (0x61...0x7A).contains($0) }
            rest = rest.dropFirst(letters.count)
            let unit = String(Substring(letters))
            guard let number = Int64(String(Substring(digits))),
                let index = unitsLeft.firstIndex(where: { $0.name == unit })
            else {
                guard rest.isEmpty, !digits.isEmpty, digits.count == text.utf8.count else {
                    throw Fault(message: "is not a duration", hint: hint(for: text))
                }
                throw Fault.withoutUnit(text)
            }
            let (product, isTooLarge) = number.multipliedReportingOverflow(by: units[index].milliseconds)
            let (sum, overflow) = total.addingReportingOverflow(product)
            guard !isTooLarge, !overflow, sum <= longestMilliseconds else {
                throw Fault(message: "is longer than a hundred years")
            }
            total = sum
            unitsLeft = units[(index + 1)...]
        } while !rest.isEmpty
        return total
    }

    /// The shortest text of a duration; a negative duration begins with a minus.
    package static func text(milliseconds: Int64) -> String {
        var left = milliseconds.magnitude
        guard left > 0 else { return "0s" }
        var text = milliseconds < 0 ? "-" : ""
        for unit in units where left >= UInt64(unit.milliseconds) {
            text += "\(left / UInt64(unit.milliseconds))\(unit.name)"
            left %= UInt64(unit.milliseconds)
        }
        return text
    }

    /// Suggests a correction, such as `500ms` for `0.5s`.
    private static func hint(for text: String) -> Hint {
        for unit in units where text.hasSuffix(unit.name) && unit.milliseconds > 1 {
            let number = text.dropLast(unit.name.count)
            if number.utf8.allSatisfy({ $0.isDigit || $0 == UInt8(ascii: ".") }), let value = Double(number),
                value < 1e6
            {
                let milliseconds = Int64((value * Double(unit.milliseconds)).rounded())
                return .write(DurationText.text(milliseconds: milliseconds))
            }
        }
        let joined = text.replacing(" ", with: "")
        if joined != text, (try? milliseconds(joined)) != nil { return .write(joined) }
        return "write 10s, 500ms or 1h30m"
    }
}

extension UInt8 {
    var isDigit: Bool { (0x30...0x39).contains(self) }
}
