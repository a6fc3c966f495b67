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
        var numbers = Array(0...1000 as ClosedRange<Int64>) + [.max, .min, .min + 1]
        var power: Int64 = 1
        for _ in 0...17 {
            power *= 10
            for number in [power - 1, power, power + 1, power / 10 * 7] { numbers += [number, -number] }
        }
        return numbers
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
