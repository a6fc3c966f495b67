import Foundation
import JSON
import Testing

/// A daemon with several radios on the air of RootCanal, one of them behind a stand-in for an ESPHome proxy that speaks with
/// other people's message classes and encryption.
@Suite("Several radios", .serialized, .ownThread)
struct SeveralRadiosTests {
    private static let key = "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8="

    fileprivate struct House {
        let workshop: Workshop
        let port: Int
        let buttons: Program
        let root: String
        let broker: Int

        init() throws {
            workshop = try Workshop()
            (port, buttons, root) = try workshop.buttonsOnAir()
            broker = try workshop.mosquitto()
            try workshop.write("rules.yaml", ForeignControllerTests.rules)
        }

        /// A proxy with a controller of its own.
        func proxy(_ port: Int, key: String? = SeveralRadiosTests.key, _ more: [String] = []) throws -> Program {
            let script = URL(filePath: #filePath).deletingLastPathComponent().appending(
                path: "support/esphome_proxy.py")
            let program = try workshop.start(
                try Workshop.python(),
                [
                    script.path, "--listen", "127.0.0.1:\(port)", "--hci", "tcp-client:127.0.0.1:\(self.port)",
                    "--scan",
                    "100/100",
                ] + (key.map { ["--psk", $0] } ?? []) + more)
            try program.line(containing: "ready")
            return program
        }

        /// - Parameter radios: the list of the configuration, an entry a line.
        func daemon(_ radios: [String]) throws -> Program {
            try workshop.write(
                "tryck.yaml",
                """
                bluetooth: {trust_roots: ["\(root)"]}
                radios:
                \(radios.map { "  - \($0)" }.joined(separator: "\n"))
                mqtt: {broker: "mqtt://127.0.0.1:\(broker)"}
                rules: rules.yaml
                """)
            return try workshop.daemon()
        }

        func adapter(_ name: String) -> String { "{adapter: \"h4:tcp:127.0.0.1:\(port)\", name: \(name)}" }

        func radios() throws -> [JSONValue] {
            let program = try workshop.tryck(["radios", "--json"])
            _ = try program.status()
            return try JSONValue(parsing: Array(program.text.utf8)).arrayValue ?? []
        }

        /// Waits until `tryck radios` shows what is expected.
        func wait(for isExpected: ([JSONValue]) -> Bool) throws {
            var seen: [JSONValue] = []
            do {
                try workshop.wait {
                    seen = try radios()
                    return isExpected(seen)
                }
            } catch {
                Issue.record("the radios are \(seen)")
                throw error
            }
        }

        func radio(of button: String) throws -> String? {
            try ButtonCommandTests.shown(workshop, button)["radio"]?.stringValue
        }
    }

    @Test(
        "a button pairs through an encrypted proxy, its presses arrive, and after a restart of the proxy they arrive again"
    )
    func proxyAlone() throws {
        let house = try House()
        let port = try Workshop.freePort()
        let control = try Workshop.freePort()
        let proxy = try house.proxy(port, ["--control", "127.0.0.1:\(control)"])
        try house.workshop.write("secrets.yaml", "hall: \(Self.key)\n")
        let daemon = try house.daemon(["{esphome: \"127.0.0.1:\(port)\", key: !secret hall, name: hall}"])
        let subscriber = try house.workshop.subscriber(house.broker)
        try daemon.line(containing: "is ready, ESPHome")
        let pair = try house.workshop.tryck(["pair", "--time", "30"])
        #expect(try pair.status(within: 60) == 0, "\(pair.text)")
        try daemon.line(containing: "kitchen is ready")
        house.buttons.write("kitchen click")
        try subscriber.line(containing: "test/lamp toggle")
        try subscriber.line(containing: "/action click")
        let radio = try #require(try house.radios().first)
        #expect(radio["kind"] == "esphome" && radio["state"] == "ready" && radio["links"] == 1 && radio["limit"] == 3)
        #expect(radio["buttons"] == ["kitchen"])

        try house.command("reboot 1", at: control)
        try daemon.line(containing: "Trying again")
        house.buttons.write("kitchen hold")
        try subscriber.line(containing: "/action hold", within: 60)
        #expect(try house.radio(of: "kitchen") == "hall")
        proxy.stop()
    }

