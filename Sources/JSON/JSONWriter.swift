extension JSONValue: CustomStringConvertible {
    /// Compact JSON on one line. Infinity and not-a-number, which JSON cannot express, become `null`.
    public var description: String {
        String(decoding: encoded(), as: UTF8.self)
    }

    /// `description` as UTF-8 octets.
    public func encoded() -> [UInt8] {
        var output: [UInt8] = []
        output.reserveCapacity(128)
        write(into: &output)
        return output
    }

    /// Appends `description` as UTF-8 octets.
    public func write(into output: inout [UInt8]) {
        switch self {
        case .null: output.append(contentsOf: "null".utf8)
        case .bool(let value): output.append(json: value)
        case .integer(let value): output.append(json: value)
        case .number(let value):
            guard value.isFinite else { return JSONValue.null.write(into: &output) }
            var text = String(value)
            // "-0" would be parsed as an integer, which has no negative zero.
            if text.hasSuffix(".0"), text != "-0.0" { text.removeLast(2) }
            output.append(contentsOf: text.utf8)
        case .string(let text): output.append(json: text)
        case .array(let values):
            output.append(UInt8(ascii: "["))
            for (index, value) in values.enumerated() {
                if index > 0 { output.append(UInt8(ascii: ",")) }
                value.write(into: &output)
            }
            output.append(UInt8(ascii: "]"))
        case .object(let members):
            output.append(UInt8(ascii: "{"))
            for (index, member) in members.enumerated() {
                if index > 0 { output.append(UInt8(ascii: ",")) }
                output.append(json: member.name)
                output.append(UInt8(ascii: ":"))
                member.value.write(into: &output)
            }
            output.append(UInt8(ascii: "}"))
        }
    }
}

/// Appends JSON without a `JSONValue`, whose allocations would slow down payloads that are written at every press.
extension [UInt8] {
    /// Appends a JSON string: quoted and escaped.
    public mutating func append(json text: String) {
        append(UInt8(ascii: "\""))
        var text = text
        text.withUTF8 { octets in
            var written = 0
            for (index, octet) in octets.enumerated() where octet.isEscaped {
                append(contentsOf: octets[written..<index])
                append(escapeOf: octet)
                written = index + 1
            }
            append(contentsOf: octets[written...])
        }
        append(UInt8(ascii: "\""))
    }

    private mutating func append(escapeOf octet: UInt8) {
        switch octet {
        case UInt8(ascii: "\""): append(contentsOf: #"\""#.utf8)
        case UInt8(ascii: "\\"): append(contentsOf: #"\\"#.utf8)
        case 0x0A: append(contentsOf: #"\n"#.utf8)
        case 0x0D: append(contentsOf: #"\r"#.utf8)
        case 0x09: append(contentsOf: #"\t"#.utf8)
        default:
            let digits = Array("0123456789abcdef".utf8)
            append(contentsOf: #"\u00"#.utf8)
            append(digits[Int(octet >> 4)])
            append(digits[Int(octet & 15)])
        }
    }

    /// Appends a JSON integer.
    public mutating func append(json value: Int64) {
        // At most 20 digits. They are found from the last one on.
        withUnsafeTemporaryAllocation(of: UInt8.self, capacity: 20) { digits in
            var start = digits.count
            var rest = value.magnitude
            repeat {
                start -= 1
                digits[start] = UInt8(ascii: "0") + UInt8(truncatingIfNeeded: rest % 10)
                rest /= 10
            } while rest > 0
            if value < 0 { append(UInt8(ascii: "-")) }
            append(contentsOf: digits[start...])
        }
    }

    /// Appends a member of an object that has been begun with `{`. The name is written as it is, so it must not contain characters that
    /// JSON escapes.
    public mutating func append(member name: String, _ value: JSONValue) {
        if last != UInt8(ascii: "{") { append(UInt8(ascii: ",")) }
        append(UInt8(ascii: "\""))
        append(contentsOf: name.utf8)
        append(UInt8(ascii: "\""))
        append(UInt8(ascii: ":"))
        value.write(into: &self)
    }

    public mutating func append(json value: Bool) {
        append(contentsOf: (value ? "true" : "false").utf8)
    }
}

extension UInt8 {
    fileprivate var isEscaped: Bool { self < 0x20 || self == UInt8(ascii: "\"") || self == UInt8(ascii: "\\") }
}
