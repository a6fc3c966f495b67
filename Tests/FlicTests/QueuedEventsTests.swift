import ButtonModel
import Bytes
import JSON
import TestSupport
import Testing

@testable import Flic

/// The recordings begin inside a session whose key is not known. The test takes the packets out of their frames and
/// signs them again with its own key.
@Suite("Stored events")
struct QueuedEventsTests {
    @Test("stored events have the reference's counters and ages, and one acknowledgement for each notification")
    func vectors() throws {
        for vector in try Vectors.cases("queued-events") {
            let log = try vector.values("log")
            let bootID: UInt32 = 0x1234_ABCD
            var established = try #require(EstablishedTalk(cursor: EventCursor(bootID: bootID)))
            var events: [ButtonEvent] = []
            var acknowledged: [UInt32] = []
            for notification in log where notification["notify"] != nil {
                // A value has one header octet before the packet and a signature of five octets after it.
                let packet = try Array(notification.octets("notify").dropFirst().dropLast(5))
                let effects = established.talk.given(.received(established.button.value(octets: packet)))
                _ = established.sent(effects)
                for case .events(let new, let cursor, let needsAcknowledgement) in effects {
                    events += new
                    guard needsAcknowledgement else { continue }
                    for case .acknowledgeEvents(let count)? in established.sent(established.talk.given(.synced(cursor)))
                    {
                        acknowledged.append(count)
                    }
                }
            }

            var expected: [(counter: UInt32, age: Double)] = []
            for event in log.compactMap({ $0["host_event"] }) where event["event"]?.stringValue == "button" {
                let counter: UInt32 = try event.integer("event_count")
                if expected.last?.counter != counter { expected.append((counter, try event.seconds("age"))) }
            }
            let acknowledgements = try log.compactMap { entry -> UInt32? in
                guard entry["write"] != nil else { return nil }
                let packet = try HostPacket(decoding: Array(entry.octets("write").dropFirst()))
                if case .acknowledgeEvents(let count) = packet { return count }
                return nil
            }
            #expect(!expected.isEmpty && !acknowledgements.isEmpty)
            #expect(events.map(\.counter) == expected.map(\.counter))
            #expect(events.map(\.wasQueuedLast).firstIndex(of: true) == events.count - 1)
            #expect(acknowledged == acknowledgements)
            for (event, expected) in zip(events, expected) {
                #expect(abs(event.age / .seconds(1) - expected.age) < 0.000_1)
            }
        }
    }
}

/// The transition from stored to live events.
@Suite("Stored and live events")
struct StoredAndLiveTests {
    private static let now: UInt64 = 1_000_000

    private func taken(_ effects: [ButtonSession.Effect]) -> [ButtonEvent] {
        effects.flatMap { effect -> [ButtonEvent] in
            if case .events(let events, _, _) = effect { events } else { [] }
        }
    }

    private func item(_ ticks: UInt64, _ code: UInt8, queued: Bool = true, last: Bool = false) -> EventNotification.Item
    {
        .init(ticks: ticks, code: EventCode(rawValue: code), wasQueued: queued, wasQueuedLast: last)
    }

    @Test("a host asks for all stored events, whatever their age")
    func request() throws {
        var talk = Transcript(
            ButtonSession(
                .init(
                    address: TestButton.address,
                    purpose: .reconnect(TestButton.pairing, EventCursor(), advertisingConfigured: true))))
        talk.given(.linkReady(attMTU: 140, TestButton.entropy))
        var (button, response) = try #require(TestButton.quickVerify())
        guard case .initButtonEventsRequest(let request)?? = button.packets(in: talk.given(.received(response))).first
        else {
            Issue.record("no init request")
            return
        }
        #expect(request.maximumQueuedPackets == 31 && request.maximumQueuedAge == 0xFFFFF)
    }

    @Test("a press whose down is stored and whose up is live comes in one notification")
    func straddling() throws {
        var established = try #require(EstablishedTalk())
        _ = established.initialise(ticks: Self.now, hasQueuedEvents: true)
        let notification = EventNotification(
            eventCount: 11,
            items: [item(Self.now - 32_768, 1, last: true), item(Self.now + 3_276, 10, queued: false)])
        let effects = established.receive(.buttonEventNotification(notification))
        let events = taken(effects)
        #expect(events.map(\.counter) == [9, 11] && events.map(\.step) == [.down, .up(.click)])
        #expect(events.map(\.wasQueued) == [true, false] && events.map(\.wasQueuedLast) == [true, false])
        #expect(events.map(\.age) == [.seconds(1), .zero])
        #expect(!established.talk.machine.hasStoredEvents)
    }

