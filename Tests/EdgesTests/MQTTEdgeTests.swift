import CLinux
import DiskTestSupport
import Glibc
import Hub
import MQTTTopics
import Reactor
import ReactorTestSupport
import Testing

@testable import Edges

@Suite("MQTT")
struct MQTTEdgeTests {
    @Test("what one client publishes another receives", arguments: [MQTTProtocolVersion.v5, .v311])
    func roundTrip(version: MQTTProtocolVersion) async throws {
        let directory = TemporaryDirectory()
        let broker = try TestBroker(in: directory)
        defer { broker.stop() }
        try await withReactor {
            let subscriber = TestClient(broker, version: version)
            #expect(await subscriber.next() == .connected(version))
            subscriber.edge.subscribe([Subscription("home/#", qos: 2)])
            let publisher = TestClient(broker, version: version)
            #expect(await publisher.next() == .connected(version))
            for qos in 0...2 {
                publisher.publish(UInt64(qos), "home/\(qos)", Array("ä\(qos)".utf8) + [0, 0xFF], qos: qos)
                #expect(await publisher.next() == .published(id: UInt64(qos)))
                #expect(
                    await subscriber.next()
                        == .message(
                            topicName: "home/\(qos)", payload: Array("ä\(qos)".utf8) + [0, 0xFF], retained: false,
                            qos: qos))
            }
            publisher.publish(9, "home/empty", [], qos: 1)
            #expect(
                await subscriber.next() == .message(topicName: "home/empty", payload: [], retained: false, qos: 1))
            await subscriber.disconnect()
            await publisher.disconnect()
        }
    }

    @Test("a retained message is marked as retained for later subscribers, and not for existing ones")
    func retained() async throws {
        let directory = TemporaryDirectory()
        let broker = try TestBroker(in: directory)
        defer { broker.stop() }
        try await withReactor {
            let client = TestClient(broker)
            _ = await client.next()
            client.edge.subscribe([Subscription("state", qos: 1)])
            client.publish(1, "state", [1], qos: 1, retain: true)
            let events = [await client.next(), await client.next()]
            #expect(
                Set(events) == [.published(id: 1), .message(topicName: "state", payload: [1], retained: false, qos: 1)])
            let late = TestClient(broker)
            _ = await late.next()
            late.edge.subscribe([Subscription("state", qos: 1)])
            #expect(await late.next() == .message(topicName: "state", payload: [1], retained: true, qos: 1))
            await client.disconnect()
            await late.disconnect()
        }
    }

    @Test("MQTT over a unix socket")
    func unixSocket() async throws {
        let directory = TemporaryDirectory()
        let path = directory.path + "/broker.sock"
        let broker = try TestBroker("allow_anonymous true\nlistener 0 \(path)", in: directory)
        defer { broker.stop() }
        try await withReactor {
            let client = TestClient(MQTTOptions(endpoint: .unix(path: path)))
            #expect(await client.next() == .connected(.v5))
            await client.disconnect()
        }
    }

    @Test("a user name and password are needed where the broker wants them, and never printed")
    func passwords() async throws {
        let directory = TemporaryDirectory()
        let file = directory.path + "/passwords"
        try runToEnd(["/usr/bin/mosquitto_passwd", "-b", "-c", file, "tryck", "correct horse"])
        let broker = try TestBroker("allow_anonymous false\npassword_file \(file)", in: directory)
        defer { broker.stop() }
        try await withReactor {
            for version in [MQTTProtocolVersion.v5, .v311] {
                var options = broker.options(version: version)
                let anonymous = TestClient(options)
                let endpoint = "127.0.0.1:\(broker.port)"
                #expect(
                    await anonymous.next() == .disconnected(.notAuthorized(endpoint: endpoint, hasUsername: false)))
                await anonymous.disconnect()

                options.username = "tryck"
                options.password = MQTTPassword("wrong horse")
                let wrong = TestClient(options)
                let refusal = await wrong.next()
                #expect(refusal == .disconnected(.notAuthorized(endpoint: endpoint, hasUsername: true)))
                await wrong.disconnect()

                options.password = MQTTPassword("correct horse")
                let right = TestClient(options)
                #expect(await right.next() == .connected(version))
                await right.disconnect()

                var dumped = ""
                dump(options, to: &dumped)
                dumped += "\(options) \(String(reflecting: options)) \(refusal)"
                #expect(!dumped.contains("horse"))
            }
        }
    }

    @Test("the broker is killed and comes back: connected again, nothing acknowledged is sent twice")
    func reconnect() async throws {
        let directory = TemporaryDirectory()
        let port = freePort()
        let first = try TestBroker(port: port, in: directory)
        defer { first.stop() }
        try await withReactor {
            let client = TestClient(first)
            #expect(await client.next() == .connected(.v5))
            client.publish(1, "a", [1], qos: 1)
            #expect(await client.next() == .published(id: 1))
            // One that the broker never acknowledges: it stands still, then dies.
            first.freeze()
            client.publish(2, "a", [2], qos: 1)
            first.stop()
            guard case .disconnected = await client.next() else { throw Unexpected() }
            guard case .publishFailed(id: 2, _) = await client.next() else { throw Unexpected() }
            client.publish(3, "a", [3], qos: 1)
            guard case .publishFailed(id: 3, "there is no connection to the broker") = await client.next() else {
                throw Unexpected()
            }
            let second = try TestBroker(port: port, in: directory)
            defer { second.stop() }
            let watcher = TestClient(second)
            #expect(await watcher.next() == .connected(.v5))
            watcher.edge.subscribe([Subscription("#", qos: 1)])
            await client.next { $0 == .connected(.v5) ? () : nil }
            client.publish(4, "a", [4], qos: 1)
            #expect(await client.next() == .published(id: 4))
            // Of the four messages, the new broker receives only the last.
            #expect(await watcher.next() == .message(topicName: "a", payload: [4], retained: false, qos: 1))
            await client.disconnect()
            await watcher.disconnect()
        }
    }

    @Test("the will is published when the client is gone without a word, and not after a disconnect")
    func will() async throws {
        let directory = TemporaryDirectory()
        let broker = try TestBroker(in: directory)
        defer { broker.stop() }
        try await withReactor {
            let watcher = TestClient(broker)
            _ = await watcher.next()
            watcher.edge.subscribe([Subscription("bridge/state", qos: 1)])
            var options = broker.options()
            options.will = MQTTMessage(
                topicName: "bridge/state", payload: Array("offline".utf8), qos: 1, retain: true)
            let polite = TestClient(options)
            _ = await polite.next()
            await polite.disconnect()
            options.clientIdentifier = "abrupt"
            let abrupt = TestClient(options)
            _ = await abrupt.next()
            watcher.publish(1, "bridge/state", Array("marker".utf8), qos: 1)
            let events = [await watcher.next(), await watcher.next()]
            #expect(
                events.contains(
                    .message(topicName: "bridge/state", payload: Array("marker".utf8), retained: false, qos: 1)))
            // A second one of the same name: the broker drops the first as if it had died.
            let usurper = TestClient(options)
            #expect(
                await watcher.next()
                    == .message(topicName: "bridge/state", payload: Array("offline".utf8), retained: false, qos: 1))
            guard case .disconnected = await abrupt.next() else { throw Unexpected() }
            await abrupt.disconnect()
            await usurper.disconnect()
            await watcher.disconnect()
        }
    }

    @Test("messages beyond the bound are dropped and named, the connection stays")
    func oversized() async throws {
        let directory = TemporaryDirectory()
        let broker = try TestBroker(in: directory)
        defer { broker.stop() }
        try await withReactor {
            let reader = TestClient(broker)
            _ = await reader.next()
            reader.edge.subscribe([Subscription("big", qos: 0)])
            let writer = TestClient(broker, version: .v311)
            _ = await writer.next()
            let bound = MQTTClient.maximumPayload
            for (id, count) in [bound, bound + 1, Int(MQTTClient.maximumPacketSize) * 2, 1].enumerated() {
                writer.publish(UInt64(id), "big", [UInt8](repeating: 7, count: count), qos: 1)
            }
            let sizes = [await reader.next(), await reader.next(), await reader.next()].map { event in
                switch event {
                case .message(_, let payload, _, _): "\(payload.count)"
                case .dropped(let words): words
                default: "\(event)"
                }
            }
            // The largest was never sent to us: the broker knows our maximum packet size.
            #expect(
                sizes == [
                    "\(bound)", "a message of \(bound + 1) octets on big was dropped: \(bound) is the limit",
                    "1",
                ])
            await reader.disconnect()
            await writer.disconnect()
        }
    }

    @Test("more than a thousand on their way at once fail, the others arrive")
    func inFlightBound() async throws {
        let directory = TemporaryDirectory()
        let broker = try TestBroker("allow_anonymous true\nmax_queued_messages 0", in: directory)
        defer { broker.stop() }
        try await withReactor {
            let client = TestClient(broker)
            _ = await client.next()
            for id in 0..<1010 { client.publish(UInt64(id), "flood", [1], qos: 1) }
            var published = 0
            var failed: [UInt64] = []
            for _ in 0..<1010 {
                switch await client.next() {
                case .published: published += 1
                case .publishFailed(let id, let words):
                    failed.append(id)
                    #expect(words == "1000 messages are already in flight")
                default: throw Unexpected()
                }
            }
            #expect(published == 1000)
            #expect(failed == Array(1000..<1010))
            await client.disconnect()
        }
    }

    @Test("an impossible topic fails alone")
    func badTopics() async throws {
        let directory = TemporaryDirectory()
        let broker = try TestBroker(in: directory)
        defer { broker.stop() }
        try await withReactor {
            let client = TestClient(broker)
            _ = await client.next()
            for (id, topicName) in ["a/#", "+", "", "nul\0", "fine"].enumerated() {
                client.publish(UInt64(id), topicName, [], qos: 1)
            }
            var failed: Set<UInt64> = []
            for _ in 0..<4 {
                guard case .publishFailed(let id, _) = await client.next() else { throw Unexpected() }
                failed.insert(id)
            }
            #expect(failed == [0, 1, 2, 3])
            #expect(await client.next() == .published(id: 4))
            client.edge.subscribe([
                Subscription("a/#/b", qos: 1), Subscription("nul\0", qos: 1), Subscription("ok/#", qos: 1),
            ])
            for topicFilter in ["a/#/b", "nul\0"] {
                guard case .subscribeFailed(topicFilter, _) = await client.next() else { throw Unexpected() }
            }
            await client.disconnect()
        }
    }

    @Test("the message expiry is passed on, in seconds that are rounded up, and reported to those who ask for it")
    func expiry() async throws {
        let directory = TemporaryDirectory()
        let broker = try TestBroker(in: directory)
        defer { broker.stop() }
        try await withReactor {
            var options = broker.options()
            options.reportsExpiry = true
            let client = TestClient(options)
            _ = await client.next()
            client.publish(1, "kept", [1], qos: 1, retain: true, expiry: .milliseconds(999_001))
            client.publish(2, "for_good", [2], qos: 1, retain: true)
            _ = [await client.next(), await client.next()]
            client.edge.subscribe([Subscription("kept", qos: 1)])
            guard case .expiringMessage("kept", [1], retained: true, let remaining) = await client.next() else {
                throw Unexpected()
            }
            // The broker subtracts the time that it kept the message.
            #expect(remaining <= .seconds(1000) && remaining > .seconds(900))
            client.edge.subscribe([Subscription("for_good", qos: 1)])
            #expect(await client.next() == .message(topicName: "for_good", payload: [2], retained: true, qos: 1))
            await client.disconnect()
        }
    }

    @Test("nothing listens on the port: said at once, tried again and again with growing waits")
    func refused() async throws {
        let port = freePort()
        try await withReactor {
            let client = TestClient(MQTTOptions(endpoint: .tcp(host: "127.0.0.1", port: port)))
            let start = EventLoop.shared.nanosecondsSinceBoot
            for _ in 0..<3 {
                #expect(
                    await client.next() == .disconnected(.connectionRefused(endpoint: "127.0.0.1:\(port)")))
            }
            let waited = (EventLoop.shared.nanosecondsSinceBoot - start) / 1_000_000
            #expect(waited >= 125 + 250, "\(waited) ms")
            await client.disconnect()
        }
    }

    @Test("a name that does not exist is named")
    func unknownHost() async throws {
        try await withReactor {
            let client = TestClient(MQTTOptions(endpoint: .tcp(host: "broker.invalid", port: 1883)))
            #expect(await client.next() == .disconnected(.hostNotFound(host: "broker.invalid")))
            await client.disconnect()
        }
    }

    @Test("a peer that accepts and never answers is given up at the deadline")
    func silent() async throws {
        let (listener, port) = listenOnLoopback()
        try await withReactor {
            var options = MQTTOptions(endpoint: .tcp(host: "127.0.0.1", port: port))
            options.connectTimeout = .milliseconds(300)
            let client = TestClient(options)
            #expect(await client.next() == .disconnected(.noAnswer(endpoint: "127.0.0.1:\(port)")))
            // And so is the next one.
            #expect(await client.next() == .disconnected(.noAnswer(endpoint: "127.0.0.1:\(port)")))
            await client.disconnect()
        }
        close(listener)
    }

    @Test(
        "a broker that refuses MQTT 5 is spoken to in 3.1.1 at once, whichever version its refusal is in",
        arguments: [[0x20, 0x03, 0x00, 0x84, 0x00], [0x20, 0x02, 0x00, 0x01]] as [[UInt8]])
    func fallback(refusal: [UInt8]) async throws {
        try await withReactor {
            // The level stands in octet 8 of CONNECT. Source: MQTT 5.0, 3.1.2.2.
            let fake = FakeBroker { packet in
                switch packet.dropFirst(8).first {
                case 5: refusal
                case 4: [0x20, 0x02, 0x00, 0x00]
                default: []
                }
            }
            let client = TestClient(MQTTOptions(endpoint: .tcp(host: "127.0.0.1", port: fake.port)))
            #expect(await client.next() == .connected(.v311))
            #expect(fake.connections == 2)
            await client.disconnect()
            fake.close()
        }
    }

    @Test("a broker that refuses both versions is an error that names the option")
    func noVersion() async throws {
        try await withReactor {
            let fake = FakeBroker { _ in [0x20, 0x02, 0x00, 0x01] }
            let client = TestClient(MQTTOptions(endpoint: .tcp(host: "127.0.0.1", port: fake.port)))
            guard case .disconnected(let failure) = await client.next() else { throw Unexpected() }
            #expect(failure == .protocolVersionRefused(endpoint: "127.0.0.1:\(fake.port)", .v311))
            await client.disconnect()
            fake.close()
        }
    }

    @Test("garbage instead of MQTT ends the attempt, not the daemon", arguments: 1...8 as ClosedRange<UInt64>)
    func garbage(seed: UInt64) async throws {
        try await withReactor {
            var octet = UInt8(truncatingIfNeeded: seed &* 37)
            let fake = FakeBroker { _ in
                (0..<300).map { _ in
                    octet = octet &* 13 &+ 7
                    return octet
                }
            }
            // In 3.1.1: an MQTT 5 property that libmosquitto 2.0.11 does not know makes it abort (an assertion of its own).
            var options = MQTTOptions(
                endpoint: .tcp(host: "127.0.0.1", port: fake.port), protocolVersion: .v311)
            options.connectTimeout = .milliseconds(200)
            let client = TestClient(options)
            guard case .disconnected = await client.next() else { throw Unexpected() }
            await client.disconnect()
            fake.close()
        }
    }

    @Test("a broker that ends the connection is quoted")
    func brokerDisconnects() async throws {
        try await withReactor {
            // CONNACK and, right after it, DISCONNECT: session taken over. Source: MQTT 5.0, 3.14.2.1.
            let fake = FakeBroker { _ in [0x20, 0x03, 0x00, 0x00, 0x00, 0xE0, 0x01, 0x8E] }
            let client = TestClient(MQTTOptions(endpoint: .tcp(host: "127.0.0.1", port: fake.port)))
            #expect(await client.next() == .connected(.v5))
            guard case .disconnected(let failure) = await client.next() else { throw Unexpected() }
            #expect(failure.description.contains("mqtt.client_id"), "\(failure)")
            await client.disconnect()
            fake.close()
        }
    }

    @Test("options that cannot be used are named")
    func unusableOptions() async throws {
        try await withReactor {
            var options = MQTTOptions(endpoint: .tcp(host: "127.0.0.1", port: 1))
            options.username = "user"
            options.password = MQTTPassword("secret\0word")
            let client = TestClient(options)
            #expect(
                await client.next() == .disconnected(.unusableOption("mqtt.password contains a NUL character")))
            await client.disconnect()
        }
    }

    @Test("disconnect waits for what is in flight, but not for a broker that stands still")
    func disconnectWaits() async throws {
        let directory = TemporaryDirectory()
        let broker = try TestBroker(in: directory)
        defer { broker.stop() }
        try await withReactor {
            let client = TestClient(broker)
            _ = await client.next()
            for id in 0..<200 { client.publish(UInt64(id), "last", [1], qos: 1) }
            await client.disconnect()
            #expect(client.happenings.takeAll() == (0..<200).map { .published(id: $0) })

            let stuck = TestClient(broker)
            _ = await stuck.next()
            broker.freeze()
            stuck.publish(7, "last", [1], qos: 1)
            let start = EventLoop.shared.nanosecondsSinceBoot
            EventLoop.shared.onNextTurn { EventLoop.shared.advanceClock(nanoseconds: 1_800_000_000) }
            await stuck.disconnect()
            let waited = (EventLoop.shared.nanosecondsSinceBoot - start) / 1_000_000
            #expect(waited >= 2000)
            #expect(
                stuck.happenings.takeAll() == [.publishFailed(id: 7, "the connection to the broker was ended")])
        }
    }

    @Test("disconnect in any state is done, and connect may follow it")
    func disconnectAnywhere() async throws {
        let directory = TemporaryDirectory()
        let broker = try TestBroker(in: directory)
        defer { broker.stop() }
        try await withReactor {
            let client = TestClient(broker, connects: false)
            await client.disconnect()
            // While the helper dials.
            client.edge.connect()
            await client.disconnect()
            client.edge.connect()
            #expect(await client.next() == .connected(.v5))
            await client.disconnect()
            await client.disconnect()
            #expect(client.happenings.takeAll().isEmpty)
        }
    }
}

