public import ButtonModel
import Bytes

/// One link to one Flic 2, from link-up to link-down: verification, then events.
///
/// | state                       | on                          | becomes                    | and we                                  |
/// |-----------------------------|-----------------------------|----------------------------|-----------------------------------------|
/// | idle                        | link ready, to pair         | awaitingFullVerifyResponse1| ask, set timer                          |
/// | idle                        | link ready, to reconnect    | awaitingQuickVerifyResponse| ask, set timer                          |
/// | awaitingFullVerifyResponse1 | its certificate is genuine  | awaitingFullVerifyResponse2| prove that we know the secret           |
/// | awaitingFullVerifyResponse2 | its signature is right      | awaitingInitResponse       | paired, ask for events                  |
/// | awaitingQuickVerifyResponse | its signature is right      | awaitingInitResponse       | ask for events                          |
/// | awaitingQuickVerifyResponse | it does not know the pairing| awaitingFullVerifyResponse1| doubt it, and ask for the certificate   |
/// | awaitingFullVerifyResponse1 | it is genuine, in doubt     | awaitingUnpairedResponse   | ask for a proof                         |
/// | awaitingUnpairedResponse    | proof that it forgot us     | closed                     | unpaired, disconnect                    |
/// | awaitingUnpairedResponse    | proof that it did not       | closed                     | failed, disconnect                      |
/// | awaitingInitResponse        | the response                | ready                      | ready; what is stored comes first       |
/// | ready                       | events                      | ready                      | events; acknowledge when they are synced|
/// | ready, awaitingInitResponse | the button ends the session | pausing                    | failed                                  |
/// | ready, awaitingInitResponse | a wrong signature           | pausing                    | end the session, failed                 |
/// | ready, awaitingInitResponse | a second wrong signature    | closed                     | end the session, failed, disconnect     |
/// | awaiting its first response | too many hosts, and known   | pausing                    | failed                                  |
/// | pausing                     | timer                       | awaitingEntropy            | ask for entropy                         |
/// | awaitingEntropy             | restart                     | awaitingQuickVerifyResponse| ask, set timer                          |
/// | awaiting a response         | timer, or a refusal         | closed                     | failed, disconnect                      |
/// | any                         | link lost                   | closed                     | cancel timer                            |
///
/// Every other pair is ignored. `closed` is final.
///
/// What a session says of itself comes before what it asks for: after init the stored events, their acknowledgement,
/// and only then the requests of 6.5, or after `followUpPatience` when the disk takes its time. Acknowledgements wait
/// for `.synced`, whatever happens meanwhile: that keeps the promise that a press is not forgotten.
///
/// That a button does not know the pairing is said without a signature, so it alone costs nothing: only a proof made
/// with the key of its certificate does.
///
/// - Source: protocol notes, 3 (frames, counters), 5 (keys), 6 (order of packets), 10 (failures).
public struct ButtonSession: Sendable {
    public enum Purpose: Hashable, Sendable {
        /// Full verify: make a new pairing.
        case pair
        /// Quick verify with what an earlier pairing left. `advertisingConfigured`: since that boot id.
        case reconnect(Pairing, EventCursor, advertisingConfigured: Bool)
    }

    public struct Configuration: Hashable, Sendable {
        /// The link's peer; the certificate must name it.
        public var address: BluetoothAddress
        public var purpose: Purpose
        /// Ed25519 public keys, 32 octets each, that may have signed the certificate.
        public var trustRoots: [[UInt8]]
        public var latencyMode: LatencyMode
        /// What is known from an earlier session. Without it the advertising settings wait for the button to tell.
        public var firmwareVersion: UInt32?
        /// A name that was chosen and has not reached the button yet.
        public var pendingNickname: Nickname?
        /// Seconds without a press after which the button drops the link, 40…510. `nil`: never.
        public var autoDisconnectTime: UInt16?

