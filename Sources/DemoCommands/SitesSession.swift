import ButtonModel
import CommandSupport
import ControlClient
import Edges
import Glibc
import JSON
import MQTTTopics
import Platform
import Reactor
import Synchronization
import TrialEdges

/// Carries out the effects of `SitesRun` with a private broker, and a daemon for each site and each engine.
@ReactorActor
final class SitesSession {
    /// Nanoseconds between two attempts to reach daemons that have just been started.
    private static let connectInterval: Int64 = 50_000_000

    private struct Program {
        var child: DaemonChild
        var connection: ControlConnection?
        /// True if the demo has killed it.
        var isKilled = false
    }

    private let daemon: String
    private let siteCount, engineCount: Int
    private let directory: TemporaryDirectory
    private let loop = EventLoop.shared
    private let output = Output.standardOutput
    private nonisolated let failure = Mutex<Failure?>(nil)

    private var run: SitesRun
    private var broker: EmbeddedBroker?
    private var brokerPath = ""
    private var listener: DemoListener?
    private var programs: [SitesRun.Member: Program] = [:]
    private var isEnding = false
    private var isBrokerEnding = false
    private var runTimer, connectTimer: Timer?

    private init(daemon: String, siteCount: Int, engineCount: Int, _ directory: TemporaryDirectory) {
        self.daemon = daemon
        self.siteCount = siteCount
        self.engineCount = engineCount
        self.directory = directory
        run = SitesRun(siteCount: siteCount)
    }

    /// Runs the demo to its end and removes its files.
    nonisolated static func run(siteCount: Int, engineCount: Int) throws(Failure) {
        let daemon = try DaemonProgram.locate("tryck")
        let directory = try TemporaryDirectory()
        let session = Mutex<SitesSession?>(nil)
        _ = EventLoop.run {
            let demo = SitesSession(daemon: daemon, siteCount: siteCount, engineCount: engineCount, directory)
            session.withLock { $0 = demo }
            demo.start()
        }
        directory.remove()
        let failure = session.withLock { $0 }?.failure.withLock { $0 }
        if let failure { throw failure }
    }

    // MARK: Beginning and end

    private func start() {
        runTimer = loop.timer { [unowned self] in take(.timerFired) }
        connectTimer = loop.timer { [unowned self] in connect() }
        loop.onSignals([SIGINT, SIGTERM, SIGHUP, SIGQUIT]) { [unowned self] _ in end(nil) }
        let broker = EmbeddedBroker(loop: loop, directory: "\(directory.path)/broker", seed: UInt64(getpid())) {
            [unowned self] event in
            switch event {
            case .ready(let path): brokerIsReady(path)
            case .failed(let sentence): end(Failure(.unavailable, "The broker: \(sentence)."))
            }
        }
        self.broker = broker
        broker.start()
    }

    private func brokerIsReady(_ path: String) {
        guard listener == nil, !isEnding else { return }
        brokerPath = path
        listener = DemoListener(loop, broker: "unix:\(path)") { [unowned self] event in
            switch event {
            case .subscribed: startAll()
            case .delivered(let message, _):
                take(.delivered(topicName: message.topicName, payload: message.payload))
            case .failed(let sentence): end(Failure(.internalError, sentence))
            }
        }
    }

    private func startAll() {
        output.write(
            line: "\(siteCount) sites with a button each, and \(engineCount) engines, on one broker: unix:\(brokerPath)"
        )
        for index in 0..<engineCount { start(.engine(index)) }
        for index in 0..<siteCount { start(.site(index)) }
        connect()
    }

    private func path(_ member: SitesRun.Member, _ name: String) -> String {
        "\(directory.path)/\(member.name)/\(name)"
    }

    /// Starts a daemon, at its first start with new files.
    private func start(_ member: SitesRun.Member) {
        guard !isEnding else { return }
        do throws(Failure) {
            try writeFiles(of: member)
            let child = try DaemonChild(
                loop,
                arguments: [
                    daemon, "daemon", "--config", path(member, "tryck.yaml"), "--state-directory",
                    path(member, "state"), "--control-socket", path(member, "control.sock"),
                ], log: path(member, "tryckd.log")
            ) { [unowned self] status in ended(member, status) }
            programs[member] = Program(child: child)
        } catch {
            end(error)
        }
    }

