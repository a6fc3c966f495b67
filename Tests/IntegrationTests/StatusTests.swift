import Foundation
import JSON
import Testing

/// The data for monitoring of a real daemon: faults, recent errors, and counters.
@Suite("tryck status", .serialized, .ownThread)
struct StatusTests {
    @Test("status 0 without faults, 1 with a fault and 69 without a daemon; past errors are listed")
    func exits() throws {
        let house = try RuleHouse(
            """
            version: 1
            rules:
              - id: works
                triggers: {button: kitchen, event: click}
                actions: {log: hello}
              - id: fails
                triggers: {button: kitchen, event: click}
                actions: {run: ["false"]}
            buttons: {\(RuleHouse.kitchen)}
            """, hasButton: true)
        try house.ask("simulator/press", ["button": "kitchen", "press": "click"])
        try house.watch.line(containing: #""outcome":"failed""#)
        let well = try JSONValue(parsing: house.tryck("status", "--json"))
        #expect(well["ok"] == true && well["faults"] == [])
        #expect(well["rules"]?["started"] == 2 && well["rules"]?["failed"] == 1)
        #expect(well["buttons"]?["presses"] == 1)
        #expect(well["buttons"]?["battery_low"] == [])
        let failure = try #require(well["last_errors"]?.arrayValue?.last)
        #expect(failure["message"]?.stringValue?.contains("rule fails") == true, "\(failure)")
        #expect(failure["level"] == "warning" && failure["count"] == 1)
        let text = try house.tryck("status")
        #expect(text.contains("✓ rules    2 rules, ran 2 times, failed 1 time\n"), "\(text)")
        #expect(text.contains("✓ buttons  1 paired, 1 ready, 1 press"), "\(text)")
        #expect(text.contains("\nlately\n  ") && text.contains(" ago  rule fails"), "\(text)")

        house.workshop.stopMosquitto()
        try house.daemon.line(containing: "lost")
        let wrong = try house.tryck("status", status: 1)
        #expect(wrong.contains("✗ broker") && wrong.contains("\n✗ "), "\(wrong)")
        try house.restartBroker()
        try house.workshop.wait { try JSONValue(parsing: status(house).text)["ok"] == true }
        let messages = try JSONValue(parsing: status(house).text)["last_errors"]?.arrayValue?.map { $0["message"] }
        #expect((messages?.count ?? 0) > 1, "\(messages as Any)")

        house.daemon.signal(SIGTERM)
        #expect(try house.daemon.status() == 0)
        let nobody = try house.tryck("status", status: 69)
        #expect(nobody.contains("No daemon answers at ") && nobody.contains("systemctl start tryck"), "\(nobody)")
    }

    @Test("the shell completes the daemon's buttons and rules, and nothing without a daemon")
    func completion() throws {
        let house = try RuleHouse(
            "version: 1\nrules:\n  - {id: doorbell, triggers: {button: any, event: click}, actions: {log: hello}}\n",
            hasBroker: false, hasButton: true)
        func offered(_ command: String) throws -> [String] {
            let words = ["tryck", command, "--control-socket", house.workshop.path("control.sock"), ""]
            let name = command == "rule" ? "id" : "name"
            let shell = try house.workshop.start(
                Workshop.built("tryck"),
                ["---completion", command, "--", "positional@0", "4", "0"] + words,
                environment: ["SAP_SHELL": "bash"])
            #expect(try shell.status() == 0, "\(name): \(shell.text)")
            return shell.lines.filter { !$0.isEmpty }
        }
        #expect(try offered("rule") == ["doorbell"])
        let buttons = try JSONValue(parsing: house.tryck("buttons", "--json")).arrayValue ?? []
        #expect(try offered("button") == buttons.compactMap { $0["name"]?.stringValue })
        house.daemon.stop()
        #expect(try offered("rule") == [])
    }

    private func status(_ house: RuleHouse) throws -> Program {
        let status = try house.workshop.tryck(["status", "--json"])
        _ = try status.status()
        return status
    }
}