    @Test("a wrong key, a missing key and a proxy that somebody else has are faults that tryck radios explains")
    func faults() throws {
        let house = try House()
        let ports = try (0..<3).map { _ in try Workshop.freePort() }
        let control = try Workshop.freePort()
        _ = try house.proxy(ports[0])
        _ = try house.proxy(ports[1])
        _ = try house.proxy(ports[2], key: nil, ["--control", "127.0.0.1:\(control)"])
        try house.command("busy on", at: control)
        try house.workshop.write("secrets.yaml", "wrong: \(Self.key.replacingOccurrences(of: "AAEC", with: "AAED"))\n")
        _ = try house.daemon([
            house.adapter("cellar"), "{esphome: \"127.0.0.1:\(ports[0])\", key: !secret wrong, name: one}",
            "{esphome: \"127.0.0.1:\(ports[1])\", name: two}", "{esphome: \"127.0.0.1:\(ports[2])\", name: three}",
        ])
        try house.wait { $0.map { $0["fault"]?.stringValue } == [nil, "wrong_key", "wrong_key", "taken"] }
        let program = try house.workshop.tryck(["radios"])
        #expect(try program.status() == 1)
        #expect(program.text.contains("has another key") && program.text.contains("Home Assistant"))
        let status = try house.workshop.tryck(["status"])
        _ = try status.status()
        #expect(status.text.contains("cellar"))
    }

    @Test(
        "two adapters and a proxy hear one button: it is connected once, and when its radio dies another one delivers its press"
    )
    func roaming() throws {
        let house = try House()
        let port = try Workshop.freePort()
        let proxy = try house.proxy(port)
        try house.workshop.write("secrets.yaml", "hall: \(Self.key)\n")
        let daemon = try house.daemon([
            "{esphome: \"127.0.0.1:\(port)\", key: !secret hall, name: hall}", house.adapter("cellar"),
            "{adapter: \"h4:tcp:localhost:\(house.port)\", name: attic}",
        ])
        let subscriber = try house.workshop.subscriber(house.broker)
        // There is no list before the daemon answers.
        try house.wait { $0.map { $0["state"] } == ["ready", "ready", "ready"] }
        let pair = try house.workshop.tryck(["pair", "--time", "30"])
        #expect(try pair.status(within: 60) == 0, "\(pair.text)")
        try daemon.line(containing: "kitchen is ready")
        house.buttons.write("kitchen click")
        try subscriber.line(containing: "/action click")
        let first = try #require(try house.radio(of: "kitchen"))
        #expect(try house.radios().reduce(0) { $0 + ($1["links"]?.integerValue ?? 0) } == 1)
        // The proxy has no adapter's bonus, but may have heard the button alone.
        if first == "hall" { proxy.stop() }
        house.buttons.write("kitchen hold")
        try subscriber.line(containing: "/action hold", within: 60)
        let shown = try ButtonCommandTests.shown(house.workshop, "kitchen")
        #expect(shown["press_count"] == 2)
        #expect(shown["radios"]?.arrayValue?.isEmpty == false)
    }
}

extension SeveralRadiosTests.House {
    /// Sends a line to the proxy's control port, and waits for the answer.
    fileprivate func command(_ text: String, at port: Int) throws {
        let program = try workshop.start(
            try Workshop.python(),
            [
                "-c",
                """
                import socket, sys
                stream = socket.create_connection(("127.0.0.1", int(sys.argv[1])))
                stream.sendall(sys.argv[2].encode() + b"\\n")
                print(stream.recv(4096).decode())
                """, "\(port)", text,
            ])
        #expect(try program.status() == 0, "\(program.text)")
    }
}
