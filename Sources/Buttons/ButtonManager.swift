import BluetoothHost
package import ButtonModel
import Flic

/// Manages the known buttons, their links and sessions, and the pairing of new buttons.
///
/// The manager owns the Bluetooth host. Every known button stays in the filter accept list, so that a press connects
/// it; a button that is being paired is in the list, too. Each link passes through these phases:
///
/// | link           | on                             | becomes        | and we                              |
/// |----------------|--------------------------------|----------------|-------------------------------------|
/// | –              | connected                      | exchangingMTU  | exchange the MTU                    |
/// | exchangingMTU  | MTU exchanged                  | discovering    | discover the service of its model   |
/// | exchangingMTU  | MTU exchanged, handles known   | subscribing    | enable notifications                |
/// | discovering    | service not found              | discovering    | discover the other service, once    |
/// | discovering    | service found                  | subscribing    | enable notifications                |
/// | subscribing    | refused, with known handles    | discovering    | discover the service of its model   |
/// | subscribing    | notifications enabled          | inSession      | start the session                   |
/// | inSession      | a notification                 | inSession      | pass it to the session              |
/// | any            | another procedure failed       | closing        | disconnect                          |
/// | inSession      | the link is no longer wanted   | disconnecting  | ask the button to disconnect        |
/// | disconnecting  | 3 s                            | disconnecting  | disconnect                          |
/// | any            | disconnected                   | –              | end the session                     |
///
/// A button that a user forgets, or that proves that it has deleted the pairing, is deleted at once, with its link, and
/// can be paired again immediately. A button whose link failed is left out of the accept list for `retryDelay`, so that
/// a defective button does not keep the radio busy; after failed verifications this begins with the third in a row.
/// When the adapter has no link left, `LinkShortage` determines which button is disconnected for another.
package struct ButtonManager: Sendable {
    package enum Input: Hashable, Sendable {
        /// The known buttons from the store. Sent once, at the start.
        case restored([KnownButton])
        case transportOpened
        /// An HCI packet with its H4 indicator.
        case received([UInt8])
        case transportClosed
        /// Random octets, requested by `needsEntropy`.
        case entropy([UInt8])
        /// Searches for new buttons for this time, or makes a search in progress end after this time.
        case permitJoin(Duration)
        case stopJoin
        /// Replaces the `ButtonListening`. Buttons whose pairing failed may be tried again.
        case listen(ButtonListening)
        /// Sets the `RequestedLinkParameters` for a button, or removes it.
        case setRequestedParameters(ButtonID, RequestedLinkParameters?)
        /// The events up to this cursor are on disk.
        case synced(ButtonID, EventCursor)
        /// Deletes a known button and its pairing. Ignored if the button is not known.
        case forget(ButtonID)
        /// Ignored if the button is not known.
        case request(ButtonID, ButtonRequest)
        /// The program is about to end: disconnects all buttons, connects none, and answers with `allDisconnected`.
        case shutDown
        case timerFired
    }

    package enum Effect: Hashable, Sendable {
        case send([UInt8])
        case setTimer(Instant)
        case cancelTimer
        case controllerReady(BluetoothAddress)
        /// The controller cannot be used until the transport is reopened, or never, if `isUnsupported`. The text is a
        /// sentence for the user.
        case controllerFailed(String, isUnsupported: Bool)
        case pairing(PairingProgress)
        /// The search ended before the button that it had found was paired.
        case abandoned(BluetoothAddress)
        /// A new pairing, which must be stored before any further effect is carried out.
        case paired(KnownButton, batteryMillivolts: Int)
        /// The button has deleted the pairing, and is not known any more.
        case unpaired(ButtonID)
        /// Answers `forget`: the button is not known any more.
        case forgotten(ButtonID)
        case state(ButtonID, ButtonState)
        /// The link to a known button has ended, for a reason such as `connection_timeout`.
        case disconnected(ButtonID, reason: String)
        /// The signal strength of a known button in dBm. Measured when the session is ready, after each battery
        /// reading, on `measureSignal`, and once in each search, from an advertisement.
        case signal(ButtonID, rssi: Int8)
        case rebooted(ButtonID, EventCursor)
        /// The events of a notification, in order. With `needsAcknowledgement` the owner must answer with `synced`.
        case events(ButtonID, [ButtonEvent], EventCursor, needsAcknowledgement: Bool)
        /// Rotation, which needs no acknowledgement.
        case moved(ButtonID, [ButtonMovement])
        case advertisingConfigured(ButtonID)
        case battery(ButtonID, millivolts: Int)
        case firmware(ButtonID, version: UInt32)
        /// The button has another model than was recorded.
        case model(ButtonID, FlicModel)
        /// The name that the button now has. No other name is pending.
        case nickname(ButtonID, String)
        case firmwareUpdate(ButtonID, FirmwareProgress)
        /// The buttons without a link, if the adapter does not have room for all. Sent on each change; empty only when
        /// it has room for all.
        case buttonsWithoutLink(Set<ButtonID>)
        /// The size of the adapter's accept list, and the number of links if it refuses another. Sent on each change.
        case capacity(acceptListSize: Int, linkLimit: Int?)
        /// An advertisement, as far as `ButtonListening` requests it.
        case advertised(ButtonAdvertisement)
        /// The session of a known button failed, with the failure's name and advice for the user. The pairing is kept.
        case sessionFailed(ButtonID, name: String, advice: String)
        case needsEntropy
        /// Answers `shutDown`: no link is left, or the remaining links did not end in time.
        case allDisconnected
        /// An unexpected event, for the log.
        case anomaly(String)
    }

    /// The time limit for connecting to a button that is being paired.
    package static let connectLimit = Duration.seconds(31)
    /// How long a button whose link failed is left out of the accept list.
    package static let retryDelay = Duration.seconds(20)
    /// The number of failed verifications in a row after which a button is left out of the accept list.
    package static let maximumFailedVerifications = 3
    /// The time limit for a scan response, which says whether the button is connected to another device.
    static let scanResponseLimit = Duration.milliseconds(300)
    /// The maximum number of addresses remembered in a search, so that each is reported once.
    static let maximumReported = 256

    enum TimerKey: Hashable, Sendable {
        case host
        case session(ConnectionHandle)
        case searchEnds
        case candidate
        case retry(ButtonID)
        /// Buttons whose pairing failed may be tried again, in a search that no user started.
        case retryCandidates
        /// A graceful disconnect has exceeded `gracefulDisconnectTimeout`.
        case gracefulDisconnect(ConnectionHandle)
        case freeLink
        /// The adapter has as many links as `LinkShortage.shortage`, and has not refused another one.
        case limitCheck
        case shutDown
    }

    var host: LEHost
    private let extraTrustRoots: [[UInt8]]
    var known: [ButtonID: KnownButton] = [:]
    /// The last delivered events of each button, over all its links; later than `KnownButton.cursor` while events are
    /// not on disk yet.
    var delivered: [ButtonID: EventCursor] = [:]
    var links = LinkTable()
    /// The attribute handles of buttons that were ready before, since the start of the program.
    var attributes: [ButtonID: FlicAttributes] = [:]
    var search: ButtonSearch?
    var listening = ButtonListening()
    var requestedParameters: [ButtonID: RequestedLinkParameters] = [:]
    var capacity = AdapterCapacity()
    var states: [ButtonID: ButtonState] = [:]
    /// The buttons that are left out of the accept list until their `retry` deadline.
    var inRetryDelay: Set<ButtonID> = []
    /// The failed verifications in a row, fewer than `maximumFailedVerifications`.
    var failedVerifications: [ButtonID: Int] = [:]
    /// The images of unfinished firmware updates, at most `maximumUpdates`.
    var updates: [ButtonID: FirmwareImage] = [:]
    var linkShortage = LinkShortage()
    var isControllerReady = false
    var isShuttingDown = false
    var entropy: [UInt8] = []
    var deadlines = Deadlines<TimerKey>()
    var effects: [Effect] = []
    private var hostInputs: [LEHost.Input] = []

    /// - Parameter extraTrustRoots: Ed25519 public keys that may sign a button's certificate, besides Flic's own.
    /// - Parameter maximumLinks: `nil`: as many as the controller supports.
    package init(extraTrustRoots: [[UInt8]] = [], maximumLinks: Int? = nil) {
        self.extraTrustRoots = extraTrustRoots
        host = LEHost(.init(maximumLinks: maximumLinks))
    }

    package mutating func handle(_ input: Input, at now: Instant) -> [Effect] {
        switch input {
        case .restored(let buttons):
            for button in buttons {
                known[button.id] = button
                if let cursor = button.deliveredBeforeStart { delivered[button.id] = cursor }
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
            if isSearching { endSearch(byUser: true, at: now) }
        case .listen(let wanted): listen(wanted, at: now)
        case .setRequestedParameters(let button, let parameters): setRequestedParameters(button, parameters, at: now)
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

    /// The Ed25519 public keys that may have signed a button's certificate.
    func trustRoots(ofTwist isTwist: Bool) -> [[UInt8]] {
        [isTwist ? ButtonSession.twistRoot : ButtonSession.flicRoot] + extraTrustRoots
    }

    /// The paired buttons, in no particular order.
    package var knownButtons: [KnownButton] { Array(known.values) }
    package func knownButton(_ button: ButtonID) -> KnownButton? { known[button] }
    package func state(of button: ButtonID) -> ButtonState { states[button] ?? .disconnected }
    package var isSearching: Bool { search?.isUserRequested == true }
    /// When the search that a user started ends; `nil` if there is none.
    package var searchEnd: Instant? { !isSearching ? nil : deadlines.deadline(of: .searchEnds) }

    private mutating func expire(_ key: TimerKey, at now: Instant) {
        switch key {
        case .host: perform(.timerFired, at: now)
        case .session(let handle): sessionTimerFired(handle, at: now)
        case .searchEnds: endSearch(byUser: false, at: now)
        case .candidate: candidateTimedOut(at: now)
        case .retry(let button):
            inRetryDelay.remove(button)
            updateAcceptList(at: now)
        case .gracefulDisconnect(let handle):
            perform(.perform(.disconnect(handle, reason: .remoteUserTerminated)), at: now)
        case .retryCandidates: search?.failed = []
        case .freeLink: freeLink(at: now)
        case .limitCheck: limitNotReached()
        case .shutDown: effects.append(.allDisconnected)
        }
    }

    // MARK: The host

    /// Passes an input to the host and carries out its effects. An effect may lead to further inputs, which wait until
    /// all earlier effects are carried out, so that packets stay in order.
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
            effects.append(.controllerFailed(failure.advice, isUnsupported: failure == .notLowEnergy))
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
        case .acceptListRotated(let waiting):
            linkShortage.waitingForTurn = Set(waiting.map(ButtonID.init))
            reportLinkShortage()
        case .linkLimitReached(let count):
            limitReached(count, at: now)
        case .connectionUpdateFailed(let handle, let status):
            effects.append(
                .anomaly("the connection parameters of link \(handle.rawValue) were not changed: status \(status)"))
        case .scanningFailed(let status):
            effects.append(.anomaly("the controller refused to scan: status \(status)"))
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

    /// Sends the accept list to the host: first the button that is being paired, then the known buttons.
    mutating func updateAcceptList(at now: Instant) {
        var addresses: [BluetoothAddress] = []
        if let address = search?.candidate?.address { addresses.append(address) }
        for button in known.values.sorted(by: { $0.id < $1.id }) where isToBeConnected(button.id) {
            addresses.append(button.identity.address)
        }
        perform(.perform(.setAcceptList(addresses)), at: now)
        for button in known.keys.sorted() { updateState(of: button) }
        reportLinkShortage()
    }

    func isToBeConnected(_ button: ButtonID) -> Bool {
        known[button]?.settings.isConnectionWanted == true && !inRetryDelay.contains(button) && !isShuttingDown
    }

    func link(to button: ButtonID) -> ConnectionHandle? {
        links.first { ButtonID($0.value.connection.peer) == button }?.key
    }

    /// Recomputes the state of a known button, and reports a change.
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
        case .disconnecting, .closing: .disconnecting
        case .inSession(isReady: true): .ready
        case .exchangingMTU, .discovering, .subscribing, .inSession(isReady: false): .connected
        }
    }
}

extension ButtonManager {
    /// More octets are requested when fewer than this remain; a session takes 44.
    static let entropyLowWater = 512
    static let maximumEntropy = 4096

    /// Random values for a session; `nil` only if many sessions begin before more octets arrive.
    mutating func takeEntropy() -> SessionEntropy? {
        guard let taken = SessionEntropy(Array(entropy.prefix(SessionEntropy.octetCount))) else { return nil }
        entropy.removeFirst(SessionEntropy.octetCount)
        return taken
    }
}
