import Testing
import YAMLFiles

@testable import RuleLoader

@Suite("Fingerprints of YAML")
struct FingerprintTests {
    private func tree(_ text: String) throws -> YAMLNode {
        try #require(try SourceText.reading(SourceFile(name: "a.yaml", text: Array(text.utf8))).get().tree())
    }

    @Test(
        "two trees that say the same have one fingerprint",
        arguments: [
            ("{a: [b, 'c d']}", "a:   # why\n- b\n- \"c d\"\n", true), ("{a: b}", "{a: 'b'}", false),
            ("{x: &x [b], a: *x}", "{x: [b], a: [b]}", true), ("{a: b, c: d}", "{c: d, a: b}", false),
            ("{a: 'x'}", "a: |-\n  x\n", true), ("[ab, c]", "[a, bc]", false), ("[[a], b]", "[[a, b]]", false),
            ("{a: !secret b}", "{a: 'b'}", false), ("{a: !secret b}", "{a: !secret 'b'}", true), ("[]", "{}", false),
        ])
    func fingerprint(one: String, other: String, same: Bool) throws {
        #expect((try tree(one).fingerprint == tree(other).fingerprint) == same)
        #expect(try tree(one).fingerprint.text.utf8.count == 16)
    }
}
