import Foundation
import JSON
import Testing

/// The recording of a daemon, and its replay.
@Suite("Recording of a real daemon", .serialized, .ownThread)
struct RecordingTests {
    static let rules = """
        version: 1
        buttons:
          kitchen: {address: "80:E4:DA:00:00:01"}
        rules:
          - id: door
            triggers: {button: kitchen, event: click}
            actions:
              - publish: {topic: door/open, payload: !secret door_code}
              - run: {argv: [sh, -c, 'echo "code $CODE"'], env: {CODE: !env_var DOOR_CODE}}
        """

    /// Sends the lines of its input as requests; `until TEXT` waits for a line with the text. Prints the live stream.
    static let client = """
        import socket, sys
        control = socket.socket(socket.AF_UNIX)
        control.connect(sys.argv[1])
        # One file for both would forget what it has read ahead with each write.
        answers, requests = control.makefile("r"), control.makefile("w")
        for line in sys.stdin:
            if not line.startswith("until "):
                requests.write(line); requests.flush()
                continue
            while True:
                seen = answers.readline()
                if not seen: sys.exit(3)
                print(seen, end="", flush=True)
                if line[6:].strip() in seen: break
        """

    /// Runs the daemon with a recording, while a client sends requests and listens. Returns the lines of the stream.
    ///
    /// - Parameter last: a text of the last line that the recording must have before the daemon is ended.
    private func session(
        _ workshop: Workshop, _ script: [String], recorded last: String? = nil, end: Int32
    ) throws -> [JSONValue] {
        let daemon = try workshop.start(
            Workshop.built("tryckd"),
            [
                "--config", workshop.path("tryck.yaml"), "--state-directory", workshop.path("state"),
                "--control-socket", workshop.path("control.sock"), "--record", workshop.path("session.jsonl"),
            ], environment: ["DOOR_CODE": "brass-0815"])
        // In either order.
        for line in ["is ready", "connected to"] { try daemon.wait(forLineContaining: line) }
        let client = try workshop.start(
            "/usr/bin/python3", ["-c", RecordingTests.client, workshop.path("control.sock")])
        // The lines of the last turn are watched when a request of a later turn is answered.
        let answered = [#"{"request":"buttons"}"#, #"until "data":["#]
        for line in [#"{"request":"watch"}"#] + script + answered { client.write(line) }
        client.closeInput()
        #expect(try client.status() == 0, "\(client.text)")
        // A turn's lines are recorded at the end of the next turn.
        if let last {
            let recording = workshop.directory.appending(path: "session.jsonl")
            try workshop.wait { try String(decoding: Data(contentsOf: recording), as: UTF8.self).contains(last) }
        }
        daemon.signal(end)
        #expect(try daemon.status() == (end == SIGKILL ? SIGKILL : 0), "\(daemon.text)")
        return try client.lines.map { try JSONValue(parsing: $0) }.filter { $0["kind"] != nil }
    }

    @Test("a replay has the same output as the recorded session, and the recording contains no keys and no secrets")
    func replay() throws {
        let workshop = try Workshop()
        let port = try workshop.mosquitto()
        try workshop.write(
            "simulator.yaml", "buttons:\n  kitchen: {address: \"80:E4:DA:00:00:01\", public: true}\n")
        try workshop.write("rules.yaml", RecordingTests.rules)
        try workshop.write("secrets.yaml", "door_code: \"copper-4711\"\nbroker: \"tin-1234\"\n")
        try workshop.write(
            "tryck.yaml",
            """
            bluetooth: {transport: "simulated:simulator.yaml"}
            mqtt:
              broker: "mqtt://127.0.0.1:\(port)"
              username: bridge
              password: !secret broker
            rules: rules.yaml
            """)
        let press = #"{"request":"simulator/press","data":{"button":"kitchen","press":"click"}}"#
        let first = try session(
            workshop,
            [
                #"{"request":"permit_join","data":{"time":60}}"#, #"until "state":"ready""#, press,
                #"until "outcome":"completed""#,
            ], recorded: "code ***", end: SIGKILL)
        // The daemon's programs ended with it, and the recording stays.
        let second = try session(
            workshop, [press, #"until "event":"click""#, #"until "outcome":"#, press, #"until "event":"click""#],
            end: SIGTERM)

        let replay = try workshop.tryck(["replay", workshop.path("session.jsonl"), "--json"])
        #expect(try replay.status() == 0, "\(replay.text)")
        let lines = try replay.lines.map { try JSONValue(parsing: $0) }
        let starts = lines.indices.filter { lines[$0]["kind"] == "start" }
        try #require(starts.count == 2)
        let told = [lines[starts[0]..<starts[1]], lines[starts[1]...].dropLast()].map { session in
            session.dropFirst().map(RecordingTests.withoutTime)
        }
        // The client connected after the start and disconnected before the end.
        for (watched, told) in zip([first, second], told) {
            let start = try #require(told.firstIndex { $0 == watched.first })
            #expect(Array(told[start...].prefix(watched.count)) == watched)
        }
        let summary = try #require(lines.last)
        #expect(summary["kind"] == "summary")
        #expect((summary["presses"]?.integerValue ?? 0) >= 3)

        let text = try workshop.tryck(["replay", workshop.path("session.jsonl")])
        #expect(try text.status() == 0)
        #expect(text.text.contains("rule     door  runs: kitchen click"))
        #expect(text.text.contains("mqtt     door/open ***"))

        let recording = try Data(contentsOf: workshop.directory.appending(path: "session.jsonl"))
        let keys = try workshop.start(
            "/usr/bin/python3",
            [
                "-c",
                "import sqlite3, sys; [print(row[0].hex()) for row in "
                    + "sqlite3.connect(sys.argv[1]).execute('SELECT pairing_key FROM buttons')]",
                workshop.path("state/tryck.sqlite"),
            ])
        #expect(try keys.status() == 0, "\(keys.text)")
        let key = try #require(keys.lines.first)
        #expect(key.count == 32)
        let octets = try #require(Data(hexadecimal: key))
        let hidden =
            ["copper-4711", "brass-0815", "tin-1234", key, key.uppercased(), octets.base64EncodedString()].map {
                Data($0.utf8)
            } + [octets]
        for value in hidden { #expect(recording.range(of: value) == nil, "\(String(decoding: value, as: UTF8.self))") }
        #expect(recording.range(of: Data("code ***".utf8)) != nil)
        let attributes = try FileManager.default.attributesOfItem(atPath: workshop.path("session.jsonl"))
        #expect(attributes[.posixPermissions] as? Int == 0o600)
    }

    @Test("rules of several files that change during a recording are replayed with their time zones")
    func replayOverReload() throws {
        func home(_ zone: String) -> String {
            """
            version: 1
            include: rooms/*.yaml
            location: {latitude: 52.09, longitude: 5.12, timezone: \(zone)}
            variables: {count: 0}
            buttons: {\(RuleHouse.kitchen)}
            """
        }
        func attic(_ topicName: String) -> String {
            """
            rules:
              - id: lamp
                triggers: {button: kitchen, event: click}
                conditions: {time: {after: 00:00, before: 23:59:59}}
                actions:
                  - set: {count: "{{ variables.count + 1 }}"}
                  - publish: {topic: \(topicName), payload: !secret word}
                  - log: "{{ variables.count }} at {{ now.date }} {{ now.hour }}"
            """
        }
        let house = try RuleHouse(
            home("Europe/Amsterdam"),
            files: ["rules/rooms/attic.yaml": attic("test/one"), "rules/secrets.yaml": "word: copper-4711\n"],
            hasButton: true, arguments: ["--record", "session.jsonl"])
        try house.press()
        try house.heard("test/one copper-4711")
        try house.workshop.write("rules/rooms/attic.yaml", "rules: nonsense\n")
        try house.reloaded("error")
        try house.press()
        try house.workshop.write("rules/rooms/attic.yaml", attic("test/two"))
        try house.workshop.write("rules/home.yaml", home("Asia/Tokyo"))
        try house.reloaded()
        try house.press()
        try house.heard("test/two copper-4711")
        try house.run("lamp")
        try house.watch.line(containing: #""message":"4 at "#)
        house.daemon.signal(SIGTERM)
        #expect(try house.daemon.status() == 0)

        let replay = try house.workshop.tryck(["replay", house.workshop.path("session.jsonl"), "--json"])
        #expect(try replay.status() == 0, "\(replay.text)")
        let told = try replay.lines.map { RecordingTests.withoutTime(try JSONValue(parsing: $0)) }
        let watched = try house.watch.lines.map { try JSONValue(parsing: $0) }.filter { $0["kind"] != nil }
        let start = try #require(told.firstIndex { $0 == watched.first })
        #expect(Array(told[start...].prefix(watched.count)) == watched)
        #expect(!replay.text.contains("copper-4711"))
    }

    @Test("a file that is not a recording is not changed, and the daemon does not start")
    func anotherFile() throws {
        let workshop = try Workshop()
        try workshop.write("tryck.yaml", "bluetooth: {transport: none}\nmqtt: {broker: none}\n")
        let daemon = try workshop.daemon(arguments: ["--record", workshop.path("tryck.yaml")])
        #expect(try daemon.status() == 78)
        #expect(daemon.text.contains("is not a recording"))
        let replay = try workshop.tryck(["replay", workshop.path("tryck.yaml")])
        #expect(try replay.status() == 78)
        #expect(replay.text.contains("line 1: this is not a recording"))
    }

    private static func withoutTime(_ line: JSONValue) -> JSONValue {
        guard case .object(let members) = line else { return line }
        return .object(members.filter { $0.name != "time" })
    }
}

extension Data {
    fileprivate init?(hexadecimal text: String) {
        let digits = text.compactMap(\.hexDigitValue)
        guard digits.count.isMultiple(of: 2) else { return nil }
        self.init(stride(from: 0, to: digits.count, by: 2).map { UInt8(digits[$0] << 4 | digits[$0 + 1]) })
    }
}
