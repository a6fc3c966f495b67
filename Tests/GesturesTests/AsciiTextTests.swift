import TestSupport
import Testing

@testable import Gestures

@Suite("Short texts of ASCII characters and numbers")
struct AsciiTextTests {
    private static func text(capacity: Int, _ write: (inout AsciiText) -> Void) -> String {
        String(unsafeUninitializedCapacity: capacity) { memory in
            var text = AsciiText(UnsafeMutableBufferPointer(rebasing: memory[..<capacity]))
            write(&text)
            return text.count
        }
    }

    /// Each number of digits, at both of its ends.
    private static let numbers: [Int64] = {
        let powers = (0...18).map { (0..<$0).reduce(1 as Int64) { power, _ in power * 10 } }
        let ends = powers.flatMap { [$0 - 1, $0, $0 + 1, $0 * 9 / 10 * 7] } + [0, .max, .max - 1]
        return ends + ends.map { -$0 } + [.min, .min + 1] + (0...1000)
    }()

    @Test("a number has the digits that Swift gives it")
    func numbers() {
        var random = SeededGenerator(seed: 1)
        let others = (0..<2000).map {
            Int64(truncatingIfNeeded: UInt64.random(in: 0 ... .max, using: &random) >> ($0 % 64))
        }
        for number in Self.numbers + others {
            #expect(Self.text(capacity: 20) { $0.add(number) } == String(number))
        }
    }

    @Test("numbers and octets beyond the end of the memory are dropped", arguments: [0, 5, 12, -12, 123_456, -123_457])
    func end(number: Int64) {
        let digits = String(number.magnitude)
        for capacity in 0...10 {
            let text = Self.text(capacity: capacity) { $0.add(number) }
            let sign = number < 0 ? "-" : ""
            #expect(text == (capacity >= sign.count + digits.count ? sign + digits : String(sign.prefix(capacity))))
            let letters = Self.text(capacity: capacity) { text in
                text.add("abcde")
                text.add(number)
            }
            #expect(letters.hasPrefix(String("abcde".prefix(capacity))) && letters.utf8.count <= capacity)
        }
    }
}
