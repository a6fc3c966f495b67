import Foundation
import JSON
import Testing

/// Promise P8 for a whole house: the keys of pairings, the broker's password, the values that programs and web hooks
/// get, and a password on a line with a mistake are nowhere except in the state directory and at their recipients.
@Suite("Secrets of a house", .ownThread)
struct HouseSecretTests {
    private static let server = """
        import http.server
        class Handler(http.server.BaseHTTPRequestHandler):
            def log_message(self, *words): pass
            def do_GET(self):
                print("token", self.headers["X-Token"], flush=True)
                self.send_response(200)
                self.end_headers()
        server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        print("port", server.server_address[1], flush=True)
        server.serve_forever()
        """

    private static func rules(_ hook: String) -> String {
        """
        version: 1
        buttons:
          kitchen: {address: "80:E4:DA:00:00:01"}
        rules:
          - id: door
            triggers: {button: kitchen, event: click}
            actions:
              - run: [sh, -c, 'cat /proc/self/environ /proc/$PPID/environ /proc/$PPID/cmdline >seen']
              - run: {argv: [sh, -c, 'cat /proc/self/environ /proc/self/cmdline >given'], env: {TOKEN: !secret token}}
              - run: {argv: [sh, -c, 'cat >typed; cat /proc/self/environ /proc/self/cmdline >beside'], stdin: !env_var CODE}
              - http: {url: "\(hook)", headers: {X-Token: !secret token}}
              - shell: {script: 'exit 3'}
        """
    }

