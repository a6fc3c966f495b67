import DiskTestSupport
import Hub
import Reactor
import ReactorTestSupport
import Testing

@testable import Edges

@Suite("A broker that misbehaves")
struct HostileBrokerTests {
    @Test("one that does not read takes 8 MiB of our memory at most, and a clean end does not wait for it for long")
    func doesNotRead() async throws {
        try await withReactor {
            let broker = ScriptedBroker { broker, _ in
                broker.send(ScriptedBroker.connack)
                broker.stopReading()
            }
            let client = TestClient(broker.options())
            #expect(await client.next() == .connected(.v5))
            let count = MQTTSession.maximumOctetsInFlight / 262_144
            for id in 0..<count { client.publish(UInt64(id), "big", [UInt8](repeating: 1, count: 262_141), qos: 1) }
            client.publish(98, "big", [], qos: 1)
            client.publish(99, "big", [], qos: 0)
            let words = "more than 8 MiB would be in flight"
            #expect(await client.next() == .publishFailed(id: 98, words))
            #expect(await client.next() == .publishFailed(id: 99, words))
            let start = EventLoop.shared.nanosecondsSinceBoot
            EventLoop.shared.onNextTurn { EventLoop.shared.advanceClock(nanoseconds: 1_800_000_000) }
            await client.disconnect()
            #expect((EventLoop.shared.nanosecondsSinceBoot - start) / 1_000_000 < 10_000)
            #expect(
                client.happenings.takeAll()
                    == (0..<count).map { .publishFailed(id: UInt64($0), "the connection to the broker was ended") })
            broker.close()
        }
    }

    @Test("what is acknowledged makes room again")
    func room() async throws {
        try await withReactor {
            let broker = ScriptedBroker { broker, packet in
                switch packet.first.map({ $0 >> 4 }) {
                case 1: broker.send(ScriptedBroker.connack)
                case 3: broker.send([0x40, 0x02] + acknowledged(packet))
                default: break
                }
            }
            let client = TestClient(broker.options())
            _ = await client.next()
            let half = [UInt8](repeating: 1, count: MQTTSession.maximumOctetsInFlight / 2)
            for id in UInt64(0)..<4 {
                client.publish(id, "half", half, qos: 1)
                #expect(await client.next() == .published(id: id))
            }
            await client.disconnect()
            broker.close()
        }
    }

    @Test("one that answers pings and nothing else is given up, and what was on its way is known to have failed")
    func neverAcknowledges() async throws {
        try await withReactor {
            let broker = ScriptedBroker { broker, packet in
                switch packet.first {
                case 0x10: broker.send(ScriptedBroker.hurriedConnack)
                case 0xC0: broker.send([0xD0, 0x00])
                default: break
                }
            }
            var options = broker.options()
            options.progressTimeout = .milliseconds(1500)
            let client = TestClient(options)
            _ = await client.next()
            client.publish(1, "a", [1], qos: 1)
            client.publish(2, "a", [2], qos: 1)
            let words = "the connection to 127.0.0.1:\(broker.port) was lost: it neither reads nor acknowledges"
            guard case .disconnected(let failure) = await client.next() else { throw Unexpected() }
            #expect("\(failure)" == words)
            #expect(await client.next() == .publishFailed(id: 1, words))
            #expect(await client.next() == .publishFailed(id: 2, words))
            #expect(await client.next() == .connected(.v5))
            #expect(broker.connections == 2)
            await client.disconnect()
            broker.close()
        }
    }

    @Test("one that falls silent is noticed by its keep-alive")
    func fallsSilent() async throws {
        try await withReactor {
            let broker = ScriptedBroker { broker, packet in
                if packet.first == 0x10 { broker.send(ScriptedBroker.hurriedConnack) }
            }
            let client = TestClient(broker.options())
            _ = await client.next()
            guard case .disconnected(let failure) = await client.next() else { throw Unexpected() }
            #expect("\(failure)" == "the connection to 127.0.0.1:\(broker.port) was lost: it no longer answers")
            #expect(await client.next() == .connected(.v5))
            await client.disconnect()
            broker.close()
        }
    }

    @Test(
        "one that hangs up in the middle of a packet is asked again",
        arguments: [
            [0x20], [0x20, 0x03, 0x00], [0x20, 0x03, 0x00, 0x00, 0x00, 0x30],
            [0x20, 0x03, 0x00, 0x00, 0x00, 0x30, 0x80], [0x20, 0x03, 0x00, 0x00, 0x00, 0x32, 0x10, 0x00, 0x03, 0x61],
        ] as [[UInt8]])
    func hangsUp(octets: [UInt8]) async throws {
        try await withReactor {
            let broker = ScriptedBroker { broker, _ in
                broker.send(broker.connections == 1 ? octets : ScriptedBroker.connack)
                if broker.connections == 1 { broker.hangUp() }
            }
            let client = TestClient(broker.options())
            var events: [MQTTEvent] = []
            if octets.count > 4 { events.append(await client.next()) }
            guard case .disconnected(.connectionLost) = await client.next() else { throw Unexpected() }
            #expect(await client.next() == .connected(.v5))
            #expect(events.allSatisfy { $0 == .connected(.v5) })
            await client.disconnect()
            broker.close()
        }
    }

    @Test(
        "a flood is taken in small portions: in each turn of the loop others have theirs", arguments: [false, true])
    func flood(isEncrypted: Bool) async throws {
        let relay = isEncrypted ? try TLSRelay() : nil
        defer { relay?.stop() }
        try await withReactor {
            let count = 20_000
            // QoS 0, topic "f", no properties, one octet.
            let message: [UInt8] = [0x30, 0x05, 0x00, 0x01, 0x66, 0x00, 0x2A]
            let broker = ScriptedBroker { broker, packet in
                guard packet.first == 0x10 else { return }
                broker.send(ScriptedBroker.connack + Array(repeatElement(message, count: count).joined()))
            }
            let turns = Turns()
            let client = TestClient(broker.options(through: relay)) { event in
                if case .message = event { turns.messages += 1 }
            }
            turns.begin()
            await client.next { $0 == .connected(.v5) ? () : nil }
            for _ in 0..<count {
                #expect(
                    await client.next() == .message(topicName: "f", payload: [0x2A], retained: false, qos: 0))
            }
            #expect((1...64).contains(turns.most), "\(turns.most) messages in one turn")
            turns.end()
            await client.disconnect()
            broker.close()
        }
    }

    @Test("one that floods us and does not take our acknowledgements is not read any more, and given up")
    func floodWithoutEnd() async throws {
        try await withReactor {
            // QoS 1, topic "f", message id 1, no properties. It sends without end and reads nothing.
            let message: [UInt8] = [0x32, 0x06, 0x00, 0x01, 0x66, 0x00, 0x01, 0x00]
            let portion = Array(repeatElement(message, count: 300_000).joined())
            let broker = ScriptedBroker(receiveBuffer: 2048) { broker, packet in
                guard packet.first == 0x10, broker.connections == 1 else { return }
                broker.stopReading()
                broker.send(ScriptedBroker.hurriedConnack + portion)
            }
            var taken = 0
            let client = TestClient(broker.options()) { event in
                if case .message = event { taken += 1 }
            }
            _ = await client.next { event in
                if case .disconnected = event { true } else { nil }
            }
            #expect(taken > MQTTSession.maximumUnwrittenAnswers)
            #expect(taken < 100_000, "\(taken) messages were taken")
            await client.disconnect()
            broker.close()
        }
    }

    @Test(
        "one that floods us with packets that libmosquitto answers, and takes no answer, is not read any more",
        arguments: [
            // PINGREQ, PUBREL and PUBREC of a message that there is not.
            [0xC0, 0x00], [0x62, 0x02, 0x00, 0x07], [0x50, 0x02, 0x00, 0x07],
        ] as [[UInt8]])
    func floodOfQuestions(packet: [UInt8]) async throws {
        try await withReactor {
            let count = 150_000
            // QoS 0, topic "f", no properties.
            let end: [UInt8] = [0x30, 0x04, 0x00, 0x01, 0x66, 0x00]
            let portion = Array(repeatElement(packet, count: count).joined()) + end
            let broker = ScriptedBroker(receiveBuffer: 2048) { broker, packet in
                guard packet.first == 0x10 else { return }
                broker.stopReading()
                broker.send(ScriptedBroker.connack + portion)
            }
            var isAllRead = false
            let client = TestClient(broker.options()) { event in
                if case .message = event { isAllRead = true }
            }
            #expect(await client.next() == .connected(.v5))
            // Were everything read, a packet at least in each turn, as many answers would wait in memory.
            for _ in 0..<count + 1000 where !isAllRead {
                await withCheckedContinuation { continuation in EventLoop.shared.onNextTurn { continuation.resume() } }
            }
            #expect(!isAllRead)
            broker.close()
            await client.disconnect()
        }
    }

    @Test(
        "a packet that is too long is hung up on when its length is known",
        arguments: [
            // PUBLISH of 200 MB, of 1 MiB and one octet, and of the length that four octets cannot say; SUBACK of 16 KiB + 1.
            ([0x30, 0x80, 0x84, 0xAF, 0x5F], 200_000_000, true), ([0x30, 0x81, 0x80, 0x40], 1_048_577, true),
            ([0x30, 0xFF, 0xFF, 0xFF, 0xFF], 268_435_455, true), ([0x90, 0x81, 0x80, 0x01], 16_385, false),
        ] as [([UInt8], Int, Bool)], [(MQTTProtocolVersion.v5, false), (.v311, false), (.v5, true), (.v311, true)])
    func tooLong(
        _ packet: (header: [UInt8], octets: Int, isMessage: Bool),
        way: (version: MQTTProtocolVersion, isEncrypted: Bool)
    ) async throws {
        let relay = way.isEncrypted ? try TLSRelay() : nil
        defer { relay?.stop() }
        try await withReactor {
            let broker = ScriptedBroker { broker, _ in
                let connack = broker.isVersion5 ? ScriptedBroker.connack : [0x20, 0x02, 0x00, 0x00]
                guard broker.connections == 1 else { return broker.send(connack) }
                broker.send(connack + packet.header + [UInt8](repeating: 0, count: 4_000_000))
            }
            var options = broker.options(through: relay)
            options.protocolVersion = way.version
            let client = TestClient(options)
            let failure = await client.next { event -> MQTTFailure? in
                if case .disconnected(let failure) = event { failure } else { nil }
            }
            #expect(
                failure
                    == .packetTooLong(
                        endpoint: options.endpoint.description, octets: packet.octets, isMessage: packet.isMessage))
            #expect(await client.next { if case .connected(let version) = $0 { version } else { nil } } == way.version)
            await client.disconnect()
            broker.close()
        }
    }

    @Test("a message of 256 KiB is taken, one octet more is said and dropped, and so is the longest packet")
    func longest() async throws {
        try await withReactor {
            func publish(_ count: Int) -> [UInt8] {
                let length = count + 4
                return [
                    0x30, UInt8(length & 0x7F | 0x80), UInt8(length >> 7 & 0x7F | 0x80), UInt8(length >> 14), 0x00,
                    0x01,
                    0x66, 0x00,
                ] + [UInt8](repeating: 0x2A, count: count)
            }
            let most = MQTTClient.maximumPayload
            let broker = ScriptedBroker { broker, packet in
                guard packet.first == 0x10 else { return }
                broker.send(
                    ScriptedBroker.connack + publish(most) + publish(most + 1)
                        + publish(Int(MQTTClient.maximumPacketSize) - 4) + publish(1))
            }
            let client = TestClient(broker.options())
            #expect(await client.next() == .connected(.v5))
            #expect(
                await client.next()
                    == .message(
                        topicName: "f", payload: [UInt8](repeating: 0x2A, count: most), retained: false, qos: 0))
            for count in [most + 1, Int(MQTTClient.maximumPacketSize) - 4] {
                #expect(
                    await client.next()
                        == .dropped("a message of \(count) octets on f was dropped: \(most) is the limit"))
            }
            #expect(await client.next() == .message(topicName: "f", payload: [0x2A], retained: false, qos: 0))
            await client.disconnect()
            broker.close()
        }
    }

    @Test("messages with QoS 2 that are never finished are kept up to a megabyte together")
    func unfinished() async throws {
        try await withReactor {
            // 64 KiB each, with the message ids 1, 2, 3 and so on; 3.1.1 has no limit of its own.
            func publish(_ id: UInt8) -> [UInt8] {
                [0x34, 0x80, 0x80, 0x04, 0x00, 0x01, 0x66, 0x00, id] + [UInt8](repeating: 0, count: 65_536 - 5)
            }
            let broker = ScriptedBroker { broker, packet in
                guard packet.first == 0x10 else { return }
                broker.send([0x20, 0x02, 0x00, 0x00])
                for id in UInt8(1)...(broker.connections == 1 ? 16 : 17) { broker.send(publish(id)) }
                guard broker.connections == 1 else { return }
                for id in UInt8(1)...16 { broker.send([0x62, 0x02, 0x00, id]) }
                broker.send(publish(1) + [0x62, 0x02, 0x00, 1])
            }
            var options = broker.options()
            options.protocolVersion = .v311
            let client = TestClient(options)
            #expect(await client.next() == .connected(.v311))
            for _ in 1...17 { guard case .message = await client.next() else { throw Unexpected() } }
            broker.hangUp()
            _ = await client.next { if case .connected = $0 { true } else { nil } }
            let failure = await client.next { event -> MQTTFailure? in
                if case .disconnected(let failure) = event { failure } else { nil }
            }
            #expect(failure == .tooMuchHeld(endpoint: "127.0.0.1:\(broker.port)"))
            await client.disconnect()
            broker.close()
        }
    }

    @Test("the end of a message with QoS 2 that there is not makes no room for others")
    func unfinishedAndOthersFinished() async throws {
        try await withReactor {
            let broker = ScriptedBroker { broker, packet in
                guard packet.first == 0x10, broker.connections == 1 else { return }
                broker.send([0x20, 0x02, 0x00, 0x00])
                for id in UInt8(1)...17 {
                    // 64 KiB with QoS 2; then PUBREL of another message id.
                    broker.send([0x34, 0x80, 0x80, 0x04, 0x00, 0x01, 0x66, 0x00, id])
                    broker.send([UInt8](repeating: 0, count: 65_536 - 5) + [0x62, 0x02, 0x00, 200])
                }
                broker.send([0x30, 0x03, 0x00, 0x01, 0x66])
            }
            var options = broker.options()
            options.protocolVersion = .v311
            let client = TestClient(options)
            #expect(await client.next() == .connected(.v311))
            #expect(
                await client.next() == .disconnected(.tooMuchHeld(endpoint: "127.0.0.1:\(broker.port)")))
            await client.disconnect()
            broker.close()
        }
    }

    @Test("messages with QoS 2 that are never finished are kept up to a number, however short they are")
    func manyUnfinished() async throws {
        try await withReactor {
            let broker = ScriptedBroker { broker, packet in
                guard packet.first == 0x10, broker.connections == 1 else { return }
                broker.send([0x20, 0x02, 0x00, 0x00])
                for id in UInt8(1)...65 { broker.send([0x34, 0x05, 0x00, 0x01, 0x66, 0x00, id]) }
                broker.send([0x30, 0x03, 0x00, 0x01, 0x66])
            }
            var options = broker.options()
            options.protocolVersion = .v311
            let client = TestClient(options)
            #expect(await client.next() == .connected(.v311))
            #expect(
                await client.next() == .disconnected(.tooMuchHeld(endpoint: "127.0.0.1:\(broker.port)")))
            await client.disconnect()
            broker.close()
        }
    }

    @Test("CONNECT says how much we take: the size of a packet, and how many messages without our acknowledgement")
    func limits() async throws {
        try await withReactor {
            let broker = ScriptedBroker { broker, _ in broker.send(ScriptedBroker.connack) }
            let client = TestClient(broker.options())
            _ = await client.next()
            let connect = broker.packets[0]
            // Receive Maximum and Maximum Packet Size. Source: MQTT 5.0, 3.1.2.11.
            #expect(contains(connect, [0x21, 0x00, 20]))
            #expect(contains(connect, [0x27, 0x00, 0x10, 0x00, 0x00]))
            await client.disconnect()
            broker.close()
        }
    }

    @Test("a broker's own Receive Maximum is kept to")
    func receiveMaximum() async throws {
        try await withReactor {
            // Receive Maximum: 2. It acknowledges when the test says so.
            let broker = ScriptedBroker { broker, packet in
                if packet.first == 0x10 { broker.send([0x20, 0x06, 0x00, 0x00, 0x03, 0x21, 0x00, 0x02]) }
                if packet.first == 0xC0 { broker.send([0xD0, 0x00]) }
            }
            let client = TestClient(broker.options())
            _ = await client.next()
            for id in 1...5 { client.publish(UInt64(id), "a", [UInt8(id)], qos: 1) }
            for round in 1...5 {
                let expected = min(round + 1, 5)
                while broker.published.count < expected { await pause(milliseconds: 1) }
                #expect(broker.published.map(\.last) == (1...UInt8(expected)).map { $0 })
                broker.send([0x40, 0x02] + acknowledged(broker.published[round - 1]))
                #expect(await client.next() == .published(id: UInt64(round)))
            }
            await client.disconnect()
            broker.close()
        }
    }

    @Test("mosquitto that takes one message at a time gets a hundred, in order")
    func oneAtATime() async throws {
        let directory = TemporaryDirectory()
        let broker = try TestBroker("allow_anonymous true\nmax_inflight_messages 1", in: directory)
        defer { broker.stop() }
        try await withReactor {
            let client = TestClient(broker)
            _ = await client.next()
            for id in 0..<100 { client.publish(UInt64(id), "a", [UInt8(id)], qos: 1) }
            for id in 0..<100 { #expect(await client.next() == .published(id: UInt64(id))) }
            await client.disconnect()
        }
    }

    @Test("what we publish ourselves stays away where it is not wanted, if the broker knows how")
    func withoutOurs() async throws {
        let directory = TemporaryDirectory()
        let broker = try TestBroker(in: directory)
        defer { broker.stop() }
        try await withReactor {
            for version in [MQTTProtocolVersion.v5, .v311] {
                let client = TestClient(broker, version: version)
                let other = TestClient(broker)
                _ = [await client.next(), await other.next()]
                client.edge.subscribe([Subscription("x", isWithoutOurs: true), Subscription("end")])
                client.publish(1, "x", [1], qos: 1)
                client.publish(2, "end", [2], qos: 1)
                var payloads: [[UInt8]] = []
                while payloads.last != [2] {
                    if case .message(_, let payload, _, _) = await client.next() { payloads.append(payload) }
                }
                #expect(payloads == (version == .v5 ? [[2]] : [[1], [2]]))
                other.publish(3, "x", [3], qos: 1)
                _ = await client.next { event in
                    if case .message("x", [3], false, 1) = event { true } else { nil }
                }
                await client.disconnect()
                await other.disconnect()
            }
        }
    }

    @Test(
        "each refusal is a sentence that says what to do",
        arguments: [
            (.v5, 0x80, "the broker at b:1883 refuses the connection: Unspecified error (reason code 128)"),
            (.v5, 0x84, "the broker at b:1883 does not speak MQTT 5: set mqtt.protocol"),
            (.v311, 1, "the broker at b:1883 does not speak MQTT 3.1.1: set mqtt.protocol"),
            (.v5, 0x85, "the broker at b:1883 refuses the client identifier \"me\": set another mqtt.client_id"),
            (.v311, 2, "the broker at b:1883 refuses the client identifier \"me\": set another mqtt.client_id"),
            (
                .v5, 0x86,
                "the broker at b:1883 requires a user name and a password: set mqtt.username and mqtt.password"
            ),
            (
                .v5, 0x87,
                "the broker at b:1883 requires a user name and a password: set mqtt.username and mqtt.password"
            ),
            (.v311, 5, "the broker at b:1883 requires a user name and a password: set mqtt.username and mqtt.password"),
            (
                .v311, 3,
                "the broker at b:1883 refuses the connection: Connection Refused: broker unavailable. (reason code 3); "
                    + "the connection is retried"
            ),
            (
                .v5, 0x89,
                "the broker at b:1883 refuses the connection: Server busy (reason code 137); the connection is retried"
            ),
            (
                .v5, 0x8A,
                "the broker at b:1883 refuses the connection: Banned (reason code 138): its administrator has to lift the ban"
            ),
            (
                .v5, 0x90,
                "the broker at b:1883 refuses the connection: Topic Name invalid (reason code 144): set another mqtt.base_topic"
            ),
            (
                .v5, 0x9A,
                "the broker at b:1883 refuses the connection: Retain not supported (reason code 154): "
                    + "Tryck needs retained messages and QoS 1; use another broker"
            ),
            (
                .v5, 0x9D,
                "the broker at b:1883 refuses the connection: Server moved (reason code 157): "
                    + "set mqtt.broker to the server that it names"
            ),
        ] as [(MQTTProtocolVersion, Int32, String)])
    func refusals(version: MQTTProtocolVersion, code: Int32, sentence: String) {
        let options = MQTTOptions(endpoint: .tcp(host: "b", port: 1883), clientIdentifier: "me")
        #expect("\(MQTTFailure(connectReasonCode: code, version: version, options: options))" == sentence)
    }
}

