public import ButtonModel

/// One link to one button, from link-up to link-down: verification, then events.
///
/// | state                       | on                          | becomes                    | and we                                  |
/// |-----------------------------|-----------------------------|----------------------------|-----------------------------------------|
/// | idle                        | link ready, to pair         | awaitingFullVerifyResponse1| ask, set timer                          |
/// | idle                        | link ready, to reconnect    | awaitingQuickVerifyResponse| ask, set timer                          |
/// | idle                        | link ready, MTU too small   | closed                     | failed, disconnect                      |
/// | awaitingFullVerifyResponse1 | its certificate is genuine  | awaitingFullVerifyResponse2| prove that we know the secret           |
/// | awaitingFullVerifyResponse2 | its signature is right      | awaitingInitResponse       | paired, ask for events                  |
/// | awaitingQuickVerifyResponse | its signature is right      | awaitingInitResponse       | ask for events                          |
/// | awaitingQuickVerifyResponse | it does not know the pairing| awaitingFullVerifyResponse1| doubt it, and ask for the certificate   |
/// | awaitingFullVerifyResponse1 | it is genuine, in doubt     | awaitingUnpairedResponse   | ask for a proof                         |
/// | awaitingUnpairedResponse    | proof that it forgot us     | closed                     | unpaired, disconnect                    |
/// | awaitingUnpairedResponse    | proof that it did not       | closed                     | failed, disconnect                      |
/// | awaitingInitResponse        | the response                | ready                      | ready; what is stored comes first       |
/// | ready                       | events                      | ready                      | events; acknowledge when they are synced|
/// | ready                       | a turn of a Duo or a Twist  | ready                      | moved                                   |
/// | ready                       | a command                   | ready                      | ask, two requests at a time             |
/// | ready                       | disconnect, firmware taken  | ready, leaving             | tell it to end the link; ask no more    |
/// | ready                       | no answer in time           | ready                      | unanswered, and on with the next request|
/// | ready                       | the button forgot all       | closed                     | factory reset, disconnect               |
/// | ready, leaving              | the session ends, or time   | closed                     | disconnect                              |
/// | ready, awaitingInitResponse | a ping, a name from another | as it is                   | answer, nickname                        |
/// | ready, awaitingInitResponse | the button ends the session | pausing                    | failed                                  |
/// | ready, awaitingInitResponse | a wrong signature           | pausing                    | end the session, failed                 |
/// | ready, awaitingInitResponse | a second wrong signature    | closed                     | end the session, failed, disconnect     |
/// | awaiting its first response | too many hosts, and known   | pausing                    | failed                                  |
/// | pausing                     | timer                       | awaitingEntropy            | ask for entropy                         |
/// | awaitingEntropy             | restart                     | awaitingQuickVerifyResponse| ask, set timer                          |
/// | awaiting a response         | timer, or a refusal         | closed                     | failed, disconnect                      |
/// | any                         | link lost                   | closed                     | cancel timer                            |
///
/// Every other pair is ignored. `closed` is final. A golden file among the tests has the whole table, packet by packet.
///
/// What a session says of itself comes before what it asks for: after init the stored events, their acknowledgement,
/// and only then the requests of 6.5, or after `followUpPatience` when the disk takes its time. Acknowledgements wait
/// for `.synced`, and the init request names what was synced and not what was delivered: both let the button forget. What
/// was delivered and not synced is told again by the button after the next init, passed over, and acknowledged when it is
/// synced. That keeps the promise that a press is neither forgotten nor handled twice.
///
/// A command that comes before those requests goes out with them, of each kind the last; only `disconnect` does not wait
/// for the events. What was not answered when a session ends waits for the next one if it is a nickname, or ends.
///
/// That a button does not know the pairing is said without a signature, so it alone costs nothing: only a proof made
/// with the key of its certificate does.
///
/// - Source: protocol notes, 3 (frames, counters), 5 (keys), 6 (order of packets), 8.1 (Duo), 10 (failures).
public struct ButtonSession: Sendable {
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
        /// 0…`Dial.unitsPerTurn`, of a dial that the button has; nothing else happens to others.
        case setDial(Dial, units: Int)
        /// Of a Twist.
        case setLEDMode(LEDMode)
        /// The button ends the link, as soon as there is a session; it advertises again at once or at its next press.
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
        /// Turns, in order. They are told once and never stored by the button.
        case moved([ButtonMovement])
        /// The button has no more stored events. Once a session, right after `ready` where there were none.
        case queueDrained
        /// The button took the advertising settings; they last until it reboots.
        case advertisingConfigured
        case battery(millivolts: Int)
        case firmware(version: UInt32)
        /// It is no Flic 2. Said in each session that begins without a pairing: one may have been paired as a Flic 2.
        case model(FlicModel)
        /// What the button holds; no nickname is pending any more.
        case nickname(String)
        case firmwareUpdate(FirmwareUpdateProgress)
        /// The button has forgotten us, as asked for.
        case factoryReset
        /// A request was not answered in time, by its name in the protocol notes. A nickname in it is still pending.
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