    @Test("keys and passwords appear only where they are meant to be")
    func everywhere() throws {
        let workshop = try Workshop()
        let made = try workshop.start(
            "/usr/bin/mosquitto_passwd", ["-c", "-b", workshop.path("passwords"), "ada", "brass-0815"])
        #expect(try made.status() == 0)
        let port = try workshop.mosquitto("allow_anonymous false\npassword_file \(workshop.path("passwords"))")
        let server = try workshop.start("/usr/bin/python3", ["-u", "-c", Self.server])
        let hook = try server.line(containing: "port ").split(separator: " ").last ?? ""
        for name in ["rules", "state"] {
            try FileManager.default.createDirectory(
                atPath: workshop.path(name), withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        }
        let configuration = """
            bluetooth: {transport: "simulated:simulator.yaml"}
            mqtt: {broker: "mqtt://127.0.0.1:\(port)", username: ada, password: !secret mqtt}
            metrics: {textfile: metrics.prom}
            """
        try workshop.write("tryck.yaml", configuration)
        try workshop.write("simulator.yaml", "buttons:\n  kitchen: {address: \"80:E4:DA:00:00:01\"}\n")
        try workshop.write("rules/home.yaml", Self.rules("http://127.0.0.1:\(hook)/door"))
        for (name, text) in [("secrets.yaml", "mqtt: brass-0815\n"), ("rules/secrets.yaml", "token: copper-4711\n")] {
            try FileManager.default.setAttributes(
                [.posixPermissions: 0o600], ofItemAtPath: try workshop.write(name, text))
        }
        let messages = try workshop.subscriber(port, "#", ["-u", "ada", "-P", "brass-0815"])
        let daemon = try workshop.daemon(
            environment: ["CODE": "iron-7777"],
            arguments: ["--record", workshop.path("session.jsonl"), "--capture", workshop.path("hci.btsnoop")])
        try daemon.line(containing: "connected to")
        let watch = try workshop.tryck(["watch", "--json"])
        let pair = try workshop.tryck(["pair", "--time", "60"])
        #expect(try pair.status() == 0, "\(pair.text)")
        let press = try workshop.start(
            "/usr/bin/python3",
            [
                "-c",
                """
                import socket, sys
                control = socket.socket(socket.AF_UNIX)
                control.connect(sys.argv[1])
                control.sendall(b'{"request":"simulator/press","data":{"button":"kitchen","press":"click"}}\\n')
                print(control.recv(4096).decode())
                """, workshop.path("control.sock"),
            ])
        #expect(try press.status() == 0, "\(press.text)")
        try watch.line(containing: #""outcome":"failed""#)

        // The secrets reach their intended recipients.
        try server.line(containing: "token copper-4711")
        #expect(try octets(workshop, "state/given").contains("TOKEN=copper-4711"))
        #expect(try octets(workshop, "state/typed") == "iron-7777")

        var texts: [String: String] = [:]
        for name in ["cmdline", "environ"] {
            // Only root can read the environment.
            let place = URL(filePath: "/proc/\(daemon.processIdentifier)/\(name)")
            texts["tryckd's \(name)"] = String(decoding: (try? Data(contentsOf: place)) ?? Data(), as: UTF8.self)
        }
        // The variable that the test itself has set.
        texts["tryckd's environ"]?.replace("CODE=iron-7777", with: "")
        texts["what a program sees"] = try octets(workshop, "state/seen").replacing("CODE=iron-7777", with: "")
        texts["what is given to another"] = try octets(workshop, "state/given").replacing("TOKEN=copper-4711", with: "")
        texts["what stands beside what is typed"] = try octets(workshop, "state/beside")
        let commands = [
            ["status"], ["status", "--json"], ["buttons", "--json"], ["button", "kitchen", "show", "--json"],
            ["rules", "--json"], ["rule", "door", "trace"], ["rule", "door", "trace", "--json"],
            ["check", workshop.path("tryck.yaml")], ["explain", workshop.path("rules/home.yaml"), "--json"],
            ["doctor", "--config", workshop.path("tryck.yaml"), "--report", workshop.path("report.txt")],
        ]
        for command in commands {
            let program = try workshop.tryck(command)
            _ = try program.status()
            texts["tryck \(command.joined(separator: " "))"] = program.text
        }
        // A mistake beside a password, at a reload and at a start.
        let slip = configuration.replacingOccurrences(of: "password: !secret mqtt", with: "passwort: zinc-1234")
        try workshop.write("tryck.yaml", slip)
        daemon.signal(SIGHUP)
        try daemon.line(containing: "tryck.yaml:2:")
        let check = try workshop.tryck(["check", workshop.path("tryck.yaml")])
        #expect(try check.status() == 1)
        texts["tryck check of a slip"] = check.text
        let other = try workshop.start(Workshop.built("tryckd"), ["--config", workshop.path("tryck.yaml")])
        #expect(try other.status() == 78)
        texts["tryckd's complaint"] = other.text
        try workshop.write("tryck.yaml", configuration)

        daemon.signal(SIGTERM)
        #expect(try daemon.status() == 0)
        try messages.line(containing: "tryck/bridge/state offline")
        texts["the log"] = daemon.text
        texts["what watch tells"] = watch.text
        texts["pairing"] = pair.text
        texts["the messages"] = messages.text
        for name in ["session.jsonl", "hci.btsnoop", "report.txt", "metrics.prom", "state/last-good-rules.json"] {
            texts[name] = try octets(workshop, name)
        }
        let replay = try workshop.tryck(["replay", workshop.path("session.jsonl")])
        #expect(try replay.status() == 0)
        texts["tryck replay"] = replay.text

        var secrets = ["brass-0815", "copper-4711", "iron-7777", "zinc-1234"]
        let keys = try keys(workshop)
        let database = try octets(workshop, "state/tryck.sqlite")
        #expect(keys.contains { database.contains($0) })
        secrets += keys
        for (place, text) in texts.sorted(by: { $0.key < $1.key }) {
            #expect(!text.isEmpty, "\(place)")
            for secret in secrets where text.range(of: secret, options: [.caseInsensitive, .literal]) != nil {
                Issue.record("\(secret) in \(place)")
            }
        }
    }

    private func octets(_ workshop: Workshop, _ name: String) throws -> String {
        let data = try Data(contentsOf: workshop.directory.appending(path: name))
        // Latin 1: each octet is a character.
        return String(data: data, encoding: .isoLatin1) ?? ""
    }

    /// The keys of all pairings from the database, as octets and as text.
    private func keys(_ workshop: Workshop) throws -> [String] {
        let file = workshop.path("clear.tryck")
        let export = try workshop.start(
            Workshop.built("tryck"), ["export", file, "--clear", "--state-directory", workshop.path("state")])
        #expect(try export.status() == 0, "\(export.text)")
        let contents = try JSONValue(parsing: Array(Data(contentsOf: URL(filePath: file))))["contents"]
        let keys = (contents?["buttons"]?.arrayValue ?? []).compactMap { $0["pairing"]?["key"]?.stringValue }
        #expect(keys.count == 1 && keys.allSatisfy { $0.count == 32 })
        return keys.flatMap { key in
            let digits = Array(key)
            let octets = stride(from: 0, to: digits.count, by: 2).compactMap {
                UInt8(String(digits[$0...($0 + 1)]), radix: 16)
            }
            return [key, octets.map(String.init).joined(separator: ", "), Data(octets).base64EncodedString()]
                + [String(data: Data(octets), encoding: .isoLatin1) ?? ""]
        }
    }
}
