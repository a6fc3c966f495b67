import ButtonModel
import CommandSupport
import CommandText
import ControlClient
import Glibc
import JSON
import MQTTTopics
import Platform
import Reactor
import Simulator
import Synchronization

/// Carries out the effects of `DemoRun` and `DemoKeys` with the daemon, its socket, the broker and the terminal.
@ReactorActor
final class DemoSession {
    struct Settings: Sendable {
        var program: String
        var files: DemoFiles
        /// The models of the simulated buttons, by name.
        var models: [String: FlicModel]
        /// `nil`: keys on the terminal decide what is pressed.
        var script: DemoScript?
        var isJSON: Bool
        /// True if more than presses, rules and their effects is shown.
        var showsAll: Bool
        /// The file to which the daemon writes all HCI traffic.
        var capture: String?
        /// The path of `tryck-web`; `nil` without a page.
        var page: String?
    }

    /// Nanoseconds between two attempts to reach a daemon that has just been started.
    private static let connectInterval: Int64 = 20_000_000
    /// Nanoseconds that the daemon may take until it listens.
    private static let connectTimeLimit: Int64 = 10_000_000_000
    private static let kindsInJSON: Set<StreamKind?> = [.event, .rule, .publish, .process]

    private let settings: Settings
    private let loop = EventLoop.shared
    private let output = Output.standardOutput
    private nonisolated let failure = Mutex<Failure?>(nil)

    private var run: DemoRun
    private var keys: DemoKeys?
    private var keyMap = DemoKeyMap(buttons: [])
    private var screen: DemoScreen
    private var child: DaemonChild?
    private var page: DemoPage?
    private var connection: ControlConnection?
    private var listener: DemoListener?
    private var terminal: RawTerminal?
    private var isEnding = false

    private var runTimer, keyTimer, connectTimer: Timer?
    private var connectDeadline: Int64 = 0

    private init(_ settings: Settings) {
        self.settings = settings
        run = DemoRun(script: settings.script, showsAll: settings.showsAll)
        screen = DemoScreen(showsAll: settings.showsAll)
    }

    /// Runs the demo to its end and removes its files.
    nonisolated static func run(_ settings: Settings) throws(Failure) {
        let session = Mutex<DemoSession?>(nil)
        _ = EventLoop.run {
            let demo = DemoSession(settings)
            session.withLock { $0 = demo }
            demo.start()
        }
        settings.files.remove()
        let failure = session.withLock { $0 }?.failure.withLock { $0 }
        if let failure { throw failure }
    }

    private var now: Instant { Instant(nanoseconds: loop.nanosecondsSinceBoot) }

    // MARK: Beginning and end

    private func start() {
        runTimer = loop.timer { [unowned self] in take(.timerFired) }
        keyTimer = loop.timer { [unowned self] in take(key: .timerFired) }
        connectTimer = loop.timer { [unowned self] in connect() }
        loop.onSignals([SIGINT, SIGTERM, SIGHUP, SIGQUIT]) { [unowned self] signal in interrupted(by: signal) }
        if !settings.isJSON { output.write(DemoScreen.header(rules: settings.files.rules)) }
        let files = settings.files
        let arguments =
            [
                settings.program, "daemon", "--config", files.configuration, "--state-directory", files.stateDirectory,
                "--control-socket", files.controlSocket,
            ] + (settings.capture.map { ["--capture", $0] } ?? [])
        do throws(Failure) {
            child = try DaemonChild(loop, arguments: arguments, log: files.log) { [unowned self] in childEnded($0) }
        } catch {
            failure.withLock { $0 = error }
            return loop.stop()
        }
        connectDeadline = loop.nanosecondsSinceBoot + Self.connectTimeLimit
        connect()
    }

    /// Connects to the daemon, or tries again later. The daemon listens when it has read its files; with errors in them
    /// it ends instead.
    private func connect() {
        guard !isEnding, connection == nil else { return }
        do throws(ControlClientFailure) {
            connection = try ControlConnection(loop, candidates: [settings.files.controlSocket]) {
                [unowned self] event in
                switch event {
                case .received(let line): take(.received(line))
                // The reason is in the log, which is shown when the daemon has ended.
                case .closed: child?.stop()
                }
            }
            take(.connected)
        } catch {
            guard loop.nanosecondsSinceBoot < connectDeadline else {
                return end(Failure(.internalError, "The daemon did not listen within 10 s." + logged()))
            }
            connectTimer?.set(at: loop.nanosecondsSinceBoot + Self.connectInterval)
        }
    }

