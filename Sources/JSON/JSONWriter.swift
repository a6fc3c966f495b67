extension JSONValue: CustomStringConvertible {
    /// Compact JSON on one line. Numbers that JSON cannot write (infinity, not-a-number) become `null`.
    public var description: String {
        String(decoding: encoded(), as: UTF8.self)
    }

    /// The same as UTF-8 octets.
    public func encoded() -> [UInt8] {
        var output: [UInt8] = []
        output.reserveCapacity(128)
        write(into: &output)
        return output
    }

    private func write(into output: inout [UInt8]) {
        switch self {
        case .null: output.append(contentsOf: "null".utf8)
        case .bool(let value): output.append(contentsOf: (value ? "true" : "false").utf8)
        case .integer(let value): output.append(contentsOf: String(value).utf8)
        case .number(let value):
            guard value.isFinite else { return JSONValue.null.write(into: &output) }
            var text = String(value)
            // "-0" is an integer, and has no sign.
            if text.hasSuffix(".0"), text != "-0.0" { text.removeLast(2) }
            output.append(contentsOf: text.utf8)
        case .string(let text): JSONValue.write(text, into: &output)
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
                JSONValue.write(member.name, into: &output)
                output.append(UInt8(ascii: ":"))
                member.value.write(into: &output)
            }
            output.append(UInt8(ascii: "}"))
        }
    }

    private static func write(_ text: String, into output: inout [UInt8]) {
        output.append(UInt8(ascii: "\""))
        guard text.utf8.contains(where: { $0 < 0x20 || $0 == UInt8(ascii: "\"") || $0 == UInt8(ascii: "\\") }) else {
            output.append(contentsOf: text.utf8)
            return output.append(UInt8(ascii: "\""))
        }
        for octet in text.utf8 {
            switch octet {
            case UInt8(ascii: "\""): output.append(contentsOf: #"\""#.utf8)
            case UInt8(ascii: "\\"): output.append(contentsOf: #"\\"#.utf8)
            case 0x0A: output.append(contentsOf: #"\n"#.utf8)
            case 0x0D: output.append(contentsOf: #"\r"#.utf8)
            case 0x09: output.append(contentsOf: #"\t"#.utf8)
            case 0..<0x20:
                let digits = Array("0123456789abcdef".utf8)
                output.append(contentsOf: #"\u00"#.utf8)
                output.append(digits[Int(octet >> 4)])
                output.append(digits[Int(octet & 15)])
            default: output.append(octet)
            }
        }
        output.append(UInt8(ascii: "\""))
    }
}
