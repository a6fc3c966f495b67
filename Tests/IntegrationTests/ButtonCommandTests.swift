import Foundation
import JSON
import Testing

/// The commands that change one button, against a daemon with simulated buttons.
@Suite("tryck button", .serialized, .ownThread)
struct ButtonCommandTests {
    /// A daemon with one paired button, `kitchen`.
    static func house() throws -> (Workshop, Program) {
        let workshop = try Workshop()
        try workshop.write("buttons.yaml", "buttons:\n  kitchen: {public: true, serial: BA00-K00001}\n")
        try workshop.write(
            "tryck.yaml",
            "bluetooth: {transport: \"simulated:\(workshop.path("buttons.yaml"))\"}\nmqtt: {broker: none}\n")
        let daemon = try workshop.daemon()
        try daemon.line(containing: "is ready")
        let pair = try workshop.tryck(["pair", "--time", "60"])
        #expect(try pair.status() == 0)
        try daemon.line(containing: "kitchen is ready")
        return (workshop, daemon)
    }

    static func shown(_ workshop: Workshop, _ name: String) throws -> JSONValue {
        let show = try workshop.tryck(["button", name, "show", "--json"])
        #expect(try show.status() == 0)
        return try JSONValue(parsing: show.text)
    }

    @Test("a new name and new settings are shown, and kept over a restart of the daemon")
    func settings() throws {
        let (workshop, daemon) = try Self.house()
        let rename = try workshop.tryck(["button", "BA00-K00001", "rename", "by the stove"])
        #expect(try rename.status() == 0)
        #expect(rename.text.contains("kitchen is now by the stove."))
        let set = try workshop.tryck([
            "button", "by the stove", "set", "--latency-mode", "low", "--nickname", "Küche", "--auto-disconnect", "60",
        ])
        #expect(try set.status() == 0)
        try workshop.wait(until: { try Self.shown(workshop, "by the stove")["nickname_pending"] == false })

        daemon.stop()
        let again = try workshop.daemon()
        try again.line(containing: "commands reach it at")
        let button = try Self.shown(workshop, "by the stove")
        #expect(button["latency_mode"] == "low" && button["nickname"] == "Küche")
        #expect(button["auto_disconnect_time"] == 60 && button["serial"] == "BA00-K00001")
    }

    @Test("an invalid request is answered with what to do")
    func refusals() throws {
        let (workshop, daemon) = try Self.house()
        for (arguments, status, sentence) in [
            (["button", "attic", "forget"], 1, "\"tryck buttons\" lists those that are paired"),
            (["button", "kitchen", "set", "--latency-mode", "lowest"], 64, "--latency-mode takes low, normal or high"),
            (["button", "kitchen", "set"], 64, "Name a setting"),
            (["button", "kitchen", "led"], 1, "cannot be controlled"),
            (["button", "kitchen", "factory-reset"], 64, "add --yes"),
            (["button", "kitchen", "firmware", workshop.path("nothing.bin")], 64, "does not exist"),
        ] as [([String], Int32, String)] {
            let command = try workshop.tryck(arguments)
            #expect(try command.status() == status, "\(arguments)")
            #expect(command.text.contains(sentence), "\(command.text)")
        }
        daemon.stop()
    }

    @Test("firmware from a file: progress, a restart, and the new version; a forged one is refused")
    func firmware() throws {
        let (workshop, daemon) = try Self.house()
        // For a simulated button, the last word of an image is the sum of the other words.
        try Data(count: 8 + 4 * 1500).write(to: workshop.directory.appending(path: "flic2-12.bin"))
        var forged = Data(count: 8 + 4 * 100)
        forged[20] = 1
        try forged.write(to: workshop.directory.appending(path: "forged.bin"))

        let refused = try workshop.tryck(["button", "kitchen", "firmware", workshop.path("forged.bin")])
        #expect(try refused.status() == 1)
        #expect(!refused.text.contains("done"), "\(refused.text)")
        let update = try workshop.tryck(["button", "kitchen", "firmware", workshop.path("flic2-12.bin")])
        #expect(try update.status() == 0)
        #expect(update.text.split(separator: " %").count > 5, "\(update.text)")
        #expect(update.text.contains("done; the button restarts"), "\(update.text)")
        try workshop.wait(until: { try Self.shown(workshop, "kitchen")["firmware"] == 12 })
        daemon.stop()
    }

    @Test("a button that is reset to factory settings is removed here, and can be paired again")
    func factoryReset() throws {
        let (workshop, daemon) = try Self.house()
        let reset = try workshop.tryck(["button", "kitchen", "factory-reset", "--yes"])
        #expect(try reset.status() == 0)
        try daemon.line(containing: "pair it again")
        let buttons = try workshop.tryck(["buttons"])
        #expect(try buttons.status() == 0)
        #expect(buttons.text.contains("No button is paired yet"))
        daemon.stop()
    }

    @Test("the link benchmarks print their results", arguments: [("reconnect", "4"), ("pair", "8")])
    func benchmarks(kind: String, roundTrips: String) throws {
        let workshop = try Workshop()
        let bench = try workshop.start(Workshop.built("tryck-bench"), [kind])
        #expect(try bench.status() == 0, "\(bench.text)")
        let sum = try #require(bench.lines.last { $0.hasPrefix("all of it") })
        #expect(sum.hasSuffix(" " + roundTrips), "\(bench.text)")
    }

    @Test("the message benchmark counts the messages of a button")
    func messages() throws {
        let workshop = try Workshop()
        func count(buttons: Int) throws -> Int? {
            let bench = try workshop.start(
                Workshop.built("tryck-bench"),
                ["mqtt", "--messages", "10", "--buttons", "\(buttons)", "--rounds", "1"])
            #expect(try bench.status() == 0, "\(bench.text)")
            #expect(bench.lines.contains { $0.hasPrefix("QoS 1: our edge") && $0.contains("×") }, "\(bench.text)")
            let title = bench.lines.first { $0.hasPrefix("\(buttons) buttons, ") }
            return title?.split(separator: " ").dropFirst(2).first.flatMap { Int($0) }
        }
        let few = try #require(try count(buttons: 2)), more = try #require(try count(buttons: 4))
        // Its status, its availability, and its announcement.
        #expect(more - few == 6)
    }
}
