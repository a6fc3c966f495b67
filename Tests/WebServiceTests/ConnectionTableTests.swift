import ButtonModel
import Testing
import WebService

@Suite("Connections of strangers do not keep others from the page")
struct ConnectionTableTests {
    private static let maximum = ConnectionTable<Int>.maximumConnections

    private static func second(_ seconds: Int64) -> Instant { Instant(sinceBoot: .seconds(seconds)) }

    /// As many connections as there may be, all of one address, of which none sends anything.
    private static func full() -> ConnectionTable<Int> {
        var table = ConnectionTable<Int>()
        for id in 0..<maximum { #expect(table.opened(id, from: "192.0.2.1", at: second(Int64(id))) == nil) }
        return table
    }

    @Test("one more closes the one that has waited longest, of the address that has most")
    func surplus() {
        var table = ConnectionTable<Int>()
        #expect(table.opened(1000, from: "192.0.2.2", at: Self.second(0)) == nil)
        for id in 0..<Self.maximum - 1 {
            #expect(table.opened(id, from: "192.0.2.1", at: Self.second(1 + Int64(id))) == nil)
        }
        table.requestBegan(0, hasBody: false, at: Self.second(200))
        table.responseEnded(0, at: Self.second(201))
        #expect(table.opened(2000, from: "192.0.2.3", at: Self.second(202)) == 1)
    }

    @Test("responses that began a moment ago stay; if all connections have one, the new one is closed")
    func answering() {
        var table = Self.full()
        for id in 0..<Self.maximum { table.requestBegan(id, hasBody: false, at: Self.second(200)) }
        #expect(table.opened(1000, from: nil, at: Self.second(201)) == 1000)
        table.closed(1000)
        table.responseEnded(7, at: Self.second(202))
        #expect(table.opened(1001, from: nil, at: Self.second(203)) == 7)
    }

    @Test("a response that is not read gives way after 30 s, and a live stream does not")
    func unread() {
        var table = Self.full()
        for id in 0..<Self.maximum { table.requestBegan(id, hasBody: false, at: Self.second(200 + Int64(id))) }
        table.streamBegan(0, at: Self.second(200))
        #expect(table.opened(1000, from: nil, at: Self.second(400)) == 1)
    }

    @Test("a body that does not end gives way, too")
    func bodies() {
        var table = Self.full()
        for id in 0..<Self.maximum { table.requestBegan(id, hasBody: true, at: Self.second(200 + Int64(id))) }
        #expect(table.opened(1000, from: "192.0.2.2", at: Self.second(400)) == 0)
    }

    @Test("a request has to begin within 60 s, and its body to end within 30 s; an answer may take any time")
    func deadlines() {
        var table = ConnectionTable<Int>()
        _ = table.opened(1, from: nil, at: Self.second(10))
        #expect(table.deadline(of: 1) == Self.second(70))
        table.requestBegan(1, hasBody: true, at: Self.second(20))
        #expect(table.deadline(of: 1) == Self.second(50))
        table.bodyEnded(1, at: Self.second(25))
        #expect(table.deadline(of: 1) == nil)
        table.responseEnded(1, at: Self.second(30))
        #expect(table.deadline(of: 1) == Self.second(90))
        table.closed(1)
        #expect(table.deadline(of: 1) == nil)
    }
}
