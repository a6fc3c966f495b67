import Foundation
import Platform
import Testing

/// A directory for one test, free ports, and programs of this package and others.
final class Workshop {
    let directory: URL
    /// The control socket of the daemon. The daemon's record ring is in its directory.
    private(set) var controlSocket: String
    private var programs: [Program] = []
    private var broker: Program?

    init() throws {
        directory = FileManager.default.temporaryDirectory.appending(path: "tryck-test-\(UUID().uuidString.prefix(8))")
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
        controlSocket = directory.appending(path: "control.sock").path
    }

    /// Puts the control socket on a tmpfs, where the daemon maps its record ring, as an installed one does.
    func putControlSocketInMemory() throws {
        let runtime = URL(filePath: "/dev/shm").appending(path: directory.lastPathComponent)
        try FileManager.default.createDirectory(at: runtime, withIntermediateDirectories: true)
        controlSocket = runtime.appending(path: "control.sock").path
    }

    deinit {
        for program in programs.reversed() { program.stop() }
        if controlSocket.hasPrefix("/dev/shm/") {
            try? FileManager.default.removeItem(at: URL(filePath: controlSocket).deletingLastPathComponent())
        }
        try? FileManager.default.removeItem(at: directory)
    }

    func path(_ name: String) -> String { directory.appending(path: name).path }

    @discardableResult
    func write(_ name: String, _ text: String) throws -> String {
        try Data(text.utf8).write(to: directory.appending(path: name))
        return path(name)
    }

    @discardableResult
    func start(_ executable: String, _ arguments: [String] = [], environment: [String: String] = [:]) throws -> Program
    {
        let program = try Program(executable, arguments, environment: environment, directory: directory)
        programs.append(program)
        return program
    }

    /// Copies a program into the workshop, so that it can be started there.
    ///
    /// Another process writes the copy. A test that starts a program at that moment would pass on our descriptor of the file, and
    /// Linux starts no program that is open for writing anywhere: "Text file busy".
    func copy(program: String, to name: String) throws {
        let copier = try start("/bin/cp", [program, path(name)])
        guard try copier.status() == 0 else { throw CocoaError(.fileWriteUnknown) }
    }