        public init(
            address: BluetoothAddress, purpose: Purpose, trustRoots: [[UInt8]] = [ButtonSession.flicRoot],
            latencyMode: LatencyMode = .normal, firmwareVersion: UInt32? = nil, pendingNickname: Nickname? = nil,
            autoDisconnectTime: UInt16? = nil
        ) {
            self.address = address
            self.purpose = purpose
            self.trustRoots = trustRoots
            self.latencyMode = latencyMode
            self.firmwareVersion = firmwareVersion
            self.pendingNickname = pendingNickname
            self.autoDisconnectTime = autoDisconnectTime
        }
    }

    public enum Input: Hashable, Sendable {
        /// Notifications are on; the first packet may be sent. `attMTU` 23…517 (used up to 130).
        case linkReady(attMTU: Int, SessionEntropy)
        /// One GATT value the button notified.
        case received([UInt8])
        /// Everything up to this counter is safely on disk.
        case synced(EventCursor)
        /// Answers `needsEntropy`: start a new session on the same link.
        case restart(SessionEntropy)
        /// Somebody wants something of the button.
        case perform(Command)
        case timerFired
        case linkLost
    }

    /// What can be asked of a button. What a session cannot do now, it does when it is ready; what has no time to
    /// happen before the link ends is forgotten, the nickname excepted, which its owner keeps as pending.
    public enum Command: Hashable, Sendable {
        /// Replaces a nickname that is still pending.
        case setNickname(Nickname)
        case setLatencyMode(LatencyMode)
        /// Seconds, 40…510; `nil` is never.
        case setAutoDisconnectTime(UInt16?)
        /// Ends with `.firmwareUpdate(.finished)` or `.failed`; one at a time, another one fails as `busy`.
        case updateFirmware(FirmwareImage)
        case cancelFirmwareUpdate
        case executeLEDPattern(LEDPattern)
        case abortLEDPattern
        /// The button forgets all its pairings.
        case factoryReset
        /// The button ends the link; it advertises again at once or at its next press.
        case disconnect(advertiseAgain: Bool)
    }

    public enum Effect: Hashable, Sendable {
        /// One GATT value for the write characteristic, in order, without response.
        case send([UInt8])
        case setTimer(Instant)
        case cancelTimer
        /// A pairing was made; store it before anything else. Battery is known at once.
        case paired(ButtonIdentity, Pairing, batteryMillivolts: Int)
        /// Verified and past init: events will follow. `rebooted`: the boot id is a new one.
        /// `clock`: the button's ticks (1/32768 s) now.
        case ready(EventCursor, rebooted: Bool, clock: UInt64, hasQueuedEvents: Bool)
        /// What one notification carried, in order, and the cursor after it. When `needsAcknowledgement`
        /// the button waits for `.synced` of that cursor, also where the events are none because we had them all.
        case events([ButtonEvent], EventCursor, needsAcknowledgement: Bool)
        /// The button has no more stored events. Once a session, right after `ready` where there were none.
        case queueDrained
        /// The button took the advertising settings; they last until it reboots.
        case advertisingConfigured
        case battery(millivolts: Int)
        case firmware(version: UInt32)
        /// What the button holds; no nickname is pending any more.
        case nickname(String)
        case firmwareUpdate(FirmwareUpdateProgress)
        /// The button has forgotten us, as asked for.
        case factoryReset
        /// A request was not answered in time, by the request's name.
        case unanswered(String)
        /// The button has proved that it does not know the pairing any more: forget it.
        case unpaired
        /// The session is over for this reason; a pairing is kept.
        case failed(SessionFailure)
        /// A new session on the same link may start now: answer with `.restart`.
        case needsEntropy
        /// The link is of no more use.
        case disconnect
        /// A packet that changes nothing, such as an unknown opcode with a good MAC. Counted, at most logged.
        case ignored(reason: String)
    }

    /// The key that signs the certificates of Flic 2 and Duo (protocol notes, "Root public keys").
    public static let flicRoot: [UInt8] = [
        0xD3, 0x3F, 0x24, 0x40, 0xDD, 0x54, 0xB3, 0x1B, 0x2E, 0x1D, 0xCF, 0x40, 0x13, 0x2E, 0xFA, 0x41,
        0xD8, 0xF8, 0xA7, 0x47, 0x41, 0x68, 0xDF, 0x40, 0x08, 0xF5, 0xA9, 0x5F, 0xB3, 0xB0, 0xD0, 0x22,
    ]

