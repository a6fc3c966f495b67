import Foundation
import JSON
import Testing

/// Changes of rules while a daemon runs them.
@Suite("Reload of rule files", .serialized, .ownThread)
struct RuleReloadTests {
    private static func rules(_ word: String, _ more: String = "") -> String {
        """
        version: 1
        include: rooms/*.yaml
        buttons: {\(RuleHouse.kitchen)}
        rules:
          - id: lamp
            triggers: {button: kitchen, event: click}
            actions: {publish: {topic: test/lamp, payload: \(word)}}
        \(more)
        """
    }

    @Test("every kind of change is noticed: in place, by rename, a new file for a pattern, a deleted file, the secrets")
    func files() throws {
        let house = try RuleHouse(
            Self.rules("first"), files: ["rules/secrets.yaml": "word: fourth\n"], hasButton: true)
        let replace = { (name: String, text: String) in
            try house.workshop.write("rules/.\(name).swp", text)
            #expect(rename(house.workshop.path("rules/.\(name).swp"), house.workshop.path("rules/\(name)")) == 0)
        }
        try house.press()
        try house.heard("test/lamp first")
        try house.workshop.write("rules/home.yaml", Self.rules("second"))
        try house.reloaded()
        try house.press()
        try house.heard("test/lamp second")
        try replace("home.yaml", Self.rules("third"))
        try house.reloaded()
        try house.press()
        try house.heard("test/lamp third")
        try house.workshop.write(
            "rules/rooms/attic.yaml",
            """
            rules:
              - id: attic
                triggers: {button: kitchen, event: click}
                actions: {publish: {topic: test/attic, payload: !secret word}}
            """)
        #expect(try house.reloaded()["rules"] == 2)
        try house.press()
        try house.heard("test/attic fourth")
        try replace("secrets.yaml", "word: fifth\n")
        try house.daemon.line(containing: "rules loaded: 2 rules")
        try house.daemon.line(containing: "rules loaded: 2 rules")
        try house.press()
        try house.heard("test/attic fifth")
        try FileManager.default.removeItem(atPath: house.workshop.path("rules/rooms/attic.yaml"))
        #expect(try house.reloaded()["rules"] == 1)
    }

