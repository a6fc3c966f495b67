/// Recognises the numbers of the language, and texts that other YAML tools read as numbers.
package enum YAMLNumber {
    /// True if the text matches `-?(0|[1-9][0-9]*)`.
    package static func isInteger(_ text: String) -> Bool {
        let digits = text.utf8.first == UInt8(ascii: "-") ? text.utf8.dropFirst() : text.utf8[...]
        guard let first = digits.first, digits.allSatisfy(isDigit) else { return false }
        return first != UInt8(ascii: "0") || digits.count == 1
    }

    /// True if the text is an integer, with or without a point and digits after it.
    package static func isDecimal(_ text: String) -> Bool {
        let parts = text.split(separator: ".", maxSplits: 1, omittingEmptySubsequences: false)
        guard let whole = parts.first, isInteger(String(whole)) else { return false }
        guard parts.count == 2 else { return true }
        return !parts[1].isEmpty && parts[1].utf8.allSatisfy(isDigit)
    }

    /// True if YAML 1.1 or 1.2 reads the text as a number: `017`, `0x1f`, `1_000`, `1e3`, `.5`, `.inf`.
    package static func looksLikeNumber(_ text: String) -> Bool {
        var rest = Array(text.utf8)[...]
        if let sign = rest.first, sign == UInt8(ascii: "-") || sign == UInt8(ascii: "+") { rest.removeFirst() }
        let unsigned = String(decoding: rest, as: UTF8.self).lowercased()
        if unsigned == ".inf" || unsigned == ".nan" { return true }
        for (prefix, digits) in [("0x", "0123456789abcdef_"), ("0o", "01234567"), ("0b", "01_")]
        where unsigned.hasPrefix(prefix) {
            return unsigned.count > 2 && unsigned.dropFirst(2).allSatisfy(digits.contains)
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

    package static func isDigit(_ octet: UInt8) -> Bool { (0x30...0x39).contains(octet) }
}
