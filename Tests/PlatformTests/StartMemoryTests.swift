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

    private func residentPagesOfFiles() throws -> Int {
        let fields = try FileText(reading: "/proc/self/statm").octets.split(separator: UInt8(ascii: " "))
        return try #require(Int(String(decoding: fields[2], as: UTF8.self)))
    }
}
