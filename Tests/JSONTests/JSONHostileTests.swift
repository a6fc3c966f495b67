import JSON
import TestSupport
import Testing

@Suite("Hostile JSON")
struct JSONHostileTests {
    @Test(
        "text that is not JSON is refused with a reason and an offset",
        arguments: [
            ("", JSONError.Reason.endsTooEarly, 0), ("{", .endsTooEarly, 1), ("[1", .endsTooEarly, 2),
            ("[1,]", .unexpectedCharacter, 3), ("{a:1}", .unexpectedCharacter, 1), ("01", .invalidNumber, 2),
            ("1.", .invalidNumber, 2), ("1e", .invalidNumber, 2), ("-", .endsTooEarly, 1),
            ("+1", .unexpectedCharacter, 0),
            ("1 2", .trailingCharacters, 2), ("\"\u{1}\"", .invalidString, 1), (#""\x""#, .invalidString, 3),
            (#""\ud800""#, .unexpectedCharacter, 7), (#""\udc00""#, .invalidString, 7), ("nul", .endsTooEarly, 3),
            ("1e999", .invalidNumber, 5), ("NaN", .unexpectedCharacter, 0), (#""\u+123""#, .invalidString, 3),
        ])
    func refused(text: String, reason: JSONError.Reason, offset: Int) {
        let error = #expect(throws: JSONError.self) { try JSONValue(parsing: text) }
        #expect(error?.reason == reason)
        #expect(error?.offset == offset)
    }

    @Test("a byte that is not UTF-8 is refused")
    func encoding() {
        let error = #expect(throws: JSONError.self) { try JSONValue(parsing: [0x22, 0xFF, 0x22]) }
        #expect(error?.reason == .notUTF8)
    }

    @Test("64 nested levels are read, and 65 are refused")
    func depth() throws {
        func nested(_ depth: Int) -> String {
            String(repeating: "[", count: depth) + String(repeating: "]", count: depth)
        }
        _ = try JSONValue(parsing: nested(JSONValue.maximumDepth))
        #expect(throws: JSONError.self) { try JSONValue(parsing: nested(JSONValue.maximumDepth + 1)) }
        #expect(throws: JSONError.self) { try JSONValue(parsing: String(repeating: "[", count: 1_000_000)) }
    }

    @Test("damaged, cut and random text is read or refused without a trap", arguments: UInt64(0)..<200)
    func damaged(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        var octets = Array(#"{"a":[1,-2.5e3,true,null,"\u00e9\ud83d\ude00"],"b":{"c":"d"}}"#.utf8)
        for _ in 0..<Int.random(in: 1...4, using: &random) {
            octets[Int.random(in: octets.indices, using: &random)] = UInt8(truncatingIfNeeded: random.next())
        }
        let cut = Array(octets.prefix(Int.random(in: 0...octets.count, using: &random)))
        for text in [octets, cut, random.bytes(40)] {
            guard let value = try? JSONValue(parsing: text) else { continue }
            // `2e3` is written as `2000`, which is read as an integer, so the written texts are compared and not the
            // values.
            #expect(try JSONValue(parsing: value.encoded()).encoded() == value.encoded())
        }
    }
}