struct Unexpected: Error {}

/// An edge and what it reported.
@ReactorActor
final class TestClient {
    let happenings = Happenings<MQTTEvent>()
    let edge: MQTTEdge

    convenience init(_ broker: TestBroker, version: MQTTProtocolVersion = .v5, connects: Bool = true) {
        self.init(broker.options(version: version), connects: connects)
    }

    /// - Parameter watching: receives each event as it arrives.
    init(
        _ options: MQTTOptions, connects: Bool = true, watching: @escaping @ReactorActor (MQTTEvent) -> Void = { _ in }
    ) {
        let happenings = happenings
        edge = MQTTEdge(loop: .shared, options: options, seed: 1) {
            watching($0)
            happenings.add($0)
        }
        if connects { edge.connect() }
    }

    func next() async -> MQTTEvent { await happenings.next() }

    func next<T: Sendable>(_ choose: (MQTTEvent) -> T?) async -> T { await happenings.next(choose) }

    func publish(
        _ id: UInt64, _ topicName: String, _ payload: [UInt8], qos: Int, retain: Bool = false, expiry: Duration? = nil
    ) {
        edge.publish(id: id, topicName: topicName, payload: payload, qos: qos, retain: retain, expiry: expiry)
    }

    func disconnect() async {
        await withCheckedContinuation { continuation in edge.disconnect { continuation.resume() } }
    }
}

