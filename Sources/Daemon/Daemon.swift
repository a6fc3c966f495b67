import BluetoothHost
import ButtonModel
import Edges
import Glibc
import Hub
import JSON
import Logging
import Platform
import Radios
import Reactor
import Rules
import Settings
import Setup

/// Gives each effect of the `Hub` to the edge that carries it out, and gives the hub what the edges report. The decisions are
/// in `Hub`, and in the values that the edges own.
@ReactorActor
final class Daemon {
    let loop: EventLoop
    let logger: Logger
    let output: LogOutput
    var setup: Setup
    let store: StoreEdge
    let control: ControlServer
    let notifier: ServiceNotifier?
    let jobs: JobEdges
    /// Watches the rule files; `nil` until `start`.
    private(set) var fileWatch: FileWatch?
    let capture: CaptureFile?
    private var recorder: RecordEdge?
    /// The history and its writer; `nil` if none is kept.
    var history: (writer: HistoryWriter, edge: HistoryEdge)?
    /// The turns that wait for `writeHistory`, in their order.
    var unseenTurns: [(turn: HubRunner.Turn, line: RecordedLine?)] = []
    var runner: HubRunner
    /// In the order of the configuration.
    private lazy var radios = makeRadios()
    let trialParts: TrialParts?
    /// The simulated buttons, which exist as long as this process.
    lazy var simulation = trialParts?.simulation(loop, setup.simulator, store.stored.buttons) {
        [logger] button, text in
        logger.debug("simulated \(button): \(text)")
    }
    /// Ends the private broker; `nil` if there is none.
    var stopBroker: (@ReactorActor () -> Void)?
    var mqtt: MQTTEdge?
    /// The connection to the broker of `uplink:`; `nil` without that section.
    var uplink: MQTTEdge?
    /// The number of messages that were published on `uplink`, which is the id of the latest one.
    var uplinkMessages: UInt64 = 0
    /// The topics of the messages on the connection of `uplink:` that the broker has not acknowledged, by their ids.
    var uplinkTopics: [UInt64: String] = [:]
    private var flicd: FlicdListener?
    /// The pause after the actions of a press. It was measured with a mosquitto and a subscriber beside the daemon on a virtual
    /// machine with two processors: with half of it, one press in ten took a tenth longer.
    private static let pauseAfterActions = Duration.microseconds(400)
    /// The time in which the broker and most buttons are connected after a start.
    private static let settlingTime = Duration.seconds(30)
    private static let controlRetryTime = Duration.seconds(5)
    private lazy var firmware = FirmwareEdge(loop: loop, directory: setup.stateDirectory + "/firmware") { [weak self] in
        switch $0 {
        case .files(let files): self?.deliver(.firmwareFiles(files))
        case .notice(let sentence): self?.logger.warning("\(sentence)")
        }
    }
    /// The flicds that buttons come from, in the order of the configuration.
    private lazy var sources = setup.configuration.sources.enumerated().map { index, source in
        FlicdSourceEdge(loop: loop, host: source.host, port: UInt16(clamping: source.port)) { [weak self] in
            self?.deliver(.source(index, $0))
        }
    }
    private let metrics: MetricsFile?
    /// The number of reloads of the configuration.
    var configurationReads: UInt64 = 0
    private var timer: Timer?
    /// Ends a pause of the runner.
    private var pauseTimer: Timer?
    private var watchdog: Timer?
    private var controlRetry: Timer?
    /// Runs once, `settlingTime` after the start.
    private var settling: Timer?
    /// True if the effects of an input are being carried out.
    private var isCarryingOut = false
    private var isStopping = false
    /// True if a signal asked for the end. It overrides an earlier request to restart.
    private var isEndWanted = false

