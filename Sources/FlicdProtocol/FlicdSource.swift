package import ButtonModel

/// A client of one flicd, which reports its buttons and their presses. It reconnects without end.
///
/// | state      | on                            | becomes    | and we                                                |
/// |------------|-------------------------------|------------|-------------------------------------------------------|
/// | idle       | start                         | connecting | connect                                               |
/// | connecting | connected                     | greeting   | send GetInfo                                          |
/// | greeting   | GetInfoResponse               | listening  | for each button: request its info, create a channel and a battery listener |
/// | greeting   | 10 s                          | waiting    | close                                                 |
/// | listening  | 30 s                          | listening  | ping                                                  |
/// | listening  | no answer to the ping for 10 s | waiting   | close                                                 |
/// | any        | closed, or an invalid frame   | waiting    | report its buttons as disconnected                    |
/// | any        | more than `maximumChanges`    | waiting    | close                                                 |
/// | waiting    | 1 s, doubling to 60 s         | connecting | connect                                               |
///
/// Each connection starts with new ids, states and requests. A button that is missing in a new list is kept, because a
/// flicd with another adapter, or without one, lists no buttons; a button is deleted only when the flicd reports its
/// deletion.
///
/// | a button's channel | on                                        | becomes | and we                                  |
/// |--------------------|-------------------------------------------|---------|-----------------------------------------|
/// | none               | listed, or newly verified                 | asked   | create it, unless no connection is wanted |
/// | asked, open        | refused, or removed by another client     | resting | create it after 10 s, doubling to 5 min |
/// | asked, open        | no longer wanted                          | none    | remove it                               |
/// | any                | the button was deleted                    |         | report the deletion                     |
///
/// Answers without a query, unknown events and packets that are too short are ignored and reported as anomalies.
///
/// - Source: flicd notes, 1 to 6.
package struct FlicdSource: Sendable {
    package enum Input: Hashable, Sendable {
        /// The first input: the requests for the buttons that are already known.
        case start([BluetoothAddress: FlicdButtonRequest])
        /// - Parameter bootID: a random number for this connection; the counters of its presses start at 0.
        case connected(bootID: UInt32)
        case received([UInt8])
        /// The connection failed or ended, for a reason that is a sentence for the user.
        case closed(String)
        case request(BluetoothAddress, FlicdButtonRequest)
        /// Delete the button at the flicd; the effect `gone` confirms it. Ignored without a connection.
        case forget(BluetoothAddress)
        /// Pair new buttons at the flicd until `stopSearch`.
        case search
        case stopSearch
        case timerFired
    }

    package enum Effect: Hashable, Sendable, TimerEffect {
        case connect
        case send([UInt8])
        /// Close the connection.
        case close
        case setTimer(Instant)
        case cancelTimer
        /// The state of the flicd's controller; `nil`: no connection to the flicd.
        case controller(FlicdControllerState?)
        /// The reason why there is no connection, as a sentence for the user, and the time until the next attempt.
        case lost(String, retryAfter: Duration)
        /// A button's identity. It is the first effect of a button, and is repeated when the identity changes.
        case known(ButtonIdentity)
        /// The button was deleted. `hasForgotten`: the button itself has removed the pairing.
        case gone(BluetoothAddress, hasForgotten: Bool)
        /// The connection status of the button; `nil`: it has no channel, so the flicd does not connect it for us.
        case state(BluetoothAddress, FlicdConnectionStatus?)
        case pressed([ButtonEvent])
        case battery(BluetoothAddress, percentage: Int, measuredAt: UTCTime)
        case pairing(FlicdWizardStep)
        /// The flicd has violated the protocol; for the log.
        case anomaly(String)
    }

    package static let pingInterval = Duration.seconds(30)
    package static let answerLimit = Duration.seconds(10)
    /// The interval between connection attempts: it doubles from the lower to the upper bound.
    package static let retryWaits = Duration.seconds(1)...Duration.seconds(60)
    /// The interval before a channel is created again: it doubles from the lower to the upper bound.
    package static let channelWaits = Duration.seconds(10)...Duration.seconds(300)
    /// The interval between wizards: the lower bound, or the upper bound after a failure, because wizards fail at once
    /// where there is no adapter.
    package static let wizardWaits = Duration.seconds(1)...Duration.seconds(5)
    /// The maximum number of buttons; further buttons are ignored.
    package static let maximumButtons = 256
    /// The maximum number of GetButtonInfo commands without an answer. New buttons are ignored beyond it, because the
    /// flicd does not answer.
    package static let maximumAwaited = 2 * maximumButtons
    /// The maximum weight of state changes between two answered pings. A flicd that returns after a long absence causes
    /// fewer. More are treated as an attack, because every change costs writes to the disk and the broker.
    package static let maximumChanges = 32 * maximumButtons
    /// The maximum number of anomalies reported for a connection.
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
        /// The id of the button's channel; `nil` when it has none.
        var channel: UInt32?
        var channelBackOff = BackOff(FlicdSource.channelWaits)
        var presses: FlicdPresses
        var identity: ButtonIdentity?
    }

    struct Wizard: Hashable, Sendable {
        var id: UInt32
        var found: BluetoothAddress?
        var isCancelled = false
    }

    var state = State.idle
    var requests: [BluetoothAddress: FlicdButtonRequest] = [:]
    /// The buttons of this connection. Like `channels`, `listeners`, `awaited` and `wizard`, they are cleared when it
    /// ends.
    var buttons: [BluetoothAddress: Button] = [:]
    var channels: [UInt32: BluetoothAddress] = [:]
    var listeners: [UInt32: BluetoothAddress] = [:]
    /// Addresses whose GetButtonInfo has not been answered, in the order of the queries.
    var awaited: [BluetoothAddress] = []
    /// Buttons for which the end of the previous connection completed a press as a click.
    var endedClicks: Set<BluetoothAddress> = []
    /// Buttons paired since the search began, whose info has not arrived yet.
    package var newlyPaired: Set<BluetoothAddress> = []
    var wizard: Wizard?
    package private(set) var isSearching = false
    var bootID: UInt32 = 0
    var nextID: UInt32 = 1
    var connectedAt = Instant(nanoseconds: 0)
    private var framer = FlicdFramer(maximumLength: FlicdFramer.maximumEventLength)
    private var retryBackOff = BackOff(FlicdSource.retryWaits)
    private var anomalyCount = 0
    private var changeCount = 0
    var deadlines = Deadlines<TimerKey>()
    var effects: [Effect] = []

    package init() {}

    /// True if the flicd is connected and has sent its list of buttons.
    package var isConnected: Bool { state == .listening }

    package mutating func handle(_ input: Input, at now: Instant) -> [Effect] {
        switch input {
        case .start(let requests):
            guard state == .idle else { break }
            self.requests = requests
            state = .connecting
            effects.append(.connect)
        case .connected(let bootID): connected(bootID, at: now)
        case .received(let octets): received(octets, at: now)
        case .closed(let reason):
            switch state {
            case .connecting, .greeting, .listening: lose(reason, at: now)
            case .idle, .waiting: break
            }
        case .request(let address, let request): requestChanged(request, of: address, at: now)
        case .forget(let address):
            if isConnected { send(.deleteButton(address)) }
        case .search:
            isSearching = true
            startWizard()
        case .stopSearch: stopSearch()
        case .timerFired:
            for key in deadlines.takeDue(at: now) { expire(key, at: now) }
        }
        deadlines.appendChange(to: &effects)
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
                let firstNew = effects.count
                take(packet, at: now)
                for effect in effects[firstNew...] { changeCount += effect.changeCount }
                guard changeCount <= Self.maximumChanges else {
                    effects.append(.close)
                    return lose("it reports too many changes", at: now)
                }
            }
        } catch {
            effects.append(.close)
            lose("it does not use flicd's protocol; check host and port", at: now)
        }
    }

    private mutating func take(_ packet: [UInt8], at now: Instant) {
        do throws(FlicdPacketFailure) {
            happened(try FlicdEvent(decoding: packet), at: now)
        } catch {
            switch error {
            case .empty: break
            case .tooShort(let opcode): noteAnomaly("event \(opcode) is too short")
            case .unknownClickType(let type): noteAnomaly("a press with the unknown click type \(type)")
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
        let wait = retryBackOff.next()
        effects.append(.lost(reason, retryAfter: wait))
        deadlines.set(.retry, at: now + wait)
    }

    /// Resets the back-off: a connection that answers a ping works.
    mutating func pingAnswered() {
        retryBackOff.reset()
        changeCount = 0
    }

    // MARK: Helpers

    mutating func send(_ command: FlicdCommand) { effects.append(.send(command.encoded())) }

    mutating func takeID() -> UInt32 {
        defer { nextID &+= 1 }
        return nextID
    }

    mutating func noteAnomaly(_ text: String) {
        anomalyCount += 1
        guard anomalyCount <= Self.maximumAnomalies else { return }
        effects.append(.anomaly(anomalyCount < Self.maximumAnomalies ? text : "\(text); later ones are not logged"))
    }
}

extension FlicdSource.Effect {
    /// The weight of a change, higher for changes that are written to disk. Presses have none, because a button may
    /// have stored any number of them.
    fileprivate var changeCount: Int {
        switch self {
        case .gone, .battery: 16
        case .controller, .known, .state, .pairing: 1
        case .connect, .send, .close, .setTimer, .cancelTimer, .lost, .pressed, .anomaly: 0
        }
    }
}

// Searching for new buttons.
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

/// The connection that is requested for a button.
package struct FlicdButtonRequest: Hashable, Sendable {
    package var mode: FlicdChannelMode
    /// False: no channel is created, so the flicd does not connect the button for us.
    package var isConnectionWanted: Bool

    package init(mode: FlicdChannelMode = FlicdChannelMode(), isConnectionWanted: Bool = true) {
        self.mode = mode
        self.isConnectionWanted = isConnectionWanted
    }
}

/// The progress of a search for new buttons.
package enum FlicdWizardStep: Hashable, Sendable {
    /// A wizard found a private button; flicd does not report its address.
    case foundPrivate
    case foundPublic(BluetoothAddress)
    case connected(BluetoothAddress?)
    /// The button is paired; `known` has reported its identity before.
    case paired(ButtonIdentity)
    /// A wizard failed; the search continues.
    case failed(FlicdScanWizardResult, BluetoothAddress?)
}
