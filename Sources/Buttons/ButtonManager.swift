import BluetoothHost
package import ButtonModel
import Flic

/// Which buttons are known, which are connected, what each session is doing, and pairing.
///
/// It owns the Bluetooth host. Every known button is in the filter accept list all the time, so a press
/// connects it; the button being paired joins them there. A link then takes the same way each time:
///
/// | link           | on                         | becomes        | and we                          |
/// |----------------|----------------------------|----------------|---------------------------------|
/// |                | connected                  | exchangingMTU  | exchange the MTU                |
/// | exchangingMTU  | MTU known                  | discovering    | look for its kind's service     |
/// | discovering    | not there                  | discovering    | look for the other kind's, once |
/// | exchangingMTU  | the same, service known    | subscribing    | switch notifications on         |
/// | discovering    | service found              | subscribing    | switch notifications on         |
/// | subscribing    | refused, service was known | discovering    | look for the Flic service       |
/// | subscribing    | notifications on           | inSession      | start the session               |
/// | inSession      | notifications              | inSession      | hand them to the session        |
/// | any            | procedure failed           | closing        | disconnect                      |
/// | inSession      | no longer wanted           | parting        | ask the button to disconnect    |
/// | parting        | 3 s                        | parting        | disconnect                      |
/// | any            | disconnected               |                | tell the session, forget both   |
///
/// A button that proves that it does not know us any more, or that we are asked to forget, is gone at once, with its
/// link; it can be paired anew right away. A button whose session failed is left out of the accept list for a while,
/// so that a broken one cannot keep the radio busy; for one whose verification failed that begins with the third failure
/// in a row. When the adapter has no link left, `Space` decides which button gives way.
package struct ButtonManager: Sendable {
    package enum Input: Hashable, Sendable {
        /// The buttons that were paired before; once, at the start.
        case restored([KnownButton])
        case transportOpened
        /// One HCI packet with its H4 indicator.
        case received([UInt8])
        case transportClosed
        /// Random octets, asked for by `needsEntropy`.
        case entropy([UInt8])
        /// Look for new buttons this long; again while searching: from now this long.
        case permitJoin(Duration)
        case stopJoin
        /// What is to be heard of the radio until the next of these. A button that failed to be paired may be tried again.
        case listen(ButtonListening)
        /// What others wish of a button's link; it counts for what people have not set. `nil`: nothing any more.
        case want(ButtonID, LinkWish?)
        /// The events up to this cursor are safely on disk.
        case synced(ButtonID, EventCursor)
        /// Give up the pairing. Nothing happens to a button that is not known.
        case forget(ButtonID)
        /// Nothing happens to a button that is not known.
        case request(ButtonID, ButtonRequest)
        /// We are about to end: let the buttons go, and answer with `allDisconnected`. Nothing is connected any more.
        case shutDown
        case timerFired
    }

    package enum Effect: Hashable, Sendable {
        case send([UInt8])
        case setTimer(Instant)
        case cancelTimer
        case controllerReady(BluetoothAddress)
        /// The transport has to be closed and opened again; a sentence for people. Or it never will do:
        /// `isUnsupported`.
        case controllerFailed(String, isUnsupported: Bool)
        case pairing(PairingProgress)
        /// A button that was found is not to be paired any more.
        case abandoned(BluetoothAddress)
        /// A new pairing; to be stored before anything else.
        case paired(KnownButton, batteryMillivolts: Int)
        /// The button has proved that it does not know us any more: it is not known from here on.
        case unpaired(ButtonID)
        /// Answers `forget`: the button is not known from here on.
        case forgotten(ButtonID)
        case state(ButtonID, ButtonState)
        /// The link to a known button has ended; why, in a word or two.
        case disconnected(ButtonID, reason: String)
        /// How strongly the adapter hears a known button, in dBm: when it is ready, when its battery has been measured, when
        /// somebody asks, and once in a search when it advertises.
        case signal(ButtonID, rssi: Int8)
        case rebooted(ButtonID, EventCursor)
        /// One notification's events in order. With `needsAcknowledgement`, answer with `synced`.
        case events(ButtonID, [ButtonEvent], EventCursor, needsAcknowledgement: Bool)
        /// Turns. Nobody waits for an answer.
        case moved(ButtonID, [ButtonMovement])
        case queueDrained(ButtonID)
        case advertisingConfigured(ButtonID)
        case battery(ButtonID, millivolts: Int)
        case firmware(ButtonID, version: UInt32)
        /// It is another kind of button than was known.
        case model(ButtonID, FlicModel)
        /// What the button calls itself; nothing else is on its way to it any more.
        case nickname(ButtonID, String)
        case firmwareUpdate(ButtonID, FirmwareProgress)
        /// The buttons that have no link where the adapter has no room for all; said on each change, and empty only when
        /// it has room for all.
        case waitingForSpace(Set<ButtonID>)
        /// The entries of the adapter's accept list, and the links there are when it makes no more; said on each change.
        case capacity(acceptListSize: Int, linkLimit: Int?)
        /// While somebody listens.
        case advertised(HeardAdvertisement)
        /// A known button's session failed: the failure's name, and what to do. Its pairing is kept.
        case sessionFailed(ButtonID, word: String, advice: String)
        case needsEntropy
        /// Answers `shutDown`: no link is left, or those that are take too long to end.
        case allDisconnected
        /// Something outside misbehaved; worth a line in the log.
        case anomaly(String)
    }

    /// How long a link to a button being paired may take to come up (protocol notes, time limits).
    package static let connectLimit = Duration.seconds(31)
    /// How long a button whose session failed is left alone.
    package static let retryDelay = Duration.seconds(20)
    /// A verification that failed costs the button its link; after so many in a row it is left alone for `retryDelay`.
    package static let maximumFailedVerifications = 3
    /// How long a public advertisement waits for its scan response, which tells whether the button is taken.
    static let scanResponseLimit = Duration.milliseconds(300)
    /// Addresses remembered during one search, so that each is reported once.
    static let maximumReported = 256

    enum TimerKey: Hashable, Sendable {
        case host
        case session(ConnectionHandle)
        case searchEnds
        case candidate
        case retry(ButtonID)
        /// A button that failed to be paired may be tried again, where nobody waits for it.
        case retryCandidates
        /// A button was asked to end its link.
        case parting(ConnectionHandle)
        case makeRoom
        /// The adapter has made as many links as it made at most, and has not refused another one.
        case limitCheck
        case shutDown
    }

    var host: LEHost
    private let extraTrustRoots: [[UInt8]]
    var known: [ButtonID: KnownButton] = [:]
    /// The events that were delivered in this run, over all links of a button: ahead of `KnownButton.cursor` while the
    /// disk does not have them yet.
    var delivered: [ButtonID: EventCursor] = [:]
    var links: [ConnectionHandle: ButtonLink] = [:]
    /// Of buttons that were ready before, in this run.
    var attributes: [ButtonID: FlicAttributes] = [:]
    var search: ButtonSearch?
    var listening = ButtonListening()
    var linkWishes: [ButtonID: LinkWish] = [:]
    var capacity = Capacity()
    var states: [ButtonID: ButtonState] = [:]
    var resting: Set<ButtonID> = []
    /// Verifications in a row that failed, fewer than `maximumFailedVerifications`.
    var failedVerifications: [ButtonID: Int] = [:]
    /// Images on their way, at most `maximumUpdates`.
    var updates: [ButtonID: FirmwareImage] = [:]
    var space = Space()
    var isControllerReady = false
    var isShuttingDown = false
    var entropy: [UInt8] = []
    var deadlines = Deadlines<TimerKey>()
    var effects: [Effect] = []
    private var hostInputs: [LEHost.Input] = []

    /// - Parameter extraTrustRoots: the keys that may have signed a button's certificate, besides Flic's own.
    /// - Parameter maximumLinks: `nil`: as many as the controller gives.
    package init(extraTrustRoots: [[UInt8]] = [], maximumLinks: Int? = nil) {
        self.extraTrustRoots = extraTrustRoots
        host = LEHost(.init(maximumLinks: maximumLinks))
    }

    package mutating func handle(_ input: Input, at now: Instant) -> [Effect] {
        switch input {
        case .restored(let buttons):
            for button in buttons {
                known[button.id] = button
                if let cursor = button.delivered { delivered[button.id] = cursor }
                states[button.id] = .disconnected
            }
            updateAcceptList(at: now)
        case .transportOpened:
            perform(.transportOpened, at: now)
        case .received(let packet):
            perform(.received(packet), at: now)
        case .transportClosed:
            perform(.transportClosed, at: now)
            loseController(at: now)
        case .entropy(let octets):
            entropy = Array((entropy + octets).prefix(ButtonManager.maximumEntropy))
        case .permitJoin(let duration):
            startSearch(until: now + duration, at: now)
        case .stopJoin:
            if isSearching { endSearch(isAsked: true, at: now) }
        case .listen(let wish): listen(wish, at: now)
        case .want(let button, let wish): want(button, wish, at: now)
        case .synced(let button, let cursor):
            known[button]?.cursor.advance(to: cursor)
            guard let handle = link(to: button) else { break }
            advanceSession(handle, .synced(cursor), at: now)
        case .forget(let button): forget(button, at: now)
        case .request(let button, let request): handle(request, for: button, at: now)
        case .shutDown: shutDown(at: now)
        case .timerFired:
            for key in deadlines.takeDue(at: now) { expire(key, at: now) }
        }
        if entropy.count < ButtonManager.entropyLowWater { effects.append(.needsEntropy) }
        switch deadlines.rearm() {
        case .set(let deadline): effects.append(.setTimer(deadline))
        case .cancel: effects.append(.cancelTimer)
        case nil: break
        }
        defer { effects = [] }
        return effects
    }

    /// Who may have signed its certificate.
    func trustRoots(ofTwist isTwist: Bool) -> [[UInt8]] {
        [isTwist ? ButtonSession.twistRoot : ButtonSession.flicRoot] + extraTrustRoots
    }

    /// The buttons that are paired, in no order.
    package var knownButtons: [KnownButton] { Array(known.values) }
    package func knownButton(_ button: ButtonID) -> KnownButton? { known[button] }
    package func state(of button: ButtonID) -> ButtonState { states[button] ?? .disconnected }
    package var isSearching: Bool { search?.isAsked == true }
    /// When the search for new buttons ends.
    package var searchEnd: Instant? { !isSearching ? nil : deadlines.deadline(of: .searchEnds) }

    private mutating func expire(_ key: TimerKey, at now: Instant) {
        switch key {
        case .host: perform(.timerFired, at: now)
        case .session(let handle): sessionTimerFired(handle, at: now)
        case .searchEnds: endSearch(isAsked: false, at: now)
        case .candidate: candidateTimedOut(at: now)
        case .retry(let button):
            resting.remove(button)
            updateAcceptList(at: now)
        case .parting(let handle):
            perform(.perform(.disconnect(handle, reason: .remoteUserTerminated)), at: now)
        case .retryCandidates: search?.failed = []
        case .makeRoom: makeRoom(at: now)
        case .limitCheck: limitNotReached()
        case .shutDown: effects.append(.allDisconnected)
        }
    }

    // MARK: The host

    /// Gives the host an input and carries out what it answers. What an answer asks of the host in turn
    /// waits until all answers before it are carried out, so that the host's effects keep their order.
    mutating func perform(_ input: LEHost.Input, at now: Instant) {
        hostInputs.append(input)
        guard hostInputs.count == 1 else { return }
        var next = 0
        while next < hostInputs.count {
            for effect in host.handle(hostInputs[next], at: now) {
                switch effect {
                case .send(let packet): effects.append(.send(packet))
                case .setTimer(let deadline): deadlines.set(.host, at: deadline)
                case .cancelTimer: deadlines.cancel(.host)
                case .event(let event): happened(event, at: now)
                }
            }
            next += 1
        }
        hostInputs.removeAll(keepingCapacity: true)
    }

    private mutating func happened(_ event: LEHost.Event, at now: Instant) {
        switch event {
        case .ready(let info):
            isControllerReady = true
            effects.append(.controllerReady(info.address))
            capacityChanged { $0.acceptListSize = info.acceptListSize }
            for button in known.keys.sorted() { updateState(of: button) }
            updateScanning(at: now)
        case .failed(let failure):
            effects.append(.controllerFailed(failure.sentence, isUnsupported: failure == .notLowEnergy))
        case .advertised(let report):
            noticed(report, at: now)
        case .connected(let connection):
            linkUp(connection, at: now)
        case .connectionFailed(let status):
            effects.append(.anomaly("the controller could not connect: status \(status)"))
        case .disconnected(let connection, let reason):
            linkDown(connection.handle, reason: reason, at: now)
        case .rssiRead(let handle, let rssi):
            guard let link = links[handle], known[ButtonID(link.connection.peer)] != nil else { break }
            effects.append(.signal(ButtonID(link.connection.peer), rssi: rssi))
        case .mtuExchanged(let handle, let attMTU):
            mtuExchanged(handle, attMTU: Int(attMTU), at: now)
        case .serviceDiscovered(let handle, let service):
            serviceDiscovered(handle, service, at: now)
        case .notificationsSet(let handle, _, _):
            notificationsSet(handle, at: now)
        case .procedureFailed(let handle, _, let failure):
            procedureFailed(handle, failure, at: now)
        case .notified(let handle, let attribute, let value):
            guard links[handle]?.attributes?.notify == attribute else { break }
            advanceSession(handle, .received(value), at: now)
        case .anomaly(let text):
            effects.append(.anomaly(text))
        case .acceptListTurned(let waiting):
            space.waitingForTurn = Set(waiting.map(ButtonID.init))
            reportSpace()
        case .linkLimitReached(let count):
            limitReached(count, at: now)
        case .connectionUpdateFailed(let handle, let status):
            effects.append(.anomaly("link \(handle.rawValue) keeps its parameters: status \(status)"))
        case .scanningFailed(let status):
            effects.append(.anomaly("the controller does not scan: status \(status)"))
        case .servicesChanged(let handle, _):
            if let link = links[handle] { attributes[ButtonID(link.connection.peer)] = nil }
        case .parametersUpdated, .advertisingStarted, .advertisingFailed, .written, .subscribed,
            .servicesDiscovered, .descriptorsDiscovered, .read, .writeCompleted, .indicationsSet, .indicated,
            .subscribedToIndications, .indicationConfirmed, .indicationFailed, .channelOpened,
            .channelOpenFailed, .channelClosed, .sduReceived, .sduRefused, .channelWritable:
            break
        }
    }

    private mutating func loseController(at now: Instant) {
        isControllerReady = false
        for handle in links.keys.sorted(by: { $0.rawValue < $1.rawValue }) {
            linkDown(handle, reason: .connectionTimeout, at: now)
        }
        for button in known.keys.sorted() { updateState(of: button) }
    }

    /// Everybody we want to be connected to: the button being paired first, then those known.
    mutating func updateAcceptList(at now: Instant) {
        var addresses: [BluetoothAddress] = []
        if let address = search?.candidate?.address { addresses.append(address) }
        for button in known.values.sorted(by: { $0.id < $1.id }) where isToBeConnected(button.id) {
            addresses.append(button.identity.address)
        }
        perform(.perform(.setAcceptList(addresses)), at: now)
        for button in known.keys.sorted() { updateState(of: button) }
        reportSpace()
    }

    func isToBeConnected(_ button: ButtonID) -> Bool {
        known[button]?.settings.isConnectionWanted == true && !resting.contains(button) && !isShuttingDown
    }

    func link(to button: ButtonID) -> ConnectionHandle? {
        links.first { ButtonID($0.value.connection.peer) == button }?.key
    }

    /// Works the state of a known button out afresh and reports it when it changed.
    mutating func updateState(of button: ButtonID) {
        guard known[button] != nil else { return }
        let state = currentState(of: button)
        guard states[button] != state else { return }
        states[button] = state
        effects.append(.state(button, state))
    }

    /// The state that follows from the link to a known button.
    func currentState(of button: ButtonID) -> ButtonState {
        guard let handle = link(to: button), let link = links[handle] else {
            return isControllerReady && isToBeConnected(button) ? .connecting : .disconnected
        }
        return switch link.phase {
        case .parting, .closing: .disconnecting
        case .inSession(isReady: true): .ready
        case .exchangingMTU, .discovering, .subscribing, .inSession(isReady: false): .connected
        }
    }
}

extension ButtonManager {
    /// The pool is asked to be filled below this many octets; a session takes 44.
    static let entropyLowWater = 512
    static let maximumEntropy = 4096

    /// Randomness for one session; `nil` only when many sessions begin before the pool was filled again.
    mutating func takeEntropy() -> SessionEntropy? {
        guard let taken = SessionEntropy(Array(entropy.prefix(SessionEntropy.octetCount))) else { return nil }
        entropy.removeFirst(SessionEntropy.octetCount)
        return taken
    }
}
