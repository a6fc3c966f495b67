/// The numbers of the language, and what other YAML tools take for numbers.
enum YAMLNumber {
    /// `-?(0|[1-9][0-9]*)`
    static func isInteger(_ text: String) -> Bool {
        let digits = text.utf8.first == UInt8(ascii: "-") ? text.utf8.dropFirst() : text.utf8[...]
        guard let first = digits.first, digits.allSatisfy(isDigit) else { return false }
        return first != UInt8(ascii: "0") || digits.count == 1
    }

    /// An integer, or one with digits after a point.
    static func isDecimal(_ text: String) -> Bool {
        let parts = text.split(separator: ".", maxSplits: 1, omittingEmptySubsequences: false)
        guard let whole = parts.first, isInteger(String(whole)) else { return false }
        guard parts.count == 2 else { return true }
        return !parts[1].isEmpty && parts[1].utf8.allSatisfy(isDigit)
    }

    /// Whether YAML 1.1 or 1.2 reads the text as a number: `017`, `0x1f`, `1_000`, `1e3`, `.5`, `.inf`.
    static func looksLikeNumber(_ text: String) -> Bool {
        var rest = Array(text.utf8)[...]
        if let sign = rest.first, sign == UInt8(ascii: "-") || sign == UInt8(ascii: "+") { rest.removeFirst() }
        let word = String(decoding: rest, as: UTF8.self).lowercased()
        if word == ".inf" || word == ".nan" { return true }
        for (prefix, digits) in [("0x", "0123456789abcdef_"), ("0o", "01234567"), ("0b", "01_")]
        where word.hasPrefix(prefix) {
            return word.count > 2 && word.dropFirst(2).allSatisfy(digits.contains)
        }
        var hasDigit = false
        var points = 0
        while let octet = rest.first {
            if isDigit(octet) {
                hasDigit = true
            } else if octet == UInt8(ascii: ".") {
                points += 1
            } else if octet != UInt8(ascii: "_") || !hasDigit {
                break
            }
            rest.removeFirst()
        }
        guard hasDigit, points <= 1 else { return false }
        guard let mark = rest.popFirst() else { return true }
        guard mark == UInt8(ascii: "e") || mark == UInt8(ascii: "E") else { return false }
        if let sign = rest.first, sign == UInt8(ascii: "-") || sign == UInt8(ascii: "+") { rest.removeFirst() }
        return !rest.isEmpty && rest.allSatisfy(isDigit)
    }

    static func isDigit(_ octet: UInt8) -> Bool { (0x30...0x39).contains(octet) }
}

/// `1h30m`: whole numbers with units, the larger first.
enum DurationText {
    struct Fault: Error {
        var message: String
        var hint: String?
    }

    /// A hundred years; longer is a mistake.
    static let longest = Duration.seconds(100 * 366 * 86_400)

    private static let units: [(name: String, milliseconds: Int64)] = [
        ("d", 86_400_000), ("h", 3_600_000), ("m", 60_000), ("s", 1000), ("ms", 1),
    ]

    static func parse(_ text: String) -> Result<Duration, Fault> {
        if YAMLNumber.isInteger(text) {
            return .failure(Fault(message: "needs a unit: \(text)s or \(text)ms?"))
        }
        var total: Int64 = 0
        var rest = Array(text.utf8)[...]
        var unitsLeft = units[...]
        while !rest.isEmpty {
            let digits = rest.prefix(while: YAMLNumber.isDigit)
            rest = rest.dropFirst(digits.count)
            let letters = rest.prefix { (0x61...0x7A).contains($0) }
            rest = rest.dropFirst(letters.count)
            let unit = String(decoding: letters, as: UTF8.self)
            guard let number = Int64(String(decoding: digits, as: UTF8.self)),
                let place = unitsLeft.firstIndex(where: { $0.name == unit })
            else { return .failure(Fault(message: "is not a duration", hint: hint(for: text))) }
            let (product, tooLarge) = number.multipliedReportingOverflow(by: units[place].milliseconds)
            let (sum, overflow) = total.addingReportingOverflow(product)
            guard !tooLarge, !overflow, .milliseconds(sum) <= longest else {
                return .failure(Fault(message: "is longer than a hundred years"))
            }
            total = sum
            unitsLeft = units[(place + 1)...]
        }
        guard !text.isEmpty else { return .failure(Fault(message: "is not a duration", hint: hint(for: text))) }
        return .success(.milliseconds(total))
    }

    /// The shortest way to write a duration of whole milliseconds.
    static func text(_ duration: Duration) -> String {
        var left = duration.components.seconds * 1000 + duration.components.attoseconds / 1_000_000_000_000_000
        var text = ""
        for unit in units where left >= unit.milliseconds {
            text += "\(left / unit.milliseconds)\(unit.name)"
            left %= unit.milliseconds
        }
        return text.isEmpty ? "0s" : text
    }

    /// `{minutes: 1, seconds: 30}` as other programs have it.
    static func meant(by entries: [YAMLNode.Entry]) -> String? {
        var total: Int64 = 0
        for entry in entries {
            guard
                let unit = zip(["days", "hours", "minutes", "seconds", "milliseconds"], units)
                    .first(where: { $0.0 == entry.key.text })?.1, case .scalar(let text, _) = entry.value.content,
                let number = Int64(text), (0...1_000_000).contains(number)
            else { return nil }
            total += number * unit.milliseconds
        }
        return entries.isEmpty ? nil : text(.milliseconds(total))
    }

    /// What was probably meant by `0.5s` and `00:00:10`.
    private static func hint(for text: String) -> String {
        let parts = text.split(separator: ":", omittingEmptySubsequences: false).map { Int64($0) }
        if parts.count == 3, let hours = parts[0], let minutes = parts[1], let seconds = parts[2],
            [hours, minutes, seconds].allSatisfy({ (0...1000).contains($0) })
        {
            return "write \(DurationText.text(.seconds(hours * 3600 + minutes * 60 + seconds)))"
        }
        for unit in units where text.hasSuffix(unit.name) && unit.milliseconds > 1 {
            let number = String(text.dropLast(unit.name.count))
            if YAMLNumber.isDecimal(number), let value = Double(number), value >= 0, value < 1e6 {
                let milliseconds = (value * Double(unit.milliseconds)).rounded()
                return "write \(DurationText.text(.milliseconds(Int64(milliseconds))))"
            }
        }
        return "write 10s, 500ms or 1h30m"
    }
}
