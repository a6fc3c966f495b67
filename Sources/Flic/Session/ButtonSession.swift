public import ButtonModel

/// The host's side of a link to a button, from link-up to link-down: verification, then events.
///
/// | state                       | on                              | becomes                    | and we                              |
/// |-----------------------------|---------------------------------|----------------------------|-------------------------------------|
/// | idle                        | link ready, to pair             | awaitingFullVerifyResponse1| FullVerifyRequest1, set timer       |
/// | idle                        | link ready, to reconnect        | awaitingQuickVerifyResponse| QuickVerifyRequest, set timer       |
/// | idle                        | link ready, MTU too small       | closed                     | failed, disconnect                  |
/// | awaitingFullVerifyResponse1 | genuine certificate             | awaitingFullVerifyResponse2| FullVerifyRequest2                  |
/// | awaitingFullVerifyResponse2 | valid signature                 | awaitingInitResponse       | paired, init request                |
/// | awaitingQuickVerifyResponse | valid signature                 | awaitingInitResponse       | init request                        |
/// | awaitingQuickVerifyResponse | QuickVerifyNegativeResponse     | awaitingFullVerifyResponse1| FullVerifyRequest1, to test the pairing |
/// | awaitingFullVerifyResponse1 | genuine certificate, in a test  | awaitingUnpairedResponse   | TestIfReallyUnpairedRequest         |
/// | awaitingUnpairedResponse    | proof that it is unpaired       | closed                     | unpaired, disconnect                |
/// | awaitingUnpairedResponse    | proof that it is paired, or no proof | closed                | failed, disconnect                  |
/// | awaitingInitResponse        | the response                    | ready                      | ready                               |
/// | ready                       | events                          | ready                      | events; acknowledge them when synced |
/// | ready                       | rotation of a Duo or a Twist    | ready                      | moved                               |
/// | ready                       | a command                       | ready                      | send it, two requests at a time     |
/// | ready                       | disconnect, or firmware complete | ready, leaving            | ask the button to end the link; send no more requests |
/// | ready                       | no response in time             | ready                      | unanswered; send the next request   |
/// | ready                       | FactoryResetResponse            | closed                     | factoryReset, disconnect            |
/// | ready, leaving              | the session ends, or 15 s       | closed                     | disconnect                          |
/// | ready, awaitingInitResponse | a ping; a name of another host  | unchanged                  | respond; nickname                   |
/// | ready, awaitingInitResponse | the button ends the session     | pausing                    | failed                              |
/// | ready, awaitingInitResponse | a wrong signature               | pausing                    | end the session, failed             |
/// | ready, awaitingInitResponse | a second wrong signature within a minute, or a third one through a proxy | closed | end the session, failed, disconnect |
/// | awaiting its first response | no logical connection, if paired | pausing                   | failed                              |
/// | pausing                     | timer                           | awaitingEntropy            | needsEntropy                        |
/// | awaitingEntropy             | restart                         | awaitingQuickVerifyResponse| QuickVerifyRequest, set timer       |
/// | awaiting a response         | timer, or a refusal             | closed                     | failed, disconnect                  |
/// | any                         | link lost                       | closed                     | cancel timer                        |
///
/// Every other pair is ignored. `closed` is final. `Tests/FlicTests/Golden/transitions.md` lists the transitions packet
/// by packet.
///
/// After init the session first receives and acknowledges the stored events, and then sends the requests of 6.5, at the
/// latest after `followUpTimeout`. The button deletes the events that an acknowledgement or an init request covers.
/// Therefore acknowledgements wait for `.synced`, and the init request contains the synced cursor, not the delivered
/// one. Events that were delivered and not synced are repeated by the button after the next init; the session does not
/// deliver them again, and acknowledges them when they are synced. So a press is neither lost nor handled twice.
///
/// A command given before those requests is sent with them; a later command of the same kind replaces it. Only
/// `disconnect` does not wait for the stored events. When a session ends, an unanswered nickname waits for the next
/// session; other unanswered requests are dropped.
///
/// A QuickVerifyNegativeResponse is not signed, so it does not invalidate a pairing. Only a proof made with the key in
/// the button's certificate does.
///
/// - Source: protocol notes, 3 (frames, counters), 5 (keys), 6 (order of packets), 8.1 (Duo), 10 (failures).
public struct ButtonSession: Sendable {
    public enum Input: Hashable, Sendable {
        /// Notifications are enabled, and the first packet may be sent. `attMTU`: 23…517, of which up to 130 are used.
        case linkReady(attMTU: Int, SessionEntropy)
        /// A GATT value that the button notified.
        case received([UInt8])
        /// All events up to this cursor are on disk.
        case synced(EventCursor)
        /// Answers `needsEntropy`: starts a new session on the same link.
        case restart(SessionEntropy)
        case perform(Command)
        case timerFired
        case linkLost
    }

