import CDisk
import CMosquitto
import Glibc
import Hub
import Reactor
import ReactorTestSupport
import TestSupport
import Testing

@testable import Edges

/// What a broker sends after a good CONNACK, in hexadecimal; a CONNACK comes in its place. Ten types of packets, each with
/// lengths that do not fit, values that are cut off, and properties that do not exist. Source: MQTT 5.0, 2.2.2 and 3.
private let malformed = [
    // CONNACK
    "20 05 00 00 02 7F 00", "20 04 00 00 01 7F", "20 06 00 00 03 80 01 00", "20 03 00 00 80", "20 05 00 00 7F 21 00",
    "20 08 00 00 05 12 00 10 61 62",
    // PUBLISH
    "30 05 00 01 66 01 7F", "30 07 00 01 66 01 01 00 7F", "30 03 00 05 66", "30 05 00 01 FF 00 2A",
    "36 08 00 01 66 00 01 00 2A 00", "32 06 00 01 66 00 00 00", "30 03 00 00 00",
    // PUBACK
    "40 06 00 01 00 02 7F 00", "40 01 00", "40 02 00 00",
    // PUBREC
    "50 06 00 01 00 02 7F 00", "50 05 00 01 00 01 26", "50 00",
    // PUBREL
    "62 06 00 01 00 02 7F 00", "60 02 00 01", "62 01 00",
    // PUBCOMP
    "70 06 00 01 00 02 7F 00", "70 04 00 01 00 05", "70 00",
    // SUBACK
    "90 06 00 01 02 7F 00 00", "90 02 00 01", "90 03 00 00 00",
    // UNSUBACK
    "B0 06 00 01 02 7F 00 00", "B0 01 00",
    // DISCONNECT
    "E0 04 00 02 7F 00", "E0 03 00 01 26", "E0 00",
    // AUTH
    "F0 04 00 02 7F 00", "F0 04 18 02 00 00",
]

@Suite("A broker that breaks the protocol", .serialized)
struct MalformedPacketTests {
    /// Which of the sequences end a process that uses libmosquitto as it is.
    ///
    /// Each is read in a process of its own by the installed library, from Python, where nothing of ours is loaded.
    private static func deadly() throws -> Set<String> {
        let script = """
            import ctypes, os, resource, select, socket, sys
            mosquitto = ctypes.CDLL("libmosquitto.so.1")
            mosquitto.mosquitto_new.restype = ctypes.c_void_p
            mosquitto.mosquitto_lib_init()
            resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
            os.dup2(os.open("/dev/null", os.O_WRONLY), 1)

            def attack(octets):
                listener = socket.create_server(("127.0.0.1", 0))
                client = ctypes.c_void_p(mosquitto.mosquitto_new(b"c", True, None))
                mosquitto.mosquitto_int_option(client, 1, 5)
                mosquitto.mosquitto_connect_async(client, b"127.0.0.1", listener.getsockname()[1], 60)
                broker = listener.accept()[0]
                broker.sendall(octets)
                broker.close()
                for turn in range(20):
                    if mosquitto.mosquitto_socket(client) < 0: break
                    select.select([mosquitto.mosquitto_socket(client)], [], [], 1)
                    mosquitto.mosquitto_loop_read(client, 1)

            for line in sys.argv[1:]:
                octets = bytes.fromhex(line)
                child = os.fork()
                if child == 0:
                    os.close(2)
                    attack(octets if octets[0] == 0x20 else bytes.fromhex("2003000000") + octets)
                    os._exit(0)
                status = os.waitpid(child, 0)[1]
                if os.WIFSIGNALED(status): print(line, file=sys.stderr, flush=True)
            """
        let (process, log) = try startLogged(["/usr/bin/python3", "-c", script] + malformed)
        defer { close(log) }
        var said: [UInt8] = []
        var chunk = [UInt8](repeating: 0, count: 4096)
        while case let count = read(log, &chunk, chunk.count), count > 0 { said += chunk.prefix(count) }
        var status: Int32 = 0
        waitpid(process, &status, 0)
        try #require(status == 0, "\(String(decoding: said, as: UTF8.self))")
        return Set(String(decoding: said, as: UTF8.self).split(separator: "\n").map(String.init))
    }

