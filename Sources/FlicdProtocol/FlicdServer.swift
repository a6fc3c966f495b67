package import ButtonModel

/// flicd, as its clients see it: what they ask, and what the house has to tell them.
///
/// It connects nothing and pairs nothing. What clients want of the radio it works out afresh at the end of each input,
/// over all of them, and says when it has become another: `want`, `listen`. That is said at once, but clients may
/// change their minds a thousand times a second, and the radio cannot: a button is not asked for another mode before
/// `modeRest` is over, nor the radio to hear more before `listeningRest` is. What the radio does comes in from the house,
/// and goes out to whom it concerns in the same turn.
///
/// A client is in one of these situations:
///
/// | client  | on                               | becomes | and we                                          |
/// |---------|----------------------------------|---------|-------------------------------------------------|
/// |         | connected                        | reading |                                                 |
/// | reading | commands                         | reading | execute them in order, answer at once           |
/// | reading | more of them than a turn takes   | working | pause it                                        |
/// | working | the next turn                    | working | execute as many again                           |
/// | working | none is left                     | reading | resume it                                       |
/// | any     | it writes no more                | ending  | execute what is left, answer, forget its wishes |
/// | ending  | all is said                      |         | close it                                        |
/// | any     | a frame longer than there are    |         | close it                                        |
/// | any     | gone                             |         | forget its wishes; the others hear nothing      |
///
/// Besides, its socket may be `blocked`: commands are executed all the same, for a client that is busy writing reads
/// when it is done. What is to be said waits then, up to `maximumUnsentCount`; of advertisements only the newest does.
///
/// Order is what clients rest on, some of them with their life: the last packet of a channel is `Removed`, that of a
/// wizard `Completed`, each question has one answer, and answers come in the order of the questions.
///
/// - Source: flicd notes, 5 to 8.
package struct FlicdServer: Sendable {
    package struct ClientID: RawRepresentable, Hashable, Comparable, Sendable {
        package var rawValue: UInt64
        package init(rawValue: UInt64) { self.rawValue = rawValue }
        package static func < (left: ClientID, right: ClientID) -> Bool { left.rawValue < right.rawValue }
    }

    package enum Input: Hashable, Sendable {
        /// `peer`: its address, for the log.
        case clientConnected(ClientID, peer: String)
        case received(ClientID, [UInt8])
        /// The client writes no more, and may still read.
        case clientFinished(ClientID)
        /// Its socket does not take all of what was sent. Nothing more is sent to it …
        case clientBlocked(ClientID)
        /// … until it has.
        case clientDrained(ClientID)
        case clientGone(ClientID)

        case wallClock(UTCTime)
        /// A button that is paired, or something new about it.
        case button(ButtonIdentity)
        /// A button that was paired just now.
        case paired(ButtonIdentity)
        /// Somebody who is no client has deleted it.
        case deleted(ButtonID)
        /// It does not know us any more.
        case unpaired(ButtonID)
        case status(ButtonID, FlicdConnectionStatus)
        /// Why the next `disconnected` of this button; the first reason given counts.
        case linkFailed(ButtonID, FlicdDisconnectReason)
        /// In order. They are not repeated.
        case events(ButtonID, [ButtonEvent])
        case battery(ButtonID, percentage: Int8, at: UTCTime)
        /// `address`: `nil` when nobody knows; the last one is kept then.
        case controller(FlicdControllerState, address: BluetoothAddress?)
        case acceptListSize(Int)
        /// The links there are when no more can be made; `nil` when one can be.
        case linkLimit(Int?)
        case pairing(FlicdPairingStep)
        /// What is verified and connected it knows better itself.
        case advertised(FlicdAdvertisement)
        case timerFired
    }

    package enum Effect: Hashable, Sendable {
        /// Whole packets.
        case send(ClientID, [UInt8])
        /// Read no more of it for now.
        case pause(ClientID)
        case resume(ClientID)
        /// `isWritten`: what was sent is to arrive first.
        case close(ClientID, isWritten: Bool)
        /// What its clients wish of a button's link; `nil`: they have no wish. Of a button that is gone nothing is said.
        case want(ButtonID, FlicdChannelMode?)
        case listen(FlicdListening)
        /// Not to be answered with `deleted`.
        case delete(ButtonID)
        case setTimer(Instant)
        case cancelTimer
        case log(FlicdLogLevel, String)
    }

    package static let maximumClients = 64
    /// How many of these the clients of one address may be.
    package static let share = ClientShare(places: maximumClients)
    /// Of each kind, for a client.
    package static let maximumChannels = 256
    /// Of these, to one button: a press costs as much as it has channels.
    package static let maximumChannelsOfButton = 16
    package static let maximumScanners = 16
    package static let maximumWizards = 16
    package static let maximumListeners = 256
    /// Octets that a client does not read.
    package static let maximumUnsentCount = 256 * 1024
    /// What is executed for a client in one turn, and the octets of answers after which no more is.
    package static let commandsPerTurn = 64
    package static let octetsPerTurn = 64 * 1024
    /// Another mode is two packets to the button, and has it agree on other times of its link.
    package static let modeRest = Duration.seconds(5)
    /// To hear more begins scanning, and may begin a pairing.
    package static let listeningRest = Duration.seconds(1)

    enum TimerKey: Hashable, Sendable {
        /// Commands are left over.
        case work
        case wizard(ClientID, UInt32)
        /// A button was asked for a mode; it may be asked for another.
        case mode(ButtonID)
        /// The radio was asked to hear more; it may be asked again.
        case listening
    }

    /// A channel of some client.
    struct ChannelKey: Hashable, Sendable {
        var client: ClientID
        var id: UInt32
    }

    var clients: [ClientID: FlicdClient] = [:]
    var buttons: [ButtonID: FlicdButton] = [:]
    /// In the order they were made, for each button.
    var channels: [ButtonID: [ChannelKey]] = [:]
    /// Those of them that have no pairing.
    var unpaired: Set<ButtonID> = []
    /// `buttons` in the order they are listed; `nil` when that is to be worked out.
    var listed: [BluetoothAddress]?
    var controllerState = FlicdControllerState.detached
    var controllerAddress = BluetoothAddress(rawValue: 0)
    var acceptListSize = 0
    var maximumLinks: Int?
    var hasNoSpace = false
    /// The button that is being paired.
    var attempt: PairingAttempt?
    /// Names of buttons that advertised while somebody listened, at most `maximumNames`.
    var names: [BluetoothAddress: String] = [:]
    var clock: (utc: UTCTime, at: Instant)?
    /// Lines of the log that clients can cause as often as they like.
    var lines = RepeatedLines<Line>()
    /// Frames that meant nothing.
    package private(set) var ignoredFrameCount: Int64 = 0

    // What was said last, and what may have changed since.
    var toldModes: [ButtonID: FlicdChannelMode] = [:]
    var changedModes: Set<ButtonID> = []
    var toldListening = FlicdListening()
    var isListeningChanged = false
    /// A wizard has begun: whoever failed before may be tried again.
    var isSearchedAnew = false

    var deadlines = Deadlines<TimerKey>()
    var effects: [Effect] = []
    /// Clients with something to be done about at the end of this input.
    var touched: Set<ClientID> = []

    /// - Parameter maximumLinks: what is configured; `nil`: not known before there are so many.
    package init(maximumLinks: Int? = nil) { self.maximumLinks = maximumLinks }

    package var clientCount: Int { clients.count }
    package var channelCount: Int { clients.values.reduce(0) { $0 + $1.channels.count } }

    package mutating func handle(_ input: Input, at now: Instant) -> [Effect] {
        switch input {
        case .clientConnected(let id, let peer): connected(id, peer, at: now)
        case .received(let id, let octets):
            clients[id]?.framer.append(octets)
            if clients[id]?.isWorking == false { work(for: id, at: now) }
        case .clientFinished(let id): finished(id)
        case .clientBlocked(let id): clients[id]?.isBlocked = true
        case .clientDrained(let id): drained(id)
        case .clientGone(let id): forget(id)

        case .wallClock(let utc): clock = (utc, now)
        case .button(let identity): known(identity)
        case .paired(let identity): paired(identity, at: now)
        case .deleted(let button): gone(button, .deletedByOtherClient, deletedBy: nil)
        case .unpaired(let button): gone(button, .deletedFromButton, deletedBy: nil)
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
        tellWishes(at: now)
        sendWhatWaits()
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
        case .work:
            for id in clients.keys.sorted() where clients[id]?.isWorking == true { work(for: id, at: now) }
        case .wizard(let client, let id): wizardExpired(client, id, at: now)
        // What was wished meanwhile is told at the end of this input.
        case .mode, .listening: break
        }
    }

    mutating func countIgnored() { ignoredFrameCount += 1 }

    /// What clients can have us write as often as they like.
    enum Line: Hashable, Sendable {
        case turnedAway, shareTaken, gaveWay, noClient, stalled
        case wizard(FlicdScanWizardResult)
    }

    mutating func log(_ level: FlicdLogLevel, _ text: String) { effects.append(.log(level, text)) }

    mutating func log(_ line: Line, _ level: FlicdLogLevel, _ text: String, at now: Instant) {
        if let text = lines.admit(line, text, at: now) { log(level, text) }
    }

    func wallClock(at now: Instant) -> UTCTime {
        clock.map { $0.utc + (now - $0.at) } ?? UTCTime(milliseconds: 0)
    }
}

