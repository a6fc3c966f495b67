import ButtonModel
import JSON
import Testing

@testable import WebService

@Suite("Sessions of browsers")
struct SessionTableTests {
    private let now = UTCTime(milliseconds: 1_800_000_000_000)

    private func token(_ octet: UInt8) -> [UInt8] { [UInt8](repeating: octet, count: SessionTable.tokenLength) }

    @Test("a cookie has its session until the session ends")
    func lifetime() {
        var table = SessionTable()
        let cookie = table.begin(token(1), at: now)
        #expect(cookie.utf8.count == 64)
        let session = table.session(of: cookie, at: now)
        #expect(session != nil)
        #expect(table.session(of: cookie, at: now + SessionTable.lifetime - .milliseconds(1)) == session)
        #expect(table.session(of: cookie, at: now + SessionTable.lifetime) == nil)
    }

    @Test("only the session that signs out ends")
    func end() throws {
        var table = SessionTable()
        let cookies = [table.begin(token(1), at: now), table.begin(token(2), at: now)]
        table.end(try #require(table.session(of: cookies[0], at: now)))
        #expect(cookies.map { table.session(of: $0, at: now) != nil } == [false, true])
    }

    @Test(
        "what is no cookie has no session",
        arguments: ["", "0101", String(repeating: "0", count: 64), String(repeating: "g", count: 64), "01 "])
    func foreign(cookie: String) {
        var table = SessionTable()
        _ = table.begin(token(1), at: now)
        #expect(table.session(of: cookie, at: now) == nil)
    }

    @Test("a file of the table contains no cookie, and brings the sessions back")
    func file() throws {
        var table = SessionTable()
        let cookie = table.begin(token(7), at: now)
        #expect(!table.json.description.contains(cookie))
        let read = SessionTable(table.json, at: now)
        #expect(read == table)
        #expect(SessionTable(table.json, at: now + SessionTable.lifetime).session(of: cookie, at: now) == nil)
    }

    @Test(
        "a damaged file has no sessions",
        arguments: [
            "null", "[1]", #"[{"digest":"00","end":1800000000001}]"#, #"[{"digest":"zz","end":9223372036854775807}]"#,
            #"{"digest":"","end":1}"#,
        ])
    func damaged(text: String) throws {
        let table = SessionTable(try JSONValue(parsing: text), at: now)
        #expect(table == SessionTable())
    }

    @Test("a new session takes the place of the one that would end first")
    func bound() {
        var table = SessionTable()
        let cookies = (0...SessionTable.maximumSessions).map { index in
            table.begin([UInt8(index)] + token(0).dropFirst(), at: now + .seconds(index))
        }
        let later = now + .seconds(200)
        #expect(table.session(of: cookies[0], at: later) == nil)
        #expect(cookies.dropFirst().allSatisfy { table.session(of: $0, at: later) != nil })
    }
}
