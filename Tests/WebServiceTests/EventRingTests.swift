import JSON
import Testing

@testable import WebService

@Suite("Lines that a reader has missed")
struct EventRingTests {
    private func ring(_ count: Int, life: String = "a") -> EventRing {
        var ring = EventRing(life: life)
        for number in 1...count { ring.append(Array("\(number)".utf8)) }
        return ring
    }

    private func numbers(_ missed: EventRing.Missed) -> [Int]? {
        if case .lines(let lines) = missed { lines.map(\.number) } else { nil }
    }

    @Test("the lines after an id")
    func after() {
        let ring = ring(3)
        #expect(numbers(ring.lines(afterID: "a-1")) == [2, 3])
        #expect(numbers(ring.lines(afterID: "a-3")) == [])
        #expect(numbers(ring.lines(afterID: "a-0")) == [1, 2, 3])
        #expect(ring.lines(afterID: "a-2") == .lines([.init(number: 3, octets: Array("3".utf8))]))
    }

    @Test(
        "an id of another stream, of the future, or of no form is unknown",
        arguments: [
            "b-1", "a-4", "a--1", "a-", "a", "", "a-1 ", "a-+1", "1", "a-99999999999999999999", "aa-1", "a-1-1", "a-٣",
        ])
    func unknown(id: String) { #expect(ring(3).lines(afterID: id) == .unknown) }

    @Test("a thousand lines are kept")
    func bound() {
        let ring = ring(EventRing.maximumLines + 5)
        #expect(numbers(ring.lines(afterID: "a-5"))?.count == EventRing.maximumLines)
        #expect(ring.lines(afterID: "a-4") == .unknown)
    }

    @Test("long lines push others out before there are a thousand")
    func octets() {
        var ring = EventRing(life: "a")
        let line = [UInt8](repeating: 65, count: EventRing.maximumCount / 4)
        for _ in 1...10 { ring.append(line) }
        #expect(numbers(ring.lines(afterID: "a-6")) == [7, 8, 9, 10])
        #expect(ring.lines(afterID: "a-5") == .unknown)
        ring.append([UInt8](repeating: 66, count: EventRing.maximumCount + 1))
        #expect(numbers(ring.lines(afterID: "a-11")) == [])
        #expect(ring.lines(afterID: "a-10") == .unknown)
    }

    @Test("the text of events")
    func text() {
        let line = ServerSentEvent.line(Array(#"{"kind":"event"}"#.utf8), id: "a-1")
        #expect(String(decoding: line, as: UTF8.self) == "id: a-1\ndata: {\"kind\":\"event\"}\n\n")
        let gone = ServerSentEvent.named("gone", ["error": "two\nlines"])
        #expect(String(decoding: gone, as: UTF8.self) == "event: gone\ndata: {\"error\":\"two\\nlines\"}\n\n")
    }
}