    init(
        loop: EventLoop, logger: Logger, output: LogOutput, setup: Setup, store: StoreEdge,
        control: ControlServer, capture: CaptureFile?, recorder: RecordEdge?, trialParts: TrialParts?
    ) {
        self.loop = loop
        self.logger = logger
        self.output = output
        self.setup = setup
        self.store = store
        self.control = control
        self.capture = capture
        self.trialParts = trialParts
        notifier = ServiceNotifier.fromEnvironment()
        jobs = JobEdges(loop: loop)
        metrics = setup.metricsFile.map { MetricsFile(loop: loop, path: $0) { logger.warning("\($0)") } }
        self.recorder = recorder
        runner = HubRunner(Hub(setup.hub, stored: store.stored, rules: setup.rules), pausing: Self.pauseAfterActions)
        // The hub holds the rules now. A second reference here would keep them in memory after a reload.
        self.setup.rules = RuleSet()
        self.setup.rulesToKeep = nil
        flicd = setup.configuration.flicdListen.map {
            FlicdListener(loop: loop, host: $0.host, port: UInt16(clamping: $0.port)) { [weak self] in
                self?.deliver(.flicd($0))
            }
        }
        timer = loop.timer { [weak self] in self?.deliver(.timerFired) }
        pauseTimer = loop.timer { [weak self] in self?.handleInputs() }
    }

    /// Begins the recording and the history that the configuration requests. Without a history, what was kept earlier is removed.
    private func beginRecording() {
        if setup.history == nil { HistoryEdge.removeSegments(in: Setup.historyDirectory(in: setup.stateDirectory)) }
        guard recorder != nil || setup.history != nil else { return }
        let header = RecordingHeader(
            startedAt: SystemEnvironment.wallClock, configuration: setup.hub, rules: setup.recordedRules,
            stored: store.stored)
        let secrets = Set(
            [setup.configuration.mqttPassword?.value, setup.configuration.uplink?.password?.value].compactMap(\.self))
        let line = runner.hub.beginRecording(header, hiding: secrets, isExact: recorder != nil, at: now)
        if let recorder {
            recorder.write(line)
            logger.info("the input of the daemon is recorded in \(setup.recordingPath ?? "a file")")
        }
        if let limits = setup.history { beginHistory(header, limits) }
    }

    /// Writes a turn into the recording and the history.
    private func record(_ turn: HubRunner.Turn) {
        guard recorder != nil || history != nil else { return }
        let line = runner.hub.recordedLine(turn.input, turn.effects, isForHistory: recorder == nil, at: turn.at)
        if let line { recorder?.write(line.octets) }
        addToHistory(turn, line)
    }

    /// The recording has ended.
    ///
    /// - Parameter reason: a sentence for people.
    func recordingEnded(_ reason: String) {
        logger.warning("\(reason)")
        recorder = nil
        if history == nil { runner.hub.endRecording() } else { runner.hub.endExactRecording() }
    }

    /// Starts the hub, the edges, the broker and the watchdog. Everything after that happens on the loop.
    func start() {
        beginRecording()
        loop.onSignals([SIGTERM, SIGINT, SIGHUP]) { [weak self] signal in
            guard let self else { return }
            guard signal == SIGHUP else {
                isEndWanted = true
                return deliver(.stop)
            }
            restoreControlSocket()
            reloadConfiguration()
        }
        loop.onWallClockStep { [weak self] in self?.deliver(.wallClock(SystemEnvironment.wallClock)) }
        deliver(.wallClock(SystemEnvironment.wallClock))
        deliver(.entropy(SystemEnvironment.randomOctets(2048)))
        if let fault = store.fault { deliver(.recordFailed(nil, "\(fault)", store.refuge)) }
        if let fault = store.reserveFault { deliver(.reserveFault("\(fault)")) }
        if let fault = store.ringFault { deliver(.ringFault("\(fault)")) }
        deliver(.start)
        watchRuleFiles(setup.watched)
        firmware.start()
        startBroker()
        awaitControlSocket()
        StartMemory.release()
        notifier?.ready()
        feedWatchdog()
        // The first connections to the broker and the buttons need much code that is not executed again until they are lost.
        settling = loop.timer { StartMemory.release() }
        settling?.set(at: loop.nanosecondsSinceBoot + Self.settlingTime.nanoseconds)
    }

