import Testing

@testable import WebService

@Suite("The password of the page")
struct PasswordHashTests {
    @Test("only the password matches")
    func matches() throws {
        let hash = try #require(PasswordHash(of: "hünter2", salt: [UInt8](repeating: 3, count: 16)))
        #expect(hash.matches("hünter2"))
        for other in ["", "hunter2", "hünter2 ", "Hünter2", "\0hünter2", String(repeating: "a", count: 100_000)] {
            #expect(!hash.matches(other))
        }
    }

    @Test("the text of a hash does not contain the password")
    func text() throws {
        let hash = try #require(PasswordHash(of: "hunter2", salt: [UInt8](repeating: 3, count: 16)))
        var dumped = ""
        dump(hash, to: &dumped)
        #expect(!dumped.contains("hunter2"))
    }
}
