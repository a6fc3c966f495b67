import DiskTestSupport
import Glibc
import Hub
import Reactor
import ReactorTestSupport
import Testing

@testable import Edges

@Suite("MQTT over TLS")
struct MQTTSecurityTests {
    @Test("over TLS, too, large messages come in portions, and one that is too long is hung up on")
    func longMessages() async throws {
        let certificates = try Certificates()
        let broker = try TestBroker(certificates.listener, in: certificates.directory)
        defer { broker.stop() }
        try await withReactor {
            // 3.1.1 does not tell the broker how much we take.
            var options = certificates.options(broker)
            options.protocolVersion = .v311
            let client = TestClient(options)
            let publisher = TestClient(certificates.options(broker))
            _ = [await client.next(), await publisher.next()]
            client.edge.subscribe([Subscription("big", qos: 0), Subscription("small", qos: 1)])
            client.publish(1, "small", [1], qos: 1)
            _ = await client.next { if case .message("small", [1], false, 1) = $0 { true } else { nil } }
            for id in UInt64(1)...8 {
                publisher.publish(id, "big", [UInt8](repeating: UInt8(id), count: MQTTClient.maximumPayload), qos: 1)
            }
            for id in UInt8(1)...8 {
                let payload = await client.next { event -> [UInt8]? in
                    if case .message("big", let payload, _, _) = event { payload } else { nil }
                }
                #expect(payload == [UInt8](repeating: id, count: MQTTClient.maximumPayload))
            }
            publisher.publish(9, "big", [UInt8](repeating: 9, count: 2_000_000), qos: 1)
            let failure = await client.next { event -> MQTTFailure? in
                if case .disconnected(let failure) = event { failure } else { nil }
            }
            #expect(
                failure
                    == .packetTooLong(endpoint: "localhost:\(broker.port)", octets: 2_000_005, isMessage: true))
            await client.disconnect()
            await publisher.disconnect()
        }
    }

    @Test("the broker's certificate must come from the given authority and be for the given name")
    func certificates() async throws {
        let files = try Certificates()
        let broker = try TestBroker(files.listener, in: files.directory)
        defer { broker.stop() }
        try await withReactor {
            let good = TestClient(files.options(broker))
            #expect(await good.next() == .connected(.v5))
            await good.disconnect()

            let stranger = TestClient(files.options(broker, authority: "other-ca.crt"))
            #expect(
                await stranger.next()
                    == .disconnected(.security(endpoint: "localhost:\(broker.port)", .untrustedCertificate)))
            await stranger.disconnect()

            let system = TestClient(files.options(broker, authority: nil))
            guard case .disconnected(let failure) = await system.next() else { throw Unexpected() }
            #expect(failure == .security(endpoint: "localhost:\(broker.port)", .untrustedCertificate))
            #expect(failure.description.contains("set mqtt.tls.ca"))
            await system.disconnect()

            let wrongName = TestClient(files.options(broker, host: "127.0.0.1"))
            #expect(
                await wrongName.next()
                    == .disconnected(.security(endpoint: "127.0.0.1:\(broker.port)", .wrongHostName)))
            await wrongName.disconnect()

            let careless = TestClient(
                files.options(broker, host: "127.0.0.1", authority: "other-ca.crt", isInsecure: true))
            #expect(await careless.next() == .connected(.v5))
            await careless.disconnect()
        }
    }

    @Test("a client certificate is shown to a broker that wants one")
    func clientCertificate() async throws {
        let files = try Certificates()
        let broker = try TestBroker(files.listener + "\nrequire_certificate true", in: files.directory)
        defer { broker.stop() }
        try await withReactor {
            var options = files.options(broker)
            let without = TestClient(options)
            guard case .disconnected = await without.next() else { throw Unexpected() }
            await without.disconnect()
            options = files.options(broker, client: "client")
            let with = TestClient(options)
            #expect(await with.next() == .connected(.v5))
            await with.disconnect()
        }
    }

    @Test("many small messages that arrive in one TLS record are all taken")
    func oneRecord() async throws {
        let files = try Certificates()
        let broker = try TestBroker(files.listener, in: files.directory)
        defer { broker.stop() }
        try await withReactor {
            let client = TestClient(files.options(broker))
            _ = await client.next()
            for id in 0..<150 { client.publish(UInt64(id), "state/\(id)", [1, 2, 3], qos: 0, retain: true) }
            for _ in 0..<150 { _ = await client.next() }
            client.edge.subscribe([Subscription("state/#", qos: 0)])
            var topicNames: Set<String> = []
            for _ in 0..<150 {
                guard case .message(let topicName, _, true, _) = await client.next() else { throw Unexpected() }
                topicNames.insert(topicName)
            }
            #expect(topicNames.count == 150)
            await client.disconnect()
        }
    }

    @Test("a broker that changes its key again and again does not hold the loop")
    func keyUpdates() async throws {
        let files = try Certificates()
        let count = 20_000
        let broker = try KeyUpdateServer(
            files, keyUpdates: count, first: [0x20, 3, 0, 0, 0], last: [0x30, 5, 0, 1, 0x66, 0, 0x2A])
        defer { broker.stop() }
        try await withReactor {
            let security = MQTTTransportSecurity(certificateAuthorityPath: files.directory.path + "/ca.crt")
            let client = TestClient(MQTTOptions(endpoint: .tls(host: "localhost", port: broker.port, security)))
            #expect(await client.next() == .connected(.v5))
            let turn = EventLoop.shared.turn
            #expect(await client.next() == .message(topicName: "f", payload: [0x2A], retained: false, qos: 0))
            let fewest = UInt64(count * KeyUpdateServer.octets / MQTTClient.encryptedOctetsPerTurn)
            #expect(EventLoop.shared.turn - turn >= fewest)
            await client.disconnect()
        }
    }

    @Test("a file that cannot be used is named with its option")
    func unusableFiles() async throws {
        let files = try Certificates()
        let broker = try TestBroker(files.listener, in: files.directory)
        defer { broker.stop() }
        let garbage = files.directory.path + "/garbage.pem"
        writeFile(garbage, "not a certificate".utf8)
        try await withReactor {
            var security = MQTTTransportSecurity(certificateAuthorityPath: "/nonexistent/ca.pem")
            for (option, path) in [("mqtt.tls.ca", "/nonexistent/ca.pem"), ("mqtt.tls.ca", garbage)] {
                security.certificateAuthorityPath = path
                let client = TestClient(
                    MQTTOptions(endpoint: .tls(host: "localhost", port: broker.port, security)))
                #expect(
                    await client.next()
                        == .disconnected(
                            .security(
                                endpoint: "localhost:\(broker.port)", .unusableFile(option: option, path: path))))
                await client.disconnect()
            }
            security = MQTTTransportSecurity(
                certificateAuthorityPath: files.directory.path + "/ca.crt",
                certificatePath: files.directory.path + "/client.crt", keyPath: garbage)
            let client = TestClient(MQTTOptions(endpoint: .tls(host: "localhost", port: broker.port, security)))
            #expect(
                await client.next()
                    == .disconnected(
                        .security(
                            endpoint: "localhost:\(broker.port)", .unusableFile(option: "mqtt.tls.key", path: garbage)))
            )
            await client.disconnect()
        }
    }

    @Test("TLS with a broker that does not speak it fails with a sentence")
    func plainBroker() async throws {
        let files = try Certificates()
        let broker = try TestBroker(in: files.directory)
        defer { broker.stop() }
        try await withReactor {
            var options = files.options(broker)
            options.connectTimeout = .milliseconds(500)
            let client = TestClient(options)
            guard case .disconnected(let failure) = await client.next() else { throw Unexpected() }
            #expect("\(failure)".contains("localhost:\(broker.port)"))
            await client.disconnect()
        }
    }
}

