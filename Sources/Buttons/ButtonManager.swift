package import ButtonModel
package import Flic
package import Radios

/// Manages the known buttons, their links and sessions, and the pairing of new buttons.
///
/// The manager owns the radio, which connects the buttons that are expected whenever they advertise: every known button,
/// and a button that is being paired. Each link passes through these phases:
///
/// | link           | on                             | becomes        | and we                              |
/// |----------------|--------------------------------|----------------|-------------------------------------|
/// | –              | connected                      | attaching      | wait for the radio                  |
/// | attaching      | attached                       | inSession      | start the session                   |
/// | attaching      | the radio found no service     | closing        | disconnect                          |
/// | inSession      | a notification                 | inSession      | pass it to the session              |
/// | any            | a failure                      | closing        | disconnect                          |
/// | inSession      | the link is no longer wanted   | disconnecting  | ask the button to disconnect        |
/// | disconnecting  | 3 s                            | disconnecting  | disconnect                          |
/// | any            | disconnected                   | –              | end the session                     |
///
/// A button that a user forgets, or that proves that it has deleted the pairing, is deleted at once, with its link, and
/// can be paired again immediately. A button whose link failed is not expected for `retryDelay`, so that
/// a defective button does not keep the radio busy; after failed verifications this begins with the third in a row.
/// When the adapter has no link left, `LinkShortage` determines which button is disconnected for another.
package struct ButtonManager: Sendable {
    package enum Input: Hashable, Sendable {
        /// The known buttons from the store. Sent once, at the start.
        case restored([KnownButton])
        /// The radio that was the home of a button before the start of the program. Sent before `restored`.
        case restoredHome(BluetoothAddress, RadioID)
        case transportOpened(RadioID = .first)
        /// Octets from a transport: for a controller, one HCI packet with its H4 indicator.
        case received([UInt8], RadioID = .first)
        /// The connection to the system bus is open, and signals of bluetoothd are reported.
        case busOpened(BlueZAdapterChoice, RadioID = .first)
        case bus(BusInput, RadioID = .first)
        /// The transport, or the connection to the system bus, is closed.
        case transportClosed(RadioID = .first)
        /// Random octets, requested by `needsEntropy`.
        case entropy([UInt8])
        /// Searches for new buttons for this time, or makes a search in progress end after this time.
        ///
        /// The radio is the one that pairs; `nil`: the one that hears a button best.
        case permitJoin(Duration, RadioID? = nil)
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

    package enum Effect: Hashable, Sendable, TimerEffect {
        case send([UInt8], RadioID = .first)
        case bus(BusEffect, RadioID = .first)
        case setTimer(Instant)
        case cancelTimer
        /// The address, and what the radio says of itself.
        case controllerReady(BluetoothAddress, String = "", RadioID = .first)
        /// The radio cannot be used until it is reopened. The text is a sentence for the user.
        case controllerFailed(String, AdapterFault, RadioID = .first)
        /// The radio cannot be used now, and tries again by itself without being reopened. The text is a sentence for the user.
        case controllerUnusable(String, AdapterFault, RadioID = .first)
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
        /// The link to a known button has ended.
        case disconnected(ButtonID, DisconnectReason)
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
        /// The size of the adapter's accept list, and the number of links if it refuses another; of several radios, the sums.
        /// Sent on each change.
        case capacity(acceptListSize: Int, linkLimit: Int?)
        /// The radio that looks for a button, or has it; `nil`: none. Sent on each change, but not with one adapter.
        case assigned(ButtonID, RadioID?)
        /// The radio is the home of the button from now on: it looks for the button, also after a restart. Never with one adapter.
        case homeChanged(ButtonID, RadioID)
        /// The number of links that a radio can have. Sent when it is known, and on each change; `capacity` says it for one
        /// adapter.
        case linkLimit(RadioID, Int)
        /// A radio has connected a button and enabled its notifications, for the metrics. The duration begins when the
        /// radio was told to connect; for an adapter, which connects by itself, it begins when the link was there.
        case connectionMade(ButtonID, RadioID, after: Duration)
        /// A radio has failed to connect a button, for the metrics.
        case connectFailed(RadioID, ConnectFailure)
        /// A packet of a button had a wrong signature, because an earlier packet of the session was lost; for the metrics.
        case notificationLost(RadioID)
        /// An advertisement, as far as `ButtonListening` requests it.
        case advertised(ButtonAdvertisement)
        /// The session of a known button failed. The pairing is kept.
        case sessionFailed(ButtonID, SessionFailure)
        case needsEntropy
        /// Answers `shutDown`: no link is left, or the remaining links did not end in time.
        case allDisconnected
        /// An unexpected event, for the log.
        case anomaly(String)
    }

    /// The time limit for connecting to a button that is being paired.
    package static let connectLimit = Duration.seconds(31)
    /// How long a button whose link failed is not expected.
    package static let retryDelay = Duration.seconds(20)
    /// The number of failed verifications in a row after which a button is not expected.
    package static let maximumFailedVerifications = 3
    /// The time limit for a scan response, which says whether the button is connected to another device.
    static let scanResponseLimit = Duration.milliseconds(300)
    /// The maximum number of addresses remembered in a search, so that each is reported once.
    static let maximumReported = 256

    enum TimerKey: Hashable, Sendable {
        case radio
        case session(LinkID)
        case searchEnds
        case candidate
        case retry(ButtonID)
        /// Buttons whose pairing failed may be tried again, in a search that no user started.
        case retryCandidates
        /// A graceful disconnect has exceeded `gracefulDisconnectTimeout`.
        case gracefulDisconnect(LinkID)
        case freeLink(RadioID)
        /// The radio has as many links as `LinkShortage.limits` says, and has not refused another one.
        case limitCheck(RadioID)
        case shutDown
    }

    var radios: RadioFleet
    private let extraTrustRoots: [[UInt8]]
    var known: [ButtonID: KnownButton] = [:]
    /// The last delivered events of each button, over all its links; later than `KnownButton.cursor` while events are
    /// not on disk yet.
    var delivered: [ButtonID: EventCursor] = [:]
    var links = LinkTable()
    /// The links whose notifications are not enabled yet, with the time at which the connection began.
    var connecting: [LinkID: Instant] = [:]
    var search: ButtonSearch?
    var listening = ButtonListening()
    var requestedParameters: [ButtonID: RequestedLinkParameters] = [:]
    /// The capacity of each radio.
    var capacities: [AdapterCapacity]
    var states: [ButtonID: ButtonState] = [:]
    /// The buttons that are not expected until their `retry` deadline.
    var inRetryDelay: Set<ButtonID> = []
    /// The failed verifications in a row, fewer than `maximumFailedVerifications`.
    var failedVerifications: [ButtonID: Int] = [:]
    /// The images of unfinished firmware updates, at most `maximumUpdates`.
    var updates: [ButtonID: FirmwareImage] = [:]
    var linkShortage = LinkShortage()
    /// The radios that were reported with `assigned`.
    private var assigned: [ButtonID: RadioID] = [:]
    var isShuttingDown = false
    /// True if no link is left, or the rest did not end in time, while the current input is handled.
    var hasParted = false
    var entropy: [UInt8] = []
    var deadlines = Deadlines<TimerKey>()
    var effects: [Effect] = []
    private var radioInputs: [(RadioInput, RadioID)] = []

    /// - Parameter extraTrustRoots: Ed25519 public keys that may sign a button's certificate, besides Flic's own.
    package init(extraTrustRoots: [[UInt8]] = [], radios: [RadioKind] = [.local()]) {
        self.extraTrustRoots = extraTrustRoots
        self.radios = RadioFleet(radios)
        capacities = Array(repeating: AdapterCapacity(), count: radios.count)
    }

    package mutating func handle(_ input: Input, at now: Instant) -> [Effect] {
        switch input {
        case .restored(let buttons):
            for button in buttons {
                known[button.id] = button
                if let cursor = button.deliveredBeforeStart { delivered[button.id] = cursor }
                states[button.id] = .disconnected
            }
            updateExpected(at: now)
        case .restoredHome(let address, let radio): perform(.restoreHome(address, radio), at: now)
        case .transportOpened(let radio):
            advanceRadio(.transportOpened(entropy: takeEntropy(for: radio)), of: radio, at: now)
        case .received(let packet, let radio):
            advanceRadio(.received(packet), of: radio, at: now)
        case .busOpened(let choice, let radio):
            advanceRadio(.busOpened(choice), of: radio, at: now)
        case .bus(let input, let radio):
            advanceRadio(.bus(input), of: radio, at: now)
        case .transportClosed(let radio):
            advanceRadio(.closed, of: radio, at: now)
            lose(radio, at: now)
        case .entropy(let octets):
            entropy = Array((entropy + octets).prefix(ButtonManager.maximumEntropy))
        case .permitJoin(let duration, let radio):
            startSearch(until: now + duration, through: radio, at: now)
        case .stopJoin:
            if isSearching { endSearch(byUser: true, at: now) }
        case .listen(let wanted): listen(wanted, at: now)
        case .setRequestedParameters(let button, let parameters): setRequestedParameters(button, parameters, at: now)
        case .synced(let button, let cursor):
            known[button]?.cursor.advance(to: cursor)
            guard let id = link(to: button) else { break }
            advanceSession(id, .synced(cursor), at: now)
        case .forget(let button): forget(button, at: now)
        case .request(let button, let request): handle(request, for: button, at: now)
        case .shutDown: shutDown(at: now)
        case .timerFired:
            for key in deadlines.takeDue(at: now) { expire(key, at: now) }
        }
        if hasParted {
            hasParted = false
            perform(.goodbye, at: now)
            effects.append(.allDisconnected)
        }
        if entropy.count < ButtonManager.entropyLowWater { effects.append(.needsEntropy) }
        deadlines.appendChange(to: &effects)
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
    /// The strength of the advertisements of a button, in dBm, for each radio that has received one within 15 min, and
    /// its age. Empty with one adapter.
    package func signals(of button: ButtonID, at now: Instant) -> [(radio: RadioID, rssi: Int, age: Duration)] {
        known[button].map { radios.signals(of: $0.identity.address, at: now) } ?? []
    }
    /// How often a radio heard buttons in the last full minute; `nil` with one adapter.
    package func heardPerMinute(by radio: RadioID, at now: Instant) -> Int? { radios.heardPerMinute(radio, at: now) }
    /// The presses of the last day on a radio.
    package func crowding(of radio: RadioID, at now: Instant) -> Crowding.Day {
        linkShortage.crowding[radio]?.day(at: now) ?? Crowding.Day()
    }
    /// When the search that a user started ends; `nil` if there is none.
    package var searchEnd: Instant? { !isSearching ? nil : deadlines.deadline(of: .searchEnds) }

    private mutating func expire(_ key: TimerKey, at now: Instant) {
        switch key {
        case .radio: advanceRadio(.timerFired, at: now)
        case .session(let id): sessionTimerFired(id, at: now)
        case .searchEnds: endSearch(byUser: false, at: now)
        case .candidate: candidateTimedOut(at: now)
        case .retry(let button):
            inRetryDelay.remove(button)
            updateExpected(at: now)
        case .gracefulDisconnect(let id):
            perform(.disconnect(id), at: now)
        case .retryCandidates: search?.failed = []
        case .freeLink(let radio): freeLink(on: radio, at: now)
        case .limitCheck(let radio): limitNotReached(on: radio, at: now)
        case .shutDown: hasParted = true
        }
    }

    // MARK: The radios

    mutating func perform(_ command: RadioCommand, at now: Instant) { advanceRadio(.perform(command), at: now) }

    /// True if a radio is ready.
    var isControllerReady: Bool { radios.isAnyReady }

    /// Passes an input to a radio and carries out its effects. An effect may lead to further inputs, which wait until
    /// all earlier effects are carried out, so that packets stay in order.
    private mutating func advanceRadio(_ input: RadioInput, of id: RadioID = .first, at now: Instant) {
        radioInputs.append((input, id))
        guard radioInputs.count == 1 else { return }
        var next = 0
        while next < radioInputs.count {
            let (input, id) = radioInputs[next]
            for output in radios.handle(input, of: id, at: now) {
                switch output.effect {
                case .send(let packet): effects.append(.send(packet, output.radio))
                case .bus(let effect): effects.append(.bus(effect, output.radio))
                case .setTimer(let deadline): deadlines.set(.radio, at: deadline)
                case .cancelTimer: deadlines.cancel(.radio)
                case .event(let event): happened(event, on: output.radio, at: now)
                }
            }
            next += 1
        }
        radioInputs.removeAll(keepingCapacity: true)
    }

    private mutating func happened(_ event: RadioEvent, on radio: RadioID, at now: Instant) {
        switch event {
        case .ready(let info):
            effects.append(.controllerReady(info.address, info.description, radio))
            capacityChanged(of: radio) { $0.acceptListSize = info.acceptListSize }
            for button in known.keys.sorted() { updateState(of: button) }
            updateListening(at: now)
        case .failed(let advice, let fault): effects.append(.controllerFailed(advice, fault, radio))
        case .unusable(let advice, let fault): effects.append(.controllerUnusable(advice, fault, radio))
        case .heard(let advertisement): noticed(advertisement, by: radio, at: now)
        case .connected(let id, let peer):
            connecting[id] = radios.takeAttempt(at: peer, by: radio) ?? now
            linkUp(id, to: peer, at: now)
        case .attached(let id, let service, let attMTU):
            connectionMade(id, at: now)
            attached(id, to: service, attMTU: attMTU, at: now)
        case .attachFailed(let id):
            connectionFailed(id, .noService)
            attachFailed(id, at: now)
        case .notified(let id, let value): advanceSession(id, .received(value), at: now)
        case .signal(let id, let rssi):
            guard let link = links[id], known[ButtonID(link.peer)] != nil else { break }
            effects.append(.signal(ButtonID(link.peer), rssi: rssi))
        case .disconnected(let id, let reason):
            connectionEnded(id, reason)
            linkDown(id, reason: reason, at: now)
        case .takingTurns(let buttons):
            linkShortage.takingTurns = Set(buttons.map(ButtonID.init))
            reportLinkShortage(at: now)
        case .linkLimitReached(let count):
            limitReached(count, on: radio, at: now)
            // A proxy says its limit by itself, and may have lent links to others.
            if !radios.isAlone, !radios.needsEntropy(radio) { effects.append(.linkLimit(radio, count)) }
        case .linkFreed: linkFreed(on: radio, at: now)
        case .linkLimit(let limit): effects.append(.linkLimit(radio, limit))
        case .assignmentChanged:
            for radio in capacities.indices { freeLink(on: RadioID(rawValue: UInt8(radio)), at: now) }
            reportLinkShortage(at: now)
            reportAssignments(at: now)
        case .homeChanged(let address):
            if known[ButtonID(address)] != nil { effects.append(.homeChanged(ButtonID(address), radio)) }
        case .attemptFailed: effects.append(.connectFailed(radio, .noLink))
        case .anomaly(let text): effects.append(.anomaly(text))
        }
    }

    private mutating func lose(_ radio: RadioID, at now: Instant) {
        // If no radio is left, the reason is that of an adapter that is alone.
        let reason = isControllerReady ? DisconnectReason.radioLost : .connectionTimeout
        connecting = connecting.filter { $0.key.radio != radio }
        for id in links.keys.sorted() where id.radio == radio { linkDown(id, reason: reason, at: now) }
        for button in known.keys.sorted() { updateState(of: button) }
    }

    /// Tells the radio whom to expect: first the button that is being paired, then the known buttons.
    mutating func updateExpected(at now: Instant) {
        var expected: [ExpectedButton] = []
        if let candidate = search?.candidate?.address {
            expected.append(ExpectedButton(candidate, search?.candidateService ?? .flic2))
        }
        for button in known.values.sorted(by: { $0.id < $1.id }) where isToBeConnected(button.id) {
            expected.append(ExpectedButton(button.identity.address, FlicService(button.identity.model)))
        }
        // During the shutdown no button counts as unwanted, because all links end anyway.
        let unwanted =
            isShuttingDown ? [] : known.values.filter { !$0.settings.isConnectionWanted }.sorted { $0.id < $1.id }
        perform(.expect(expected, unwanted: unwanted.map(\.identity.address)), at: now)
        for button in known.keys.sorted() { updateState(of: button) }
        reportLinkShortage(at: now)
        reportAssignments(at: now)
    }

    /// Reports which radio looks for each button or has it, where that has changed. With one adapter it never does.
    private mutating func reportAssignments(at now: Instant) {
        guard !radios.isAlone else { return }
        assigned = assigned.filter { known[$0.key] != nil }
        for button in known.values.sorted(by: { $0.id < $1.id }) {
            let radio = radios.radio(for: button.identity.address, at: now)
            guard radio != assigned[button.id] else { continue }
            assigned[button.id] = radio
            effects.append(.assigned(button.id, radio))
        }
    }

    func isToBeConnected(_ button: ButtonID) -> Bool {
        known[button]?.settings.isConnectionWanted == true && !inRetryDelay.contains(button) && !isShuttingDown
    }

    func link(to button: ButtonID) -> LinkID? {
        links.first { ButtonID($0.value.peer) == button }?.key
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
        guard let id = link(to: button), let link = links[id] else {
            return isControllerReady && isToBeConnected(button) ? .connecting : .disconnected
        }
        return switch link.phase {
        case .disconnecting, .closing: .disconnecting
        case .inSession(isReady: true): .ready
        case .attaching, .inSession(isReady: false): .connected
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

    /// The random octets for the key exchange of a radio, if it needs any. Too few of them fail the attempt to open it.
    private mutating func takeEntropy(for radio: RadioID) -> [UInt8] {
        guard radios.needsEntropy(radio) else { return [] }
        let taken = Array(entropy.prefix(32))
        entropy.removeFirst(taken.count)
        return taken
    }
}