    /// From the first request to the init response.
    ///
    /// - Source: protocol notes, 1 ("Time limits") and 6.10, as for the pauses.
    static let verifyTimeout = Duration.seconds(31)
    static let pauseAfterSessionEnd = Duration.seconds(1)
    static let pauseAfterWrongSignature = Duration.seconds(5)
    static let pauseAfterTooManyApps = Duration.seconds(30)
    /// Wrong signatures on one link until it is given up.
    static let maximumWrongSignatures = 2
    /// How long the requests after init wait for the stored events and their acknowledgement.
    static let followUpPatience = Duration.seconds(5)
    static let batteryPeriod = Duration.seconds(3 * 60 * 60)

    private enum State: Sendable {
        case idle
        /// `doubted`: a pairing that the button is said not to know. Without one a new pairing is made.
        case awaitingFullVerifyResponse1(SessionEntropy, doubted: Pairing?, deadline: Instant)
        case awaitingFullVerifyResponse2(MasterSecret, deadline: Instant)
        case awaitingQuickVerifyResponse(SessionEntropy, Pairing, deadline: Instant)
        case awaitingUnpairedResponse(MasterSecret.UnpairedProof, deadline: Instant)
        case awaitingInitResponse(SignedChannel, afterPairing: Bool, deadline: Instant)
        case ready(Ready)
        case pausing(until: Instant)
        case awaitingEntropy
        case closed
    }

    /// What only an established session has.
    private struct Ready: Sendable {
        var channel: SignedChannel
        var afterPairing: Bool
        var hasStoredEvents: Bool
        var requests = RequestQueue()
        var acknowledgements = Acknowledgements()
        /// When the requests after init are sent at the latest; `nil` once they are.
        var followUpDeadline: Instant?
        var nextBatteryRequest: Instant
    }

    private let configuration: Configuration
    private var state = State.idle
    private var timer: Instant?

    private var attMTU = Frame.minimumMTU
    private var connectionID: UInt8 = 0
    private var assembler = FrameAssembler()

    // What outlives a session on the same link.
    private var pairing: Pairing?
    private var intake: EventIntake
    private var syncedCursor: EventCursor?
    private var isAdvertisingConfigured: Bool
    private var firmwareVersion: UInt32?
    private var wrongSignatureCount = 0

    public init(_ configuration: Configuration) {
        self.configuration = configuration
        firmwareVersion = configuration.firmwareVersion
        let cursor: EventCursor
        switch configuration.purpose {
        case .pair:
            cursor = EventCursor()
            isAdvertisingConfigured = false
        case .reconnect(let known, let last, let advertisingConfigured):
            pairing = known
            cursor = last
            isAdvertisingConfigured = advertisingConfigured
        }
        intake = EventIntake(button: ButtonID(configuration.address), cursor: cursor)
    }

    public mutating func handle(_ input: Input, at now: Instant) -> [Effect] {
        var effects: [Effect] = []
        switch input {
        case .linkReady(let mtu, let entropy):
            guard case .idle = state else { break }
            attMTU = mtu
            begin(entropy, at: now, &effects)
        case .restart(let entropy):
            guard case .awaitingEntropy = state else { break }
            begin(entropy, at: now, &effects)
        case .received(let value):
            let ownID = connectionID
            let frames = assembler.receive(value) { Self.accepts($0, ownID: ownID) }
            for frame in frames { receive(frame, at: now, &effects) }
        case .synced(let cursor):
            synced(cursor, &effects)
        case .perform:
            break
        case .timerFired:
            // One that fires early was meant for an older deadline.
            guard let deadline, now >= deadline else { break }
            timer = nil
            deadlinePassed(at: now, &effects)
        case .linkLost:
            state = .closed
        }
        setTimer(&effects)
        return effects
    }

    // MARK: Verification

