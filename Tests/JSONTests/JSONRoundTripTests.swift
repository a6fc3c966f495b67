import JSON
import TestSupport
import Testing

@Suite("JSON written and read again")
struct JSONRoundTripTests {
    @Test("a value that is written is read back equal", arguments: UInt64(0)..<200)
    func roundTrip(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        let value = Self.value(depth: 0, &random)
        #expect(try JSONValue(parsing: value.encoded()) == value)
    }

    @Test("keys keep their order, and a key that occurs twice keeps both values")
    func order() throws {
        let text = #"{"b":1,"a":2,"b":3}"#
        let value = try JSONValue(parsing: text)
        #expect(value == .object([.init("b", 1), .init("a", 2), .init("b", 3)]))
        #expect(value["b"] == 1)
        #expect(value.description == text)
    }

    @Test(
        "numbers keep their kind, integer or fraction, and their size",
        arguments: [
            ("0", JSONValue.integer(0)), ("-0", .integer(0)), ("9223372036854775807", .integer(.max)),
            ("-9223372036854775808", .integer(.min)), ("9223372036854775808", .number(9_223_372_036_854_775_808)),
            ("1.5", .number(1.5)), ("1e2", .number(100)), ("-2.5E-1", .number(-0.25)),
        ])
    func numbers(text: String, value: JSONValue) throws {
        #expect(try JSONValue(parsing: text) == value)
    }

    @Test(
        "numbers are written in the form every JSON reader takes",
        arguments: [
            (100.0, "100"), (0.1, "0.1"), (1e21, "1e+21"), (-1.5e-9, "-1.5e-09"), (-0.0, "-0.0"),
            (Double.infinity, "null"), (.nan, "null"),
        ])
    func writtenNumbers(number: Double, text: String) {
        #expect(JSONValue.number(number).description == text)
    }

    @Test(
        "integers are written with all their digits",
        arguments: [0, 7, -7, 10, -10, 1_234_567_890, .max, .min, .max - 1, .min + 1] as [Int64])
    func writtenIntegers(number: Int64) {
        var octets = [UInt8(ascii: "x")]
        octets.append(json: number)
        #expect(octets == Array("x\(number)".utf8))
    }

    @Test("escapes are read, and control characters are written escaped")
    func escapes() throws {
        #expect(try JSONValue(parsing: #""\u00e9\n\/\ud83d\ude00\"""#) == "é\n/😀\"")
        #expect(JSONValue.string("a\u{1}\"\\\t").description == #""a\u0001\"\\\t""#)
    }

    /// Any value whose numbers are written in one way only.
    private static func value(depth: Int, _ random: inout SeededGenerator) -> JSONValue {
        switch Int.random(in: 0..<(depth > 4 ? 5 : 7), using: &random) {
        case 0: .null
        case 1: .bool(Bool.random(using: &random))
        case 2: .integer(Int64(bitPattern: random.next()))
        case 3: .number(Double(Int.random(in: -1_000_000...1_000_000, using: &random)) / 1024 + 0.000_1)
        case 4: .string(text(&random))
        case 5: .array((0..<Int.random(in: 0...5, using: &random)).map { _ in value(depth: depth + 1, &random) })
        default:
            .object(
                (0..<Int.random(in: 0...5, using: &random)).map { _ in
                    .init(text(&random), value(depth: depth + 1, &random))
                })
        }
    }

    private static func text(_ random: inout SeededGenerator) -> String {
        var text = ""
        for _ in 0..<Int.random(in: 0...12, using: &random) {
            guard let scalar = UnicodeScalar(UInt32.random(in: 0...0x11_0000, using: &random) >> (random.next() % 14))
            else { continue }
            text.unicodeScalars.append(scalar)
        }
        return text
    }
}
