import Foundation
import JSON
import Testing

/// The state of the daemon, and faults of its directory.
@Suite("The state directory of a running daemon", .serialized, .ownThread)
struct StateDirectoryTests {
    @Test("a damaged database is renamed, log and status say so, and the button can be paired again")
    func damaged() throws {
        let (workshop, daemon) = try ButtonCommandTests.house()
        daemon.stop()
        let file = URL(filePath: workshop.path("state/tryck.sqlite"))
        var damaged: [Data] = []
        // A stop has copied the log into the database, and has removed the log.
        for name in [file.path] {
            damaged.append(Data(try Data(contentsOf: URL(filePath: name)).map { $0 ^ 0x5A }))
            try damaged.last?.write(to: URL(filePath: name))
        }
        let again = try workshop.daemon()
        try again.line(containing: "it was set aside as \(file.path).damaged-")
        try again.line(containing: "commands reach it at")
        let status = try workshop.tryck(["status"])
        #expect(try status.status() == 1)
        #expect(status.text.contains("all buttons must be paired again or imported"), "\(status.text)")
        let aside = try FileManager.default.contentsOfDirectory(atPath: workshop.path("state"))
            .filter { $0.hasPrefix("tryck.sqlite.damaged-") }.sorted()
        #expect(try aside.map { try Data(contentsOf: URL(filePath: workshop.path("state/" + $0))) } == damaged)

        let pair = try workshop.tryck(["pair", "--time", "60"])
        #expect(try pair.status() == 0, "\(pair.text)")
        let mended = try workshop.tryck(["status"])
        #expect(try mended.status() == 0, "\(mended.text)")
        again.stop()
        try workshop.daemon().line(containing: "commands reach it at")
        #expect(try ButtonCommandTests.shown(workshop, "kitchen")["serial"] == "BA00-K00001")
    }

    @Test("a state directory that cannot be written is refused with advice, exit status 69")
    func readOnly() throws {
        let workshop = try Workshop()
        try workshop.write("tryck.yaml", "bluetooth: {transport: none}\nmqtt: {broker: none}\n")
        let daemon = try workshop.start(
            Workshop.built("tryckd"),
            [
                "--config", workshop.path("tryck.yaml"), "--state-directory", "/sys/tryck", "--control-socket",
                workshop.path("control.sock"),
            ])
        #expect(try daemon.status() == 69)
        #expect(
            daemon.text.contains(
                "/sys/tryck cannot be written: check the owner of the directory and whether its file system is"),
            "\(daemon.text)")
    }

    @Test("with a clock in 1970 buttons pair and work, and conditions on the time are false")
    func noClock() throws {
        let tools = try Workshop()
        let shim = try tools.shim("clock_shim")
        let rules = """
            version: 1
            buttons:
              \(RuleHouse.kitchen)
            rules:
              - id: day
                triggers: [{button: kitchen, event: click}]
                conditions: [{time: {after: 00:00}}]
                actions: [{log: day}]
              - id: always
                triggers: [{button: kitchen, event: click}]
                actions: [{log: pressed}]
            """
        let house = try RuleHouse(
            rules, hasBroker: false, hasButton: true,
            environment: ["LD_PRELOAD": shim, "CLOCK_SHIM": "20"])
        try house.ask("simulator/press", ["button": "kitchen", "press": "click"])
        try house.watch.line(containing: "the clock is earlier than this program")
        #expect(try house.logged() == "pressed")
        let button = try #require(try house.ask("buttons").arrayValue?.first)
        #expect(button["last_seen"]?.stringValue?.hasPrefix("1970-01-01T00:0") == true, "\(button)")
    }
}
