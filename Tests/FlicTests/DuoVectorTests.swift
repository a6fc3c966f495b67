import ButtonModel
import Bytes
import JSON
import Testing

@testable import Flic

@Suite("Duo: reference vectors")
struct DuoVectorTests {
    /// The reference parser loses the last item of some notifications; the vectors say how many items it found.
    @Test("every item of a notification is read with its counter, time, kind, gesture and place in the queue")
    func decoding() throws {
        var itemsTheReferenceLost = 0
        for stream in try Vectors.cases("duo", "event_streams") {
            let name = try stream.text("case")
            var decoder = try Self.stream(stream)
            for notification in try stream.values("notifications") {
                guard
                    case .buttonEventDuoNotification(let bits) = try ButtonPacket(
                        decoding: notification.octets("packet_without_mac"))
                else {
                    Issue.record("no notification")
                    continue
                }
                let events = decoder.decode(bits)
                let expected = try notification.values("events")
                #expect(events.count == expected.count, "\(name)")
                for (event, expected) in zip(events, expected) { try Self.compare(event, expected) }
                let counts = try notification.values("event_counts_after").map(\.integerValue)
                #expect([Int64(decoder.bigCount), Int64(decoder.smallCount)] == counts)
                let needsAcknowledgement = events.contains(where: \.kind.code.needsAcknowledgement)
                #expect(needsAcknowledgement == notification["needs_ack"]?.boolValue)
                #expect(decoder.isDrained == notification["end_of_queue_marker_seen_after"]?.boolValue)
                let found: Int = try notification.integer("unpatched_reference_decoded")
                itemsTheReferenceLost += expected.count - found
            }
        }
        #expect(itemsTheReferenceLost > 0)
    }

    @Test("a simulated Duo writes notifications with the octets of the references")
    func encoding() throws {
        for stream in try Vectors.cases("duo", "event_streams") {
            let name = try stream.text("case")
            var decoder = try Self.stream(stream)
            var encoder = decoder
            for notification in try stream.values("notifications") {
                let octets = try notification.octets("packet_without_mac")
                let events = decoder.decode(Array(octets.dropFirst()))
                let (bits, count) = encoder.encode(events, room: 120)
                #expect(count == events.count)
                #expect(ButtonPacket.buttonEventDuoNotification(bits).octets == octets, "\(name)")
                #expect(encoder == decoder)
            }
        }
    }

    @Test("turns are decoded and encoded as by the references")
    func pushTwist() throws {
        for vector in try Vectors.cases("duo", "push_twist") {
            let octets = try vector.octets("packet_without_mac")
            let packet = try ButtonPacket(decoding: octets)
            guard case .pushTwistNotification(let turn) = packet else {
                Issue.record("no turn")
                continue
            }
            try #expect(turn.pressed.rawValue == vector.integer("buttons_pressed"))
            try #expect(turn.isFirst.rawValue == vector.integer("is_first_event"))
            try #expect(turn.isPressedLong.rawValue == vector.integer("pressed_half_second"))
            try #expect(turn.angle == vector.integer("angle_diff"))
            let degrees = try vector.seconds("degrees")
            #expect(Double(turn.angle) / 65_536 * 360 == degrees)
            #expect(packet.octets == octets)
        }
    }

    @Test("requests are decoded and encoded as by the references")
    func requests() throws {
        let vectors = try Vectors.cases("duo", "requests")
        for vector in vectors {
            let octets = try vector.octets("hex")
            let packet = try HostPacket(decoding: octets)
            #expect(packet.octets == octets)
        }
        let initialisation = try #require(vectors.first)
        let packet = try HostPacket(decoding: initialisation.octets("hex"))
        #expect(
            packet
                == .initButtonEventsDuoRequest(
                    .init(
                        smallEventCount: 9,
                        common: .init(
                            eventCount: 7, bootID: 287_454_020, autoDisconnectSeconds: 511, maximumQueuedPackets: 31,
                            maximumQueuedAge: 0xFFFFF))))
        let others = try vectors.dropFirst().prefix(2).map { try HostPacket(decoding: $0.octets("hex")) }
        #expect(others == [.enablePushTwist([.big, .small]), .enablePushTwist(.big)])
    }

    private static func stream(_ vector: JSONValue) throws -> DuoEventStream {
        let counts = try vector.values("initial_event_counts").compactMap(\.integerValue).map(UInt32.init)
        return try DuoEventStream(
            bigCount: #require(counts.first), smallCount: #require(counts.last),
            isDrained: vector["initial_end_of_queue_marker_seen"]?.boolValue == true)
    }

    private static func compare(_ event: DuoEvent, _ expected: JSONValue) throws {
        let button: Int = try expected.integer("button")
        #expect(event.part == (button == 0 ? .big : .small))
        try #expect(event.milliseconds == expected.integer("timestamp_ms"))
        try #expect(event.kind.rawValue == expected.integer("type"))
        let marks = ["double_click_was_hold", "next_up_will_be_double_click"].map { expected[$0]?.boolValue == true }
        #expect(event.kind.isMarked == marks.contains(true))
        // The reference reports no gesture if none was recognised.
        let swipe = expected["gesture"]?.stringValue.flatMap { SwipeDirection(rawValue: "swipe_\($0.lowercased())") }
        #expect(event.gesture.swipe == swipe)
        let acceleration = [event.acceleration.x, event.acceleration.y, event.acceleration.z]
        let expectedAcceleration = try expected.values("accel").map(\.integerValue)
        #expect(acceleration.map { Int64($0) } == expectedAcceleration)
        let storage: DuoEvent.Storage =
            if expected["was_queued_last"]?.boolValue == true {
                .queuedLast
            } else {
                expected["was_queued"]?.boolValue == true ? .queued : .live
            }
        #expect(event.storage == storage)
    }
}
