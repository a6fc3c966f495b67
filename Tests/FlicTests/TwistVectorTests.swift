import ButtonModel
import JSON
import TestSupport
import Testing

@testable import Flic

@Suite("Twist: reference vectors")
struct TwistVectorTests {
    private func sample(_ member: String) throws -> JSONValue {
        try #require(try Vectors.load("twist")[member], "no \(member)")
    }

    @Test("the first requests of a Twist's session have the opcodes of a Flic 2")
    func verification() throws {
        let requests = try sample("requests")
        #expect(
            HostPacket.fullVerifyRequest1(temporaryID: 0x0102_0304).twistOctets
                == (try requests.octets("full_verify_1")))
        for name in ["full_verify_1", "full_verify_2", "quick_verify", "force_disconnect", "ack"] {
            let octets = try requests.octets(name)
            #expect(try HostPacket(decodingTwist: octets).twistOctets == octets, "\(name)")
        }
        guard case .fullVerifyRequest2(let second) = try HostPacket(decodingTwist: try requests.octets("full_verify_2"))
        else {
            Issue.record("another packet")
            return
        }
        #expect(second.flags == 0)
        #expect(try HostPacket(decodingTwist: try requests.octets("ack")) == .acknowledgeEvents(eventCount: 42))
        #expect(
            try HostPacket(decodingTwist: try requests.octets("force_disconnect"))
                == .forceDisconnect(advertiseAgain: true))
    }

    @Test("the init request has a configuration for each of thirteen modes")
    func initRequest() throws {
        let expected = try #require(try sample("requests")["init_button_events"])
        let configurations = try expected.values("mode_configs").map { mode in
            TwistModeConfiguration(
                ledMode: try mode.integer("led_mode"), hasClick: try mode.flag("has_click"),
                hasDoubleClick: try mode.flag("has_double_click"),
                extraLEDsAfter: try mode.integer("extra_leds_after"), position: try mode.integer("position"),
                timeoutSeconds: try mode.integer("timeout_seconds"))
        }
        let packet = HostPacket.twist(
            .initButtonEventsRequest(
                .init(
                    eventCount: try expected.integer("event_count"), configurations: configurations,
                    bootID: try expected.integer("boot_id"))))
        #expect(configurations.count == TwistModeConfiguration.count)
        #expect(packet.twistOctets == (try expected.octets("hex")))
        #expect(try HostPacket(decodingTwist: try expected.octets("hex")) == packet)
    }

    @Test("a new position is sent as a minimum of 48 bits and the number of turns received")
    func updatePosition() throws {
        let expected = try #require(try sample("requests")["update_position"])
        let packet = HostPacket.twist(
            .updatePosition(
                .init(
                    mode: try expected.integer("twist_mode_index"), newMinimum: try expected.integer("new_min"),
                    receivedCount: try expected.integer("num_received_update_packets"))))
        #expect(packet.twistOctets == (try expected.octets("hex")))
        #expect(try HostPacket(decodingTwist: try expected.octets("hex")) == packet)
    }

    @Test("the init response always contains the boot id")
    func initResponse() throws {
        let expected = try sample("init_response")
        let octets = try expected.octets("packet_without_mac")
        let packet = try ButtonPacket(decodingTwist: octets)
        #expect(
            packet
                == .initButtonEventsResponse(
                    .init(
                        hasQueuedEvents: true, ticks: try expected.integer("timestamp_ticks"),
                        eventCount: try expected.integer("event_count"), bootID: try expected.integer("boot_id"))))
        #expect(packet.twistOctets == octets)
    }

    @Test("turns are decoded as by the reference", arguments: 0..<3)
    func rotation(index: Int) throws {
        let expected = try Vectors.cases("twist", "twist_notifications")[index]
        let octets = try expected.octets("packet_without_mac")
        let packet = try ButtonPacket(decodingTwist: octets)
        #expect(
            packet
                == .twist(
                    .rotationNotification(
                        TwistRotation(
                            mode: try expected.integer("twist_mode_index"),
                            lastMinimumUpdateWasTop: try expected.flag("last_min_update_was_top"),
                            lastUpdateWasTooOld: try expected.flag("last_hub_update_packet_too_old"),
                            totalDelta: try expected.integer("total_delta"),
                            minimumDelta: try expected.integer("min_delta"),
                            maximumDelta: try expected.integer("max_delta"),
                            lastUpdateCount: try expected.integer("last_hub_packet_counter")))))
        #expect(packet.twistOctets == octets)
    }

    @Test("steps of presses are decoded as by the reference", arguments: 0..<3)
    func steps(index: Int) throws {
        let expected = try Vectors.cases("twist", "button_notifications")[index]
        let octets = try expected.octets("packet_without_mac")
        guard case .twist(.buttonEventNotification(let notification)) = try ButtonPacket(decodingTwist: octets) else {
            Issue.record("another packet")
            return
        }
        #expect(notification.eventCount == (try expected.integer("press_counter")))
        let events = try expected.values("events")
        try #require(notification.items.count == events.count)
        for (item, event) in zip(notification.items, events) {
            #expect(item.ticks * 1000 / 32_768 == (try event.integer("timestamp_ms")))
            #expect(item.code.rawValue == (try event.integer("event_encoded")))
            #expect(item.mode == (try event.integer("twist_mode_index")))
            #expect(item.wasQueued == event["was_queued"]?.boolValue)
            #expect(item.wasQueuedLast == event["was_queued_last"]?.boolValue)
        }
        #expect(ButtonPacket.twist(.buttonEventNotification(notification)).twistOctets == octets)
    }

    @Test("the bounded position follows the dial to both ends and back")
    func boundedPosition() throws {
        var dial = BoundedDial(shown: 0)
        for (index, step) in try Vectors.cases("twist", "bounded_position").enumerated() {
            dial.turn(
                TwistRotation(
                    mode: 0, lastMinimumUpdateWasTop: try step.flag("last_min_update_was_top"),
                    totalDelta: try step.integer("total_delta"), minimumDelta: try step.integer("min_delta"),
                    maximumDelta: try step.integer("max_delta")))
            #expect(dial.position == (try step.integer("position")), "step \(index)")
            #expect(dial.minimum == (try step.integer("minimum")), "step \(index)")
            #expect(dial.shown == (try step.integer("bounded")), "step \(index)")
            #expect(abs(Double(dial.shown) * 100 / Double(Dial.unitsPerTurn) - (try step.seconds("percent"))) < 0.0001)
        }
    }

    @Test("a firmware image begins with its length and its header")
    func startFirmwareUpdate() throws {
        let expected = try #require(try sample("requests")["start_firmware"])
        let octets = try expected.octets("hex")
        let image = try expected.octets("image")
        let packet = HostPacket.twist(
            .startFirmwareUpdateRequest(
                .init(octetCount: UInt32(image.count - 76), header: Array(image.prefix(76)), statusInterval: 2)))
        #expect(packet.twistOctets == octets)
        #expect(try HostPacket(decodingTwist: octets) == packet)
    }
}

extension JSONValue {
    fileprivate func flag(_ name: String) throws -> Bool {
        let value: Bool? = self[name]?.boolValue
        return try #require(value as Bool?, "no flag \(name)")
    }
}