    @Test("a reload by signal, by command and over MQTT reports its result")
    func asked() throws {
        let house = try RuleHouse(Self.rules("first"), configuration: "control: {mqtt: settings}")
        house.daemon.signal(SIGHUP)
        try house.daemon.line(containing: "the rules were read again and have not changed")
        #expect(try house.tryck("reload").hasPrefix("✓ nothing has changed: 1 rule\n"))
        let answer = try JSONValue(parsing: house.tryck("reload", "--json"))
        #expect(answer["state"] == "ok" && answer["rules"] == 1 && answer["changed"] == false)
        #expect(answer["problems"]?.arrayValue?.first?["code"] == "W706")
        try house.publish("tryck/bridge/request/rules/reload", #"{"transaction": "t7"}"#)
        let response = try #require(house.messages).line(containing: "bridge/response/rules/reload {")
        #expect(response.contains(#""status":"ok""#) && response.hasSuffix(#""transaction":"t7"}"#))
        try house.publish("tryck/bridge/request/rules/reload", #"{"test": "yes"}"#)
        try house.heard(#"bridge/response/rules/reload {"status":"error","error":"\"test\" must be true or false""#)
    }

    @Test("rules with errors change nothing and are reported with positions, and corrected rules are loaded")
    func errors() throws {
        let house = try RuleHouse(
            Self.rules("first"), files: ["rules/secrets.yaml": "word: copper-4711\n"], hasButton: true)
        let home = house.workshop.path("rules/home.yaml")
        try house.workshop.write(
            "rules/home.yaml", Self.rules("!secret word", "    mode: restrat\n    enabled: !secret word"))
        try house.reloaded("error")
        try house.press()
        try house.heard("test/lamp first")
        let kept = try JSONValue(parsing: house.retained("tryck/bridge/rules"))
        #expect(kept["state"] == "error")
        let first = try #require(kept["errors"]?.arrayValue?.first { $0["code"] == "E204" })
        #expect(first["file"] == .string(home) && first["line"] == 8 && first["column"] == 11)
        #expect(first["hint"] == "did you mean restart?")
        for text in try [
            house.tryck("status", status: 1), house.tryck("reload", status: 1),
        ] { #expect(text.contains("\(home):8:11"), "\(text)") }
        // All errors are shown, as `tryck check` shows them, and not only the first.
        let shown = try house.tryck("reload", status: 1)
        #expect(shown.contains("error[E204]") && shown.contains("hint: did you mean restart?"), "\(shown)")
        #expect(shown.contains("\(home):9:14: error[E203]"), "\(shown)")
        let refused = try JSONValue(parsing: house.tryck("reload", "--json", status: 1))
        let errors = (refused["problems"]?.arrayValue ?? []).filter { $0["severity"] == "error" }
        #expect(errors.map { $0["code"] } == ["E204", "E203"], "\(refused)")
        for error in errors {
            #expect(error["file"] == .string(home) && error["line"]?.integerValue != nil, "\(error)")
            #expect(error["column"]?.integerValue != nil && error["message"]?.stringValue != nil, "\(error)")
        }
        try house.publish("tryck/bridge/request/rules/reload", #"{"transaction": "t8"}"#)
        try house.heard(#"bridge/response/rules/reload {"status":"error""#)
        #expect(try house.tryck("rules", "--json").contains(#""id":"lamp""#))

        try house.workshop.write("rules/home.yaml", Self.rules("second"))
        try house.reloaded()
        try house.press()
        try house.heard("test/lamp second")
        #expect(try JSONValue(parsing: house.retained("tryck/bridge/rules"))["errors"] == nil)
        _ = try house.tryck("status")
        for text in [house.daemon.text, house.watch.text, house.messages?.text ?? ""] {
            #expect(!text.contains("copper-4711"))
        }
    }

    @Test("a deleted file is an error like any other")
    func gone() throws {
        let house = try RuleHouse(Self.rules("first"), configuration: "rules: rules/home.yaml")
        try FileManager.default.removeItem(atPath: house.workshop.path("rules/home.yaml"))
        #expect(try house.reloaded("error")["rules"] == 1)
        let kept = try JSONValue(parsing: house.retained("tryck/bridge/rules"))
        #expect(kept["errors"]?.arrayValue?.count == 1, "\(kept)")
        #expect(try house.tryck("status", status: 1).contains("home.yaml does not exist"))
    }

    @Test("with --test, the failure of a test is shown")
    func tests() throws {
        let tests = """
            tests:
              - name: a click is a lamp
                steps:
                  - event: {button: kitchen, event: click}
                  - expect: [{publish: {topic: test/lamp, payload: second}}]
            """
        let house = try RuleHouse(Self.rules("first", tests), hasButton: true)
        #expect(try house.tryck("reload").contains("nothing has changed"))
        let refused = try house.tryck("reload", "--test", status: 1)
        #expect(refused.contains("test failed: a click is a lamp"), "\(refused)")
        // The rules in use are the ones that fail, so there is no new fault.
        #expect(try JSONValue(parsing: house.retained("tryck/bridge/rules"))["state"] == "ok")
        _ = try house.tryck("status")
        try house.press()
        try house.heard("test/lamp first")
        try house.publish("tryck/bridge/request/rules/reload", #"{"test": true, "transaction": 9}"#)
        try house.heard(#"bridge/response/rules/reload {"status":"error""#)
        try house.workshop.write("rules/home.yaml", Self.rules("second", tests))
        try house.reloaded()
        #expect(try house.tryck("reload", "--test").hasPrefix("✓ nothing has changed: 1 rule\n"))
        _ = try house.tryck("status")
    }

    @Test("runs of unchanged rules continue, and runs of changed and removed rules are cancelled")
    func runs() throws {
        func rules(_ word: String, gone: Bool) -> String {
            """
            version: 1
            states: {go: {topic: test/go, default: "off"}}
            rules:
              - id: \(gone ? "other" : "gone")
                triggers: {button: any, event: double_click}
                actions: [{publish: {topic: test/gone, payload: begun}}, {delay: 10m}]
              - id: changed
                triggers: {button: any, event: click}
                mode: restart
                actions: [{publish: {topic: test/changed, payload: begun}}, {delay: 10m}, {log: \(word)}]
              - id: same
                triggers: {button: any, event: click}
                mode: restart
                actions: [{publish: {topic: test/same, payload: begun}}, {delay: 10m}]
              - id: waits
                triggers: {button: any, event: hold}
                actions:
                  - publish: {topic: test/waits, payload: begun}
                  - wait: {until: states.go == 'on', timeout: 10m}
                  - publish: {topic: test/waits, payload: done}
            """
        }
        let house = try RuleHouse(rules("one", gone: false))
        for rule in ["gone", "changed", "same", "waits"] {
            try house.run(rule)
            try house.heard("test/\(rule) begun")
        }
        try house.workshop.write("rules/home.yaml", rules("two", gone: true))
        try house.reloaded()
        let results = try house.watch.lines.map { try JSONValue(parsing: $0) }.filter { $0["outcome"] == "cancelled" }
        #expect(Set(results.compactMap { $0["rule"]?.stringValue }) == ["gone", "changed"])
        for rule in ["same", "waits"] {
            let runs = try house.ask("rules/trace", ["id": .string(rule)])["runs"]?.arrayValue
            #expect(runs?.count == 1 && runs?.first?["result"] == .null, "\(rule)")
        }
        let last = try JSONValue(parsing: house.retained("tryck/rules/changed/last_run"))
        #expect(last["result"] == "cancelled")
        try house.publish("test/go", "on")
        try house.heard("test/waits done")
    }
}
