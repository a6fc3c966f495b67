package import ButtonModel

/// One flicd somewhere, as a source of buttons: its connection, which never stays down for good, and what comes over it.
///
/// | state      | on                            | becomes    | and we                                                |
/// |------------|-------------------------------|------------|-------------------------------------------------------|
/// | idle       | start                         | connecting | connect                                               |
/// | connecting | connected                     | greeting   | ask what there is                                     |
/// | greeting   | the list                      | listening  | ask for each button, a channel and a battery listener |
/// | greeting   | 10 s                          | waiting    | close                                                 |
/// | listening  | 30 s                          | listening  | ping                                                  |
/// | listening  | no answer to that for 10 s    | waiting    | close                                                 |
/// | any        | closed, or frames out of step | waiting    | say that its buttons are away                         |
/// | any        | changes without end           | waiting    | close                                                 |
/// | waiting    | 1 s, doubling to 60 s         | connecting | connect                                               |
///
/// Each connection starts anew: ids, states, requests. A button that is not in the list any more is kept, since a flicd
/// that has another adapter, or none, lists nothing; it is gone when flicd says that it was deleted.
///
/// | a button's channel | on                                        | becomes | and we                                  |
/// |--------------------|-------------------------------------------|---------|-----------------------------------------|
/// | none               | listed, or verified anew                  | asked   | create it, unless no connection is wanted |
/// | asked, open        | refused, or removed by somebody else      | resting | create it after 10 s, doubling to 5 min |
/// | asked, open        | no longer wanted                          | none    | remove it                               |
/// | any                | the button was deleted                    |         | say that it is gone                     |
///
/// What nobody asked for, what is of no known kind and what is too short is passed over, and counted in the log.
///
/// - Source: flicd notes, "Tryck as a client of a flicd".
package struct FlicdSource: Sendable {
    package enum Input: Hashable, Sendable {
        /// Once: what is wished of the buttons that were there before.
        case start([BluetoothAddress: FlicdWish])
        /// - Parameter bootID: drawn for this connection; its presses are counted from 0.
        case connected(bootID: UInt32)
        case received([UInt8])
        /// It could not be made, or has ended; a sentence for people.
        case closed(String)
        case wish(BluetoothAddress, FlicdWish)
        /// Have it deleted there; `gone` answers. Nothing happens without a connection.
        case forget(BluetoothAddress)
        /// Pair new buttons there until `stopSearch`.
        case search
        case stopSearch
        case timerFired
    }

    package enum Effect: Hashable, Sendable {
        case connect
        case send([UInt8])
        /// Nothing more of this connection is of use.
        case close
        case setTimer(Instant)
        case cancelTimer
        /// `nil`: no connection.
        case controller(FlicdControllerState?)
        /// Why there is no connection; a sentence for people. It is tried again after this time.
        case lost(String, retryAfter: Duration)
        /// It stands before everything else of a button, and again when something of it has changed.
        case known(ButtonIdentity)
        /// - Parameter hasForgotten: it was the button that gave it up.
        case gone(BluetoothAddress, hasForgotten: Bool)
        /// `nil`: nobody waits for it there.
        case state(BluetoothAddress, FlicdConnectionStatus?)
        case pressed([ButtonEvent])
        case battery(BluetoothAddress, percentage: Int, measuredAt: UTCTime)
        case pairing(FlicdWizardStep)
        /// Something misbehaved; worth a line in the log.
        case anomaly(String)
    }

    package static let pingInterval = Duration.seconds(30)
    package static let answerLimit = Duration.seconds(10)
    /// Waits between connections: doubling from the first to the last.
    package static let retryWaits = Duration.seconds(1)...Duration.seconds(60)
    /// Waits before a channel is created again: doubling from the first to the last.
    package static let channelWaits = Duration.seconds(10)...Duration.seconds(300)
    /// Between one wizard and the next, and after one that has failed: they fail at once where there is no adapter.
    package static let wizardWaits = Duration.seconds(1)...Duration.seconds(5)
    /// Further buttons are passed over.
    package static let maximumButtons = 256
    /// Descriptions that were asked for and have not come. A flicd that owes more does not answer.
    package static let maximumAwaited = 2 * maximumButtons
    /// Changes told between two answered pings. A house that has been away for long tells less; beyond it somebody
    /// plays, and every change is work for the disk and the broker.
    package static let maximumChanges = 32 * maximumButtons
    /// What is said of one connection's misbehaviour.
    package static let maximumAnomalies = 16

    enum State: Hashable, Sendable {
        case idle, connecting, greeting, listening, waiting
    }

    enum TimerKey: Hashable, Sendable {
        case retry, answer, ping, wizard
        case channel(BluetoothAddress)
        case press(BluetoothAddress)
    }

    struct Button: Hashable, Sendable {
        /// Of the channel that was created last and is not gone.
        var channel: UInt32?
        var channelWait = FlicdSource.channelWaits.lowerBound
        var presses: FlicdPresses
        var identity: ButtonIdentity?
    }

    struct Wizard: Hashable, Sendable {
        var id: UInt32
        var found: BluetoothAddress?
        var isCancelled = false
    }

    var state = State.idle
    var wishes: [BluetoothAddress: FlicdWish] = [:]
    /// Of this connection, as everything below.
    var buttons: [BluetoothAddress: Button] = [:]
    var channels: [UInt32: BluetoothAddress] = [:]
    var listeners: [UInt32: BluetoothAddress] = [:]
    /// Whose descriptions were asked for, in the order of the questions.
    var awaited: [BluetoothAddress] = []
    /// Presses that the connection before was lost in, and that were told as clicks.
    var endedClicks: Set<BluetoothAddress> = []
    /// Paired since the search began; told when their descriptions have come.
    package var newlyPaired: Set<BluetoothAddress> = []
    var wizard: Wizard?
    package private(set) var isSearching = false
    var bootID: UInt32 = 0
    var nextID: UInt32 = 1
    var connectedAt = Instant(nanoseconds: 0)
    private var framer = FlicdFramer(maximumLength: FlicdFramer.maximumEventLength)
    private var retryWait = FlicdSource.retryWaits.lowerBound
    private var anomalyCount = 0
    private var changeCount = 0
    var deadlines = Deadlines<TimerKey>()
    var effects: [Effect] = []

    package init() {}

    /// It has told what it has.
    package var isConnected: Bool { state == .listening }

    package mutating func handle(_ input: Input, at now: Instant) -> [Effect] {
        switch input {
        case .start(let wishes):
            guard state == .idle else { break }
            self.wishes = wishes
            state = .connecting
            effects.append(.connect)
        case .connected(let bootID): connected(bootID, at: now)
        case .received(let octets): received(octets, at: now)
        case .closed(let reason):
            switch state {
            case .connecting, .greeting, .listening: lose(reason, at: now)
            case .idle, .waiting: break
            }
        case .wish(let address, let wish): wished(wish, of: address, at: now)
        case .forget(let address):
            if isConnected { send(.deleteButton(address)) }
        case .search:
            isSearching = true
            startWizard()
        case .stopSearch: stopSearch()
        case .timerFired:
            for key in deadlines.takeDue(at: now) { expire(key, at: now) }
        }
        switch deadlines.rearm() {
        case .set(let deadline): effects.append(.setTimer(deadline))
        case .cancel: effects.append(.cancelTimer)
        case nil: break
        }
        defer { effects = [] }
        return effects
    }

    private mutating func expire(_ key: TimerKey, at now: Instant) {
        switch key {
        case .retry:
            state = .connecting
            effects.append(.connect)
        case .answer:
            effects.append(.close)
            lose("it has not answered for 10 seconds; a flicd without a Bluetooth adapter does not answer", at: now)
        case .ping:
            send(.ping(id: takeID()))
            deadlines.set(.answer, at: now + Self.answerLimit)
        case .wizard: startWizard()
        case .channel(let address): openChannel(address)
        case .press(let address): flushPress(of: address)
        }
    }

    // MARK: The connection

    private mutating func connected(_ bootID: UInt32, at now: Instant) {
        guard state == .connecting else { return }
        state = .greeting
        self.bootID = bootID
        connectedAt = now
        nextID = 1
        anomalyCount = 0
        changeCount = 0
        framer = FlicdFramer(maximumLength: FlicdFramer.maximumEventLength)
        send(.getInfo)
        deadlines.set(.answer, at: now + Self.answerLimit)
    }

    private mutating func received(_ octets: [UInt8], at now: Instant) {
        guard state == .greeting || state == .listening else { return }
        framer.append(octets)
        do throws(FlicdFrameTooLong) {
            while let packet = try framer.next() {
                let told = effects.count
                take(packet, at: now)
                for effect in effects[told...] { changeCount += effect.changeCount }
                guard changeCount <= Self.maximumChanges else {
                    effects.append(.close)
                    return lose("it tells of changes without end", at: now)
                }
            }
        } catch {
            effects.append(.close)
            lose("it says what no flicd says", at: now)
        }
    }

    private mutating func take(_ packet: [UInt8], at now: Instant) {
        do throws(FlicdPacketFailure) {
            happened(try FlicdEvent(decoding: packet), at: now)
        } catch {
            switch error {
            case .empty: break
            case .tooShort(let opcode): noteAnomaly("event \(opcode) is too short")
            case .unknownClickType(let type): noteAnomaly("a press of the unknown kind \(type)")
            }
        }
    }

    private mutating func lose(_ reason: String, at now: Instant) {
        for address in buttons.keys.sorted(by: { $0.rawValue < $1.rawValue }) {
            endPress(of: address, at: now)
            deadlines.cancel(.channel(address))
            effects.append(.state(address, nil))
        }
        if state == .listening {
            endedClicks = Set(buttons.filter(\.value.presses.hasEndedClick).keys)
            effects.append(.controller(nil))
        }
        for key in [TimerKey.answer, .ping, .wizard] { deadlines.cancel(key) }
        buttons = [:]
        channels = [:]
        listeners = [:]
        awaited = []
        wizard = nil
        state = .waiting
        effects.append(.lost(reason, retryAfter: retryWait))
        deadlines.set(.retry, at: now + retryWait)
        retryWait = min(retryWait * 2, Self.retryWaits.upperBound)
    }

    /// A connection that answers this has shown that it is good for something.
    mutating func pingAnswered() {
        retryWait = Self.retryWaits.lowerBound
        changeCount = 0
    }

    // MARK: Small things every part needs

    mutating func send(_ command: FlicdCommand) { effects.append(.send(command.encoded())) }

    mutating func takeID() -> UInt32 {
        defer { nextID &+= 1 }
        return nextID
    }

    mutating func noteAnomaly(_ text: String) {
        anomalyCount += 1
        guard anomalyCount <= Self.maximumAnomalies else { return }
        effects.append(.anomaly(anomalyCount < Self.maximumAnomalies ? text : "\(text); no more is said of the like"))
    }
}