    /// A program of this package that the test run has built.
    static func built(_ name: String) -> String {
        let own = (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")) ?? ""
        return URL(filePath: own).deletingLastPathComponent().appending(path: name).path
    }

    func tryck(_ arguments: [String], environment: [String: String] = [:]) throws -> Program {
        var arguments = arguments
        let alone: Set = [
            "check", "demo", "explain", "history", "language-server", "replay", "schema", "simulate", "test", "what-if",
            "--help",
        ]
        if let first = arguments.first, !alone.contains(first) {
            arguments += ["--control-socket", controlSocket]
        }
        let environment = environment.merging(["NO_COLOR": "1"]) { own, _ in own }
        return try start(Workshop.built("tryck"), arguments, environment: environment)
    }

    /// The daemon with `tryck.yaml` of this directory.
    func daemon(
        preload: String? = nil, environment: [String: String] = [:], arguments: [String] = []
    ) throws -> Program {
        var environment = environment
        if let preload { environment["LD_PRELOAD"] = preload }
        let program = try start(
            Workshop.built("tryckd"),
            [
                "--config", path("tryck.yaml"), "--state-directory", path("state"), "--control-socket",
                controlSocket, "--log-level", "debug",
            ] + arguments, environment: environment)
        return program
    }

    /// A port that is free at this moment.
    static func freePort() throws -> Int {
        guard let port = LoopbackPort.free() else { throw Program.Failure(description: "no free port on loopback") }
        return port
    }

    /// Starts a broker on loopback, and returns its port.
    func mosquitto(_ extra: String = "allow_anonymous true") throws -> Int {
        let port = try Workshop.freePort()
        try write(
            "mosquitto.conf",
            "listener \(port) 127.0.0.1\nset_tcp_nodelay true\npersistence false\nuser \(NSUserName())\n\(extra)\n")
        try startMosquitto()
        return port
    }

    private func startMosquitto() throws {
        let broker = try start("/usr/sbin/mosquitto", ["-v", "-c", path("mosquitto.conf")])
        try broker.line(containing: "running")
        self.broker = broker
    }

    func stopMosquitto() { broker?.stop() }

    func restartMosquitto() throws {
        stopMosquitto()
        try startMosquitto()
    }

    /// Prints everything published below a topic, one line each: `topic payload`.
    func subscriber(_ port: Int, _ topicFilter: String = "#", _ extra: [String] = []) throws -> Program {
        let program = try start(
            // With a pipe as output, the lines would otherwise arrive only at the end.
            "/usr/bin/stdbuf",
            [
                "-oL", "/usr/bin/mosquitto_sub", "-h", "127.0.0.1", "-p", "\(port)", "-t", topicFilter, "-v", "-q", "1",
                "-d",
            ] + extra)
        try program.line(containing: "SUBACK")
        return program
    }

    /// Android's virtual controller; each connection to its port is a controller of its own in one air.
    func rootCanal() throws -> Int {
        let executable = try Workshop.setting("TRYCK_ROOTCANAL", "the rootcanal binary")
        let delays = try Workshop.setting("TRYCK_NODELAY", "nodelay.so")
        let ports = try (0..<4).map { _ in try Workshop.freePort() }
        let program = try start(
            executable,
            [
                "-hci_port=\(ports[0])", "-test_port=\(ports[1])", "-link_port=\(ports[2])",
                "-link_ble_port=\(ports[3])",
            ],
            environment: ["LD_PRELOAD": delays])
        try program.line(containing: "Listening on: \(ports[0])")
        return ports[0]
    }

    /// Simulated buttons on the air of a RootCanal, its HCI port, and the root key of the buttons.
    func buttonsOnAir(
        _ buttons: String = "kitchen: {}"
    ) throws -> (port: Int, buttons: Program, root: String) {
        let port = try rootCanal()
        try write("simulator.yaml", "buttons: {\(buttons)}\n")
        let program = try tryck(["simulate", path("simulator.yaml"), "--attach", "h4:tcp:127.0.0.1:\(port)"])
        return (port, program, try Self.root(of: program))
    }

    /// The root key that `tryck simulate` prints.
    static func root(of buttons: Program) throws -> String {
        let line = try buttons.line(containing: "trust_roots")
        return try #require(
            line.split(whereSeparator: { !$0.isHexDigit }).map(String.init).first { $0.count == 64 })
    }

    /// A library for LD_PRELOAD, built from the file of that name in `support`.
    func shim(_ name: String) throws -> String {
        let source = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "support/\(name).c").path
        let compiler = try start("/usr/bin/cc", ["-shared", "-fPIC", "-O2", "-o", path("\(name).so"), source])
        guard try compiler.status() == 0 else { throw Program.Failure(description: compiler.text) }
        return path("\(name).so")
    }

    /// A Python with Bumble.
    static func python() throws -> String { try setting("TRYCK_TEST_PYTHON", "a Python with Bumble") }

    static func setting(_ name: String, _ what: String) throws -> String {
        guard let value = ProcessInfo.processInfo.environment[name] else {
            throw Program.Failure(description: "\(name) does not name \(what); run ./deploy/test, which prepares it")
        }
        return value
    }
}

extension Workshop {
    /// Repeats until the condition is true, for at most a minute.
    func wait(until isTrue: () throws -> Bool) throws {
        let end = ContinuousClock.now + .seconds(60)
        while try !isTrue() {
            guard ContinuousClock.now < end else {
                throw Program.Failure(description: "it did not become true in 60 s")
            }
            // The daemon and other tests can use the processors meanwhile.
            poll(nil, 0, 20)
        }
    }
}
