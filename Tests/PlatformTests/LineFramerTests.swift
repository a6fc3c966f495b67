import TestSupport
import Testing

@testable import Platform

@Suite struct LineFramerTests {
    @Test("the lines do not depend on where the stream is split", arguments: 1...50 as ClosedRange<UInt64>)
    func cuts(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        let lines: [[UInt8]] = (0..<20).map { _ in
            random.bytes(Int.random(in: 0...30, using: &random)).map { $0 == 0x0A ? 0x20 : $0 }
        }
        var rest = Array(lines.map { $0 + [0x0A] }.joined())[...]
        var framer = LineFramer(maximumLength: 30)
        var received: [[UInt8]] = []
        while !rest.isEmpty {
            let chunk = rest.prefix(Int.random(in: 1...40, using: &random))
            rest = rest.dropFirst(chunk.count)
            framer.append(Array(chunk))
            while let line = try framer.next() { received.append(line) }
        }
        #expect(received == lines.filter { !$0.isEmpty })
    }

    @Test("a line of the maximum length is returned, and a longer one is refused, with or without its line feed")
    func bound() throws {
        var framer = LineFramer(maximumLength: 4)
        framer.append(Array("1234\n12345\n".utf8))
        #expect(try framer.next() == Array("1234".utf8))
        #expect(throws: LineTooLong()) { try framer.next() }
        #expect(throws: LineTooLong()) { try framer.next() }

        var open = LineFramer(maximumLength: 4)
        open.append(Array("1234".utf8))
        #expect(try open.next() == nil)
        open.append(Array("5".utf8))
        #expect(throws: LineTooLong()) { try open.next() }
    }
}