    private mutating func begin(_ entropy: SessionEntropy, at now: Instant, _ effects: inout [Effect]) {
        let deadline = now + Self.verifyTimeout
        if let pairing {
            state = .awaitingQuickVerifyResponse(entropy, pairing, deadline: deadline)
            send(
                .quickVerifyRequest(
                    .init(
                        random: entropy.quickVerifyRandom, flags: 0, temporaryID: entropy.temporaryID,
                        pairingIdentifier: pairing.identifier)), &effects)
        } else {
            state = .awaitingFullVerifyResponse1(entropy, doubted: nil, deadline: deadline)
            send(.fullVerifyRequest1(temporaryID: entropy.temporaryID), &effects)
        }
    }

    /// Frames of other programs on this machine reach us too.
    private static func accepts(_ header: FrameHeader, ownID: UInt8) -> Bool {
        if ownID == 0 { return header.connectionID == 0 || header.isNewlyAssigned }
        return header.connectionID == 0 || header.connectionID == ownID && !header.isNewlyAssigned
    }

    private mutating func receive(_ frame: Frame, at now: Instant, _ effects: inout [Effect]) {
        switch state {
        case .idle, .pausing, .awaitingEntropy, .closed:
            break
        case .awaitingFullVerifyResponse1, .awaitingFullVerifyResponse2, .awaitingQuickVerifyResponse,
            .awaitingUnpairedResponse:
            do {
                try receiveVerification(frame, ButtonPacket(decoding: frame.packet), at: now, &effects)
            } catch {
                effects.append(.ignored(reason: "packet \(frame.packet.first ?? 0) ends too early"))
            }
        case .awaitingInitResponse(var channel, let afterPairing, let deadline):
            guard isSigned(frame, &effects) else { break }
            let opened = channel.open(frame.packet)
            state = .awaitingInitResponse(channel, afterPairing: afterPairing, deadline: deadline)
            receiveSigned(opened, at: now, &effects)
        case .ready(var ready):
            guard isSigned(frame, &effects) else { break }
            let opened = ready.channel.open(frame.packet)
            state = .ready(ready)
            receiveSigned(opened, at: now, &effects)
        }
    }

    private mutating func receiveVerification(
        _ frame: Frame, _ packet: ButtonPacket, at now: Instant, _ effects: inout [Effect]
    ) {
        switch (state, packet) {
        case (
            .awaitingFullVerifyResponse1(let entropy, let doubted, let deadline), .fullVerifyResponse1(let response)
        )
        where frame.header.isNewlyAssigned && response.temporaryID == entropy.temporaryID:
            connectionID = frame.header.connectionID
            answer(response, entropy, doubted: doubted, deadline: deadline, &effects)

        case (.awaitingFullVerifyResponse2(let master, let deadline), .fullVerifyResponse2(let response))
        where frame.header.connectionID != 0:
            finishPairing(frame.packet, response, master, deadline: deadline, &effects)

        case (.awaitingFullVerifyResponse2, .fullVerifyFailResponse(let reason))
        where frame.header.connectionID != 0:
            switch reason {
            case 0: giveUp(.invalidVerifier, &effects)
            case 1: giveUp(.notInPublicMode, &effects)
            default: giveUp(.fullVerifyFailedUnknown(reason: reason), &effects)
            }

        case (.awaitingQuickVerifyResponse(let entropy, let pairing, let deadline), .quickVerifyResponse(let response))
        where frame.header.isNewlyAssigned && response.temporaryID == entropy.temporaryID:
            connectionID = frame.header.connectionID
            let key = SessionKey(
                quickVerify: pairing.key, hostRandom: entropy.quickVerifyRandom, flags: 0, buttonRandom: response.random
            )
            guard let key, let channel = SignedChannel(key, as: .host, opening: frame.packet) else {
                return giveUp(.quickVerifySignatureMismatch, &effects)
            }
            askForEvents(channel, afterPairing: false, deadline: deadline, &effects)

        case (
            .awaitingQuickVerifyResponse(let entropy, let pairing, let deadline),
            .quickVerifyNegativeResponse(let temporaryID)
        )
        where temporaryID == entropy.temporaryID:
            state = .awaitingFullVerifyResponse1(entropy, doubted: pairing, deadline: deadline)
            send(.fullVerifyRequest1(temporaryID: temporaryID), &effects)

        case (.awaitingUnpairedResponse(let proof, _), .testIfReallyUnpairedResponse(let result))
        where frame.header.connectionID != 0:
            judge(result, by: proof, &effects)

        case (.awaitingFullVerifyResponse1(let entropy, doubted: nil, _), .noLogicalConnectionSlots(let temporaryIDs))
        where temporaryIDs.contains(entropy.temporaryID):
            giveUp(.tooManyApps, &effects)

        case (.awaitingFullVerifyResponse1(let entropy, _, _), .noLogicalConnectionSlots(let temporaryIDs))
        where temporaryIDs.contains(entropy.temporaryID),
            (.awaitingQuickVerifyResponse(let entropy, _, _), .noLogicalConnectionSlots(let temporaryIDs))
        where temporaryIDs.contains(entropy.temporaryID):
            pause(Self.pauseAfterTooManyApps, .tooManyApps, at: now, &effects)

        case (.awaitingFullVerifyResponse1, _), (.awaitingFullVerifyResponse2, _), (.awaitingQuickVerifyResponse, _),
            (.awaitingUnpairedResponse, _):
            // Packets for other programs, and late ones for our last session, are everyday.
            effects.append(.ignored(reason: "packet \(packet.opcode) during verification"))

        case (.idle, _), (.awaitingInitResponse, _), (.ready, _), (.pausing, _), (.awaitingEntropy, _), (.closed, _):
            break
        }
    }