    /// Creates the control socket again if its file was deleted.
    private func restoreControlSocket() {
        SystemEnvironment.makeDirectory(SystemEnvironment.directory(of: setup.controlSocket), mode: 0o750)
        do throws(ControlServerFailure) {
            try control.restoreFile()
        } catch {
            logger.warning("\(error)")
        }
    }

    /// Tries to create the control socket every few seconds until its file system has room and can be written.
    private func awaitControlSocket() {
        guard control.fault != nil else { return }
        controlRetry = loop.timer { [weak self] in
            guard let self else { return }
            SystemEnvironment.makeDirectory(SystemEnvironment.directory(of: setup.controlSocket), mode: 0o750)
            try? control.restoreFile()
            guard control.fault == nil else { return awaitControlSocket() }
            logger.info("commands reach tryckd at \(setup.controlSocket) now")
        }
        controlRetry?.set(at: loop.nanosecondsSinceBoot + Self.controlRetryTime.nanoseconds)
    }

    /// - Parameter watched: the files and directories of the rules that were read last.
    func watchRuleFiles(_ watched: WatchedFiles) {
        let watch = fileWatch ?? FileWatch(loop: loop) { [weak self] in self?.deliver(.reloadRules) }
        fileWatch = watch
        if let sentence = watch.watch(files: watched.files, directories: watched.directories) {
            logger.warning("\(sentence); after a change, use tryck reload")
        }
    }

    /// Gives the hub an input and carries out its effects in order. An input that an effect causes immediately is handled
    /// after the remaining effects.
    func deliver(_ input: Hub.Input) {
        runner.add(input)
        handleInputs()
    }

    private func handleInputs() {
        guard !isCarryingOut else { return }
        isCarryingOut = true
        defer { isCarryingOut = false }
        while let turn = runner.next(at: now) {
            // The messages of rules are written by now; those that follow leave in one segment.
            if case .goOn = turn.input { mqtt?.beginBatch() }
            // An exact recording contains the last turn, too, whose effects end it. A history is written behind the actions.
            let isExact = recorder != nil
            if isExact { record(turn) }
            for effect in turn.effects { carryOut(effect) }
            if !isExact { record(turn) }
        }
        mqtt?.endBatch()
        if let end = runner.pausesUntil {
            pauseTimer?.set(at: end.nanoseconds)
        } else {
            // The disk comes last: the thread of the store must not take a processor from the messages above.
            store.flush()
            writeHistory()
        }
    }

    private var now: Instant { Instant(nanoseconds: loop.nanosecondsSinceBoot) }

    private func carryOut(_ effect: Hub.Effect) {
        switch effect {
        case .setTimer(let deadline): timer?.set(at: deadline.nanoseconds)
        case .cancelTimer: timer?.cancel()
        case .needsEntropy: deliver(.entropy(SystemEnvironment.randomOctets(2048)))
        // `HubRunner` adds the input.
        case .goOn: break
        case .openTransport(let radio): radios[Int(radio.rawValue)].open()
        case .closeTransport(let radio): radios[Int(radio.rawValue)].close()
        case .bus(let effect, let radio): radios[Int(radio.rawValue)].perform(effect)
        case .send(let packet, let radio): radios[Int(radio.rawValue)].send(packet)
        case .source(let index, let effect): carryOut(effect, of: sources[index])
        case .record(let token, let changes): store.record(changes, as: token)
        case .sync(let token): store.sync(token)
        case .subscribe(let subscriptions): mqtt?.subscribe(subscriptions)
        case .unsubscribe(let topicFilters): mqtt?.unsubscribe(topicFilters)
        case .loadRules(let id, let withTests): loadRules(id, withTests: withTests)
        case .discard(let rules): discard(rules)
        case .publish(let id, let message, let expiry): publish(id, message, expiry)
        case .uplink(let effect): carryOut(effect)
        case .startJob(let id, let job): jobs.start(id, job) { [weak self] in self?.deliver(.jobEnded(id, $0)) }
        case .cancelJob(let id, let kind): jobs.cancel(id, kind)
        case .readFirmware(let id, let file):
            firmware.read(file) { [weak self] in self?.deliver(.firmwareRead(id, $0)) }
        case .respond(let client, let line): control.send(line.encoded(), to: client)
        case .broadcast(let clients, let line):
            let octets = line.encoded()
            for client in clients { control.send(octets, to: client) }
        case .flicd(let order): flicd?.carryOut(order)
        case .pressSimulated(let button, let press): pressSimulated(button, press)
        case .log(let level, let message): log(level, message)
        case .setLogLevel(let level): output.level = Logger.Level(level)
        case .status(let text): notifier?.status(text)
        case .writeMetrics(let text): metrics?.write(text)
        case .finish(let isRestart): finish(isRestart: isRestart)
        }
    }

