import Foundation
import JSON
import Testing

/// State that survives the process: the last good rules, and the state of rules.
@Suite("Rules over a restart", .serialized, .ownThread)
struct RuleStartTests {
    private static let home = """
        version: 1
        include: rooms/*.yaml
        location: {latitude: 52.09, longitude: 5.12, timezone: Europe/Amsterdam}
        buttons: {\(RuleHouse.kitchen)}
        """
    private static let attic = """
        rules:
          - id: lamp
            triggers: {button: kitchen, event: click}
            conditions: now.time != sun.is_up ~ ''
            actions: {publish: {topic: test/lamp, payload: !secret word}}
        """

    @Test("with bad files the daemon starts with the last good rules and says so, and corrected files are loaded")
    func lastGood() throws {
        let house = try RuleHouse(
            Self.home, files: ["rules/rooms/attic.yaml": Self.attic, "rules/secrets.yaml": "word: copper-4711\n"],
            hasButton: true)
        try house.press()
        try house.heard("test/lamp copper-4711")
        try house.restart {
            try house.workshop.write("rules/rooms/attic.yaml", "rules: nonsense\n")
            try house.workshop.write("rules/secrets.yaml", "word: tin-1234\n")
        }
        #expect(house.daemon.text.contains("E203"))
        #expect(house.daemon.text.contains("the last good rules, of 20"), "\(house.daemon.text)")
        #expect(!house.daemon.text.contains("tin-1234"))
        try house.press()
        try house.heard("test/lamp tin-1234")
        #expect(try JSONValue(parsing: house.retained("tryck/bridge/rules"))["state"] == "error")
        #expect(try house.tryck("status", status: 1).contains("the last good rules"))
        try house.workshop.write(
            "rules/rooms/attic.yaml", Self.attic.replacingOccurrences(of: "test/lamp", with: "test/new"))
        try house.reloaded()
        try house.press()
        try house.heard("test/new tin-1234")
        _ = try house.tryck("status")
    }

    @Test("with bad secrets the daemon starts with the last good rules and their old secrets")
    func lastGoodSecrets() throws {
        let house = try RuleHouse(
            Self.home, files: ["rules/rooms/attic.yaml": Self.attic, "rules/secrets.yaml": "word: copper-4711\n"],
            hasButton: true)
        try house.restart { try house.workshop.write("rules/secrets.yaml", "wrod: copper-4711\n") }
        #expect(house.daemon.text.contains("the last good rules, of 20"), "\(house.daemon.text)")
        try house.press()
        try house.heard("test/lamp copper-4711")
        let attributes = try FileManager.default.attributesOfItem(
            atPath: house.workshop.path("state/last-good-secrets.yaml"))
        #expect(attributes[.posixPermissions] as? Int == 0o600)
    }

    @Test("without readable last good rules no rules run, and everything else works")
    func noneKept() throws {
        for kept in [nil, "{\"format\"", #"{"files":[{"name":"a","text":"x"}]}"#] {
            let house = try RuleHouse(
                "version: 1\nrules: nonsense\n",
                files: kept.map { ["state/last-good-rules.json": $0] } ?? [:], hasButton: true)
            #expect(house.daemon.text.contains("no rules run"))
            try house.press()
            try house.heard("/action click")
            #expect(try house.tryck("rules", "--json") == "[]")
        }
    }

    private static let keeping = """
        version: 1
        states: {go: {topic: test/go, default: "off"}}
        variables:
          count: 0
          forgetful: {initial: 1, persist: false}
        rules:
          - id: counts
            triggers: {button: any, event: click}
            actions:
              - set: {count: "{{ variables.count + 1 }}", forgetful: "{{ variables.forgetful + 1 }}"}
              - publish: {topic: test/counts, payload: "{{ variables.count }} {{ variables.forgetful }}"}
          - id: scenes
            triggers: {button: any, event: click}
            actions:
              cycle:
                steps:
                  - publish: {topic: test/scenes, payload: one}
                  - publish: {topic: test/scenes, payload: two}
          - id: guest
            triggers: {button: any, event: double_click}
            actions: {log: guest}
          - id: door
            triggers: {button: any, event: double_click}
            cooldown: 1h
            actions: {publish: {topic: test/door, payload: open}}
          - id: stairs
            triggers: {button: any, event: click}
            on_restart: resume
            actions:
              - publish: {topic: test/stairs, payload: begun}
              - wait: {until: states.go == 'on', timeout: 10m}
              - publish: {topic: test/stairs, payload: "done {{ trigger.manual }}"}
          - id: short
            triggers: {button: any, event: click}
            on_restart: resume
            actions: [{publish: {topic: test/short, payload: begun}}, {delay: 2s}, {publish: {topic: test/short, payload: done}}]
          - id: forgets
            triggers: {button: any, event: click}
            actions: [{publish: {topic: test/forgets, payload: begun}}, {delay: 10m}]
          - id: works
            triggers: {button: any, event: click}
            on_restart: resume
            actions: [{publish: {topic: test/works, payload: begun}}, {run: [sleep, "600"]}]
        """