    /// Checks the certificate, and uses the secret it leads to for what it was asked for.
    private mutating func answer(
        _ response: ButtonPacket.FullVerifyResponse1, _ entropy: SessionEntropy, doubted: Pairing?, deadline: Instant,
        _ effects: inout [Effect]
    ) {
        guard response.certificate.names(configuration.address) else { return giveUp(.unexpectedAddress, &effects) }
        guard let variant = response.certificate.variant(signedBy: configuration.trustRoots),
            let master = MasterSecret(
                privateKey: entropy.privateKey, publicKey: response.certificate.publicKey, variant: variant,
                buttonRandom: response.random, hostRandom: entropy.random, flags: 0),
            let verifier = master.verifier(),
            let publicKey = Curve25519.agreementPublicKey(privateKey: entropy.privateKey)
        else { return giveUp(.invalidCertificate, &effects) }
        if let doubted {
            guard let proof = master.unpairedProof(of: doubted) else {
                return giveUp(.invalidCalculatedSignature, &effects)
            }
            state = .awaitingUnpairedResponse(proof, deadline: deadline)
            return send(
                .testIfReallyUnpairedRequest(
                    .init(
                        publicKey: publicKey, random: entropy.random, pairingIdentifier: doubted.identifier,
                        token: proof.token)), &effects)
        }
        state = .awaitingFullVerifyResponse2(master, deadline: deadline)
        // The button itself refuses when it is not in public mode; it is the one that knows.
        send(
            .fullVerifyRequest2(.init(publicKey: publicKey, random: entropy.random, flags: 0, verifier: verifier)),
            &effects)
    }

    private mutating func judge(
        _ result: [UInt8], by proof: MasterSecret.UnpairedProof, _ effects: inout [Effect]
    ) {
        if Digest.isEqualInConstantTime(result, proof.notExists) {
            state = .closed
            effects.append(contentsOf: [.unpaired, .disconnect])
        } else if Digest.isEqualInConstantTime(result, proof.exists) {
            giveUp(.pairingExists, &effects)
        } else {
            giveUp(.invalidCalculatedSignature, &effects)
        }
    }