    private func interrupted(by signal: Int32) {
        let isInteractive = settings.script == nil
        end(isInteractive ? nil : Failure(.negativeResult, "Interrupted before the last press was done."))
    }

    private func childEnded(_ status: ExitStatus?) {
        child = nil
        if isEnding {
            loop.stop()
        } else {
            end(Failure(status ?? .internalError, "The daemon ended." + logged()))
        }
    }

    private func logged() -> String {
        let lines = settings.files.endOfLog(lines: 12)
        return lines.isEmpty ? " Its log is empty." : " Its log ends with:\n" + lines.map { "  \($0)\n" }.joined()
    }

    /// Ends the demo. The terminal is restored first, so that it is usable even if a later step fails.
    private func end(_ failure: Failure?) {
        guard !isEnding else { return }
        isEnding = true
        terminal = nil
        self.failure.withLock { $0 = failure }
        for timer in [runTimer, keyTimer, connectTimer] { timer?.cancel() }
        connection?.close()
        page?.stop()
        let stopChild: @ReactorActor () -> Void = { [unowned self] in
            guard let child else { return loop.stop() }
            child.stop()
        }
        guard let listener else { return stopChild() }
        listener.stop(stopChild)
    }

    // MARK: The run

    private func take(_ input: DemoRun.Input) {
        for effect in run.handle(input, at: now) where !isEnding {
            switch effect {
            case .send(let request): connection?.send(request)
            case .subscribe(let broker):
                listener = DemoListener(loop, broker: broker) { [unowned self] event in
                    switch event {
                    case .subscribed: take(.subscribed)
                    case .delivered(let message, let qos): take(.delivered(message, qos: qos))
                    case .failed(let sentence): end(Failure(.internalError, sentence))
                    }
                }
            case .show(let line): show(line)
            case .ready(let buttons, let broker): ready(buttons, broker)
            case .setTimer(let deadline): runTimer?.set(at: deadline.nanoseconds)
            case .cancelTimer: runTimer?.cancel()
            case .finish: end(nil)
            case .fail(let failure): end(failure)
            }
        }
    }

    private func show(_ line: JSONValue) {
        if settings.isJSON {
            guard settings.showsAll || Self.kindsInJSON.contains(StreamKind(line)) else { return }
            output.write(line: line.description)
        } else {
            output.write(screen.lines(line, clock: Clock.now(), style: output.style))
        }
    }

    // MARK: Keys

    private func ready(_ buttons: [String], _ broker: String) {
        guard settings.script == nil else { return }
        if let program = settings.page { startPage(program) }
        guard isatty(STDIN_FILENO) == 1 else { return }
        terminal = RawTerminal.take(STDIN_FILENO)
        keyMap = DemoKeyMap(buttons: buttons, models: settings.models)
        keys = DemoKeys(keyMap)
        output.write(DemoScreen.help(keyMap))
        output.write(DemoScreen.hints(broker: broker, controlSocket: settings.files.controlSocket) + [""])
        _ = loop.watch(STDIN_FILENO, .read) { [unowned self] _ in readKeys() }
    }

    private func startPage(_ program: String) {
        do throws(Failure) {
            page = try DemoPage(loop, program: program, files: settings.files) { [unowned self] result in
                switch result {
                case .success(let link):
                    output.write([Line("  The page, for one browser:", .faint), Line("    \(link)"), ""])
                    if SystemEnvironment.hasDesktop { _ = PageLink.open(link) }
                case .failure(let failure): end(failure)
                }
            }
        } catch {
            end(error)
        }
    }

    private func readKeys() {
        guard !isEnding else { return }
        var bytes = [UInt8](repeating: 0, count: 64)
        let count = read(STDIN_FILENO, &bytes, bytes.count)
        // The terminal is gone.
        guard count > 0 else { return end(nil) }
        for byte in bytes.prefix(count) { take(key: .byte(byte)) }
    }

    private func take(key: DemoKeys.Input) {
        for effect in keys?.handle(key, at: now) ?? [] where !isEnding {
            switch effect {
            case .act(let button, let action): take(.act(button: button, action))
            case .setTimer(let deadline): keyTimer?.set(at: deadline.nanoseconds)
            case .cancelTimer: keyTimer?.cancel()
            case .help: output.write(DemoScreen.help(keyMap))
            case .quit: end(nil)
            }
        }
    }
}
