import Foundation
import JSON
import Testing

/// The history that a daemon keeps, and the commands that read it.
@Suite("History of a real daemon", .serialized, .ownThread)
struct HistoryTests {
    /// - Parameter file: the path of a file to which each run adds a line.
    private static func rules(_ topicName: String, _ file: String) -> String {
        """
        version: 1
        buttons: {\(RuleHouse.kitchen)}
        rules:
          - id: lamp
            triggers: {button: kitchen, event: click}
            actions:
              - shell: "echo started >>\(file)"
              - publish: {topic: \(topicName), payload: !secret word}
        """
    }

    @Test("a history survives kill -9, and other rules are compared with it; nothing is started and no secret is in it")
    func history() throws {
        let file = FileManager.default.temporaryDirectory.appending(path: "tryck-started-\(UUID().uuidString)").path
        defer { try? FileManager.default.removeItem(atPath: file) }
        func started() throws -> String { try String(contentsOfFile: file, encoding: .utf8) }
        let house = try RuleHouse(
            Self.rules("home/lamp", file), files: ["rules/secrets.yaml": "word: copper-4711\n"], hasButton: true)
        let workshop = house.workshop
        let history = workshop.path("state/history")
        func segments() throws -> [String] {
            // The directory is made with the first lines.
            guard let names = try? FileManager.default.contentsOfDirectory(atPath: history) else { return [] }
            return try names.sorted().map {
                try String(contentsOfFile: "\(history)/\($0)", encoding: .utf8)
            }
        }
        try house.press()
        try house.heard("home/lamp copper-4711")
        try workshop.wait { try segments().last?.contains(#""process_ended""#) ?? false }
        try house.restart(with: SIGKILL)
        try house.press()
        try house.heard("home/lamp copper-4711")
        try workshop.wait { try started() == "started\nstarted\n" }
        // The end writes what waits.
        try house.restart()

        let options = ["--config", workshop.path("tryck.yaml"), "--state-directory", workshop.path("state")]
        let shown = try workshop.tryck(["history", "--json"] + options)
        #expect(try shown.status() == 0, "\(shown.text)")
        let lines = try shown.lines.map { try JSONValue(parsing: $0) }
        #expect(lines.count { $0["kind"] == "event" && $0["event"] == "click" } == 2)
        #expect(lines.count { $0["kind"] == "rule" && $0["outcome"] == "completed" } == 2)
        let text = try workshop.tryck(["history", "--button", "kitchen", "--since", "1h"] + options)
        #expect(try text.status() == 0, "\(text.text)")
        #expect(text.text.contains("mqtt     home/lamp ***"))

        let same = try workshop.tryck(["what-if"] + options)
        #expect(try same.status() == 0, "\(same.text)")
        #expect(same.text.contains("0 of 2 events end otherwise. 0 errors."))
        try workshop.write("rules/new.yaml", Self.rules("home/other", file))
        let other = try workshop.tryck(["what-if", workshop.path("rules/new.yaml"), "--json"] + options)
        #expect(try other.status() == 1, "\(other.text)")
        let result = try JSONValue(parsing: other.text.trimmingCharacters(in: .newlines))
        #expect(result["events"] == 2)
        let differences = try #require(result["differ"]?.arrayValue)
        #expect(differences.map { $0["button"] } == ["kitchen", "kitchen"])
        for difference in differences {
            #expect(difference["before"]?.arrayValue?.last?["text"] == "home/lamp ***")
            #expect(difference["after"]?.arrayValue?.last?["text"] == "home/other ***")
            #expect(difference["after"]?.arrayValue?.last?["certain"] == true)
        }
        #expect(try started() == "started\nstarted\n")
        let none = try workshop.tryck(["what-if", "--state-directory", workshop.path("nowhere")])
        #expect(try none.status() == 69, "\(none.text)")

        let all = try segments().joined()
        #expect(!all.contains("copper-4711"))
        #expect((shown.text + text.text + same.text + other.text).contains("copper-4711") == false)
        for name in try FileManager.default.contentsOfDirectory(atPath: history) {
            let attributes = try FileManager.default.attributesOfItem(atPath: "\(history)/\(name)")
            #expect(attributes[.posixPermissions] as? Int == 0o600)
        }
    }

    @Test(
        "after kill -9 at any instant while the history is written, a start is clean and the commands read what was written"
    )
    func kills() throws {
        let house = try RuleHouse(
            Self.rules("home/lamp", "/dev/null"), files: ["rules/secrets.yaml": "word: copper-4711\n"], hasButton: true)
        let workshop = house.workshop
        let rounds = 8
        for round in 0..<rounds {
            try house.press()
            try house.heard("home/lamp copper-4711")
            // Lines are written a second after they were made, so some of these ends come before and some after the write.
            let end = Date() + 0.16 * Double(round)
            try workshop.wait { Date() >= end }
            try house.restart(with: SIGKILL)
            let warnings = try #require(try house.ask("status")["warnings"]?.arrayValue)
            #expect(!warnings.contains { $0.stringValue?.contains("history") ?? true }, "\(warnings)")
        }
        try house.press()
        try house.heard("home/lamp copper-4711")
        try house.restart()
        let options = ["--config", workshop.path("tryck.yaml"), "--state-directory", workshop.path("state")]
        let shown = try workshop.tryck(["history", "--json"] + options)
        #expect(try shown.status() == 0, "\(shown.text)")
        let clicks = try shown.lines.map { try JSONValue(parsing: $0) }.count {
            $0["event"] == "click" && $0["kind"] == "event"
        }
        #expect((1...rounds + 1).contains(clicks))
        let same = try workshop.tryck(["what-if"] + options)
        #expect(try same.status() == 0, "\(same.text)")
        #expect(same.text.contains("0 of \(clicks) events end otherwise. 0 errors."), "\(same.text)")
    }

    @Test("without a history, nothing is kept, and what was kept is removed")
    func none() throws {
        let house = try RuleHouse("version: 1\n", hasBroker: false)
        let workshop = house.workshop
        try house.restart {
            #expect(FileManager.default.fileExists(atPath: workshop.path("state/history/00000001.jsonl")))
            try workshop.write(
                "tryck.yaml", "bluetooth: {transport: none}\nmqtt: {broker: none}\nhistory: none\n")
        }
        #expect(try FileManager.default.contentsOfDirectory(atPath: workshop.path("state/history")) == [])
    }
}