extension FlicdSource.Effect {
    /// What is kept on a disk counts more. Presses count nothing: a button may have stored any number of them.
    fileprivate var changeCount: Int {
        switch self {
        case .gone, .battery: 16
        case .controller, .known, .state, .pairing: 1
        case .connect, .send, .close, .setTimer, .cancelTimer, .lost, .pressed, .anomaly: 0
        }
    }
}

// Searching.
extension FlicdSource {
    mutating func startWizard() {
        guard isSearching, isConnected, wizard == nil else { return }
        let id = takeID()
        wizard = Wizard(id: id)
        send(.createScanWizard(id: id))
    }

    private mutating func stopSearch() {
        isSearching = false
        newlyPaired = []
        deadlines.cancel(.wizard)
        guard let wizard, !wizard.isCancelled else { return }
        self.wizard?.isCancelled = true
        send(.cancelScanWizard(id: wizard.id))
    }
}

/// What is wished of one button.
package struct FlicdWish: Hashable, Sendable {
    package var mode: FlicdChannelMode
    /// Otherwise no channel is created, and nobody waits for the button.
    package var isConnectionWanted: Bool

    package init(mode: FlicdChannelMode = FlicdChannelMode(), isConnectionWanted: Bool = true) {
        self.mode = mode
        self.isConnectionWanted = isConnectionWanted
    }
}

/// What happens while buttons may be paired.
package enum FlicdWizardStep: Hashable, Sendable {
    /// Its address is not told.
    case foundPrivate
    case foundPublic(BluetoothAddress)
    case connected(BluetoothAddress?)
    /// `known` came before.
    case paired(ButtonIdentity)
    /// The search goes on.
    case failed(FlicdScanWizardResult, BluetoothAddress?)
}
