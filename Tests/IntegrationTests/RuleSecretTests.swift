import Foundation
import JSON
import Testing

/// Promise P8 for values of !secret and !env_var.
@Suite("Secrets of rules", .serialized, .ownThread)
struct RuleSecretTests {
    private static let rules = """
        version: 1
        variables: {note: {initial: ""}}
        states: {echo: {topic: !secret path, default: none}}
        rules:
          - id: tells
            triggers: {button: any, event: click}
            actions:
              - log: {message: !secret word, level: warning}
              - set: {note: !secret word}
              - publish: {topic: !secret path, payload: !env_var TOKEN}
              - run: {argv: [sh, -c, 'echo "$W"; echo "$W" >&2'], env: {W: !secret word}}
                save_as: said
              - log: "it said {{ results.said.stdout }} and {{ variables.note }}"
              - shell: {script: 'read -r line; echo "$line" >&2; exit 3', stdin: !secret word}
            on_error: {log: "{{ error.message }}"}
          - id: exposes
            triggers: {button: any, event: click}
            actions: {run: ["true", !secret word]}
        """

    @Test("no value of !secret and !env_var is in the log, the live stream, traces, topics, a recording or the state")
    func hidden() throws {
        let recording = "session.jsonl"
        let secrets = "word: \"copper \\\"zz4711\\\" ü\"\npath: lead/zz0042\n"
        let house = try RuleHouse(
            Self.rules, files: ["rules/secrets.yaml": secrets],
            environment: ["TOKEN": "brass-zz0815"], arguments: ["--record", recording])
        #expect(house.daemon.text.contains("W708"))
        try house.run("tells")
        try house.watch.line(containing: #""outcome":"failed""#)
        // The secret reaches its intended recipient.
        try house.heard("lead/zz0042 brass-zz0815")
        try house.heard(#"tryck/rules/tells/last_run {"result":"failed""#)
        try house.workshop.write("rules/secrets.yaml", secrets + "fresh: nickel-zz3131\n")
        try house.workshop.write(
            "rules/home.yaml",
            Self.rules.replacingOccurrences(of: "id: exposes", with: "mode: !secret fresh\n    id: exposes"))
        try house.reloaded("error")
        // A new secret is hidden, too, although the rules that name it were refused.
        let before = try house.ask("states")
        try house.publish("lead/zz0042", "it is nickel-zz3131")
        try house.workshop.wait { try house.ask("states") != before }
        var texts = try [
            house.tryck("rule", "tells", "trace"), house.tryck("rule", "tells", "trace", "--json"),
            house.tryck("rules", "--json"), house.tryck("status", status: 1), house.ask("variables").description,
            house.ask("states").description,
            house.tryck("rule", "tells", "run", "--dry-run"), house.tryck("reload", status: 1),
        ]
        for topicName in ["bridge/rules", "rules/tells/last_run", "variables/note"] {
            texts.append(try house.retained("tryck/" + topicName))
        }
        #expect(texts.contains { $0.contains("***") })
        house.daemon.signal(SIGTERM)
        #expect(try house.daemon.status() == 0)
        texts += [house.daemon.text, house.watch.text]
        for file in [recording, "state/last-good-rules.json"] {
            texts.append(try String(contentsOf: house.workshop.directory.appending(path: file), encoding: .utf8))
        }
        texts.append(try house.workshop.tryck(["replay", house.workshop.path(recording)]).allText())
        // Digits alone would also be found in times and numbers of a recording.
        let words = ["zz4711", "zz0042", "zz0815", "zz3131"]
        for text in texts {
            for word in words where text.contains(word) {
                let line = text.split(separator: "\n").first { $0.contains(word) } ?? ""
                Issue.record("\(word) in \(line.prefix(400))")
            }
        }
    }
}

extension Program {
    /// Everything that the program prints until it ends with status 0.
    fileprivate func allText() throws -> String {
        #expect(try status() == 0, "\(text)")
        return text
    }
}