    /// From the first request of a new pairing to the init response.
    ///
    /// - Source: protocol notes, 1 ("Time limits") and 6.10, as for the pauses.
    static let pairingTimeout = Duration.seconds(31)
    /// From a request to its response in the verification of a known pairing. A button answers within a few connection
    /// intervals, and one that does not is of no use on this link.
    static let verifyPatience = Duration.seconds(5)
    /// The certificate, the longest packet that a session cannot do without, is one value of 117 octets.
    ///
    /// - Source: protocol notes, 8.2.
    static let minimumTwistMTU = 120
    static let pauseAfterSessionEnd = Duration.seconds(1)
    static let pauseAfterWrongSignature = Duration.seconds(5)
    static let pauseAfterTooManyApps = Duration.seconds(30)
    /// Wrong signatures on one link until it is given up.
    static let maximumWrongSignatures = 2
    /// How long the requests after init wait for the stored events and their acknowledgement.
    static let followUpPatience = Duration.seconds(5)
    static let batteryPeriod = Duration.seconds(3 * 60 * 60)

    /// How long a button that was asked to end the link may take to do so.
    static let departurePatience = Duration.seconds(15)

    enum State: Sendable {
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
    struct Ready: Sendable {
        var channel: SignedChannel
        var afterPairing: Bool
        var hasStoredEvents: Bool
        var requests = RequestQueue()
        var acknowledgements = Acknowledgements()
        /// When the requests after init are sent at the latest; `nil` once they are.
        var followUpDeadline: Instant?
        var nextBatteryRequest: Instant
        /// Presses that have begun and have not ended, one bit for each part of the button.
        var openPresses: UInt8 = 0
        /// Of a Duo.
        var duoStream: DuoEventStream?
        /// The button was asked to end the link, and has until then.
        var departureDeadline: Instant?

        var deadline: Instant {
            [followUpDeadline, requests.deadline, departureDeadline].compactMap(\.self)
                .reduce(nextBatteryRequest, min)
        }
    }

    let configuration: Configuration
    var state = State.idle
    var timer: Instant?

    var attMTU = Frame.minimumMTU
    var connectionID: UInt8 = 0
    var assembler = FrameAssembler()

    // What outlives a session on the same link.
    var pairing: Pairing?
    var intake: EventIntake
    /// What is on the disk. The init request says this one and not `intake.cursor`, because the button forgets
    /// everything that the request covers.
    var syncedCursor: EventCursor
    var isAdvertisingConfigured: Bool
    var firmwareVersion: UInt32?
    var latencyMode: LatencyMode
    /// As the button counts it; `told` is what it was told last.
    var autoDisconnectTime, toldAutoDisconnectTime: UInt16
    var names: NameExchange
    var wishes = Wishes()
    var transfer: FirmwareTransfer?
    /// The button has said so.
    var isDuo = false
    var pushTwist: PushTwist
    /// Of a Twist.
    var dials: TwistDials
    var toldLEDMode: LEDMode
    private var wrongSignatureCount = 0

