import Foundation
import Testing

/// The daemon and a broker that somebody else wrote.
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

    @Test("pairing over MQTT: permit_join, progress, the answer; and a clean end says offline")
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

    @Test("killed, its will says offline; started again, it is back, and the button with it")
    func killed() throws {
        let workshop = try Workshop()
        let port = try workshop.mosquitto()
        try simulated(workshop, broker: "\"mqtt://127.0.0.1:\(port)\"")
        let subscriber = try workshop.subscriber(port, "home/tryck/bridge/state")
        let daemon = try workshop.daemon()
        try subscriber.line(containing: "online")
        daemon.signal(SIGKILL)
        try subscriber.line(containing: "offline")
        // The broker may hear of it before its lock is gone.
        #expect(try daemon.status() == SIGKILL)
        let again = try workshop.daemon()
        try again.line(containing: "is running")
        try subscriber.line(containing: "online")
    }

    @Test("TLS with a private authority: connected; without it: refused, and the sentence says what to do")
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

    @Test("a broker of our own that is killed is started again, and everything is said to it")
    func embedded() throws {
        let workshop = try Workshop()
        try simulated(workshop, broker: "embedded")
        let daemon = try workshop.daemon()
        let first = try daemon.line(containing: "connected to mqtt://127.0.0.1:")
        let shell = try Self.children(of: daemon.processIdentifier)
        let broker = try #require(
            shell.flatMap { try Self.children(of: $0) }.first { Self.name(of: $0) == "mosquitto" })
        kill(broker, SIGKILL)
        try daemon.line(containing: "mosquitto ended")
        let second = try daemon.line(containing: "connected to mqtt://127.0.0.1:")
        let port = try #require(second.split(separator: ":").last.flatMap { Int($0) }, "\(first), then \(second)")
        let subscriber = try workshop.subscriber(port, "home/tryck/bridge/state")
        try subscriber.line(containing: "home/tryck/bridge/state online")
        let status = try workshop.tryck(["status", "--json"])
        _ = try status.status()
        #expect(status.text.contains("mqtt://127.0.0.1:\(port)"), "\(status.text)")
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
