import Foundation
import JSON
import Testing

/// Mistakes of users, and the messages that they see.
@Suite("Mistakes of users", .serialized, .ownThread)
struct BadInputTests {
    @Test(
        "a configuration with errors is refused with their positions, exit status 78",
        arguments: [
            ("bluetoth: {}\n", "tryck.yaml:1:1: error[E201]"),
            ("mqtt:\n  broker: nonsense\n", "tryck.yaml:2:11: error"),
            ("mqtt: [\n", "error[E101]"),
            ("bluetooth: {transport: \"hci:x\"}\n", "error"),
            ("mqtt:\n  broker: none\n  broker: none\n", "error[E103]"),
        ])
    func badConfiguration(_ text: String, _ expected: String) throws {
        let workshop = try Workshop()
        try workshop.write("tryck.yaml", text)
        let daemon = try workshop.daemon()
        #expect(try daemon.status() == 78)
        #expect(daemon.text.contains(expected), "\(daemon.text)")
    }

    @Test(
        "simulated buttons and an embedded broker need tryck beside tryckd; without it, exit status 78",
        arguments: [
            ("bluetooth: {transport: \"simulated:a.yaml\"}\n", "bluetooth.transport: simulated needs"),
            ("bluetooth: {transport: none}\nmqtt: {broker: embedded}\n", "mqtt.broker: embedded needs"),
        ])
    func trialWithoutTryck(_ text: String, _ expected: String) throws {
        let workshop = try Workshop()
        try workshop.write("tryck.yaml", text)
        try workshop.copy(program: Workshop.built("tryckd"), to: "tryckd")
        let daemon = try workshop.start(workshop.path("tryckd"), ["--config", workshop.path("tryck.yaml")])
        #expect(try daemon.status() == 78)
        #expect(daemon.text.contains(expected), "\(daemon.text)")
        #expect(daemon.text.contains("\(workshop.path("tryck")) cannot be started: No such file"), "\(daemon.text)")
    }

    @Test("a configuration that does not exist: exit status 78")
    func missingConfiguration() throws {
        let workshop = try Workshop()
        let daemon = try workshop.daemon()
        #expect(try daemon.status() == 78)
        #expect(daemon.text.contains("does not exist"))
    }

    @Test("an unknown option: exit status 64")
    func usage() throws {
        let workshop = try Workshop()
        let daemon = try workshop.start(Workshop.built("tryckd"), ["--confg", "x"])
        #expect(try daemon.status() == 64)
        #expect(daemon.text.contains("--help"))
    }

    @Test("without a broker the daemon runs, and status reports it, exit status 1")
    func brokerRefuses() throws {
        let workshop = try Workshop()
        let port = try Workshop.freePort()
        try workshop.write(
            "tryck.yaml", "bluetooth: {transport: none}\nmqtt: {broker: \"mqtt://127.0.0.1:\(port)\"}\n")
        let daemon = try workshop.daemon()
        try daemon.line(containing: "127.0.0.1")
        let status = try workshop.tryck(["status"])
        #expect(try status.status() == 1)
        #expect(status.text.contains("refused"), "\(status.text)")
    }

    @Test("with a transport that does not exist the daemon runs, reports it, and tries again")
    func transportMissing() throws {
        let workshop = try Workshop()
        try workshop.write(
            "tryck.yaml",
            "bluetooth: {transport: \"h4:unix:\(workshop.path("nothing"))\"}\nmqtt: {broker: none}\n")
        let daemon = try workshop.daemon()
        try daemon.line(containing: "Trying again")
        let pair = try workshop.tryck(["pair", "--time", "5"])
        #expect(try pair.status() != 0)
        #expect(pair.text.contains("nothing"), "\(pair.text)")
        try daemon.line(containing: "Trying again")
    }

    @Test("an adapter that does not answer is reported")
    func silentAdapter() throws {
        let workshop = try Workshop()
        let port = try Workshop.freePort()
        let silent = try workshop.start(
            "/usr/bin/python3",
            [
                "-c",
                """
                import socket
                server = socket.create_server(("127.0.0.1", \(port)))
                print("listening", flush=True)
                held = [server.accept()[0] for _ in range(3)]
                """,
            ])
        try silent.line(containing: "listening")
        try workshop.write(
            "tryck.yaml", "bluetooth: {transport: \"h4:tcp:127.0.0.1:\(port)\"}\nmqtt: {broker: none}\n")
        let daemon = try workshop.daemon()
        try daemon.line(containing: "does not answer")
    }