package enum FlicdLogLevel: Hashable, Sendable {
    case debug, info, warning
}

/// What is to be heard of the radio, for all clients together.
package struct FlicdListening: Hashable, Sendable {
    /// Somebody has a scanner: all advertisements of Flic buttons.
    package var reportsAll = false
    /// Somebody has a wizard: any button that offers itself is to be paired.
    package var pairsAny = false
    /// Buttons that have a channel and no pairing: these are to be paired whenever they offer themselves.
    package var pairs: Set<ButtonID> = []

    package init(reportsAll: Bool = false, pairsAny: Bool = false, pairs: Set<ButtonID> = []) {
        self.reportsAll = reportsAll
        self.pairsAny = pairsAny
        self.pairs = pairs
    }

    package var isEmpty: Bool { !reportsAll && !pairsAny && pairs.isEmpty }

    /// Whoever hears `other` hears this, too.
    func isCovered(by other: FlicdListening) -> Bool {
        (!reportsAll || other.reportsAll) && (!pairsAny || other.pairsAny) && pairs.isSubset(of: other.pairs)
    }
}

/// What happens to the one button that is being paired; its end is `Input.paired` or a failure.
package enum FlicdPairingStep: Hashable, Sendable {
    /// It offers itself, and is being connected.
    case found(BluetoothAddress)
    case connected(BluetoothAddress)
    /// What wizards complete with; and why channels of the button end, if they do.
    case failed(BluetoothAddress, FlicdScanWizardResult, FlicdRemovedReason?)
}