    private mutating func finishPairing(
        _ packet: [UInt8], _ response: ButtonPacket.FullVerifyResponse2, _ master: MasterSecret, deadline: Instant,
        _ effects: inout [Effect]
    ) {
        guard let key = master.sessionKey, let newPairing = master.pairing,
            let channel = SignedChannel(key, as: .host, opening: packet)
        else { return giveUp(.invalidCalculatedSignature, &effects) }
        guard response.appCredentialsMatch || !response.caresAboutAppCredentials else {
            return giveUp(.appCredentialsDeniedByButton, &effects)
        }
        pairing = newPairing
        firmwareVersion = response.firmwareVersion
        effects.append(
            .paired(
                ButtonIdentity(
                    address: configuration.address, uuid: response.uuid.hex,
                    serial: String(decoding: response.serial, as: UTF8.self),
                    nickname: String(decoding: response.name, as: UTF8.self), firmwareVersion: response.firmwareVersion),
                newPairing, batteryMillivolts: Battery.millivolts(raw: response.rawBattery)))
        askForEvents(channel, afterPairing: true, deadline: deadline, &effects)
    }

    private mutating func askForEvents(
        _ channel: SignedChannel, afterPairing: Bool, deadline: Instant, _ effects: inout [Effect]
    ) {
        state = .awaitingInitResponse(channel, afterPairing: afterPairing, deadline: deadline)
        send(
            .initButtonEventsRequest(
                .init(
                    eventCount: intake.cursor.eventCount, bootID: intake.cursor.bootID, autoDisconnectSeconds: 511,
                    // What a new button stored before it was ours is nobody's business.
                    maximumQueuedPackets: afterPairing ? 0 : 31, maximumQueuedAge: 0xFFFFF)), &effects)
    }

    // MARK: The established session

    /// Whether the frame must carry our signature. The two packets for everybody come too late to mean anything.
    private func isSigned(_ frame: Frame, _ effects: inout [Effect]) -> Bool {
        guard frame.header.connectionID == 0 else { return true }
        effects.append(.ignored(reason: "packet \(frame.packet.first ?? 0) for everybody"))
        return false
    }

    private mutating func receiveSigned(_ opened: [UInt8]?, at now: Instant, _ effects: inout [Effect]) {
        guard let opened else { return rejectSignature(at: now, &effects) }
        let packet: ButtonPacket
        do {
            packet = try ButtonPacket(decoding: opened)
        } catch {
            effects.append(.ignored(reason: "packet \(opened.first ?? 0) ends too early"))
            return
        }
        switch packet {
        case .pingRequest: send(.pingResponse, &effects)
        case .disconnectedVerifiedLink(let reason):
            pause(Self.pauseAfterSessionEnd, .sessionEnded(reason: reason), at: now, &effects)
        case .initButtonEventsResponse(let response): becomeReady(response, at: now, &effects)
        case .buttonEventNotification(let notification): receiveEvents(notification, &effects)
        case .nameUpdatedNotification(let name): effects.append(.nickname(String(decoding: name, as: UTF8.self)))
        case .getNameResponse(let stamped):
            answered(.getName, .nickname(String(decoding: stamped.name, as: UTF8.self)), &effects)
        case .getBatteryLevelResponse(let raw):
            answered(.getBatteryLevel, .battery(millivolts: Battery.millivolts(raw: raw)), &effects)
        case .getFirmwareVersionResponse(let version):
            let isNews = firmwareVersion == nil
            firmwareVersion = version
            if isNews { addAdvertisingRequest() }
            answered(.getFirmwareVersion, .firmware(version: version), &effects)
        case .setAdvertisingParametersResponse:
            isAdvertisingConfigured = true
            answered(.setAdvertisingParameters, .advertisingConfigured, &effects)
        case .fullVerifyResponse1, .fullVerifyResponse2, .noLogicalConnectionSlots, .fullVerifyFailResponse,
            .testIfReallyUnpairedResponse, .quickVerifyNegativeResponse, .quickVerifyResponse, .setNameResponse, .other:
            effects.append(.ignored(reason: "packet \(packet.opcode) in a session"))
        }
    }