    /// A command to the button. If the session is not ready, the command waits. If the link ends before it is sent, it
    /// is dropped; a nickname is kept by the application as pending.
    public enum Command: Hashable, Sendable {
        /// Replaces a nickname that is still pending.
        case setNickname(Nickname)
        case setLatencyMode(LatencyMode)
        /// Seconds without a press after which the button ends the link, 40…510; `nil`: never.
        case setAutoDisconnectTime(UInt16?)
        /// Ends with `.firmwareUpdate(.finished)` or `.failed`. Another update at the same time fails as `busy`.
        case updateFirmware(FirmwareImage)
        case cancelFirmwareUpdate
        case executeLEDPattern(LEDPattern)
        case abortLEDPattern
        /// Makes the button delete all its pairings.
        case factoryReset
        /// Sets the shown position, 0…`Dial.unitsPerTurn`. Ignored for a dial that the button does not have.
        case setDial(Dial, units: Int)
        /// Sets what the LEDs of a Twist show. Ignored for other models.
        case setLEDMode(LEDMode)
        /// Makes the button end the link as soon as the session is ready. It then advertises at once, or when pressed.
        case disconnect(advertiseAgain: Bool)
    }

    public enum Effect: Hashable, Sendable, TimerEffect {
        /// A GATT value for the write characteristic, to be written without response, in order.
        case send([UInt8])
        case setTimer(Instant)
        case cancelTimer
        /// A new pairing, which must be stored before any further effect is carried out.
        case paired(ButtonIdentity, Pairing, batteryMillivolts: Int)
        /// The session is ready for events. `rebooted`: whether the boot id is new. `clock`: the button's clock in
        /// ticks of 1/32768 s.
        case ready(EventCursor, rebooted: Bool, clock: UInt64, hasQueuedEvents: Bool)
        /// The new events of a notification, in order, and the cursor after them. If `needsAcknowledgement`, answer
        /// with `.synced` of that cursor, even if there are no events because all were delivered before.
        case events([ButtonEvent], EventCursor, needsAcknowledgement: Bool)
        /// Rotation, in order. The button reports it once and never stores it.
        case moved([ButtonMovement])
        /// The button has accepted the advertising settings, which last until it reboots.
        case advertisingConfigured
        case battery(millivolts: Int)
        case firmware(version: UInt32)
        /// The button is not a Flic 2. Sent after each quick verify, because a Duo may have been paired as a Flic 2.
        case model(FlicModel)
        /// The name that the button now has. No nickname is pending any more.
        case nickname(String)
        case firmwareUpdate(FirmwareUpdateProgress)
        /// The button has deleted all its pairings, as the command requested.
        case factoryReset
        /// A request was not answered in time; its name is that in the protocol notes. A nickname in it is still
        /// pending.
        case unanswered(String)
        /// The button has proved that it does not know the pairing any more. The pairing must be deleted.
        case unpaired
        /// The session has ended for this reason. The pairing must be kept.
        case failed(SessionFailure)
        /// A new session on the same link may start now. Answer with `.restart`.
        case needsEntropy
        /// The link is of no further use and must be ended.
        case disconnect
        /// A packet had no effect, such as an unknown opcode with a valid signature; for the log.
        case ignored(reason: String)
    }

    /// The time limit from the first request of a new pairing to the init response (protocol notes, 10).
    static let pairingTimeout = Duration.seconds(31)
    /// The time limit for each response in the verification of a known pairing (protocol notes, 6.3). A button normally
    /// responds within a few connection intervals.
    package static let verifyTimeout = Duration.seconds(5)
    /// The smallest ATT_MTU for a Twist: its `FullVerifyResponse1` is a GATT value of 117 octets (protocol notes, 8.2).
    static let minimumTwistMTU = 120
    static let pauseAfterSessionEnd = Duration.seconds(1)
    /// The pauses after wrong signatures within `wrongSignatureMemory`. One more ends the link.
    static let pausesAfterWrongSignature: [Duration] = [.seconds(5)]
    /// The pauses after wrong signatures through a radio that may lose notifications. A proxy loses several in a row, so the session
    /// after the first pause may lose one, too.
    static let pausesAfterLostNotification: [Duration] = [.seconds(1), .seconds(5)]
    static let pauseAfterTooManyApps = Duration.seconds(30)
    /// The link is ended if several wrong signatures follow each other within this time. A link may last for days, so signatures
    /// that are further apart do not show that something is wrong with it.
    static let wrongSignatureMemory = Duration.seconds(60)
    /// How long the requests after init wait at most for the stored events and their acknowledgement.
    static let followUpTimeout = Duration.seconds(5)
    static let batteryPeriod = Duration.seconds(3 * 60 * 60)