    /// The assertions are the library's, so another version may have others: what ends an unprotected process must lead
    /// to a reconnect with 3.1.1 here, and what does not must lead to one with the version that is configured.
    @Test(
        "what ends a process with libmosquitto costs a connection here, whether it is found before or by the assertion",
        arguments: [false, true])
    func sequences(isEncrypted: Bool) async throws {
        let relay = isEncrypted ? try TLSRelay() : nil
        defer { relay?.stop() }
        let deadly = try Self.deadly()
        #expect(malformed.count == 35)
        var version: (Int32, Int32, Int32) = (0, 0, 0)
        mosquitto_lib_version(&version.0, &version.1, &version.2)
        if version == (2, 0, 11) { #expect(deadly.count == 14, "\(deadly.sorted())") }
        try await withReactor {
            for sequence in malformed {
                for checksProperties in deadly.contains(sequence) ? [true, false] : [true] {
                    let attack = Attack(sequence)
                    let client = TestClient(attack.options(checksProperties: checksProperties, through: relay))
                    let failure = await client.next { event -> MQTTFailure? in
                        if case .disconnected(let failure) = event { failure } else { nil }
                    }
                    #expect(failure.isMalformedPacket == deadly.contains(sequence), "\(sequence): \(failure)")
                    let next = await client.next { event -> MQTTProtocolVersion? in
                        if case .connected(let version) = event { version } else { nil }
                    }
                    #expect(next == (deadly.contains(sequence) ? .v311 : .v5), "\(sequence)")
                    await client.disconnect()
                    attack.broker.close()
                }
            }
        }
    }

    @Test("an assertion that fails outside the library's loop functions ends the process, as without our definition")
    func otherAssertions() async {
        await #expect(processExitsWith: .signal(SIGABRT)) {
            // Without a file of the memory of the process.
            var limit = rlimit()
            setrlimit(__rlimit_resource_t(RLIMIT_CORE.rawValue), &limit)
            typealias Failure =
                @convention(c) (UnsafePointer<CChar>, UnsafePointer<CChar>, UInt32, UnsafePointer<CChar>) -> Void
            let fail = unsafeBitCast(dlsym(nil, "__assert_fail"), to: Failure.self)
            fail("handle != NULL", "test.c", 1, "otherAssertions")
        }
    }

    @Test("3.1.1 is spoken until the configuration is read again")
    func reload() async throws {
        try await withReactor {
            let attack = Attack("20 05 00 00 02 7F 00")
            let client = TestClient(attack.options())
            _ = await client.next { if case .disconnected = $0 { true } else { nil } }
            #expect(await client.next() == .connected(.v311))
            attack.broker.hangUp()
            _ = await client.next { if case .disconnected = $0 { true } else { nil } }
            #expect(await client.next() == .connected(.v311))
            client.edge.configurationRead()
            attack.broker.hangUp()
            _ = await client.next { if case .disconnected = $0 { true } else { nil } }
            #expect(await client.next() == .connected(.v5))
            await client.disconnect()
            attack.broker.close()
        }
    }

    @Test(
        "an assertion that is caught leaves less than 64 KiB behind, with a megabyte of payload and a thousand properties"
    )
    func leak() async throws {
        try await withReactor {
            // A topic of 16 KiB, 200 user properties, one that does not exist, and payload up to the longest packet.
            let topic = [UInt8](repeating: 0x61, count: 16 * 1024)
            let properties = [UInt8](repeatElement([0x26, 0, 1, 0x61, 0, 1, 0x62], count: 200).joined()) + [0x7F]
            var body = [UInt8(topic.count >> 8), UInt8(topic.count & 0xFF)] + topic
            body += [UInt8(properties.count & 0x7F | 0x80), UInt8(properties.count >> 7)] + properties
            body += [UInt8](repeating: 0, count: 1_000_000 - body.count)
            let packet =
                [0x30, UInt8(body.count & 0x7F | 0x80), UInt8(body.count >> 7 & 0x7F | 0x80), UInt8(body.count >> 14)]
                + body
            let count = 20
            @ReactorActor func attackOnce() async {
                let attack = Attack(packet)
                let client = TestClient(attack.options(checksProperties: false))
                let failure = await client.next { event -> MQTTFailure? in
                    if case .disconnected(let failure) = event { failure } else { nil }
                }
                #expect(failure.isMalformedPacket, "\(failure)")
                await client.disconnect()
                attack.broker.close()
            }
            // Memory that the first attacks allocate is reused by later ones.
            for _ in 0..<3 { await attackOnce() }
            let before = Int(allocated_octets())
            for _ in 0..<count { await attackOnce() }
            let after = Int(allocated_octets())
            let lost = (after - before) / count
            #expect(lost < 64 * 1024, "\(lost) octets were lost in each attack")
        }
    }