/// Two authorities, a broker's certificate for `localhost`, and a client's, made with openssl.
struct Certificates {
    let directory = TemporaryDirectory()

    var listener: String {
        """
        allow_anonymous true
        cafile \(directory.path)/ca.crt
        certfile \(directory.path)/broker.crt
        keyfile \(directory.path)/broker.key
        """
    }

    init() throws {
        for name in ["ca", "other-ca"] {
            try openssl(
                "req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 2 -subj /CN=\(name) "
                    + "-keyout \(name).key -out \(name).crt")
        }
        writeFile(directory.path + "/names", "subjectAltName=DNS:localhost".utf8)
        for name in ["broker", "client"] {
            try openssl(
                "req -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -subj /CN=\(name) -keyout \(name).key "
                    + "-out \(name).csr")
            try openssl(
                "x509 -req -in \(name).csr -CA ca.crt -CAkey ca.key -CAcreateserial -days 2 -extfile names "
                    + "-out \(name).crt")
        }
    }

    private func openssl(_ arguments: String) throws {
        let files = ["-keyout", "-out", "-in", "-CA", "-CAkey", "-extfile"]
        var words = ["/usr/bin/openssl"]
        for word in arguments.split(separator: " ") {
            words.append(files.contains(words.last ?? "") ? "\(directory.path)/\(word)" : String(word))
        }
        try runToEnd(words)
    }

    func options(
        _ broker: TestBroker, host: String = "localhost", authority: String? = "ca.crt", client: String? = nil,
        isInsecure: Bool = false
    ) -> MQTTOptions {
        MQTTOptions(
            endpoint: .tls(
                host: host, port: broker.port,
                MQTTTransportSecurity(
                    certificateAuthorityPath: authority.map { "\(directory.path)/\($0)" },
                    certificatePath: client.map { "\(directory.path)/\($0).crt" },
                    keyPath: client.map { "\(directory.path)/\($0).key" }, isInsecure: isInsecure)))
    }
}
