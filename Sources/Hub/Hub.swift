package import ButtonModel
import Buttons
import FlicdProtocol
import Gestures
package import JSON
package import MQTTTopics
package import Radios
package import Rules

/// The whole daemon without its I/O: radio, gestures, rules, store, broker and control socket as one machine.
///
/// The effects of one notification of a button have this order, on which promises P1 and P2 rest:
///
/// | effect        | reason                                                                                 |
/// |---------------|----------------------------------------------------------------------------------------|
/// | `record`      | the event and the runs it starts are recorded before anything happens because of them  |
/// | the actions   | messages, programs, lines for clients that watch                                       |
/// | `sync`        | begins at once and takes as long as the disk takes; only the acknowledgement waits     |
/// | `send`        | the acknowledgement to the button, when `synced` has come in                           |
///
/// A record that the database does not take is written together with the next one, and is tried again until it succeeds.
/// Until then, presses are handled according to the place where the edge could put the record instead (`RecordRefuge`):
///
/// | the record is  | presses are handled | acknowledged                            |
/// |----------------|---------------------|-----------------------------------------|
/// | `disk`         | yes                 | yes, once that is synced                |
/// | `memory`       | yes                 | when the database has recorded them     |
/// | `nowhere`      | no: links are ended | when the database has recorded them     |
package struct Hub: Sendable {
    /// Large values are stored indirectly, because an input of any case is copied as often as the packet of a press.
    package enum Input: Hashable, Sendable {
        /// The first input except `wallClock` and `recordFailed`; given once.
        case start
        /// The wall clock at `now`, at the start and whenever the clock was set.
        case wallClock(UTCTime)
        case entropy([UInt8])

        case transportOpened(RadioID = .first)
        /// Octets from a transport: for a controller, one HCI packet with its H4 indicator.
        case received([UInt8], RadioID = .first)
        /// The connection to the system bus is open, in place of a transport.
        case busOpened(BlueZAdapterChoice, RadioID = .first)
        indirect case bus(BusInput, RadioID = .first)
        /// The transport or the bus could not be opened, or is gone; a sentence for users.
        case transportClosed(String, AdapterFault = .absent, RadioID = .first)

        /// An event of the flicd with that index in the configuration.
        indirect case source(Int, SourceInput)

        /// The address on which the embedded broker listens.
        case brokerAddress(String)
        case brokerConnected
        /// The reason, as a sentence for users.
        case brokerDisconnected(String)
        /// The broker has violated the protocol; `brokerDisconnected` follows with the details.
        case brokerSentMalformedPacket
        /// The message was written to the network (QoS 0) or acknowledged.
        case published(MessageID)
        case publishFailed(MessageID, String)
        case messageReceived(topicName: String, payload: [UInt8], retained: Bool)
        /// The broker sent a message that was dropped because it is too long; a sentence for users.
        case messageDropped(String)
        /// The broker does not deliver the messages of a topic filter; `reason` is a sentence for users.
        case subscriptionRefused(topicFilter: String, reason: String)
        /// The broker delivers the messages of a topic filter that it has refused before on this connection.
        case subscriptionGranted(topicFilter: String)

        indirect case jobEnded(JobID, JobResult)
        /// The answer to `loadRules`.
        indirect case rulesLoaded(JobID, RuleLoadReport)
        /// The rule files have changed, or are to be read again.
        case reloadRules
        /// The configuration was read again, and has this log level.
        case logLevel(LogLevel)
        /// The firmware files in the state directory, at the start and whenever they change.
        case firmwareFiles([FirmwareFile])
        /// The answer to `readFirmware`.
        indirect case firmwareRead(JobID, FirmwareReading)
        /// The database did not take the record, which is written with the next one; a sentence for users, and the place of the
        /// record until then. The token is `nil` for a record without one, and before `start` if the database takes no record
        /// at all.
        indirect case recordFailed(RecordToken?, String, RecordRefuge = .memory)
        /// A reserve for such records could not be created; a sentence for users. `nil`: it could be created afterwards.
        case reserveFault(String?)
        /// The record ring could not be created; a sentence for users. `nil`: it could be created afterwards.
        case ringFault(String?)
        /// The history cannot be written, for this reason; `nil`: it is written again.
        case historyFault(String?)
        /// The sync has ended. True: everything recorded before it is on the disk.
        case synced(RecordToken, Bool)

        /// A line from a client of the control socket.
        case controlLine(ClientID, [UInt8])
        case clientGone(ClientID)
        indirect case flicd(FlicdReport)
        case timerFired
        /// The answer to `goOn`.
        case goOn
        /// Disconnect the buttons and end. A second `stop` does not wait for the buttons.
        case stop
        /// A message with an expiry interval, in place of `messageReceived`. The broker would have discarded it after
        /// `remaining`.
        case expiringMessageReceived(topicName: String, payload: [UInt8], retained: Bool, remaining: Duration)
        indirect case uplink(UplinkInput)
    }

    /// Large values are stored indirectly, as in `Input`.
    package enum Effect: Hashable, Sendable, TimerEffect {
        case setTimer(Instant)
        case cancelTimer
        case needsEntropy
        /// The last effect of an input that is handled in two parts. The owner carries out the effects before this one, and
        /// `HubRunner` then passes the input `goOn`, which starts the second part. So the message of a rule is written before the
        /// hub makes statistics, reports and retained topics.
        case goOn

        case openTransport(RadioID = .first)
        case closeTransport(RadioID = .first)
        case send([UInt8], RadioID = .first)
        /// A command to the connection to the system bus.
        indirect case bus(BusEffect, RadioID = .first)
        /// A command to the flicd with that index in the configuration.
        indirect case source(Int, SourceEffect)

        /// Record the changes in a transaction without a sync, together with changes that could not be recorded before. The
        /// token is `nil` if no sync follows.
        case record(RecordToken?, [StoreChange])
        /// Sync everything that was recorded so far. Answered with `synced`.
        case sync(RecordToken)

        case subscribe([Subscription])
        case unsubscribe([String])
        /// Answered with `published` or `publishFailed`. `expiry`: how long the broker may keep the message for others.
        case publish(MessageID, MQTTMessage, expiry: Duration?)
        indirect case uplink(UplinkEffect)
        /// Answered with `jobEnded`.
        indirect case startJob(JobID, Job)
        case cancelJob(JobID, JobKind)
        /// Read and check the rule files, and run their tests if wanted. Answered with `rulesLoaded`.
        case loadRules(JobID, withTests: Bool)
        /// Release this set, which another has replaced, off the loop: releasing ten thousand rules takes longer than a press
        /// may wait.
        indirect case discard(PreparedRules)

        /// Answered with `firmwareRead`.
        case readFirmware(JobID, FirmwareFile)

        /// A line to a client of the control socket.
        indirect case respond(ClientID, JSONValue)
        /// A line to each client that watches.
        indirect case broadcast([ClientID], JSONValue)
        indirect case flicd(FlicdOrder)
        /// Press a button of the simulator.
        case pressSimulated(button: String, press: String)
        case log(LogLevel, String)
        /// Write the log from this level on, until the program ends.
        case setLogLevel(LogLevel)
        /// The status line for the service manager.
        case status(String)
        /// The whole content of the file for Prometheus.
        case writeMetrics([UInt8])
        /// There are no more effects: publish what is left, close, and end or restart the program.
        case finish(isRestart: Bool)
    }

    package struct ClientID: RawRepresentable, Hashable, Comparable, Sendable {
        package var rawValue: UInt64
        package init(rawValue: UInt64) { self.rawValue = rawValue }
        package static func < (left: ClientID, right: ClientID) -> Bool { left.rawValue < right.rawValue }
    }

    /// Timers that expire together are handled in the order of their cases, so that events of buttons precede decisions of
    /// timers.
    enum TimerKey: Hashable, Comparable, Sendable {
        case buttons, sources, rules, outbox
        case transport(RadioID)
        case join, store, statistics, settling, announce, watermarks, dials
        case flicd, flicdListener, metrics
        case feed, uplink
    }

    /// Changes of the identities of buttons.
    struct IdentityChanges: Hashable, Sendable {
        /// Buttons that were not known before.
        var added: [ButtonID] = []
        /// True if there are other changes than these.
        var hasOthers = false

        mutating func add(_ change: ButtonChange) {
            if case .pairing(isNew: true) = change.fact { added.append(change.button) } else { hasOthers = true }
        }
    }

    let configuration: HubConfiguration
    /// Four hexadecimal digits that distinguish this installation from others.
    package let installationID: String
    var buttonSource: ButtonSource
    var rules: RuleHost
    var buttons: ButtonRegistry
    var clock: (utc: UTCTime, at: Instant)? { didSet { metrics.invalidate() } }
    var radios: RadioSlots
    var journal: StoreJournal
    var flicd: FlicdGateway
    var search = PairingSearch()
    var broker: BrokerQueue
    var logbook: Logbook
    var firmwareFiles: [FirmwareFile] = []
    var jobs = Jobs()
    var identifiers = IdentifierSequence()
    var refusals = RefusalLimit()
    /// When `bridge/health` was published last; `nil` before the first time.
    var healthSentAt: Instant?
    var metrics: MetricsState
    var missedPresses: MissedPresses
    /// The time of the input that is being handled.
    private(set) var handledAt = Instant(nanoseconds: 0)
    var control: ControlPlane
    private(set) var lifecycle = Lifecycle.notStarted
    var deadlines = Deadlines<TimerKey>()
    var effects: [Effect] = []
    /// Inputs of `buttonSource` that its own effects lead to. They wait until all earlier effects are carried out, because an
    /// older timer must not be set after a newer one.
    var buttonInputs: [ButtonManager.Input] = []
    /// A press whose first effects were returned before it is handled, until `goOn`.
    var earlyPress: EarlyPress?
    /// False while an exact recording is made or any recording is replayed, so that a replay divides the effects into the
    /// same inputs.
    var findsEarlyEffects = true
    /// True if the early effects of a press were not those of its handling, so that some of its actions were carried out twice.
    /// This is a bug of this program. All later presses take the general way.
    var hasMistakenPreview = false
    #if DEBUG
        /// Changes the early effects of each press, for tests of what happens when they are mistaken.
        var changesEarlyEffects: (@Sendable (inout [Effect]) -> Void)?
    #endif
    /// The press whose actions are emitted and whose reports are not, until `goOn`.
    var incompletePress: IncompletePress?
    /// Occurrences of the action that is being performed. Clients that watch receive them when the turn is completed. `nil` at other
    /// times.
    var occurrencesOfAction: [Occurrence]?
    /// `nil` if no recording is made.
    var recording: OngoingRecording?
    /// What rules do and why, for a replay that compares it; `nil` if it is not collected.
    var ruleTrace: RuleTrace?
    /// The changes of several buttons of which all parts are told together; `nil` if each change is told at once.
    var collectedIdentityChanges: IdentityChanges?
    /// The feeds of sites; `nil` unless the configuration names sites.
    var feed: EngineFeed?
    /// The journals of presses for an engine; `nil` unless the configuration has an uplink.
    var uplink: SiteUplink?
    /// Why no history is kept, as a sentence; `nil` if it is kept, or if none is wanted.
    var historyFault: String?

    /// - Parameters:
    ///   - stored: the stored state at the start.
    ///   - rules: the first set of rules.
    package init(_ configuration: HubConfiguration, stored: StoredState, rules: RuleSet) {
        self.configuration = configuration
        buttons = ButtonRegistry(stored.buttons)
        journal = StoreJournal(
            heldBack: Dictionary(
                stored.buttons.filter { $0.syncedCursor != nil }.map { ($0.id, $0.cursor) }, uniquingKeysWith: { $1 }),
            runs: stored.runs.map(\.id))
        installationID = stored.installationID
        logbook = Logbook(configuration.logLevel)
        broker = BrokerQueue(configuration, installationID: stored.installationID)
        buttonSource = ButtonSource(
            ButtonManager(
                extraTrustRoots: configuration.extraTrustRoots,
                radios: configuration.radios.isEmpty ? [.local()] : configuration.radios.map(\.kind)))
        radios = RadioSlots(configuration.radios)
        flicd = FlicdGateway(configuration)
        control = ControlPlane(configuration)
        metrics = MetricsState(isEnabled: configuration.hasMetrics)
        missedPresses = MissedPresses(stored.buttons)
        feed = configuration.engine.map { EngineFeed($0, stored: stored) }
        uplink = configuration.uplink.map {
            SiteUplink($0, stored: stored.feed.uplink, installationID: stored.installationID)
        }
        // The runs of an engine are not resumed after a restart, because another engine may have led meanwhile.
        var stored = stored
        if feed != nil { (stored.rules.waitingRuns, stored.rules.keptEvents) = ([], []) }
        self.rules = RuleHost(rules, configuration, stored: stored)
    }

    package mutating func handle(_ input: Input, at now: Instant) -> [Effect] {
        handledAt = now
        completePress(at: now)
        if earlyPress != nil {
            completeEarlyPress(at: now)
        } else if let packet = input.radioPacket, let early = earlyEffects(of: packet, at: now) {
            earlyPress = EarlyPress(packet: packet, effects: early)
            return early
        }
        switch input {
        case .start: start(at: now)
        case .wallClock(let utc): wallClockWasSet(to: utc, at: now)
        case .entropy(let octets): advanceButtons(.entropy(octets), at: now)

        case .transportOpened(let radio):
            transportOpened(.transportOpened(radio), of: radio, isShared: false, at: now)
        case .busOpened(let choice, let radio):
            transportOpened(.busOpened(choice, radio), of: radio, isShared: true, at: now)
        case .received(let packet, let radio): advanceButtons(.received(packet, radio), at: now)
        case .bus(let input, let radio): advanceButtons(.bus(input, radio), at: now)
        case .transportClosed(let reason, let fault, let radio):
            transportClosed(reason, fault, of: radio, at: now)

        case .source(let index, let input): if !isFinished { upstreamReported(index, input, at: now) }

        case .brokerAddress(let address): broker.embeddedBrokerListens(at: address)
        case .brokerConnected: brokerConnected(at: now)
        case .brokerDisconnected(let reason): brokerDisconnected(reason, at: now)
        case .brokerSentMalformedPacket: broker.receivedMalformedPacket()
        case .published(let id): published(id, at: now)
        case .publishFailed(let id, let reason): publishFailed(id, reason, at: now)
        case .messageReceived(let topicName, let payload, let retained):
            messageReceived(topicName, payload, retained: retained, at: now)
        case .messageDropped(let reason): log(.droppedMessage, .warning, "mqtt: \(reason)", at: now)
        case .subscriptionRefused(let topicFilter, let reason):
            let fault = feed?.subscriptionRefused(topicFilter, reason)
            log(
                .refusedSubscription, .error,
                fault ?? "the broker refuses the subscription to \(topicFilter): \(reason)", at: now)
        case .subscriptionGranted(let topicFilter):
            feed?.granted(topicFilter)
            log(.info, "the broker grants the subscription to \(topicFilter) now")

        case .jobEnded(let id, let result): jobEnded(id, result, at: now)
        case .rulesLoaded(let id, let loaded): rulesLoaded(id, loaded, at: now)
        case .reloadRules: reloadRules()
        case .logLevel(let level): setLogLevel(level)
        case .firmwareFiles(let files): firmwareFilesChanged(files, at: now)
        case .firmwareRead(let id, let reading): firmwareRead(id, reading, at: now)
        case .recordFailed(let token, let reason, let refuge):
            recordFailed(token, reason, refuge, at: now)
        case .reserveFault(let reason): carryOut(journal.reserveChanged(reason, at: now), at: now)
        case .ringFault(let reason): carryOut(journal.ringChanged(reason, at: now), at: now)
        case .historyFault(let reason): historyFault = reason
        case .synced(let token, let success): synced(token, success, at: now)

        case .controlLine(let client, let line): serve(control.read(line, from: client), at: now)
        case .clientGone(let client): control.gone(client)
        case .flicd(let report): flicdReported(report, at: now)
        case .timerFired:
            for key in deadlines.takeDue(at: now).sorted() { expire(key, at: now) }
        case .goOn: break
        case .stop: stop(isRestart: false, at: now)
        case .expiringMessageReceived(let topicName, let payload, let retained, let remaining):
            expiringMessageReceived(topicName, payload, retained: retained, remaining: remaining, at: now)
        case .uplink(let input): uplinkReported(input, at: now)
        }
        if incompletePress != nil {
            emit(.goOn)
            defer { effects = [] }
            return effects
        }
        if feed != nil { tendFeed(at: now) }
        sendRetained(at: now)
        scheduleMetrics(at: now)
        deadlines.appendChange(to: &effects)
        defer { effects = [] }
        return effects
    }

    /// True if the latest effects end with `goOn`.
    package var isIncomplete: Bool { earlyPress != nil || incompletePress != nil }

    /// Handles an input and each `goOn` that follows it.
    ///
    /// - Returns: the effects of all.
    package mutating func handleCompletely(_ input: Input, at now: Instant) -> [Effect] {
        var effects = handle(input, at: now)
        while isIncomplete { effects += handle(.goOn, at: now) }
        return effects
    }

    /// The will message, which the broker publishes when the connection is lost.
    package var offlineMessage: MQTTMessage {
        // A connection has only one will, and a stand-by needs the will of the leader to take over.
        feed?.offlineMessage ?? broker.topics.bridgeStateMessage(isOnline: false)
    }

    private mutating func start(at now: Instant) {
        lifecycle = .running(since: now)
        if let lost = configuration.lostState { log(.error, lost) }
        for run in rules.interrupted { reportInterrupted(run, at: now) }
        for name in configuration.trustRootNames {
            log(
                .warning, "certificates signed by \(name) are trusted in addition to Flic's own (bluetooth.trust_roots)"
            )
        }
        if radios.slots.count > 1 {
            for record in buttons.ownSorted {
                // If the configuration does not list the radio any more, the button has no home.
                guard let home = radios.ids.first(where: { radios[$0].radio.name == record.home }) else { continue }
                advanceButtons(.restoredHome(record.identity.address, home), at: now)
            }
        }
        advanceButtons(.restored(buttons.values.compactMap(\.known)), at: now)
        for record in buttons.sorted { restoreRuleFacts(of: record, at: now) }
        allIdentitiesChanged(at: now)
        for button in buttons.keys.sorted() { reportUnacknowledged(of: button, at: now) }
        startFlicd(with: buttons.ownSorted, at: now)
        if !radios.isHeldClosed { for radio in radios.ids { emit(.openTransport(radio)) } }
        startUpstreams(at: now)
        if feed != nil { startFeed(at: now) }
        startUplink(at: now)
        writeMetrics(at: now)
    }

    private mutating func expire(_ key: TimerKey, at now: Instant) {
        switch key {
        case .buttons: advanceButtons(.timerFired, at: now)
        case .sources: expireUpstreams(at: now)
        case .rules: if feed?.holdsRulesTimer() != true { advanceRules(.timerFired, at: now) }
        case .outbox: expireMessages(at: now)
        case .transport(let radio): emit(.openTransport(radio))
        case .join: endUpstreamSearch(isAsked: false, at: now)
        case .store: retryRecords(at: now)
        case .statistics: publishStatistics()
        case .settling:
            broker.addSettled()
            refreshHealth(at: now)
        case .announce: announceAgain()
        case .watermarks: recordWatermarks()
        case .dials: recordDials()
        case .flicd: advanceFlicdServer(.timerFired, at: now)
        case .flicdListener: emit(.flicd(.listen))
        case .metrics: writeMetrics(at: now)
        case .feed: expireFeed(at: now)
        case .uplink: expireUplink(at: now)
        }
    }

    var startedAt: Instant? { lifecycle.startedAt }
    var isFinished: Bool { lifecycle.isFinished }

    /// Begins to stop by ending the links, which takes up to three seconds. A second request does not wait for that. Presses that
    /// arrive meanwhile are handled like any others, except in an engine, because another engine may lead at once.
    mutating func stop(isRestart: Bool, at now: Instant) {
        if feed != nil, lifecycle.isRunning { resignFeed(at: now) }
        guard lifecycle.stop(isRestart: isRestart) else { return finish(at: now) }
        if feed != nil { stopRules(at: now) }
        advanceButtons(.shutDown, at: now)
    }

    private mutating func stopRules(at now: Instant) {
        advanceRules(.stop, at: now)
        for (id, kind) in jobs.withAwaitedEnds { emit(.cancelJob(id, kind)) }
    }

    mutating func finish(at now: Instant) {
        completePress(at: now)
        guard let isRestart = lifecycle.finish() else { return }
        if !rules.isStopped { stopRules(at: now) }
        for radio in radios.ids { cancelTimer(.transport(radio)) }
        cancelTimer(.sources)
        cancelTimer(.flicdListener)
        recordWatermarks()
        recordDials()
        recordSightings(of: buttons.keys.sorted())
        broker.addSettled()
        sendRetained(at: now)
        publishOffline()
        endUplink()
        for radio in radios.ids { emit(.closeTransport(radio)) }
        for index in flicd.upstreams.indices { emit(.source(index, .close)) }
        writeMetrics(at: now)
        emit(.finish(isRestart: isRestart))
    }

    /// The wall clock was set. Undecided press trains are recorded again, because their records contain wall times.
    private mutating func wallClockWasSet(to utc: UTCTime, at now: Instant) {
        let isFirst = clock == nil
        clock = (utc, now)
        advanceFlicdServer(.wallClock(utc), at: now)
        advanceRules(.wallClock(utc, isBelievable: utc >= configuration.builtAt), at: now)
        guard !isFirst else { return }
        let undecided = buttons.keys.sorted().filter { !rules.savedTrain(of: $0).isEmpty }
        if !undecided.isEmpty { recordAndSync(undecided.compactMap { progress(of: $0) }) }
    }

    /// True if something that the metrics show may have changed in one of the parts since the last call.
    mutating func takePartsHaveChanged() -> Bool {
        let (inButtons, inBroker) = (buttons.takeHasChanged(), broker.takeHasChanged())
        let (inRules, inFlicd) = (rules.takeHasChanged(), flicd.takeHasChanged())
        let (inRadio, inJournal) = (radios.takeHasChanged(), journal.takeHasChanged())
        return inButtons || inBroker || inRules || inFlicd || inRadio || inJournal
    }

    // MARK: Effects, timers and clock

    mutating func emit(_ effect: Effect) { effects.append(effect) }

    /// Sets the timer of a part, replacing an earlier time.
    mutating func setTimer(_ key: TimerKey, at deadline: Instant) { deadlines.set(key, at: deadline) }
    mutating func cancelTimer(_ key: TimerKey) { deadlines.cancel(key) }
    func isTimerSet(_ key: TimerKey) -> Bool { deadlines.deadline(of: key) != nil }

    /// The wall time of an instant; the epoch as long as the clock is unknown. It is inlined, because a call would copy the hub.
    @inline(__always)
    func wallClock(at now: Instant) -> UTCTime {
        guard let clock else { return UTCTime(milliseconds: 0) }
        return clock.utc.advanced(from: clock.at, to: now)
    }

    /// True if any client watches. Occurrences on the path of a press are not made otherwise.
    var isWatched: Bool { control.isWatched }

    /// Tells the clients that watch.
    mutating func broadcast(_ occurrence: Occurrence) {
        guard isWatched else { return }
        guard occurrencesOfAction == nil else { return occurrencesOfAction?.append(occurrence) ?? () }
        emit(.broadcast(control.audience, occurrence.line(hiding: redaction)))
    }
}
