import Foundation
import JSON
import Testing

/// Changes of `tryck.yaml` while a daemon runs.
@Suite("Reload of the configuration", .serialized, .ownThread)
struct ConfigurationReloadTests {
    private static func start(_ workshop: Workshop, _ arguments: [String] = []) throws -> Program {
        let daemon = try workshop.start(
            Workshop.built("tryckd"),
            [
                "--config", workshop.path("tryck.yaml"), "--state-directory", workshop.path("state"),
                "--control-socket", workshop.path("control.sock"),
            ] + arguments)
        try daemon.line(containing: "commands reach it at")
        return daemon
    }

    @Test("at SIGHUP the log settings apply, other changed keys are logged, and a file with errors changes nothing")
    func signal() throws {
        let workshop = try Workshop()
        let port = try workshop.mosquitto()
        let messages = try workshop.subscriber(port, "tryck/bridge/info")
        func write(_ log: String, _ more: String = "") throws {
            try workshop.write(
                "tryck.yaml",
                """
                bluetooth: {transport: none}
                mqtt: {broker: "mqtt://127.0.0.1:\(port)", password: copper-4711}
                log: {\(log)}
                \(more)
                """)
        }
        try write("level: info")
        let daemon = try Self.start(workshop)
        try messages.line(containing: #""log_level":"info""#)

        try write("level: debug, format: json")
        daemon.signal(SIGHUP)
        try messages.line(containing: #""log_level":"debug""#)
        try daemon.line(containing: #""message":"the rules were read again and have not changed""#)

        try write("level: loud, format: text", "rules: other.yaml")
        daemon.signal(SIGHUP)
        let error = try daemon.line(containing: "is not applied")
        #expect(
            error.contains(#""level":"error""#) && error.contains("\(workshop.path("tryck.yaml")):3:14: error[E204]"))
        #expect(!daemon.lines.contains { $0.contains("restart tryckd") })

        try write("level: debug, format: text", "control: {mqtt: all}\nrules: other.yaml")
        daemon.signal(SIGHUP)
        let waiting = try daemon.line(containing: "restart tryckd")
        #expect(
            waiting.hasSuffix("\(workshop.path("tryck.yaml")): rules, control.mqtt changed; restart tryckd to use them")
        )
        #expect(!waiting.contains(#""message""#), "the format is text again")

        try FileManager.default.removeItem(atPath: workshop.path("tryck.yaml"))
        daemon.signal(SIGHUP)
        try daemon.line(containing: "is not applied: \(workshop.path("tryck.yaml")) does not exist")
        #expect(!daemon.text.contains("copper-4711"))
        #expect(try workshop.tryck(["status"]).status() == 0)
    }

    @Test("a log level set at run time survives SIGHUP until the file has another level")
    func runTime() throws {
        let workshop = try Workshop()
        let port = try workshop.mosquitto()
        let messages = try workshop.subscriber(port, "tryck/bridge/info")
        let file = "bluetooth: {transport: none}\nmqtt: {broker: \"mqtt://127.0.0.1:\(port)\"}\n"
        try workshop.write("tryck.yaml", file + "log: {level: info}\n")
        let daemon = try Self.start(workshop)
        try messages.line(containing: #""log_level":"info""#)
        try RuleHouse.publish(
            workshop, port, "tryck/bridge/request/options", #"{"options": {"log_level": "warning"}}"#)
        try messages.line(containing: #""log_level":"warning""#)
        try workshop.write("tryck.yaml", file + "log: {level: info}\nactions: {shell: false}\n")
        daemon.signal(SIGHUP)
        try daemon.line(containing: "actions.shell changed; restart tryckd to use it")
        try workshop.write("tryck.yaml", file + "log: {level: debug}\n")
        daemon.signal(SIGHUP)
        try messages.line(containing: #""log_level":"debug""#)
        let levels = messages.lines.compactMap { line in
            ["info", "warning", "debug"].first { line.contains(#""log_level":"\#($0)""#) }
        }
        #expect(levels.drop { $0 == "info" }.drop { $0 == "warning" }.allSatisfy { $0 == "debug" }, "\(levels)")
    }

    @Test("--log-level has priority over the configuration")
    func commandLine() throws {
        let workshop = try Workshop()
        let quiet = "bluetooth: {transport: none}\nmqtt: {broker: none}\n"
        try workshop.write("tryck.yaml", quiet)
        let daemon = try Self.start(workshop, ["--log-level", "info"])
        try workshop.write("tryck.yaml", quiet + "log: {level: error}\n")
        daemon.signal(SIGHUP)
        try daemon.line(containing: "log.level changed, but --log-level has priority")
        daemon.signal(SIGHUP)
        try daemon.line(containing: "the rules were read again and have not changed")
    }
}
