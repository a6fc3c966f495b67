import ButtonModel
import Bytes
import JSON
import Testing

@testable import Flic

@Suite("Events of a Flic 2")
struct EventTests {
    @Test(
        "each event code stands for one step of a press",
        arguments: [
            (0, .up(.open)), (1, .down), (2, .clickTimeout), (3, .hold(ofSecondPress: false)), (4, .up(.open)),
            (5, .down), (6, .clickTimeout), (7, .hold(ofSecondPress: true)), (8, .up(.open)), (9, .up(.open)),
            (10, .up(.click)), (11, .up(.doubleClick)), (12, .up(.afterHold)), (13, .up(.afterHold)),
            (14, .up(.afterHoldClick)), (15, .up(.afterHoldDoubleClick)),
        ] as [(UInt8, PressStep)])
    func steps(code: UInt8, step: PressStep) {
        #expect(EventCode(rawValue: code).step == step)
    }

    @Test("single events are decoded and acknowledged as by the references")
    func single() throws {
        for vector in try Vectors.cases("events", "single") {
            let notification = try decode(vector.octets("packet_without_mac"))
            let item = try #require(notification.countedItems.first)
            try #expect(item.counter == vector.integer("counter_sent"))
            try #expect(item.item.code.rawValue == vector.integer("event_encoded"))
            let acknowledged = vector["ack_event_count"]?.integerValue
            #expect(notification.needsAcknowledgement == (acknowledged != nil))
        }
    }

    @Test("the counters of several events are counted back from the last one")
    func gestures() throws {
        for vector in try Vectors.cases("events", "gestures") {
            let notification = try decode(vector.octets("notification_without_mac"))
            let items = try vector.values("items")
            #expect(notification.countedItems.count == items.count)
            for (counted, item) in zip(notification.countedItems, items) {
                try #expect(counted.counter == item.integer("event_count"))
                try #expect(counted.item.ticks == item.integer("ticks"))
                try #expect(counted.item.code.rawValue == item.integer("event_encoded"))
            }
            let acknowledged = vector["ack_when_sent_as_one_packet"]?.integerValue
            #expect(acknowledged == (notification.needsAcknowledgement ? Int64(notification.eventCount) : nil))
            for (item, acknowledged) in zip(notification.items, try vector.values("acks_when_sent_one_by_one")) {
                #expect(item.code.needsAcknowledgement == (acknowledged != .null))
            }
        }
    }

    @Test("a counter that would be below the first of a boot is zero")
    func underflow() {
        let down = EventNotification.Item(ticks: 0, code: EventCode(rawValue: 1))
        let notification = EventNotification(eventCount: 1, items: [down, down, down])
        #expect(notification.countedItems.map(\.counter) == [0, 0, 1])
    }

    private func decode(_ packet: [UInt8]) throws -> EventNotification {
        guard case .buttonEventNotification(let notification) = try ButtonPacket(decoding: packet) else {
            throw NotEvents()
        }
        return notification
    }

    private struct NotEvents: Error {}
}