/// How many messages come between two turns of the loop.
@ReactorActor
private final class Turns {
    var messages = 0
    private(set) var most = 0
    private var isOver = false

    func begin() {
        most = max(most, messages)
        messages = 0
        if !isOver { EventLoop.shared.onNextTurn { self.begin() } }
    }

    func end() { isOver = true }
}

extension ScriptedBroker {
    /// - Parameter relay: `nil` to connect without TLS.
    func options(through relay: TLSRelay? = nil) -> MQTTOptions {
        MQTTOptions(endpoint: relay?.endpoint(for: port) ?? .tcp(host: "127.0.0.1", port: port))
    }

    fileprivate var published: [[UInt8]] { packets.filter { $0.first.map { $0 >> 4 } == 3 } }
}

/// The message id of a PUBLISH with QoS 1. Source: MQTT 5.0, 3.3.2.
private func acknowledged(_ publish: [UInt8]) -> ArraySlice<UInt8> {
    let start = 1 + publish.dropFirst().prefix { $0 & 0x80 != 0 }.count + 1
    let topicLength = Int(publish[start]) << 8 | Int(publish[start + 1])
    return publish[(start + 2 + topicLength)...].prefix(2)
}

private func contains(_ octets: [UInt8], _ part: [UInt8]) -> Bool {
    octets.indices.contains { octets[$0...].starts(with: part) }
}
