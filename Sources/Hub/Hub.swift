package import ButtonModel
import Buttons
import FlicdProtocol
import Gestures
package import JSON
package import MQTTTopics
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
        case published(MessageID)
        case publishFailed(MessageID, String)
        case messageReceived(topicName: String, payload: [UInt8], retained: Bool)
        /// The broker sent a message that was not taken, as it is too long; a sentence for people.
        case messageDropped(String)

        case processEnded(JobID, ProcessResult)
        case webAnswered(JobID, HTTPResult)
        /// The answer to `loadRules`.
        case rulesLoaded(JobID, RulesLoaded)
        /// The rule files have changed, or somebody asks for them to be read again.
        case reloadRules
        /// The configuration was read again: from which level on the log is written.
        case logLevel(LogLevel)
        /// The files with firmware that lie in the state directory; at the start and whenever they change.
        case firmwareFiles([FirmwareFile])
        /// The answer to `readFirmware`.
        case firmwareRead(JobID, FirmwareReading)
        /// The database did not take the record, which goes with the next one; a sentence for users, and where the
        /// record is until then. Without a token for a record that has none, and before `start` if the database takes no
        /// record at all.
        case recordFailed(RecordToken?, String, RecordRefuge = .memory)
        /// A reserve for such records could not be made; a sentence for users. `nil`: it could, after that.
        case reserveFault(String?)
        /// Everything recorded up to this `sync` is on disk, or could not be brought there.
        case synced(RecordToken, Bool)

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

        /// One transaction, without a sync. What could not be recorded before goes with it. Without a token if no sync
        /// follows and nothing waits for it.
        case record(RecordToken?, [StoreChange])
        /// Bring everything recorded so far to the disk. Answered with `synced`.
        case sync(RecordToken)

        case subscribe([Subscription])
        case unsubscribe([String])
        /// Answer with `published` or `publishFailed`. `expiry`: how long the broker may keep it for others.
        case publish(MessageID, MQTTMessage, expiry: Duration?)
        case startProcess(JobID, ProcessRequest)
        case cancelProcess(JobID)
        case startWebRequest(JobID, HTTPAction)
        case cancelWebRequest(JobID)
        /// Read and check the rule files; with their tests, if asked. Answer with `rulesLoaded`.
        case loadRules(JobID, withTests: Bool)
        /// Another set took the place of this one. To let go of ten thousand rules takes longer than a press may wait.
        case discard(PreparedRules)

        /// Answer with `firmwareRead`.
        case readFirmware(JobID, FirmwareFile)

        /// One line to a client of the control socket.
        case respond(ClientID, JSONValue)
        /// One line to each client that watches.
        case broadcast([ClientID], JSONValue)
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

    /// Timers that expire together are handled in the order of their cases, so that events of buttons precede decisions of
    /// timers.
    enum TimerKey: CaseIterable, Hashable, Sendable {
        case buttons, sources, rules, outbox, transport, join, store, statistics, settling, announce, watermarks, dials
        case flicd, flicdListener, metrics
    }

    let configuration: HubConfiguration
    /// Four hexadecimal digits that tell this installation from others.
    package let installationID: String
    let topics: Topics
    var brokerAddress: String
    var buttonSource: ButtonSource
    var engine: RuleEngine
    var redaction: Redaction
    // Properties that the metrics show mark the metrics as outdated.
    var buttons: ButtonRegistry
    var clock: (utc: UTCTime, at: Instant)? { didSet { metrics.isOutdated = true } }
    var radio = RadioSlot()
    var journal: StoreJournal
    /// In the order of the configuration.
    var sources: [FlicdUpstream] { didSet { metrics.isOutdated = true } }
    var sourceDeadlines = Deadlines<Int>()
    /// Since the search for new buttons began.
    var hasPairedOne = false
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
    var jobs = Jobs()
    /// What the messages in `outbox` were published for.
    var messages = MessageOwners()
    var identifiers = IdentifierSequence()
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
    private var lifecycle = Lifecycle.notStarted
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
        buttons = ButtonRegistry(stored.buttons)
        journal = StoreJournal(
            heldBack: Dictionary(
                stored.buttons.filter { $0.syncedCursor != nil }.map { ($0.id, $0.cursor) }, uniquingKeysWith: { $1 }),
            runs: stored.runs.map(\.id))
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
        sources = configuration.sources.map { FlicdUpstream(name: $0) }
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
    }

    package mutating func handle(_ input: Input, at now: Instant) -> [Effect] {
        handledAt = now
        switch input {
        case .start: start(at: now)
        case .wallClock(let utc): wallClockWasSet(to: utc, at: now)
        case .entropy(let octets): advanceButtons(.entropy(octets), at: now)

        case .transportOpened: transportOpened(at: now)
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
        case .recordFailed(let token, let reason, let refuge):
            carryOut(journal.recordFailed(token, reason, refuge, at: now), at: now)
        case .reserveFault(let reason): carryOut(journal.reserveChanged(reason, at: now), at: now)
        case .synced(let token, let success): carryOut(journal.synced(token, success, at: now), at: now)

        case .controlLine(let client, let line): controlLine(line, from: client, at: now)
        case .clientGone(let client): watchers.remove(client)
        case .flicd(let report): flicdReported(report, at: now)
        case .timerFired:
            let due = deadlines.takeDue(at: now)
            for key in TimerKey.allCases where due.contains(key) { expire(key, at: now) }
        case .stop: stop(isRestart: false, at: now)
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
        lifecycle = .running(since: now)
        if let lost = configuration.lostState { log(.error, lost) }
        for run in interrupted { reportInterrupted(run, at: now) }
        for name in configuration.trustRootNames {
            log(.warning, "certificates signed by \(name) are trusted besides Flic's own (bluetooth.trust_roots)")
        }
        advanceButtons(.restored(buttons.values.compactMap(\.known)), at: now)
        for record in buttons.sorted { restoreRuleFacts(of: record, at: now) }
        identitiesChanged(at: now)
        for button in buttons.keys.sorted() { reportUnacknowledged(of: button, at: now) }
        startFlicd(at: now)
        if configuration.hasTransport, !radio.isHeldClosed { effects.append(.openTransport) }
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
        case .store: carryOut(journal.retry(as: identifiers.recordToken(), at: now), at: now)
        case .statistics: publishStatistics()
        case .settling: retained.addSettled()
        case .announce: announceAgain()
        case .watermarks: recordWatermarks()
        case .dials: recordDials()
        case .flicd: tellFlicd(.timerFired, at: now)
        case .flicdListener: effects.append(.flicd(.listen))
        case .metrics: writeMetrics(at: now)
        }
    }

    var startedAt: Instant? { lifecycle.startedAt }
    var isFinished: Bool { lifecycle.isFinished }

    /// Lets the buttons go first, which takes up to three seconds. A second request does not wait for them.
    mutating func stop(isRestart: Bool, at now: Instant) {
        guard lifecycle.stop(isRestart: isRestart) else { return finish(at: now) }
        advanceRules(.stop, at: now)
        for id in jobs.programs { effects.append(.cancelProcess(id)) }
        advanceButtons(.shutDown, at: now)
    }

    mutating func finish(at now: Instant) {
        guard let isRestart = lifecycle.finish() else { return }
        // Nothing is opened any more.
        deadlines.cancel(.transport)
        deadlines.cancel(.sources)
        deadlines.cancel(.flicdListener)
        recordWatermarks()
        recordDials()
        recordSightings(of: buttons.keys.sorted())
        retained.addSettled()
        sendRetained(at: now)
        if isBrokerConnected {
            effects.append(.publish(identifiers.messageID(), offlineMessage, expiry: nil))
        }
        effects.append(.closeTransport)
        for place in sources.indices { effects.append(.source(place, .close)) }
        writeMetrics(at: now)
        effects.append(.finish(isRestart: isRestart))
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

    /// Records changes that nothing waits for.
    mutating func record(_ changes: [StoreChange]) {
        carryOut(journal.record(changes, as: identifiers.recordToken()), at: handledAt)
    }

    /// Records changes and syncs them, because users are told that they are made.
    mutating func recordAndSync(_ changes: [StoreChange]) {
        let token = identifiers.recordToken()
        carryOut(journal.record(changes, as: token), at: handledAt)
        carryOut(journal.sync(token), at: handledAt)
    }

    /// Whether any client watches. Lines on the path of a press are not made otherwise.
    var isWatched: Bool { !watchers.isEmpty }

    mutating func broadcast(_ line: JSONValue) {
        guard isWatched else { return }
        effects.append(.broadcast(watchers.sorted(), redaction(line)))
    }
}