    @Test("from the eighth malformed packet on a minute passes between attempts, whatever else happens")
    func mistrust() {
        var mistrust = MalformedPacketPolicy()
        #expect(mistrust.version(.v5) == .v5)
        for count in 1...8 {
            #expect(mistrust.pause(.milliseconds(250)) == .milliseconds(250), "\(count)")
            mistrust.malformedPacket()
            #expect(mistrust.version(.v5) == .v311)
            mistrust.configurationRead()
            #expect(mistrust.version(.v5) == .v5)
        }
        #expect(mistrust.pause(.milliseconds(250)) == .seconds(60))
        #expect(mistrust.pause(.seconds(90)) == .seconds(90))
    }

    @Test("properties are followed as the library follows them, and no octets make that trap", arguments: 0..<20)
    func anyOctets(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        for _ in 0..<2000 {
            let octets = (0..<Int.random(in: 0...40, using: &random)).map { _ in
                Bool.random(using: &random)
                    ? UInt8.random(in: 0...5, using: &random) : .random(in: 0...255, using: &random)
            }
            for kind in UInt8(0)...15 {
                _ = cmosquitto_is_malformed(
                    kind << 4 | .random(in: 0...15, using: &random), octets, UInt32(octets.count))
            }
        }
    }

    @Test("so many properties are read, and one more is malformed: the library compares each with all others")
    func manyProperties() {
        for (count, isMalformed) in [(256, false), (257, true)] {
            let properties = [UInt8](repeatElement([0x26, 0, 0, 0, 0], count: count).joined())
            let packet =
                [0, 1, 0x66, UInt8(properties.count & 0x7F | 0x80), UInt8(properties.count >> 7)] + properties
            #expect((cmosquitto_is_malformed(0x30, packet, UInt32(packet.count)) != 0) == isMalformed)
        }
    }

    @Test(
        "the dynamic linker finds our definitions before those of the libraries",
        arguments: ["__assert_fail", "read", "SSL_read", "SSL_get_error"])
    func definitions(name: String) {
        // RTLD_DEFAULT and RTLD_NEXT, which are macros.
        let (first, next) = (dlsym(nil, name), dlsym(UnsafeMutableRawPointer(bitPattern: -1), name))
        #expect(first != nil && next != nil && first != next)
    }
}

/// A broker that sends these octets on its first connection, and is a good one from then on.
@ReactorActor
private struct Attack {
    let broker: ScriptedBroker

    init(_ sequence: String) {
        self.init(sequence.split(separator: " ").compactMap { UInt8($0, radix: 16) })
    }

    init(_ octets: [UInt8]) {
        broker = ScriptedBroker { broker, packet in
            guard packet.first == 0x10 else { return }
            if broker.connections == 1 {
                broker.send(octets.first == 0x20 ? octets : ScriptedBroker.connack + octets)
                broker.finish()
            } else {
                broker.send(broker.isVersion5 ? ScriptedBroker.connack : [0x20, 0x02, 0x00, 0x00])
            }
        }
    }

    func options(checksProperties: Bool = true, through relay: TLSRelay? = nil) -> MQTTOptions {
        var options = broker.options(through: relay)
        options.checksProperties = checksProperties
        return options
    }
}

extension ScriptedBroker {
    /// Whether CONNECT of the newest connection has protocol level 5. Source: MQTT 5.0, 3.1.2.2.
    var isVersion5: Bool { packets.first.map { $0.count > 8 && $0[8] == 5 } ?? false }
}
