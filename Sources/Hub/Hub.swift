package import ButtonModel
import Buttons
import FlicdProtocol
import Gestures
package import HomeAssistant
package import JSON
package import Rules

/// The whole daemon without its I/O: radio, gestures, rules, store, broker and control socket as one machine.
///
/// What one notification of a button leads to comes out in this order, and promises P1 and P2 rest on nothing
/// else:
///
/// | effect        | why there                                                                             |
/// |---------------|---------------------------------------------------------------------------------------|
/// | `record`      | the event and the runs it starts are on file before anything happens because of them   |
/// | the actions   | messages, programs, lines for those who watch                                          |
/// | `sync`        | begun at once; takes as long as the disk takes, and nothing waits for it but …         |
/// | `send`        | … the acknowledgement to the button, when `synced` has come in                         |
///
/// A record that the database does not take goes with the next one, and is tried again until it succeeds; the fault shows.
/// What becomes of presses until then depends on where the edge could put the record instead (`RecordRefuge`):
///
/// | the record is  | presses are handled | acknowledged               |
/// |----------------|---------------------|----------------------------|
/// | `disk`         | yes                 | yes, once that is synced   |
/// | `memory`       | yes                 | when the database has them |
/// | `nowhere`      | no: links are ended | when the database has them |
package struct Hub: Sendable {
    package enum Input: Hashable, Sendable {
        /// Once, before anything else.
        case start
        /// The wall clock at `now`; at the start and whenever it was set.
        case wallClock(UTCTime)
        case entropy([UInt8])

        case transportOpened
        /// One HCI packet with its H4 indicator.
        case received([UInt8])
        /// The transport could not be opened, or is gone; a sentence for people.
        case transportClosed(String, AdapterFault = .absent)

        /// Of the source at that place in the configuration.
        case source(Int, SourceInput)

        /// Where a broker of our own listens.
        case brokerAddress(String)
        case brokerConnected
        /// A sentence for people.
        case brokerDisconnected(String)
        /// The broker broke the protocol; `brokerDisconnected` follows, and says how.
        case brokerSentMalformedPacket
        /// Handed over (QoS 0) or acknowledged.
        case published(UInt64)
        case publishFailed(UInt64, String)
        case messageReceived(topicName: String, payload: [UInt8], retained: Bool)
        /// The broker sent a message that was not taken, as it is too long; a sentence for people.
        case messageDropped(String)

        case processEnded(UInt64, ProcessResult)
        case webAnswered(UInt64, HTTPResult)
        /// The answer to `loadRules`.
        case rulesLoaded(UInt64, RulesLoaded)
        /// The rule files have changed, or somebody asks for them to be read again.
        case reloadRules
        /// The configuration was read again: from which level on the log is written.
        case logLevel(LogLevel)
        /// The files with firmware that lie in the state directory; at the start and whenever they change.
        case firmwareFiles([FirmwareFile])
        /// The answer to `readFirmware`.
        case firmwareRead(UInt64, FirmwareReading)
        /// The database did not take the record, which goes with the next one; a sentence for people, and where the
        /// record is until then. Before `start`, with `Hub.nobody`: the database takes none.
        case recordFailed(UInt64, String, RecordRefuge = .memory)
        /// Everything recorded up to this `sync` is on disk, or could not be brought there.
        case synced(UInt64, Bool)

        /// One line from a client of the control socket.
        case controlLine(ClientID, [UInt8])
        case clientGone(ClientID)
        case flicd(FlicdReport)
        case timerFired
        /// End cleanly.
        case stop
    }

    package enum Effect: Hashable, Sendable {
        case setTimer(Instant)
        case cancelTimer
        case needsEntropy

        case openTransport
        case closeTransport
        case send([UInt8])
        /// For the source at that place in the configuration.
        case source(Int, SourceEffect)

        /// One transaction, without a sync. What could not be recorded before goes with it.
        case record(UInt64, [StoreChange])
        /// Bring everything recorded so far to the disk and say so with `synced`.
        case sync(UInt64)

        case subscribe([Subscription])
        case unsubscribe([String])
        /// Answer with `published` or `publishFailed`. `expiry`: how long the broker may keep it for others.
        case publish(UInt64, MQTTMessage, expiry: Duration?)
        case startProcess(UInt64, ProcessRequest)
        case cancelProcess(UInt64)
        case startWebRequest(UInt64, HTTPAction)
        case cancelWebRequest(UInt64)
        /// Read and check the rule files; with their tests, if asked. Answer with `rulesLoaded`.
        case loadRules(UInt64, withTests: Bool)
        /// Another set took the place of this one. To let go of ten thousand rules takes longer than a press may wait.
        case discard(PreparedRules)

        /// Answer with `firmwareRead`.
        case readFirmware(UInt64, FirmwareFile)

        /// One line to a client of the control socket.
        case respond(ClientID, JSONValue)
        /// One line to each client that watches.
        case tell([ClientID], JSONValue)
        case flicd(FlicdOrder)
        /// Press a button of the simulator.
        case pressSimulated(button: String, press: String)
        case log(LogLevel, String)
        /// From which level on the log is written, until the program ends.
        case setLogLevel(LogLevel)
        /// One line for the service manager.
        case status(String)
        /// What the file for Prometheus is to have, all of it.
        case writeMetrics([UInt8])
        /// Everything is said: publish what is left, close, and end or execute the program anew.
        case finish(isRestart: Bool)
    }

    package struct ClientID: RawRepresentable, Hashable, Comparable, Sendable {
        package var rawValue: UInt64
        package init(rawValue: UInt64) { self.rawValue = rawValue }
        package static func < (left: ClientID, right: ClientID) -> Bool { left.rawValue < right.rawValue }
    }

    /// Of those due at one instant the first is the first: what a button did comes before what a timer decides.
    enum TimerKey: CaseIterable, Hashable, Sendable {
        case buttons, sources, rules, outbox, transport, join, store, statistics, settling, announce, heard, dials
        case flicd, flicdListener, metrics
    }

    /// Waits between attempts to open the transport: doubling from the first to the last.
    static let transportRetry = Duration.seconds(1)...Duration.seconds(30)
    /// An adapter that was ready for so long is no adapter that fails each time: its next wait is the shortest.
    static let transportGood = Duration.seconds(60)

    /// Waits between attempts to record what could not be: doubling from the first to the last.
    static let storeRetry = Duration.seconds(1)...Duration.seconds(60)

    let configuration: HubConfiguration
    /// Four hexadecimal digits that tell this installation from others.
    package let installationID: String
    let topics: Topics
    var brokerAddress: String
    var buttonSource: ButtonSource
    var engine: RuleEngine
    var redaction: Redaction
    // What the metrics show says itself that it has changed.
    var buttons: [ButtonID: ButtonRecord] = [:] { didSet { metrics.isOutdated = true } }
    var clock: (utc: UTCTime, at: Instant)? { didSet { metrics.isOutdated = true } }
    var adapter = AdapterState.closed { didSet { metrics.isOutdated = true } }
    var adapterHistory = AdapterHistory() { didSet { metrics.isOutdated = true } }
    /// Buttons whose links ended with a timeout while the input is handled.
    var timedOutLinks: [ButtonID] = []
    /// Buttons that the adapter has no room for now.
    var waitingForSpace: Set<ButtonID> = []
    /// In the order of the configuration.
    var sources: [Source] { didSet { metrics.isOutdated = true } }
    var sourceDeadlines = Deadlines<Int>()
    /// Since the search for new buttons began.
    var hasPairedOne = false
    var transportBackOff = BackOff(Hub.transportRetry)
    var broker = BrokerState.disconnected("the broker has not answered yet; if it stays so, check mqtt.broker") {
        didSet { metrics.isOutdated = true }
    }
    var outbox = Outbox() { didSet { metrics.isOutdated = true } }
    var retained = RetainedTopics()
    var isLookingForLeftovers = false
    /// `nil`: nothing is announced to Home Assistant.
    let discovery: Discovery?
    var announced = AnnouncementState()
    /// Until when new buttons are looked for.
    var joinEnd: Instant?
    var logLevel: LogLevel
    /// What was published of the log last.
    var latestLogged = ""
    var firmwareFiles: [FirmwareFile] = []
    /// Buttons whose images are being read.
    var firmwareReads: [UInt64: ButtonID] = [:]
    var jobs: [UInt64: Job] = [:]
    var unwritten: [RunID: UnwrittenMessages] = [:]
    var awaitingSync: [UInt64: Acknowledgement] = [:]
    /// Up to where each button is acknowledged when the store is mended.
    var heldBack: [ButtonID: EventCursor] = [:]
    var nextToken: UInt64 = 1
    /// Why the store cannot be written, when it cannot.
    var storeFault: String? { didSet { metrics.isOutdated = true } }
    /// The adapter stays closed: what is pressed could not be recorded.
    var isDeaf = false
    /// The record or the sync that failed last.
    var latestStoreFault: UInt64?
    var storeBackOff = BackOff(Hub.storeRetry)
    let interrupted: [StoredRun]
    var reload = ReloadState() { didSet { metrics.isOutdated = true } }
    /// The topics of all states.
    var stateTopics: Set<String> = []
    var ruleTopics = RuleTopicsState()
    var metrics = MetricsState()
    private(set) var trouble = RecentTrouble()
    private var repeatedLines = RepeatedLines<OutsideLine>()
    /// When the input came that is being handled.
    private(set) var handledAt = Instant(nanoseconds: 0)
    var watchers: Set<ClientID> = []
    /// `nil`: flicd's clients are not served.
    var flicd: FlicdState?
    var startedAt: Instant?
    private var isStopping = false
    private(set) var isFinished = false
    /// When it has ended it is to begin again.
    var isRestartWanted = false
    var deadlines = Deadlines<TimerKey>()
    var effects: [Effect] = []
    /// What the parts' own effects ask of them in turn. It waits until all effects before it are carried out: an
    /// older timer must not come after a newer one.
    var buttonInputs: [ButtonManager.Input] = []
    var ruleInputs: [RuleEngine.Input] = []
    var isCarryingOutRules = false
    /// While one is made.
    var recording: OngoingRecording?

    /// - Parameters:
    ///   - stored: what the store had at the start.
    ///   - rules: the set that is to run.
    package init(_ configuration: HubConfiguration, stored: StoredState, rules: RuleSet) {
        self.configuration = configuration
        topics = Topics(base: configuration.baseTopic)
        installationID = stored.installationID
        logLevel = configuration.logLevel
        discovery = configuration.discoveryPrefix.map {
            Discovery(
                topics: Topics(base: configuration.baseTopic), prefix: $0, installationID: stored.installationID,
                version: configuration.version, takesRequests: configuration.control != .none,
                takesRestart: configuration.control == .all)
        }
        brokerAddress = configuration.broker
        buttonSource = ButtonSource(
            ButtonManager(
                extraTrustRoots: configuration.extraTrustRoots, maximumLinks: configuration.maximumConnections))
        sources = configuration.sources.map { Source(name: $0) }
        engine = RuleEngine(rules, state: stored.rules, nextRun: RunID(rawValue: stored.nextRun))
        redaction = Redaction(rules.confidential)
        let waiting = Set(stored.rules.waiting.map(\.run.rawValue))
        interrupted = stored.runs.filter { !waiting.contains($0.id) }
        flicd = configuration.flicdListen.map { _ in
            FlicdState(server: FlicdServer(maximumLinks: configuration.maximumConnections))
        }
        reload.fault = configuration.ruleFault
        reload.problems = configuration.ruleProblems
        stateTopics = Set(rules.states.map(\.topicName))
        for button in stored.buttons {
            buttons[button.id] = ButtonRecord(button)
            if button.syncedCursor != nil { heldBack[button.id] = button.cursor }
        }
    }

    package mutating func handle(_ input: Input, at now: Instant) -> [Effect] {
        handledAt = now
        switch input {
        case .start: start(at: now)
        case .wallClock(let utc): wallClockWasSet(to: utc, at: now)
        case .entropy(let octets): advanceButtons(.entropy(octets), at: now)

        case .transportOpened:
            adapter = .starting
            tellFlicdController(at: now)
            advanceButtons(.transportOpened, at: now)
        case .received(let packet): advanceButtons(.received(packet), at: now)
        case .transportClosed(let reason, let fault): if !isFinished { transportClosed(reason, fault, at: now) }

        case .source(let place, let input): if !isFinished { sourceHappened(place, input, at: now) }

        case .brokerAddress(let address): brokerAddress = address
        case .brokerConnected: brokerConnected(at: now)
        case .brokerDisconnected(let reason): brokerDisconnected(reason, at: now)
        case .brokerSentMalformedPacket: metrics.malformedPackets += 1
        case .published(let id): published(id, at: now)
        case .publishFailed(let id, let reason): publishFailed(id, reason, at: now)
        case .messageReceived(let topicName, let payload, let retained):
            messageReceived(topicName, payload, retained: retained, at: now)
        case .messageDropped(let reason): log(.droppedMessage, .warning, "mqtt: \(reason)", at: now)

        case .processEnded(let id, let result): processEnded(id, result, at: now)
        case .webAnswered(let id, let result): webAnswered(id, result, at: now)
        case .rulesLoaded(let id, let loaded): rulesLoaded(id, loaded, at: now)
        case .reloadRules: reloadRules(withTests: false, for: nil)
        case .logLevel(let level): setLogLevel(level)
        case .firmwareFiles(let files): firmwareFilesChanged(files, at: now)
        case .firmwareRead(let id, let reading): firmwareRead(id, reading, at: now)
        case .recordFailed(let token, let reason, let refuge): recordFailed(token, reason, refuge, at: now)
        case .synced(let token, let success): synced(token, success, at: now)

        case .controlLine(let client, let line): controlLine(line, from: client, at: now)
        case .clientGone(let client): watchers.remove(client)
        case .flicd(let report): flicdReported(report, at: now)
        case .timerFired:
            let due = deadlines.takeDue(at: now)
            for key in TimerKey.allCases where due.contains(key) { expire(key, at: now) }
        case .stop: stop(at: now)
        }
        sendRetained(at: now)
        scheduleMetrics(at: now)
        switch deadlines.rearm() {
        case .set(let deadline): effects.append(.setTimer(deadline))
        case .cancel: effects.append(.cancelTimer)
        case nil: break
        }
        defer { effects = [] }
        return effects
    }

    /// What the broker publishes for us when we are gone without a word.
    package var offlineMessage: MQTTMessage { topics.bridgeStateMessage(isOnline: false) }

    private mutating func start(at now: Instant) {
        startedAt = now
        if let lost = configuration.lostState { log(.error, lost) }
        for run in interrupted { reportInterrupted(run, at: now) }
        for name in configuration.trustRootNames {
            log(.warning, "certificates signed by \(name) are trusted besides Flic's own (bluetooth.trust_roots)")
        }
        advanceButtons(.restored(buttons.values.compactMap(\.known)), at: now)
        for record in buttons.values.sorted(by: { $0.identity.id < $1.identity.id }) {
            restoreRuleFacts(of: record, at: now)
        }
        buttonsChanged(at: now)
        for button in buttons.keys.sorted() { reportUnheard(of: button, at: now) }
        startFlicd(at: now)
        if configuration.hasTransport, !isDeaf { effects.append(.openTransport) }
        startSources(at: now)
        writeMetrics(at: now)
    }

    private mutating func expire(_ key: TimerKey, at now: Instant) {
        switch key {
        case .buttons: advanceButtons(.timerFired, at: now)
        case .sources: expireSources(at: now)
        case .rules: advanceRules(.timerFired, at: now)
        case .outbox: expireMessages(at: now)
        case .transport: effects.append(.openTransport)
        case .join: endSourceSearch(isAsked: false, at: now)
        case .store: recordAndSync([])
        case .statistics: publishStatistics()
        case .settling: retained.addSettled()
        case .announce: announceAgain()
        case .heard: recordHeard()
        case .dials: recordDials()
        case .flicd: tellFlicd(.timerFired, at: now)
        case .flicdListener: effects.append(.flicd(.listen))
        case .metrics: writeMetrics(at: now)
        }
    }

    /// The buttons are let go first, which takes up to three seconds; asked a second time it does not wait for them.
    mutating func stop(at now: Instant) {
        guard !isStopping else { return finish(at: now) }
        isStopping = true
        advanceRules(.stop, at: now)
        for (id, job) in jobs.sorted(by: { $0.key < $1.key }) where job.isProcess { effects.append(.cancelProcess(id)) }
        advanceButtons(.shutDown, at: now)
    }

    mutating func finish(at now: Instant) {
        guard !isFinished else { return }
        isFinished = true
        // Nothing is opened any more.
        deadlines.cancel(.transport)
        deadlines.cancel(.sources)
        deadlines.cancel(.flicdListener)
        recordHeard()
        recordDials()
        recordSightings(of: buttons.keys.sorted())
        retained.addSettled()
        sendRetained(at: now)
        if isBrokerConnected {
            effects.append(.publish(takeToken(), offlineMessage, expiry: nil))
        }
        effects.append(.closeTransport)
        for place in sources.indices { effects.append(.source(place, .close)) }
        writeMetrics(at: now)
        effects.append(.finish(isRestart: isRestartWanted))
    }

    /// What is on file as wall time means another moment now.
    private mutating func wallClockWasSet(to utc: UTCTime, at now: Instant) {
        let isFirst = clock == nil
        clock = (utc, now)
        tellFlicd(.wallClock(utc), at: now)
        advanceRules(.wallClock(utc, isBelievable: utc >= configuration.builtAt), at: now)
        guard !isFirst else { return }
        let undecided = buttons.keys.sorted().filter { !engine.savedTrain(of: $0).isEmpty }
        if !undecided.isEmpty { recordAndSync(undecided.compactMap { progress(of: $0) }) }
    }

    // MARK: Small things every part needs

    /// The wall clock at this instant; the epoch as long as nobody told.
    func wallClock(at now: Instant) -> UTCTime {
        guard let clock else { return UTCTime(milliseconds: 0) }
        return clock.utc + (now - clock.at)
    }

    mutating func takeToken() -> UInt64 {
        defer { nextToken += 1 }
        return nextToken
    }

    /// - Parameter line: which line it is, where something outside can cause it.
    mutating func log(_ level: LogLevel, _ message: String, from line: OutsideLine? = nil) {
        let message = redaction(message)
        effects.append(.log(level, message))
        trouble.add(level, message, from: line, time: wallClock(at: handledAt), at: handledAt)
        publishLogged(level, message)
    }

    /// Logs what something outside can cause as often as it likes: the first time, and then at most once a minute.
    mutating func log(
        _ line: OutsideLine, _ level: LogLevel, _ message: @autoclosure () -> String, at now: Instant
    ) {
        guard let message = repeatedLines.admit(line, message().shortened(to: Self.maximumOutsideLine), at: now) else {
            return
        }
        log(level, message, from: line)
    }

    /// Characters of a line that quotes what came from outside, such as a topic.
    private static let maximumOutsideLine = 500

    /// Writes something down that nobody waits for.
    mutating func record(_ changes: [StoreChange]) {
        effects.append(.record(takeToken(), changes))
    }

    /// Writes something down that people were told is so.
    mutating func recordAndSync(_ changes: [StoreChange]) {
        let token = takeToken()
        effects.append(.record(token, changes))
        effects.append(.sync(token))
    }

    /// Whether somebody hears what is told: lines on the path of a press are not made for nobody.
    var isWatched: Bool { !watchers.isEmpty }

    mutating func tell(_ line: JSONValue) {
        guard isWatched else { return }
        effects.append(.tell(watchers.sorted(), redaction(line)))
    }
}
