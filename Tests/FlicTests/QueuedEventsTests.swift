import ButtonModel
import Bytes
import JSON
import TestSupport
import Testing

@testable import Flic

/// The recordings begin inside a session whose key nobody wrote down: the packets are taken out of their frames and
/// signed again, with a key of ours.
@Suite("Stored events")
struct QueuedEventsTests {
    @Test("stored events have the counters and ages the reference reports, and one acknowledgement a notification")
    func vectors() throws {
        for vector in try Vectors.cases("queued-events") {
            let log = try vector.values("log")
            let bootID: UInt32 = 0x1234_ABCD
            var established = try #require(EstablishedTalk(cursor: EventCursor(bootID: bootID)))
            var events: [ButtonEvent] = []
            var acknowledged: [UInt32] = []
            for notification in log where notification["notify"] != nil {
                // One header octet before the packet, five of signature after it.
                let packet = try Array(notification.octets("notify").dropFirst().dropLast(5))
                let effects = established.talk.when(.received(established.button.value(octets: packet)))
                _ = established.sent(effects)
                for case .events(let new, let cursor, let needsAcknowledgement) in effects {
                    events += new
                    guard needsAcknowledgement else { continue }
                    for case .acknowledgeEvents(let count)? in established.sent(established.talk.when(.synced(cursor)))
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