    public init(_ configuration: Configuration) {
        self.configuration = configuration
        firmwareVersion = configuration.firmwareVersion
        latencyMode = configuration.latencyMode
        autoDisconnectTime = Self.autoDisconnectTime(configuration.autoDisconnectTime)
        toldAutoDisconnectTime = autoDisconnectTime
        names = NameExchange(pending: configuration.pendingNickname)
        dials = TwistDials(configuration.dials, ledMode: configuration.ledMode)
        toldLEDMode = configuration.ledMode
        let delivered: EventCursor?
        switch configuration.purpose {
        case .pair:
            syncedCursor = EventCursor()
            delivered = nil
            isAdvertisingConfigured = false
        case .reconnect(let known, let synced, let last, let advertisingConfigured):
            pairing = known
            syncedCursor = synced
            delivered = last
            isAdvertisingConfigured = advertisingConfigured
        }
        let button = ButtonID(configuration.address)
        intake = EventIntake(button: button, cursor: delivered ?? syncedCursor)
        pushTwist = PushTwist(button: button, dials: configuration.dials)
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
            receive(value, at: now, &effects)
        case .synced(let cursor):
            synced(cursor, at: now, &effects)
        case .perform(let command):
            perform(command, at: now, &effects)
        case .timerFired:
            // One that fires early was meant for an older deadline.
            guard let deadline, now >= deadline else { break }
            timer = nil
            deadlinePassed(at: now, &effects)
        case .linkLost:
            close(&effects)
        }
        setTimer(&effects)
        return effects
    }

    private var deadline: Instant? {
        switch state {
        case .awaitingFullVerifyResponse1(_, _, let deadline), .awaitingFullVerifyResponse2(_, let deadline),
            .awaitingQuickVerifyResponse(_, _, let deadline), .awaitingUnpairedResponse(_, let deadline),
            .awaitingInitResponse(_, _, let deadline), .pausing(let deadline):
            deadline
        case .ready(let ready): min(ready.deadline, transfer?.deadline ?? ready.deadline)
        case .idle, .awaitingEntropy, .closed: nil
        }
    }

    private mutating func setTimer(_ effects: inout [Effect]) {
        guard timer != deadline else { return }
        timer = deadline
        effects.append(deadline.map(Effect.setTimer) ?? .cancelTimer)
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
            if let departureDeadline = ready.departureDeadline, now >= departureDeadline {
                close(&effects)
                return effects.append(.disconnect)
            }
            advanceTransfer(.timerFired, at: now, &effects)
            giveUpRequests(at: now, &effects)
            if let followUpDeadline = ready.followUpDeadline, now >= followUpDeadline { followUp(at: now, &effects) }
            askForBatteryIfDue(at: now, &effects)
        case .idle, .awaitingEntropy, .closed:
            break
        }
    }
}

/// How a session ends, and how one goes on after it.
extension ButtonSession {
    mutating func rejectSignature(at now: Instant, _ effects: inout [Effect]) {
        wrongSignatureCount += 1
        send(.disconnectVerifiedLink, &effects)
        if wrongSignatureCount < Self.maximumWrongSignatures {
            pause(Self.pauseAfterWrongSignature, .packetSignatureMismatch, at: now, &effects)
        } else {
            giveUp(.packetSignatureMismatch, &effects)
        }
    }

    /// The session is over, the link and the pairing are not.
    mutating func pause(
        _ duration: Duration, _ failure: SessionFailure, at now: Instant, _ effects: inout [Effect]
    ) {
        guard !isLeaving else {
            close(&effects)
            return effects.append(.disconnect)
        }
        connectionID = 0
        assembler = FrameAssembler()
        end(in: .pausing(until: now + duration), &effects)
        effects.append(.failed(failure))
    }

    mutating func giveUp(_ failure: SessionFailure, _ effects: inout [Effect]) {
        close(&effects)
        effects.append(contentsOf: [.failed(failure), .disconnect])
    }

    mutating func close(_ effects: inout [Effect]) { end(in: .closed, &effects) }

    private mutating func end(in next: State, _ effects: inout [Effect]) {
        state = next
        names.sessionEnded()
        pushTwist.sessionEnded()
        guard transfer != nil else { return }
        transfer = nil
        effects.append(.firmwareUpdate(.failed(.interrupted)))
    }
}