    private func writeFiles(of member: SitesRun.Member) throws(Failure) {
        for folder in ["\(directory.path)/\(member.name)", path(member, "state")] {
            guard mkdir(folder, 0o700) == 0 || errno == EEXIST else {
                throw Failure(.unavailable, "\(folder) cannot be made: \(String(cString: strerror(errno))).")
            }
        }
        for (name, text) in SitesFiles.files(of: member, broker: "unix:\(brokerPath)", in: path(member, "")) {
            guard let file = fopen(path(member, name), "w") else {
                throw Failure(
                    .unavailable, "\(path(member, name)) cannot be written: \(String(cString: strerror(errno))).")
            }
            fputs(text, file)
            fclose(file)
        }
    }

    /// Connects to the daemons that listen by now, and tries the others again later.
    private func connect() {
        guard !isEnding else { return }
        for (member, program) in programs where program.connection == nil {
            let connection = try? ControlConnection(loop, candidates: [path(member, "control.sock")]) {
                [unowned self] event in
                if case .received(let line) = event { take(.received(member, line)) }
            }
            guard let connection else { continue }
            programs[member]?.connection = connection
            take(.connected(member))
        }
        connectTimer?.set(at: loop.nanosecondsSinceBoot + Self.connectInterval)
    }

    private func ended(_ member: SitesRun.Member, _ status: ExitStatus?) {
        let isKilled = programs[member]?.isKilled == true
        programs[member]?.connection?.close()
        programs[member] = nil
        if isEnding {
            stopBroker()
        } else if !isKilled {
            let lines = DemoFiles.end(ofLog: path(member, "tryckd.log"), lines: 12).map { "  \($0)\n" }.joined()
            end(Failure(status ?? .internalError, "\(member.name) ended. Its log ends with:\n\(lines)"))
        }
    }

    private func end(_ failure: Failure?) {
        guard !isEnding else { return }
        isEnding = true
        self.failure.withLock { $0 = failure }
        for timer in [runTimer, connectTimer] { timer?.cancel() }
        for program in programs.values {
            program.connection?.close()
            program.child.stop()
        }
        stopBroker()
    }

    /// Ends the broker after all daemons.
    private func stopBroker() {
        guard programs.isEmpty, !isBrokerEnding else { return }
        isBrokerEnding = true
        let stop: @ReactorActor () -> Void = { [unowned self] in
            broker?.stop()
            loop.stop()
        }
        guard let listener else { return stop() }
        listener.stop(stop)
    }

    // MARK: The run

    private func take(_ input: SitesRun.Input) {
        for effect in run.handle(input, at: Instant(nanoseconds: loop.nanosecondsSinceBoot)) where !isEnding {
            switch effect {
            case .send(let member, let request): programs[member]?.connection?.send(request)
            case .kill(let member):
                programs[member]?.isKilled = true
                if let process = programs[member]?.child.process { kill(process, SIGKILL) }
            case .start(let member): start(member)
            case .show(let text): output.write(line: text)
            case .setTimer(let deadline): runTimer?.set(at: deadline.nanoseconds)
            case .finish: end(nil)
            case .fail(let failure): end(failure)
            }
        }
    }
}

/// The files of the daemons of `tryck demo --sites`.
enum SitesFiles {
    /// - Parameter directory: the directory of the member, with a slash at its end.
    /// - Returns: names and contents.
    static func files(of member: SitesRun.Member, broker: String, in directory: String) -> [(
        name: String, text: String
    )] {
        func quoted(_ text: String) -> JSONValue { .string(text) }
        switch member {
        case .site(let index):
            let configuration = """
                bluetooth: {transport: \(quoted("simulated:\(directory)simulator.yaml"))}
                mqtt: {broker: none}
                uplink: {broker: \(quoted(broker)), topic: tryck/\(member.name)}
                rules: \(quoted("\(directory)rules.yaml"))

                """
            let buttons = """
                buttons:
                  button: {address: "\(SitesRun.address(ofSite: index))", serial: BA00-S0000\(index + 1), public: true}

                """
            return [
                ("tryck.yaml", configuration), ("simulator.yaml", buttons), ("rules.yaml", "version: 1\nrules: []\n"),
            ]
        case .engine:
            let configuration = """
                bluetooth: {transport: none}
                mqtt: {broker: \(quoted(broker)), base_topic: \(member.name)}
                homeassistant: {discovery: false}
                engine: {name: \(member.name), patience: 3s}
                sources: {mqtt: tryck/+}
                rules: \(quoted("\(directory)rules.yaml"))

                """
            let rules = """
                version: 1
                defaults: {queued: accept}
                rules:
                  - id: lamp
                    triggers: {button: any, event: down}
                    mode: parallel
                    max: 20
                    actions: {publish: {topic: "\(SitesRun.lamps)/{{ trigger.address }}", payload: toggle, qos: 1}}

                """
            return [("tryck.yaml", configuration), ("rules.yaml", rules)]
        }
    }
}
