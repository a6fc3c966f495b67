import Foundation
import JSON
import Testing

/// The daemon with mosquitto.
@Suite("With mosquitto", .serialized, .ownThread)
struct BrokerTests {
    private func simulated(_ workshop: Workshop, broker: String) throws {
        try workshop.write("simulator.yaml", "buttons:\n  kitchen: {address: \"80:E4:DA:00:00:01\"}\n")
        try workshop.write("rules.yaml", ForeignControllerTests.rules)
        try workshop.write(
            "tryck.yaml",
            """
            bluetooth: {transport: "simulated:simulator.yaml"}
            mqtt:
              broker: \(broker)
              \(broker.hasPrefix("\"mqtts") ? "tls: {ca: ca.pem}" : "base_topic: home/tryck")
            rules: rules.yaml
            """)
    }

    @Test("pairing over MQTT: permit_join, progress and the answer; a clean shutdown publishes offline")
    func permitJoin() throws {
        let workshop = try Workshop()
        let port = try workshop.mosquitto()
        try simulated(workshop, broker: "\"mqtt://127.0.0.1:\(port)\"")
        let subscriber = try workshop.subscriber(port)
        let daemon = try workshop.daemon()
        try subscriber.line(containing: "home/tryck/bridge/state online")
        try daemon.line(containing: "is ready")
        func publish(_ payload: String, _ extra: [String] = []) throws {
            let program = try workshop.start(
                "/usr/bin/mosquitto_pub",
                ["-p", "\(port)", "-t", "home/tryck/bridge/request/permit_join", "-m", payload, "-q", "1"] + extra)
            #expect(try program.status() == 0)
        }
        try publish(#"{"time": 30, "transaction": "t1"}"#)
        try subscriber.line(containing: #"response/permit_join {"status":"ok","data":{"time":30},"transaction":"t1"}"#)
        try subscriber.line(containing: #""step":"paired""#)
        try publish("nonsense")
        try subscriber.line(containing: #"response/permit_join {"status":"error""#)
        daemon.signal(SIGTERM)
        #expect(try daemon.status() == 0)
        try subscriber.line(containing: "home/tryck/bridge/state offline")
    }

    @Test("the will of a killed daemon publishes offline, and after a restart the daemon and its button are back")
    func killed() throws {
        let workshop = try Workshop()
        let port = try workshop.mosquitto()
        try simulated(workshop, broker: "\"mqtt://127.0.0.1:\(port)\"")
        let subscriber = try workshop.subscriber(port, "home/tryck/bridge/state")
        let daemon = try workshop.daemon()
        try subscriber.line(containing: "online")
        daemon.signal(SIGKILL)
        try subscriber.line(containing: "offline")
        // The broker may learn of the end before the lock is released.
        #expect(try daemon.status() == SIGKILL)
        let again = try workshop.daemon()
        try again.line(containing: "is running")
        try subscriber.line(containing: "online")
    }

    @Test("TLS with a private authority connects; without its certificate the log says what to do")
    func tls() throws {
        let workshop = try Workshop()
        func openssl(_ arguments: [String]) throws {
            let program = try workshop.start("/usr/bin/openssl", arguments)
            #expect(try program.status() == 0, "\(program.text)")
        }
        let (ca, key, certificate) = (workshop.path("ca.pem"), workshop.path("key.pem"), workshop.path("cert.pem"))
        try openssl([
            "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-keyout", workshop.path("ca.key"), "-out", ca, "-days",
            "2", "-subj", "/CN=test authority",
        ])
        try openssl([
            "req", "-newkey", "rsa:2048", "-nodes", "-keyout", key, "-out", workshop.path("request.pem"), "-subj",
            "/CN=localhost",
        ])
        try workshop.write("extensions", "subjectAltName=DNS:localhost,IP:127.0.0.1\n")
        try openssl([
            "x509", "-req", "-in", workshop.path("request.pem"), "-CA", ca, "-CAkey", workshop.path("ca.key"),
            "-CAcreateserial", "-days", "2", "-extfile", workshop.path("extensions"), "-out", certificate,
        ])
        let port = try workshop.mosquitto("allow_anonymous true\ncertfile \(certificate)\nkeyfile \(key)")
        try simulated(workshop, broker: "\"mqtts://localhost:\(port)\"")
        let subscriber = try workshop.subscriber(port, "#", ["--cafile", ca, "--insecure"])
        let daemon = try workshop.daemon()
        try subscriber.line(containing: "tryck/bridge/state online")
        daemon.stop()

        try workshop.write(
            "tryck.yaml", "bluetooth: {transport: none}\nmqtt: {broker: \"mqtts://localhost:\(port)\"}\n")
        let wary = try workshop.daemon()
        try wary.line(containing: "mqtt.tls.ca")
        let status = try workshop.tryck(["status"])
        #expect(try status.status() == 1)
        #expect(status.text.contains("certificate"), "\(status.text)")
    }

    @Test("a broker that sends a message of 200 MB is disconnected before it takes memory", arguments: ["5", "3.1.1"])
    func longMessage(version: String) throws {
        let script = """
            import socket
            listener = socket.create_server(("127.0.0.1", 0))
            print("port", listener.getsockname()[1], flush=True)
            for attempt in range(4):
                broker = listener.accept()[0]
                connect = broker.recv(4096)
                broker.sendall(bytes.fromhex("2003000000" if connect[8] == 5 else "20020000"))
                if attempt == 0:
                    # What comes after a connection is in memory once.
                    print("first", flush=True)
                    input()
                else:
                    try:
                        broker.sendall(bytes.fromhex("308084AF5F000166"))
                        for portion in range(200): broker.sendall(bytes(1000000))
                        print("took it all", flush=True)
                    except OSError:
                        print("hung up", attempt, flush=True)
                broker.close()
            listener.accept()
            print("done", flush=True)
            """
        let workshop = try Workshop()
        let broker = try workshop.start("/usr/bin/python3", ["-c", script])
        let port = try broker.line(containing: "port ").dropFirst(5)
        try workshop.write(
            "tryck.yaml",
            "bluetooth: {transport: none}\nmqtt: {broker: \"mqtt://127.0.0.1:\(port)\", protocol: \"\(version)\"}\n")
        let daemon = try workshop.daemon()
        try broker.line(containing: "first")
        try daemon.line(containing: "connected to")
        let before = try Self.peakMemory(of: daemon.processIdentifier)
        broker.write("")
        for attempt in 1...3 { try broker.line(containing: "hung up \(attempt)") }
        try broker.line(containing: "done")
        let after = try Self.peakMemory(of: daemon.processIdentifier)
        #expect(after - before < 2048, "\(after - before) KiB more")
        try daemon.line(containing: "the broker sends a message of 200000000 octets")
    }

    /// The resident memory in KiB.
    private static func peakMemory(of process: Int32) throws -> Int {
        let text = try String(contentsOfFile: "/proc/\(process)/status", encoding: .utf8)
        let line = try #require(text.split(separator: "\n").first { $0.hasPrefix("VmHWM:") })
        return try #require(Int(line.filter(\.isNumber)))
    }

    @Test("an embedded broker that is killed is restarted, and gets everything again")
    func embedded() throws {
        let workshop = try Workshop()
        try simulated(workshop, broker: "embedded")
        let daemon = try workshop.daemon()
        try daemon.line(containing: "connected to unix:")
        let shell = try Self.children(of: daemon.processIdentifier)
        let broker = try #require(
            shell.flatMap { try Self.children(of: $0) }.first { Self.name(of: $0) == "mosquitto" })
        kill(broker, SIGKILL)
        try daemon.line(containing: "mosquitto ended")
        try daemon.line(containing: "connected to unix:")
        let status = try workshop.tryck(["status", "--json"])
        _ = try status.status()
        let url = try #require(try JSONValue(parsing: Array(status.text.utf8))["broker"]?["url"]?.stringValue)
        let subscriber = try workshop.start(
            "/usr/bin/stdbuf",
            [
                "-oL", "/usr/bin/mosquitto_sub", "--unix", String(url.dropFirst("unix:".count)), "-t",
                "home/tryck/bridge/state", "-v",
            ])
        try subscriber.line(containing: "home/tryck/bridge/state online")
    }

    @Test("an embedded broker whose place in the state directory cannot be written listens in the runtime directory")
    func embeddedElsewhere() throws {
        let workshop = try Workshop()
        try simulated(workshop, broker: "embedded")
        // As on a full disk, the directory cannot be created.
        try FileManager.default.createDirectory(
            atPath: workshop.path("state"), withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        try workshop.write("state/broker", "")
        let daemon = try workshop.daemon()
        try daemon.line(containing: "connected to unix:")
        let status = try workshop.tryck(["status", "--json"])
        _ = try status.status()
        let url = try #require(try JSONValue(parsing: Array(status.text.utf8))["broker"]?["url"]?.stringValue)
        #expect(url.hasSuffix("/tryck-broker/mqtt.sock"))
        #expect(!url.contains("/state/"), "\(url)")
    }

    private static func children(of process: Int32) throws -> [Int32] {
        try String(contentsOfFile: "/proc/\(process)/task/\(process)/children", encoding: .utf8)
            .split(separator: " ").compactMap { Int32($0) }
    }

    private static func name(of process: Int32) -> String? {
        try? String(contentsOfFile: "/proc/\(process)/comm", encoding: .utf8).split(separator: "\n").first.map(
            String.init)
    }
}