    @Test(
        "after a restart, variables, cycles, enabled rules, cooldowns and waits are as before, and lost runs are reported",
        arguments: [SIGTERM, SIGKILL])
    func kept(_ signal: Int32) throws {
        let house = try RuleHouse(Self.keeping, hasButton: true)
        try house.run("counts")
        try house.heard("test/counts 1 2")
        try house.run("scenes")
        try house.heard("test/scenes one")
        try house.ask("rules/disable", ["id": "guest"])
        try house.press("double_click")
        try house.heard("test/door open")
        for (rule, step) in [("stairs", "wait"), ("short", "delay"), ("forgets", "delay"), ("works", "run")] {
            try house.run(rule, until: "actions[1].\(step)")
        }
        try house.restart(with: signal)

        for rule in ["forgets", "works"] {
            if signal == SIGKILL {
                #expect(house.daemon.text.contains("rule \(rule) was interrupted"))
                try house.heard(#"bridge/event {"type":"interrupted","data":{"rule":"\#(rule)""#)
            }
            let last = try JSONValue(parsing: house.retained("tryck/rules/\(rule)/last_run"))
            #expect(last["result"] == "interrupted", "\(rule)")
        }
        try house.heard("test/short done")
        try house.run("counts")
        try house.heard("test/counts 2 2")
        try house.run("scenes")
        try house.heard("test/scenes two")
        try house.press("double_click")
        try house.daemon.line(containing: "rule guest did not run: disabled")
        try house.daemon.line(containing: "rule door did not run: dropped_cooldown")
        try house.publish("test/go", "on")
        try house.heard("test/stairs done true")
        // Each message was sent once.
        let messages = try #require(house.messages).lines
        for (rule, word) in [("stairs", "begun"), ("short", "begun"), ("short", "done")] {
            #expect(messages.count { $0 == "test/\(rule) \(word)" } == 1, "\(rule) \(word)")
        }
    }

    @Test("a waiting run of a changed rule is dropped and reported, and values that no longer fit are reset")
    func changedMeanwhile() throws {
        let house = try RuleHouse(Self.keeping)
        try house.run("counts")
        try house.heard("test/counts 1 2")
        try house.ask("rules/disable", ["id": "guest"])
        try house.run("stairs", until: "actions[1].wait")
        try house.restart {
            try house.workshop.write(
                "rules/home.yaml",
                Self.keeping.replacingOccurrences(of: "count: 0", with: "count: {initial: 0, max: 0}")
                    .replacingOccurrences(of: "payload: \"done ", with: "payload: \"changed ")
                    .replacingOccurrences(of: "id: guest", with: "id: guest\n    enabled: false"))
        }
        #expect(house.daemon.text.contains("of stairs is not resumed: its rule was changed"))
        let last = try JSONValue(parsing: house.retained("tryck/rules/stairs/last_run"))
        #expect(last["result"] == "interrupted")
        #expect(try house.retained("tryck/variables/count") == "0")
        // Its enabled value in the file has changed, so the file's value applies.
        #expect(try house.retained("tryck/rules/guest/enabled") == "false")
        try house.restart {
            try house.workshop.write("rules/home.yaml", Self.keeping)
        }
        #expect(try house.retained("tryck/rules/guest/enabled") == "true")
    }

    @Test("invalid rows of the state are logged, and everything else works")
    func badRows() throws {
        let house = try RuleHouse(Self.keeping, hasButton: true)
        try house.run("counts")
        try house.heard("test/counts 1 2")
        try house.restart {
            let rows = [
                ("variable", "count", #"{"string":"many"}"#), ("variable", "forgetful", "{}"),
                ("cycle", "scenes/actions[0].cycle", #"{"next":-9223372036854775808,"at_ms":9223372036854775807}"#),
                ("cooldown", "door", #"{"rule":"door","ends_at_ms":9223372036854775807}"#),
                (
                    "waiting", "5",
                    #"{"run":5,"rule":"stairs","fingerprint":"","occurrence":{"at_ms":0},"ends_at_ms":-9223372036854775808,"saved":"["}"#
                ),
                ("waiting", "6", #"{"run":18446744073709551615,"saved":0}"#),
            ]
            let program = try house.workshop.start(
                "/usr/bin/python3",
                [
                    "-c",
                    """
                    import sqlite3, sys
                    database = sqlite3.connect(sys.argv[1])
                    for at in range(2, len(sys.argv), 3):
                        database.execute("INSERT OR REPLACE INTO rule_state VALUES (?, ?, ?)", sys.argv[at:at + 3])
                    database.commit()
                    """, house.workshop.path("state/tryck.sqlite"),
                ] + rows.flatMap { [$0.0, $0.1, $0.2] })
            #expect(try program.status() == 0, "\(program.text)")
        }
        #expect(house.daemon.text.contains("row forgetful of rule_state is invalid"))
        #expect(house.daemon.text.contains("row 6 of rule_state is invalid"))
        #expect(house.daemon.text.contains("variable count cannot be many any more"))
        try house.run("counts")
        try house.heard("test/counts 1 2")
        try house.run("scenes")
        try house.heard("test/scenes one")
        try house.press("double_click")
        try house.daemon.line(containing: "rule door did not run: dropped_cooldown")
    }
}
