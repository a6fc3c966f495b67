/// Why a text could not be parsed as JSON, and where.
public struct JSONError: Error, Hashable, Sendable, CustomStringConvertible {
    public enum Reason: String, Hashable, Sendable {
        case endsTooEarly = "the text ends too early"
        case unexpectedCharacter = "unexpected character"
        case invalidNumber = "not a valid JSON number"
        case invalidString = "a control character or a bad escape in a string"
        case notUTF8 = "not UTF-8"
        case nestedTooDeep = "nested too deep"
        case trailingCharacters = "unexpected text after the value"
    }

    public var reason: Reason
    /// The position of the error, in octets from the start of the text.
    public var offset: Int

    public var description: String { "\(reason.rawValue) at byte \(offset)" }
}

extension JSONValue {
    /// The deepest nesting of arrays and objects that is accepted. It bounds the parser's recursion.
    public static let maximumDepth = 64

    /// Parses a JSON document: one value with optional white space around it. When a name occurs twice in an object,
    /// both members are kept.
    public init(parsing octets: [UInt8]) throws(JSONError) {
        guard String(validating: octets, as: UTF8.self) != nil else { throw JSONError(reason: .notUTF8, offset: 0) }
        var parser = JSONParser(octets)
        self = try parser.document()
    }

    public init(parsing text: String) throws(JSONError) {
        try self.init(parsing: Array(text.utf8))
    }
}

private struct JSONParser {
    private let octets: [UInt8]
    private var position = 0

    init(_ octets: [UInt8]) { self.octets = octets }

    mutating func document() throws(JSONError) -> JSONValue {
        let value = try value(depth: 0)
        skipWhitespace()
        guard position == octets.count else { throw error(.trailingCharacters) }
        return value
    }

    private var next: UInt8? { position < octets.count ? octets[position] : nil }

    private func error(_ reason: JSONError.Reason) -> JSONError { JSONError(reason: reason, offset: position) }

    private mutating func skipWhitespace() {
        while let octet = next, octet == 0x20 || octet == 0x0A || octet == 0x0D || octet == 0x09 { position += 1 }
    }

    private mutating func take(_ character: UnicodeScalar) throws(JSONError) {
        guard let octet = next else { throw error(.endsTooEarly) }
        guard octet == UInt8(ascii: character) else { throw error(.unexpectedCharacter) }
        position += 1
    }

    private mutating func value(depth: Int) throws(JSONError) -> JSONValue {
        guard depth < JSONValue.maximumDepth else { throw error(.nestedTooDeep) }
        skipWhitespace()
        guard let octet = next else { throw error(.endsTooEarly) }
        switch octet {
        case UInt8(ascii: "{"): return try object(depth: depth)
        case UInt8(ascii: "["): return try array(depth: depth)
        case UInt8(ascii: "\""): return .string(try string())
        case UInt8(ascii: "t"): return try literal("true", .bool(true))
        case UInt8(ascii: "f"): return try literal("false", .bool(false))
        case UInt8(ascii: "n"): return try literal("null", .null)
        default: return try number()
        }
    }

    private mutating func literal(_ text: String, _ value: JSONValue) throws(JSONError) -> JSONValue {
        for character in text.unicodeScalars { try take(character) }
        return value
    }

    private mutating func object(depth: Int) throws(JSONError) -> JSONValue {
        try take("{")
        var members: [JSONValue.Member] = []
        skipWhitespace()
        if next == UInt8(ascii: "}") {
            position += 1
            return .object([])
        }
        while true {
            skipWhitespace()
            let name = try string()
            skipWhitespace()
            try take(":")
            members.append(.init(name, try value(depth: depth + 1)))
            skipWhitespace()
            if next == UInt8(ascii: ",") {
                position += 1
            } else {
                try take("}")
                return .object(members)
            }
        }
    }

    private mutating func array(depth: Int) throws(JSONError) -> JSONValue {
        try take("[")
        var values: [JSONValue] = []
        skipWhitespace()
        if next == UInt8(ascii: "]") {
            position += 1
            return .array([])
        }
        while true {
            values.append(try value(depth: depth + 1))
            skipWhitespace()
            if next == UInt8(ascii: ",") {
                position += 1
            } else {
                try take("]")
                return .array(values)
            }
        }
    }

    private mutating func string() throws(JSONError) -> String {
        try take("\"")
        var text: [UInt8] = []
        while true {
            guard let octet = next else { throw error(.endsTooEarly) }
            switch octet {
            case UInt8(ascii: "\""):
                position += 1
                return String(decoding: text, as: UTF8.self)
            case UInt8(ascii: "\\"):
                position += 1
                try escape(into: &text)
            case 0..<0x20:
                throw error(.invalidString)
            default:
                text.append(octet)
                position += 1
            }
        }
    }

    private mutating func escape(into text: inout [UInt8]) throws(JSONError) {
        guard let octet = next else { throw error(.endsTooEarly) }
        position += 1
        switch octet {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): text.append(octet)
        case UInt8(ascii: "n"): text.append(0x0A)
        case UInt8(ascii: "r"): text.append(0x0D)
        case UInt8(ascii: "t"): text.append(0x09)
        case UInt8(ascii: "b"): text.append(0x08)
        case UInt8(ascii: "f"): text.append(0x0C)
        case UInt8(ascii: "u"):
            var code = UInt32(try codeUnit())
            if (0xD800..<0xDC00).contains(code) {
                try take("\\")
                try take("u")
                let low = UInt32(try codeUnit())
                guard (0xDC00..<0xE000).contains(low) else { throw error(.invalidString) }
                code = 0x10000 + (code - 0xD800) << 10 + (low - 0xDC00)
            }
            guard let scalar = UnicodeScalar(code) else { throw error(.invalidString) }
            text.append(contentsOf: String(Character(scalar)).utf8)
        default: throw error(.invalidString)
        }
    }

    private mutating func codeUnit() throws(JSONError) -> UInt16 {
        var value: UInt16 = 0
        for _ in 0..<4 {
            guard let octet = next else { throw error(.endsTooEarly) }
            guard let digit = Character(UnicodeScalar(octet)).hexDigitValue else { throw error(.invalidString) }
            value = value << 4 | UInt16(digit)
            position += 1
        }
        return value
    }

    private mutating func number() throws(JSONError) -> JSONValue {
        let start = position
        if next == UInt8(ascii: "-") { position += 1 }
        let firstDigit = position
        skipDigits()
        guard position > firstDigit else {
            throw error(next == nil ? .endsTooEarly : .unexpectedCharacter)
        }
        guard position == firstDigit + 1 || octets[firstDigit] != UInt8(ascii: "0") else { throw error(.invalidNumber) }
        var isInteger = true
        if next == UInt8(ascii: ".") {
            isInteger = false
            position += 1
            let first = position
            skipDigits()
            guard position > first else { throw error(.invalidNumber) }
        }
        if next == UInt8(ascii: "e") || next == UInt8(ascii: "E") {
            isInteger = false
            position += 1
            if next == UInt8(ascii: "+") || next == UInt8(ascii: "-") { position += 1 }
            let first = position
            skipDigits()
            guard position > first else { throw error(.invalidNumber) }
        }
        let text = String(decoding: octets[start..<position], as: UTF8.self)
        if isInteger, let value = Int64(text) { return .integer(value) }
        guard let value = Double(text), value.isFinite else { throw error(.invalidNumber) }
        return .number(value)
    }

    private mutating func skipDigits() {
        while let octet = next, (0x30...0x39).contains(octet) { position += 1 }
    }
}