extension TestBroker {
    func options(version: MQTTProtocolVersion = .v5) -> MQTTOptions {
        MQTTOptions(endpoint: .tcp(host: "127.0.0.1", port: port), protocolVersion: version)
    }
}

/// Answers the first packet of each connection.
@ReactorActor
final class FakeBroker {
    let port: UInt16
    private(set) var connections = 0
    private let listener: Int32
    private var watches: [(Watch, Int32)] = []

    init(answer: @escaping ([UInt8]) -> [UInt8]) {
        (listener, port) = listenOnLoopback()
        watches = []
        let watch = EventLoop.shared.watch(listener, .read) { [unowned self] _ in accept(answer) }
        watches.append((watch, listener))
    }

    private func accept(_ answer: @escaping ([UInt8]) -> [UInt8]) {
        let connection = linux_accept(listener)
        guard connection >= 0 else { return }
        connections += 1
        var watch: Watch?
        watch = EventLoop.shared.watch(connection, .read) { _ in
            var packet = [UInt8](repeating: 0, count: 4096)
            let count = read(connection, &packet, packet.count)
            guard count > 0 else {
                watch?.set([])
                return
            }
            let reply = answer(Array(packet.prefix(count)))
            _ = send(connection, reply, reply.count, Int32(MSG_NOSIGNAL))
        }
        if let watch { watches.append((watch, connection)) }
    }

    func close() {
        for (watch, descriptor) in watches {
            watch.cancel()
            Glibc.close(descriptor)
        }
        watches = []
    }
}

@ReactorActor
func pause(milliseconds: Int64) async {
    await withCheckedContinuation { continuation in
        let loop = EventLoop.shared
        loop.timer { continuation.resume() }.set(at: loop.nanosecondsSinceBoot + milliseconds * 1_000_000)
    }
}