    @Test("a second daemon with the same state directory ends with status 69, and the first is not disturbed")
    func secondDaemon() throws {
        let workshop = try Workshop()
        try workshop.write("tryck.yaml", "bluetooth: {transport: none}\nmqtt: {broker: none}\n")
        let first = try workshop.daemon()
        try first.line(containing: "running")
        let second = try workshop.daemon()
        #expect(try second.status() == 69)
        #expect(second.text.contains("another daemon"))
        let status = try workshop.tryck(["status"])
        #expect(try status.status() == 0, "\(status.text)")
    }

    @Test("a message from the broker that is too long is logged once")
    func longMessage() throws {
        let house = try RuleHouse("version: 1\nrules: []\n")
        let file = try house.workshop.write("long", String(repeating: "x", count: 256 * 1024 + 1))
        for _ in 0..<3 {
            let sender = try house.workshop.start(
                "/usr/bin/mosquitto_pub",
                ["-p", "\(house.port)", "-t", "tryck/bridge/request/health_check", "-f", file, "-q", "1"])
            #expect(try sender.status() == 0, "\(sender.text)")
        }
        let line = try house.daemon.line(containing: "a message of 262145 octets on tryck/bridge/request/health_check")
        #expect(line.contains(" warning "), "\(line)")
        try house.ask("health_check")
        let count = try house.ask("status")["last_errors"]?.arrayValue?.count {
            $0["message"]?.stringValue?.contains("262145") == true
        }
        #expect(count == 1)
        #expect(house.daemon.lines.filter { $0.contains("262145") }.count == 1)
    }

    @Test("with bad rules the daemon runs the last good rules, or none")
    func badRules() throws {
        let workshop = try Workshop()
        try workshop.write("tryck.yaml", "bluetooth: {transport: none}\nmqtt: {broker: none}\nrules: rules.yaml\n")
        try workshop.write("rules.yaml", "version: 1\nrules:\n  - id: x\n    trigers: {}\n")
        let daemon = try workshop.daemon()
        try daemon.line(containing: "E201")
        try daemon.line(containing: "running")
        let status = try workshop.tryck(["status"])
        #expect(try status.status() == 1)
        daemon.stop()

        try workshop.write("rules.yaml", ForeignControllerTests.rules)
        let good = try workshop.daemon()
        try good.line(containing: "running")
        good.stop()
        try workshop.write("rules.yaml", "version: 1\nrules: nonsense\n")
        let again = try workshop.daemon()
        try again.line(containing: "running")
        let last = try workshop.tryck(["status", "--json"])
        #expect(try last.status() == 1)
        #expect(last.text.contains("\"loaded\":1"), "\(last.text)")
    }

    @Test("pair finds a private button, and says how to hold it")
    func privateButton() throws {
        let workshop = try Workshop()
        try workshop.write(
            "simulator.yaml", "buttons:\n  attic: {public: false, address: \"80:E4:DA:00:00:09\"}\n")
        try workshop.write(
            "tryck.yaml",
            "bluetooth: {transport: \"simulated:\(workshop.path("simulator.yaml"))\"}\nmqtt: {broker: none}\n")
        let daemon = try workshop.daemon()
        try daemon.line(containing: "is ready")
        let pair = try workshop.tryck(["pair", "--time", "4"])
        try daemon.line(containing: "looking for new buttons")
        let press = try workshop.start(
            "/usr/bin/python3",
            [
                "-c",
                """
                import socket
                s = socket.socket(socket.AF_UNIX); s.connect("\(workshop.path("control.sock"))")
                s.sendall(b'{"request":"simulator/press","data":{"button":"attic","press":"click"}}\\n')
                print(s.recv(1000).decode(), flush=True)
                """,
            ])
        #expect(try press.status() == 0)
        #expect(try pair.status() == 1)
        #expect(pair.text.contains("7 seconds"), "\(pair.text)")
    }
}
