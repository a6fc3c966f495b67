import TestSupport
import Testing

@testable import Expressions

@Suite("Searching text")
struct TextSearchTests {
    @Test("find and replace give what a search at every position gives", arguments: 0..<40)
    func search(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        for _ in 0..<100 {
            let text = word(upTo: 24, &random)
            let wanted = word(upTo: 5, &random)
            let search = TextSearch(for: wanted)
            #expect(search.isFound(in: text) == (wanted.isEmpty || text.contains(wanted)), "\(wanted) in \(text)")
            #expect(
                search.replacing(in: text, with: "x", limit: 100)
                    == (wanted.isEmpty ? text : text.replacing(wanted, with: "x")))
        }
    }

    @Test("a pattern matches what a search of all ways to match it finds", arguments: 0..<40)
    func wildcards(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        for _ in 0..<200 {
            let text = word(upTo: 12, &random)
            let pattern = String(word(upTo: 7, &random).map { $0 == "é" ? "*" : $0 == "c" ? "?" : $0 })
            let expected = TextSearchTests.matches(Array(pattern)[...], Array(text)[...])
            #expect(Wildcards(pattern).match(text) == expected, "\(pattern) on \(text)")
        }
    }

    @Test("a part of more than 64 characters between stars is found")
    func longPieces() {
        let piece = String(repeating: "ab", count: 50) + "?" + String(repeating: "c", count: 40)
        let text = String(repeating: "ab", count: 70) + "x" + String(repeating: "c", count: 45)
        #expect(Wildcards("*\(piece)*").match(text))
        #expect(!Wildcards("*\(piece)d*").match(text))
        #expect(Wildcards("*\(String(repeating: "?", count: 64))*").match(String(repeating: "é", count: 64)))
        #expect(!Wildcards("*\(String(repeating: "?", count: 64))*").match(String(repeating: "é", count: 63)))
    }

    @Test("a long text that almost matches a long pattern does not match")
    func almost() {
        let text = String(repeating: "a", count: Limits.textLength)
        let pattern = "*" + String(repeating: "a", count: 2000) + "?b*"
        #expect(!Wildcards(pattern).match(text))
        #expect(!TextSearch(for: String(repeating: "a", count: 2000) + "b").isFound(in: text))
    }

    private func word(upTo length: Int, _ random: inout SeededGenerator) -> String {
        String(
            (0..<Int.random(in: 0...length, using: &random)).map { _ in
                ["a", "a", "b", "c", "é"].randomElement(using: &random) ?? "a"
            })
    }

    private static func matches(_ pattern: ArraySlice<Character>, _ text: ArraySlice<Character>) -> Bool {
        guard let first = pattern.first else { return text.isEmpty }
        if first == "*" {
            return matches(pattern.dropFirst(), text) || (!text.isEmpty && matches(pattern, text.dropFirst()))
        }
        guard let next = text.first, first == "?" || first == next else { return false }
        return matches(pattern.dropFirst(), text.dropFirst())
    }
}