    private func carryOut(_ effect: SourceEffect, of source: FlicdSourceEdge) {
        switch effect {
        case .connect: source.connect()
        case .send(let octets): source.send(octets)
        case .close: source.close()
        }
    }

    /// Tells the service manager at regular intervals that the loop runs, if it wants that; it restarts a daemon that is
    /// stuck.
    private func feedWatchdog() {
        guard let notifier, let interval = notifier.watchdogInterval else { return }
        let timer = watchdog ?? loop.timer { [weak self] in self?.feedWatchdog() }
        watchdog = timer
        notifier.watchdog()
        timer.set(at: loop.nanosecondsSinceBoot + interval.nanoseconds)
    }

    /// Tells the hub what the store reports.
    func received(_ event: StoreEvent) {
        switch event {
        case .recordFailed(let token, let failure, let refuge): deliver(.recordFailed(token, "\(failure)", refuge))
        case .reserveFault(let failure): deliver(.reserveFault(failure?.description))
        case .ringFault(let failure): deliver(.ringFault(failure?.description))
        case .synced(let token, let isSynced): deliver(.synced(token, isSynced))
        case .notice(let notice): logger.warning("\(notice)")
        }
    }

    func log(_ level: LogLevel, _ message: String) {
        switch level {
        case .debug: logger.debug("\(message)")
        case .info: logger.info("\(message)")
        case .warning: logger.warning("\(message)")
        case .error: logger.error("\(message)")
        }
    }

    /// The hub has finished. Ends programs, web requests, the connection to the broker and the metrics file, in this order,
    /// and then the process.
    private func finish(isRestart: Bool) {
        guard !isStopping else { return }
        isStopping = true
        // After STOPPING=1 the service manager expects the process to end, and kills it if it goes on, so a restart does not
        // send that.
        if !isRestart || isEndWanted { notifier?.stopping() }
        jobs.cancelAll { [weak self] in
            guard let self else { return }
            self.disconnect([mqtt, uplink].compactMap(\.self)) { [weak self] in
                self?.finishMetrics(isRestart: isRestart)
            }
        }
    }

    /// Disconnects the edges one after the other.
    private func disconnect(_ edges: [MQTTEdge], _ finished: @escaping @ReactorActor () -> Void) {
        guard let edge = edges.first else { return finished() }
        edge.disconnect { [weak self] in self?.disconnect(Array(edges.dropFirst()), finished) }
    }

    private func finishMetrics(isRestart: Bool) {
        guard let metrics else { return end(isRestart: isRestart) }
        metrics.finish { [weak self] in self?.end(isRestart: isRestart) }
    }

    private func end(isRestart: Bool) {
        fileWatch?.stop()
        firmware.stop()
        capture?.close()
        recorder?.end()
        stopBroker?()
        control.close()
        flicd?.stop()
        store.close()
        // The history is written after the state, so that a slow disk does not delay the state, which matters more.
        writeHistory()
        history?.edge.end()
        guard isRestart, !isEndWanted else { return loop.stop() }
        logger.info("tryckd restarts")
        let failure = restartProcess()
        logger.critical("tryckd could not restart: \(failure)")
        loop.stop(status: ExitStatus.internalError.rawValue)
    }
}
