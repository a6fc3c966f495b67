package import JSON

/// A JSON pointer, such as `/state` or `/lamps/0/on`; an empty pointer refers to the whole document.
///
/// - Source: RFC 6901.
package struct JSONPointer: Hashable, Sendable {
    private let tokens: [String]

    /// `nil` if the text neither is empty nor begins with `/`, or if it contains a `~` that is not followed by 0 or 1.
    package init?(_ text: String) {
        guard !text.isEmpty else {
            tokens = []
            return
        }
        guard text.utf8.first == UInt8(ascii: "/") else { return nil }
        var tokens: [String] = []
        for part in text.utf8.dropFirst().split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false) {
            guard let token = JSONPointer.unescaped(part) else { return nil }
            tokens.append(token)
        }
        self.tokens = tokens
    }

    private static func unescaped(_ part: Substring.UTF8View) -> String? {
        var octets: [UInt8] = []
        var rest = part
        while let octet = rest.popFirst() {
            guard octet == UInt8(ascii: "~") else {
                octets.append(octet)
                continue
            }
            switch rest.popFirst() {
            case UInt8(ascii: "0"): octets.append(UInt8(ascii: "~"))
            case UInt8(ascii: "1"): octets.append(UInt8(ascii: "/"))
            default: return nil
            }
        }
        return String(decoding: octets, as: UTF8.self)
    }

    /// The value to which the pointer refers; `nil` if there is none.
    package func value(in json: JSONValue) -> JSONValue? {
        var value = json
        for token in tokens {
            switch value {
            case .object:
                guard let member = value[token] else { return nil }
                value = member
            case .array(let entries):
                let isIndex =
                    token.utf8.allSatisfy(\.isDigit) && (token == "0" || token.utf8.first != UInt8(ascii: "0"))
                guard isIndex, let index = Int(token), index < entries.count else { return nil }
                value = entries[index]
            case .null, .bool, .integer, .number, .string: return nil
            }
        }
        return value
    }

    /// The value at the pointer in a JSON text, as text: the characters of a string, the JSON of an object or an array.
    /// `nil` if the value is `null` or missing, or if the text is not JSON.
    package func text(in text: String) -> String? {
        guard let json = try? JSONValue(parsing: text), let value = value(in: json) else { return nil }
        return switch value {
        case .null: nil
        case .bool(let value): Value.boolean(value).text
        case .integer(let value): Value.integer(value).text
        case .number(let value): Value.number(value).text
        case .string(let text): text
        case .array, .object: value.description
        }
    }
}
