package import ButtonModel

/// A flicd server as a state machine: it executes clients' commands, and reports Tryck's buttons to them.
///
/// It neither connects nor pairs; it tells the radio what the clients request. At the end of each input it derives the
/// requests of all clients together, and emits `requestMode` and `listen` where they have changed. Clients may change them a
/// thousand times a second, which the radio cannot follow: a button is asked for another mode only after `minimumModeInterval`,
/// and the radio to receive more only after `minimumListeningInterval`. Events of the radio are forwarded to the clients concerned
/// within the same input.
///
/// The states of a client:
///
/// | client  | on                               | becomes | and we                                            |
/// |---------|----------------------------------|---------|---------------------------------------------------|
/// |         | connected                        | reading |                                                   |
/// | reading | commands                         | reading | execute them in order, answer at once             |
/// | reading | more commands than a turn takes  | working | pause reading                                     |
/// | working | the next turn                    | working | execute as many again                             |
/// | working | no command is left               | reading | resume reading                                    |
/// | any     | the client's sending side closed | ending  | execute what is left, answer, drop its requests   |
/// | ending  | everything is sent               |         | close                                             |
/// | any     | a frame above the maximum        |         | close                                             |
/// | any     | connection lost                  |         | drop its requests; other clients receive nothing  |
///
/// In each state the socket may be `blocked`. Commands are executed nevertheless, because a client that is busy writing
/// reads afterwards. Events are buffered, up to `maximumUnsentCount`; advertisements are not, except for the newest of
/// each button.
///
/// Clients depend on the order of events, and some crash on another order: ConnectionChannelRemoved is the last packet
/// of a channel, ScanWizardCompleted the last of a wizard; each query has one answer, in the order of the queries.
///
/// - Source: flicd notes, 5 to 8.
package struct FlicdServer: Sendable {
    package struct ClientID: RawRepresentable, Hashable, Comparable, Sendable {
        package var rawValue: UInt64
        package init(rawValue: UInt64) { self.rawValue = rawValue }
        package static func < (left: ClientID, right: ClientID) -> Bool { left.rawValue < right.rawValue }
    }

    package enum Input: Hashable, Sendable {
        /// `peer`: the client's network address, for the log.
        case clientConnected(ClientID, peer: String)
        case received(ClientID, [UInt8])
        /// The client has closed its sending side, and may still receive.
        case clientFinished(ClientID)
        /// The client's socket has not accepted all octets of the last `send`. Nothing more is sent until
        /// `clientDrained`.
        case clientBlocked(ClientID)
        /// The socket has accepted all octets.
        case clientDrained(ClientID)
        case clientGone(ClientID)

        case wallClock(UTCTime)
        /// A paired button, or a change of its identity.
        case button(ButtonIdentity)
        /// A button that has just been paired.
        case paired(ButtonIdentity)
        /// A button that was deleted by Tryck, not by a client.
        case deleted(ButtonID)
        /// A button that reported that it has no pairing with us any more.
        case unpaired(ButtonID)
        case status(ButtonID, FlicdConnectionStatus)
        /// The reason for the next `disconnected` of this button; later reasons are ignored.
        case linkFailed(ButtonID, FlicdDisconnectReason)
        /// New events in order, without repetitions.
        case events(ButtonID, [ButtonEvent])
        case battery(ButtonID, percentage: Int8, at: UTCTime)
        /// `address`: `nil` if unknown; the last known address is then kept.
        case controller(FlicdControllerState, address: BluetoothAddress?)
        case acceptListSize(Int)
        /// The number of links if no further link is possible; `nil` if one is.
        case linkLimit(Int?)
        case pairing(FlicdPairingStep)
        /// An advertisement. `FlicdServer` determines `isAlreadyVerified` and `isConnectedToThisDevice` itself.
        case advertised(FlicdAdvertisement)
        case timerFired
    }

    package enum Effect: Hashable, Sendable, TimerEffect {
        /// Send these octets, which are complete packets.
        case send(ClientID, [UInt8])
        /// Stop reading from this client until `resume`.
        case pause(ClientID)
        case resume(ClientID)
        /// `isWritten`: close only after the sent octets have been written.
        case close(ClientID, isWritten: Bool)
        /// The mode that the channels of a button request; `nil`: no channel. Not emitted for a deleted button.
        case requestMode(ButtonID, FlicdChannelMode?)
        case listen(FlicdListening)
        /// Delete this button. The owner must not report it by the input `deleted`.
        case delete(ButtonID)
        case setTimer(Instant)
        case cancelTimer
        case log(LogLevel, String)
    }

    package static let maximumClients = 64
    /// The share of `maximumClients` that the clients of one address may use.
    package static let share = ConnectionLimit(capacity: maximumClients)
    /// The maximum number of channels of a client, whatever their buttons.
    package static let maximumChannels = 256
    /// The maximum number of a client's channels to the same button. It bounds the cost of a press, which is sent to
    /// each channel.
    package static let maximumChannelsOfButton = 16
    /// The maximum number of a client's scanners.
    package static let maximumScanners = 16
    /// The maximum number of a client's wizards; as many again may wait for the report of their failure.
    package static let maximumWizards = 16
    /// The maximum number of a client's battery listeners.
    package static let maximumListeners = 256
    /// The maximum number of octets that wait for a blocked client; beyond it the client is disconnected.
    package static let maximumUnsentCount = 256 * 1024
    /// The maximum number of commands executed for a client in one turn.
    package static let commandsPerTurn = 64
    /// The octets of answers after which a client's turn ends.
    package static let octetsPerTurn = 64 * 1024
    /// The minimum interval between changes of a button's mode: each costs two packets and a change of the connection
    /// parameters.
    package static let minimumModeInterval = Duration.seconds(5)
    /// The minimum interval between extensions of `listen`, each of which starts scanning and may start a pairing.
    package static let minimumListeningInterval = Duration.seconds(1)

    enum TimerKey: Hashable, Sendable {
        /// Commands wait for the next turn.
        case pendingCommands
        case wizard(ClientID, UInt32)
        /// `minimumModeInterval` is over: the button may be asked for another mode.
        case mode(ButtonID)
        /// `minimumListeningInterval` is over: `listen` may be extended again.
        case listening
    }

    /// A channel, identified by its client and the client's id.
    struct ChannelKey: Hashable, Sendable {
        var client: ClientID
        var id: UInt32
    }

    var clients: [ClientID: FlicdClient] = [:]
    var buttons: [ButtonID: FlicdButton] = [:]
    /// The channels of each button, in the order of their creation.
    var channels: [ButtonID: [ChannelKey]] = [:]
    /// The buttons in `channels` that are not paired.
    var unpaired: Set<ButtonID> = []
    /// The addresses of `buttons` in the order of the list; `nil` after a change.
    var listed: [BluetoothAddress]?
    var controllerState = FlicdControllerState.detached
    var controllerAddress = BluetoothAddress(rawValue: 0)
    var acceptListSize = 0
    var maximumLinks: Int?
    var hasNoSpace = false
    /// The button that is being paired.
    var attempt: PairingAttempt?
    /// Names from advertisements received while clients listened, at most `maximumNames`.
    var names: [BluetoothAddress: String] = [:]
    var clock: (utc: UTCTime, at: Instant)?
    /// Limits the rate of each `Line`.
    var lines = LogRateLimit<Line>()
    /// The number of frames that could not be interpreted.
    package private(set) var ignoredFrameCount: Int64 = 0

    // The modes and the `FlicdListening` that were emitted last, and whether they may have changed since.
    var emittedModes: [ButtonID: FlicdChannelMode] = [:]
    var changedModes: Set<ButtonID> = []
    var emittedListening = FlicdListening()
    var isListeningChanged = false
    /// True if a wizard was created, so that buttons whose pairing failed before may be tried again.
    var retriesFailedPairings = false

    var deadlines = Deadlines<TimerKey>()
    var effects: [Effect] = []
    /// Clients whose pending octets or end have to be handled at the end of this input.
    var affectedClients: Set<ClientID> = []

    /// - Parameter maximumLinks: the configured number of links; `nil`: unknown until the limit is reached.
    package init(maximumLinks: Int? = nil) { self.maximumLinks = maximumLinks }

    package var clientCount: Int { clients.count }
    package var channelCount: Int { clients.values.reduce(0) { $0 + $1.channels.count } }

    package mutating func handle(_ input: Input, at now: Instant) -> [Effect] {
        switch input {
        case .clientConnected(let id, let peer): connected(id, peer, at: now)
        case .received(let id, let octets):
            clients[id]?.framer.append(octets)
            if clients[id]?.hasPendingCommands == false { executeCommands(for: id, at: now) }
        case .clientFinished(let id): finished(id)
        case .clientBlocked(let id): clients[id]?.isBlocked = true
        case .clientDrained(let id): drained(id)
        case .clientGone(let id): removeClient(id)

        case .wallClock(let utc): clock = (utc, now)
        case .button(let identity): identityChanged(identity)
        case .paired(let identity): paired(identity, at: now)
        case .deleted(let button): buttonDeleted(button, .deletedByOtherClient, deletedBy: nil)
        case .unpaired(let button): buttonDeleted(button, .deletedFromButton, deletedBy: nil)
        case .status(let button, let status): statusChanged(button, status)
        case .linkFailed(let button, let reason): linkFailed(button, reason)
        case .events(let button, let events): pressed(button, events)
        case .battery(let button, let percentage, let time): batteryMeasured(button, percentage, time)
        case .controller(let state, let address): controllerChanged(state, address, at: now)
        case .acceptListSize(let size): acceptListSize = size
        case .linkLimit(let limit): linkLimitChanged(limit)
        case .pairing(let step): pairingProgressed(step, at: now)
        case .advertised(let advertisement): advertised(advertisement, at: now)
        case .timerFired:
            for key in deadlines.takeDue(at: now) { expire(key, at: now) }
        }
        closeStalledClients(at: now)
        emitRequests(at: now)
        flushClients()
        deadlines.appendChange(to: &effects)
        defer { effects = [] }
        return effects
    }

    private mutating func expire(_ key: TimerKey, at now: Instant) {
        switch key {
        case .pendingCommands:
            for id in clients.keys.sorted() where clients[id]?.hasPendingCommands == true {
                executeCommands(for: id, at: now)
            }
        case .wizard(let client, let id): wizardExpired(client, id, at: now)
        // `emitRequests`, at the end of this input, emits what changed meanwhile.
        case .mode, .listening: break
        }
    }

    mutating func countIgnored() { ignoredFrameCount += 1 }

    /// Log lines that clients can cause at any rate.
    enum Line: Hashable, Sendable {
        case turnedAway, shareTaken, evicted, notAClient, stalled
        case wizard(FlicdScanWizardResult)
    }

    mutating func log(_ level: LogLevel, _ text: String) { effects.append(.log(level, text)) }

    mutating func log(_ line: Line, _ level: LogLevel, _ text: String, at now: Instant) {
        if let text = lines.lineToWrite(line, text, at: now) { log(level, text) }
    }

    func wallClock(at now: Instant) -> UTCTime {
        clock.map { $0.utc + (now - $0.at) } ?? UTCTime(milliseconds: 0)
    }
}