    private mutating func becomeReady(
        _ response: ButtonPacket.InitButtonEventsResponse, at now: Instant, _ effects: inout [Effect]
    ) {
        guard case .awaitingInitResponse(let channel, let afterPairing, _) = state else {
            effects.append(.ignored(reason: "a second init response"))
            return
        }
        let rebooted = intake.begin(with: response)
        if rebooted { isAdvertisingConfigured = false }
        state = .ready(
            Ready(
                channel: channel, afterPairing: afterPairing, hasStoredEvents: response.hasQueuedEvents,
                followUpDeadline: now + Self.followUpPatience, nextBatteryRequest: now + Self.batteryPeriod))
        effects.append(
            .ready(
                intake.cursor, rebooted: rebooted, clock: response.ticks, hasQueuedEvents: response.hasQueuedEvents))
        if !response.hasQueuedEvents { effects.append(.queueDrained) }
        followUpIfSettled(&effects)
    }

    private mutating func receiveEvents(_ notification: EventNotification, _ effects: inout [Effect]) {
        guard case .ready(var ready) = state else {
            effects.append(.ignored(reason: "events before the init response"))
            return
        }
        let events = intake.take(notification)
        let needsAcknowledgement = notification.needsAcknowledgement
        let last = EventCursor(bootID: intake.cursor.bootID, eventCount: notification.eventCount)
        // What is sent again after it reached the disk needs no other sync.
        let isSafe = events.isEmpty && syncedCursor?.covers(last) == true
        if needsAcknowledgement { ready.acknowledgements.expect(last) }
        let isDrained = ready.hasStoredEvents && notification.items.contains(where: \.wasQueuedLast)
        if isDrained { ready.hasStoredEvents = false }
        state = .ready(ready)
        if !events.isEmpty || needsAcknowledgement && !isSafe {
            effects.append(.events(events, intake.cursor, needsAcknowledgement: needsAcknowledgement))
        }
        if isDrained { effects.append(.queueDrained) }
        if isSafe { acknowledge(upTo: last, &effects) }
        followUpIfSettled(&effects)
    }

    private mutating func synced(_ cursor: EventCursor, _ effects: inout [Effect]) {
        if syncedCursor.map({ cursor.bootID != $0.bootID || cursor.covers($0) }) ?? true { syncedCursor = cursor }
        acknowledge(upTo: cursor, &effects)
        followUpIfSettled(&effects)
    }

    private mutating func acknowledge(upTo cursor: EventCursor, _ effects: inout [Effect]) {
        guard case .ready(var ready) = state else { return }
        let counters = ready.acknowledgements.synced(cursor)
        state = .ready(ready)
        for counter in counters { send(.acknowledgeEvents(eventCount: counter), &effects) }
    }

    private mutating func followUpIfSettled(_ effects: inout [Effect]) {
        guard case .ready(let ready) = state, ready.followUpDeadline != nil, !ready.hasStoredEvents,
            ready.acknowledgements.isEmpty
        else { return }
        followUp(&effects)
    }

    /// What every session asks for and sets once.
    private mutating func followUp(_ effects: inout [Effect]) {
        guard case .ready(var ready) = state else { return }
        ready.followUpDeadline = nil
        state = .ready(ready)
        send(.setConnectionParameters(configuration.latencyMode.connectionParameters), &effects)
        addAdvertisingRequest()
        // The responses of a full verify have told the battery and the version.
        if !ready.afterPairing { add(.getBatteryLevel) }
        add(.getName)
        if !ready.afterPairing { add(.getFirmwareVersion) }
        sendRequests(&effects)
    }

    private mutating func addAdvertisingRequest() {
        guard !isAdvertisingConfigured, let firmwareVersion,
            firmwareVersion >= AdvertisingParameters.minimumFirmwareVersion
        else { return }
        add(.setAdvertisingParameters)
    }

    private mutating func add(_ request: RequestQueue.Request) {
        guard case .ready(var ready) = state else { return }
        ready.requests.add(request)
        state = .ready(ready)
    }

    private mutating func answered(
        _ request: RequestQueue.Request, _ effect: Effect, _ effects: inout [Effect]
    ) {
        guard case .ready(var ready) = state, ready.requests.answered(request) else {
            effects.append(.ignored(reason: "an answer nobody asked for"))
            return
        }
        state = .ready(ready)
        effects.append(effect)
        sendRequests(&effects)
    }

