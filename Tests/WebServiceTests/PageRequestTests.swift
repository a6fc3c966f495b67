import JSON
import Testing

@testable import WebService

@Suite("Lines for the daemon")
struct PageRequestTests {
    @Test(
        "requests are passed on as they are",
        arguments: [
            #"{"request":"status"}"#, #"{"request":"permit_join","data":{"time":60},"transaction":"x"}"#,
            #"{"request":"button/rename","data":{"button":"a","name":"b"}}"#,
            #"{"request":"rules/run","data":{"id":"a"}}"#,
        ])
    func passed(text: String) throws { #expect(try PageRequest(Array(text.utf8)).line.description == text) }

    @Test(
        "others are refused",
        arguments: [
            "", "x", "[]", "{}", #"{"request":1}"#, #"{"request":"export"}"#, #"{"request":"watch"}"#,
            #"{"request":"statuss"}"#, #"{"request":"status"} {"request":"status"}"#, "{\"request\":\"\u{1}\"}",
        ])
    func refused(text: String) {
        #expect(throws: PageRequest.Refusal.self) { try PageRequest(Array(text.utf8)) }
    }

    @Test(
        "a rule that is run starts programs, and a dry run and other requests do not",
        arguments: [
            (#"{"request":"rules/run","data":{"id":"a"}}"#, true),
            (#"{"request":"rules/run","data":{"id":"a","dry_run":false}}"#, true),
            (#"{"request":"rules/run","data":{"id":"a","dry_run":"yes"}}"#, true), (#"{"request":"rules/run"}"#, true),
            (#"{"request":"rules/run","data":{"id":"a","dry_run":true}}"#, false), (#"{"request":"rules"}"#, false),
        ])
    func startsPrograms(text: String, does: Bool) throws {
        #expect(try PageRequest(Array(text.utf8)).startsPrograms == does)
    }

    @Test("a line that would be two for the daemon becomes one")
    func lines() throws {
        let request = try PageRequest(Array("{\"request\":\n\"status\",\"data\":{\"a\":\"b\\nc\"}}".utf8))
        #expect(!request.line.encoded().contains(UInt8(ascii: "\n")))
    }

    @Test("octets that are not UTF-8 are refused")
    func octets() { #expect(throws: PageRequest.Refusal.self) { try PageRequest([0x22, 0xFF, 0x22]) } }
}