/// The advertisements for which the radio scans, combined for all clients.
package struct FlicdListening: Hashable, Sendable {
    /// A client has a scanner: report all advertisements of Flic buttons.
    package var reportsAll = false
    /// A client has a wizard: pair any button in public mode.
    package var pairsAny = false
    /// Buttons with a channel and without a pairing: pair each when it is in public mode.
    package var pairs: Set<ButtonID> = []

    package init(reportsAll: Bool = false, pairsAny: Bool = false, pairs: Set<ButtonID> = []) {
        self.reportsAll = reportsAll
        self.pairsAny = pairsAny
        self.pairs = pairs
    }

    package var isEmpty: Bool { !reportsAll && !pairsAny && pairs.isEmpty }

    /// True if `other` includes everything in this value.
    func isCovered(by other: FlicdListening) -> Bool {
        (!reportsAll || other.reportsAll) && (!pairsAny || other.pairsAny) && pairs.isSubset(of: other.pairs)
    }
}

/// The progress of the pairing attempt. `Input.paired` or `failed` ends it.
package enum FlicdPairingStep: Hashable, Sendable {
    /// The button is in public mode, and is being connected.
    case found(BluetoothAddress)
    case connected(BluetoothAddress)
    /// The result for wizards, and the reason for which the button's channels end; `nil`: they stay.
    case failed(BluetoothAddress, FlicdScanWizardResult, FlicdRemovedReason?)
}
