import Platform
import Testing

@Suite("Memory of the start")
struct StartMemoryTests {
    @Test("code and constants are forgotten, and can be used again")
    func again() throws {
        let before = try residentPagesOfFiles()
        StartMemory.release()
        let after = try residentPagesOfFiles()
        #expect(after < before)
        #expect([3, 1, 2].sorted() == [1, 2, 3])
        #expect("\(1.5) \(Int8.min)" == "1.5 -128")
    }

    @Test("what deep calls have used of the main thread's stack is given back")
    @MainActor func stack() throws {
        #expect(Self.used(depth: 200) > 0)
        let before = try Self.residentStack()
        StartMemory.release()
        let after = try Self.residentStack()
        #expect(before - after >= 128)
    }

    /// Uses at least 1 KiB of the stack for each call.
    @inline(never)
    private static func used(depth: Int) -> Int {
        withUnsafeTemporaryAllocation(of: UInt8.self, capacity: 1000) { octets in
            octets.initialize(repeating: 1)
            return Int(octets[depth]) + (depth == 0 ? 0 : used(depth: depth - 1))
        }
    }

    /// The part of the main thread's stack that is in memory, in KiB.
    private static func residentStack() throws -> Int {
        let lines = String(decoding: try FileText(reading: "/proc/self/smaps").octets, as: UTF8.self)
            .split(separator: "\n").drop { !$0.hasSuffix("[stack]") }
        let words = try #require(lines.first { $0.hasPrefix("Rss:") }).split(separator: " ")
        return try #require(Int(words[1]))
    }

    private func residentPagesOfFiles() throws -> Int {
        let fields = try FileText(reading: "/proc/self/statm").octets.split(separator: UInt8(ascii: " "))
        return try #require(Int(String(decoding: fields[2], as: UTF8.self)))
    }
}