    @Test("a live event between stored events is live, and does not end the queue")
    func interleaved() throws {
        var established = try #require(EstablishedTalk())
        _ = established.initialise(ticks: Self.now, hasQueuedEvents: true)
        var effects = established.receive(
            .buttonEventNotification(.init(eventCount: 9, items: [item(Self.now - 65_536, 1)])))
        #expect(established.talk.machine.hasStoredEvents && taken(effects).map(\.age) == [.seconds(2)])
        effects = established.receive(
            .buttonEventNotification(.init(eventCount: 11, items: [item(Self.now, 8, queued: false)])))
        #expect(established.talk.machine.hasStoredEvents && taken(effects).map(\.wasQueued) == [false])
        effects = established.receive(
            .buttonEventNotification(.init(eventCount: 12, items: [item(Self.now, 2, last: true)])))
        #expect(!established.talk.machine.hasStoredEvents && taken(effects).map(\.counter) == [12])
    }

    @Test("a live event that arrives more than a second late is reported as stored, with its delay as age")
    func late() throws {
        var established = try #require(EstablishedTalk())
        _ = established.initialise(ticks: Self.now)
        func arrival(_ counter: UInt32, after wait: Duration, at second: UInt64) -> ButtonEvent? {
            established.talk.wait(wait)
            let item = item(Self.now + second * 32_768, 1, queued: false)
            let effects = established.receive(.buttonEventNotification(.init(eventCount: counter, items: [item])))
            return taken(effects).first
        }
        let late = try #require(arrival(9, after: .seconds(4), at: 2))
        #expect(late.wasQueued && late.age == .seconds(2) - .milliseconds(2))
        let inTime = try #require(arrival(13, after: .seconds(1), at: 4))
        #expect(!inTime.wasQueued && inTime.age == .zero)
        // The button's and the host's clocks drift apart by a few seconds in two hours, and the event still counts as
        // live.
        let muchLater = try #require(arrival(17, after: .seconds(7200), at: 7202))
        #expect(!muchLater.wasQueued && muchLater.age == .zero)
    }

    @Test("an event with a time in the future has age zero, and an event from the boot has the uptime as age")
    func ages() throws {
        var established = try #require(EstablishedTalk())
        let uptime: UInt64 = (1 << 47) - 1
        _ = established.initialise(ticks: uptime, hasQueuedEvents: true)
        let notification = EventNotification(
            eventCount: 11, items: [item(0, 1), item((1 << 48) - 1, 10, last: true)])
        let ages = taken(established.receive(.buttonEventNotification(notification))).map(\.age)
        let first = try #require(ages.first)
        #expect(first > .seconds(uptime / 32_768) && first < .seconds(uptime / 32_768 + 1))
        #expect(ages.last == .zero)
    }

    @Test("the largest counter neither traps nor is reported twice")
    func lastCounter() throws {
        var established = try #require(
            EstablishedTalk(cursor: EventCursor(bootID: TestButton.bootID, eventCount: .max - 2)))
        _ = established.initialise(eventCount: .max - 2, hasQueuedEvents: true)
        let last = ButtonPacket.buttonEventNotification(.init(eventCount: .max, items: [item(1, 10, last: true)]))
        #expect(taken(established.receive(last)).map(\.counter) == [.max])
        #expect(taken(established.receive(last)).isEmpty)
        #expect(established.receive(.buttonEventNotification(.init(eventCount: 1, items: [item(1, 1)]))) == [])
        var press = PressEncoder()
        for second in 0..<100 { _ = press.pressed(at: Instant(sinceBoot: .seconds(second))) }
    }

    @Test("after a lost acknowledgement all events are sent again, and none is reported twice", arguments: [23, 140])
    func lostAcknowledgement(attMTU: Int) throws {
        var ends = TwoEnds()
        ends.tellButton(.setPublicMode(true))
        ends.connect(attMTU: attMTU)
        ends.tellButton(.fault(.lostAcknowledgement))
        ends.press(for: .milliseconds(700))
        #expect(ends.events.map(\.counter) == [1, 3])
        let pairing = try #require(ends.pairing)
        // The host has stored nothing of the press, so it needs the events again.
        ends.reconnect(
            .reconnect(pairing, EventCursor(bootID: 4711), advertisingConfigured: true), attMTU: attMTU,
            after: .seconds(1))
        #expect(ends.events.map(\.counter) == [1, 3] && ends.events.allSatisfy(\.wasQueued))
        let cursor = try #require(ends.cursor)
        ends.reconnect(
            .reconnect(pairing, cursor, advertisingConfigured: true), attMTU: attMTU, after: .seconds(1))
        #expect(ends.events.isEmpty)
    }
}