    /// The time limit for a button that was asked to end the link.
    static let disconnectTimeout = Duration.seconds(15)

    enum State: Sendable {
        case idle
        /// `doubted`: the pairing that the button seems not to know, to be tested; `nil`: a new pairing is made.
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

    /// The state of an established session.
    struct Ready: Sendable {
        var channel: SignedChannel
        var afterPairing: Bool
        var hasStoredEvents: Bool
        var requests = RequestQueue()
        var acknowledgements = Acknowledgements()
        /// When the requests after init are sent at the latest; `nil` once they were sent.
        var followUpDeadline: Instant?
        var nextBatteryRequest: Instant
        /// The presses that have begun and not ended: bit 0 for the big or only button, bit 1 for a Duo's small one.
        var openPresses: UInt8 = 0
        /// The decoder of the events of a Duo; `nil` for other models.
        var duoStream: DuoEventStream?
        /// When the link is ended although the button, which was asked to, has not ended it; `nil` if it was not asked.
        var disconnectDeadline: Instant?

        var deadline: Instant {
            [followUpDeadline, requests.deadline, disconnectDeadline].compactMap(\.self)
                .reduce(nextBatteryRequest, min)
        }
    }

    let configuration: Configuration
    var state = State.idle
    var timer = LogicalTimer()

    var attMTU = Frame.minimumMTU
    var connectionID: UInt8 = 0
    var assembler = FrameAssembler()

    // State that is kept between the sessions of a link.
    var pairing: Pairing?
    var intake: EventIntake
    /// The last events on disk. The init request contains this cursor and not `intake.cursor`, because the button
    /// deletes the events that the request covers.
    var syncedCursor: EventCursor
    var isAdvertisingConfigured: Bool
    var firmwareVersion: UInt32?
    var latencyMode: LatencyMode
    /// The auto disconnect time as in a packet, and the time that was last sent to the button.
    var autoDisconnectTime, sentAutoDisconnectTime: UInt16
    var names: NameExchange
    var pendingCommands = PendingCommands()
    var transfer: FirmwareTransfer?
    /// True if the button has declared itself a Duo.
    var isDuo = false
    var duoDials: DuoDials
    /// The dials of a Twist; unused for other models.
    var dials: TwistDials
    var sentLEDMode: LEDMode
    /// When there were wrong signatures within `wrongSignatureMemory`.
    private var wrongSignatures: [Instant] = []

    public init(_ configuration: Configuration) {
        self.configuration = configuration
        firmwareVersion = configuration.firmwareVersion
        latencyMode = configuration.latencyMode
        autoDisconnectTime = Self.autoDisconnectTime(configuration.autoDisconnectTime)
        sentAutoDisconnectTime = autoDisconnectTime
        names = NameExchange(pending: configuration.pendingNickname)
        dials = TwistDials(configuration.dials, ledMode: configuration.ledMode)
        sentLEDMode = configuration.ledMode
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
        duoDials = DuoDials(button: button, dials: configuration.dials)
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
            // A timer that fires early was set for an earlier deadline that does not hold any more.
            guard let deadline, now >= deadline else { break }
            timer.fired()
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
        timer.appendChange(for: deadline, to: &effects)
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
            if let disconnectDeadline = ready.disconnectDeadline, now >= disconnectDeadline {
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

/// The end of a session, and the pause before the next one.
extension ButtonSession {
    mutating func rejectSignature(at now: Instant, _ effects: inout [Effect]) {
        let pauses =
            configuration.mayLoseNotifications ? Self.pausesAfterLostNotification : Self.pausesAfterWrongSignature
        wrongSignatures.removeAll { now - $0 >= Self.wrongSignatureMemory }
        let earlier = wrongSignatures.count
        wrongSignatures.append(now)
        send(.disconnectVerifiedLink, &effects)
        if earlier < pauses.count {
            pause(pauses[earlier], .packetSignatureMismatch, at: now, &effects)
        } else {
            giveUp(.packetSignatureMismatch, &effects)
        }
    }

    /// Ends the session and keeps the link, on which a new session starts after `duration`.
    mutating func pause(
        _ duration: Duration, _ failure: SessionFailure, at now: Instant, _ effects: inout [Effect]
    ) {
        guard !isDisconnecting else {
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
        duoDials.sessionEnded()
        guard transfer != nil else { return }
        transfer = nil
        effects.append(.firmwareUpdate(.failed(.interrupted)))
    }
}
