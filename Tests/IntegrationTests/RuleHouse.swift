import Foundation
import JSON
import Testing

/// A daemon with rules, and a client that sends requests and receives all messages; optionally with a broker and a
/// button.
final class RuleHouse {
    let workshop: Workshop
    /// The port of the broker; 0 without a broker.
    let port: Int
    /// All messages of the broker, one line each.
    let messages: Program?
    private(set) var daemon: Program
    /// The live stream of the daemon.
    private(set) var watch: Program
    /// The answers of the daemon.
    private var asking: Program
    private let environment: [String: String]
    private let arguments: [String]
    private var requestCount = 0
    private var active: JSONValue?

    static let kitchen = #"kitchen: {address: "80:E4:DA:00:00:01"}"#

    /// Copies standard input to the control socket, and the socket's output to standard output.
    static let client = """
        import socket, sys, threading
        control = socket.socket(socket.AF_UNIX)
        control.connect(sys.argv[1])
        def copy():
            for line in control.makefile("r"):
                print(line, end="", flush=True)
        threading.Thread(target=copy, daemon=True).start()
        for line in sys.stdin:
            control.sendall(line.encode())
        """

    /// - Parameters:
    ///   - rules: `rules/home.yaml`.
    ///   - files: further files by name.
    ///   - configuration: further lines of `tryck.yaml`.
    ///   - prepare: called with the port of the broker, before the daemon starts.
    init(
        _ rules: String, files: [String: String] = [:], hasBroker: Bool = true, hasButton: Bool = false,
        configuration: String = "control: {mqtt: all}", protocolVersion: String = "5",
        environment: [String: String] = [:], arguments: [String] = [],
        prepare: (Workshop, Int) throws -> Void = { _, _ in }
    ) throws {
        workshop = try Workshop()
        port = hasBroker ? try workshop.mosquitto() : 0
        self.environment = environment
        self.arguments = arguments
        messages = hasBroker ? try workshop.subscriber(port) : nil
        for directory in ["rules/rooms", "state"] {
            try FileManager.default.createDirectory(
                atPath: workshop.path(directory), withIntermediateDirectories: true,
                attributes: [.posixPermissions: 0o700])
        }
        try workshop.write("rules/home.yaml", rules)
        for (name, text) in files { try workshop.write(name, text) }
        try workshop.write("simulator.yaml", "buttons:\n  \(Self.kitchen)\n")
        try workshop.write(
            "tryck.yaml",
            """
            bluetooth: {transport: \(hasButton ? "\"simulated:simulator.yaml\"" : "none")}
            mqtt: {protocol: "\(protocolVersion)", broker: \(hasBroker ? "\"mqtt://127.0.0.1:\(port)\"" : "none")}
            \(configuration)
            """)
        try prepare(workshop, port)
        daemon = try workshop.daemon(environment: environment, arguments: arguments)
        (watch, asking) = try Self.listen(daemon, workshop, waitsForBroker: hasBroker)
        active = try ask("status")["rules"]?["active"]
        if hasButton {
            try workshop.wait { try ask("status")["adapter"]?["state"] == "powered_on" }
            try ask("permit_join", ["time": 60])
            try watch.line(containing: #""state":"ready""#)
        }
    }

    private static func listen(
        _ daemon: Program, _ workshop: Workshop, waitsForBroker: Bool
    ) throws -> (watch: Program, asking: Program) {
        try daemon.line(containing: "commands reach it at")
        if waitsForBroker { try daemon.line(containing: "connected to") }
        let clients = try (0..<2).map { _ in
            try workshop.start("/usr/bin/python3", ["-c", client, workshop.path("control.sock")])
        }
        clients[0].write(#"{"request":"watch"}"#)
        try clients[0].line(containing: #""status":"ok""#)
        return (clients[0], clients[1])
    }

    /// Ends the daemon, calls the function, and starts the daemon again.
    func restart(with signal: Int32 = SIGTERM, meanwhile: () throws -> Void = {}) throws {
        daemon.signal(signal)
        #expect(try daemon.status() == (signal == SIGKILL ? SIGKILL : 0))
        watch.stop()
        asking.stop()
        try meanwhile()
        daemon = try workshop.daemon(environment: environment, arguments: arguments)
        (watch, asking) = try Self.listen(daemon, workshop, waitsForBroker: port > 0)
    }

    /// Asks the daemon to restart, and connects to the new process image.
    func executeAnew() throws {
        try ask("restart")
        try daemon.line(containing: "tryckd restarts")
        (watch, asking) = try Self.listen(daemon, workshop, waitsForBroker: port > 0)
    }

    /// The data of the answer, or its error.
    @discardableResult
    func ask(_ request: String, _ data: JSONValue = [:]) throws -> JSONValue {
        requestCount += 1
        let transaction = JSONValue.string("ask \(requestCount)")
        let line: JSONValue = ["request": .string(request), "data": data, "transaction": transaction]
        asking.write(line.description)
        let answer = try JSONValue(
            parsing: asking.line(containing: #""transaction":"ask \#(requestCount)""#))
        return try #require(answer["error"] ?? answer["data"])
    }

    @discardableResult
    func run(_ rule: String) throws -> JSONValue { try ask("rules/run", ["id": .string(rule)]) }

    /// Runs a rule until it waits in the given step.
    func run(_ rule: String, until step: String) throws {
        try run(rule)
        try workshop.wait {
            let runs = try ask("rules/trace", ["id": .string(rule)])["runs"]?.arrayValue
            return runs?.last?["steps"]?.arrayValue?.last?["step"] == .string(step)
        }
    }

    /// Presses the button, and waits for its release.
    func press(_ press: String = "click") throws {
        try ask("simulator/press", ["button": "kitchen", "press": .string(press)])
        try watch.line(containing: #""event":"up""#)
    }

    /// The next message of a `log` step.
    func logged() throws -> String {
        let line = try JSONValue(parsing: watch.line(containing: #""kind":"log""#))
        return line["message"]?.stringValue ?? ""
    }

    func publish(_ topicName: String, _ payload: String, retain: Bool = false) throws {
        try Self.publish(workshop, port, topicName, payload, retain: retain)
    }

    static func publish(
        _ workshop: Workshop, _ port: Int, _ topicName: String, _ payload: String, retain: Bool = false
    ) throws {
        let program = try workshop.start(
            "/usr/bin/mosquitto_pub",
            ["-p", "\(port)", "-t", topicName, "-m", payload, "-q", "1"] + (retain ? ["-r"] : []))
        #expect(try program.status() == 0, "\(program.text)")
    }

    /// Restarts the broker, which keeps no messages.
    func restartBroker() throws { try workshop.restartMosquitto() }

    func heard(_ line: String) throws { try messages?.line(containing: line) }

    /// The retained message of a topic.
    func retained(_ topicName: String) throws -> String {
        let program = try workshop.start(
            "/usr/bin/mosquitto_sub", ["-p", "\(port)", "-t", topicName, "-C", "1"])
        #expect(try program.status(within: 10) == 0)
        return program.text
    }

    /// Waits until a reload has loaded another set, or found errors.
    @discardableResult
    func reloaded(_ state: JSONValue = "ok") throws -> JSONValue {
        while true {
            let line = try JSONValue(parsing: watch.line(containing: #""kind":"rules""#))
            guard line["state"] == state, state == "error" || line["active"] != active else { continue }
            active = line["active"]
            return line
        }
    }

    func tryck(_ arguments: String..., status: Int32 = 0, _ location: SourceLocation = #_sourceLocation) throws
        -> String
    {
        let program = try workshop.tryck(arguments)
        #expect(try program.status() == status, "\(program.text)", sourceLocation: location)
        return program.text
    }
}