    private mutating func sendRequests(_ effects: inout [Effect]) {
        while case .ready(var ready) = state, let request = ready.requests.next() {
            state = .ready(ready)
            send(request.packet, &effects)
        }
    }

    private mutating func askForBatteryIfDue(at now: Instant, _ effects: inout [Effect]) {
        guard case .ready(var ready) = state, now >= ready.nextBatteryRequest else { return }
        ready.nextBatteryRequest = now + Self.batteryPeriod
        ready.requests.add(.getBatteryLevel)
        state = .ready(ready)
        sendRequests(&effects)
    }

    // MARK: Ends

    private mutating func rejectSignature(at now: Instant, _ effects: inout [Effect]) {
        wrongSignatureCount += 1
        send(.disconnectVerifiedLink, &effects)
        if wrongSignatureCount < Self.maximumWrongSignatures {
            pause(Self.pauseAfterWrongSignature, .packetSignatureMismatch, at: now, &effects)
        } else {
            giveUp(.packetSignatureMismatch, &effects)
        }
    }

    /// The session is over, the link and the pairing are not.
    private mutating func pause(
        _ duration: Duration, _ failure: SessionFailure, at now: Instant, _ effects: inout [Effect]
    ) {
        connectionID = 0
        assembler = FrameAssembler()
        state = .pausing(until: now + duration)
        effects.append(.failed(failure))
    }

    private mutating func giveUp(_ failure: SessionFailure, _ effects: inout [Effect]) {
        state = .closed
        effects.append(contentsOf: [.failed(failure), .disconnect])
    }

    private mutating func deadlinePassed(at now: Instant, _ effects: inout [Effect]) {
        switch state {
        case .awaitingFullVerifyResponse1, .awaitingFullVerifyResponse2, .awaitingQuickVerifyResponse,
            .awaitingUnpairedResponse, .awaitingInitResponse:
            giveUp(.verifyTimedOut, &effects)
        case .pausing:
            state = .awaitingEntropy
            effects.append(.needsEntropy)
        case .ready(let ready):
            if let followUpDeadline = ready.followUpDeadline, now >= followUpDeadline { followUp(&effects) }
            askForBatteryIfDue(at: now, &effects)
        case .idle, .awaitingEntropy, .closed:
            break
        }
    }

    // MARK: Sending and waiting

    private mutating func send(_ packet: HostPacket, _ effects: inout [Effect]) {
        let octets: [UInt8]
        switch state {
        case .awaitingInitResponse(var channel, let afterPairing, let deadline):
            octets = channel.seal(packet.octets)
            state = .awaitingInitResponse(channel, afterPairing: afterPairing, deadline: deadline)
        case .ready(var ready):
            octets = ready.channel.seal(packet.octets)
            state = .ready(ready)
        case .idle, .awaitingFullVerifyResponse1, .awaitingFullVerifyResponse2, .awaitingQuickVerifyResponse,
            .awaitingUnpairedResponse, .pausing, .awaitingEntropy, .closed:
            octets = packet.octets
        }
        let frame = Frame(header: FrameHeader(connectionID: connectionID), packet: octets)
        effects.append(contentsOf: frame.values(attMTU: attMTU).map(Effect.send))
    }

    private var deadline: Instant? {
        switch state {
        case .awaitingFullVerifyResponse1(_, _, let deadline), .awaitingFullVerifyResponse2(_, let deadline),
            .awaitingQuickVerifyResponse(_, _, let deadline), .awaitingUnpairedResponse(_, let deadline),
            .awaitingInitResponse(_, _, let deadline), .pausing(let deadline):
            deadline
        case .ready(let ready): min(ready.followUpDeadline ?? ready.nextBatteryRequest, ready.nextBatteryRequest)
        case .idle, .awaitingEntropy, .closed: nil
        }
    }

    private mutating func setTimer(_ effects: inout [Effect]) {
        guard timer != deadline else { return }
        timer = deadline
        effects.append(deadline.map(Effect.setTimer) ?? .cancelTimer)
    }
}

extension SessionEntropy {
    fileprivate var quickVerifyRandom: [UInt8] { random.padded(to: 7) }
}
