public import ButtonModel

/// The button's end of the protocol, for simulators: GATT values in, GATT values out.
///
/// It owns everything a Flic 2 keeps (static key, pairings, event counter, queue), one link at a time, and one logical
/// connection on it; a request for another one replaces it.
///
/// | logical connection | on                                   | becomes | and it                                        |
/// |--------------------|--------------------------------------|---------|-----------------------------------------------|
/// | any                | FullVerifyRequest1                   | offered | shows its certificate                         |
/// | offered            | FullVerifyRequest2, verifier wrong   | none    | refuses, 0                                    |
/// | offered            | FullVerifyRequest2, not public       | none    | refuses, 1                                    |
/// | offered            | FullVerifyRequest2                   | session | stores the pairing, answers signed            |
/// | offered            | TestIfReallyUnpairedRequest          | offered | proves whether it knows the pairing           |
/// | any                | QuickVerifyRequest, pairing unknown  | none    | says so                                       |
/// | any                | QuickVerifyRequest                   | session | answers signed                                |
/// | session            | init request                         | session | answers, sends what it stored                 |
/// | session            | acknowledgement                      | session | forgets what it stored up to there            |
/// | session            | wrong signature, no answer to a ping | none    | says so                                       |
/// | session            | disconnect, link down                | none    |                                               |
///
/// Presses count and are stored in every state; in a session past init each goes out at once as well. What was not
/// acknowledged is sent again as queued after the next init.
///
/// - Source: protocol notes, 6.9.
public struct FlicPeripheral: Sendable {
    public struct Configuration: Hashable, Sendable {
        public var address: BluetoothAddress
        public var serial: String
        public var uuid: [UInt8]
        public var nickname: String
        public var firmwareVersion: UInt32
        public var batteryMillivolts: Int
        /// 32 octets: static X25519 private key. Its certificate is made here, signed by `rootSeed`.
        public var privateKey: [UInt8]
        /// 32 octets: the Ed25519 seed of the root that signs.
        public var rootSeed: [UInt8]
        public var bootID: UInt32
        /// Hosts it knows already.
        public var pairings: [Pairing]
        /// How often it asks whether the host is still there; `nil` for never.
        public var pingPeriod: Duration?

        public init(
            address: BluetoothAddress, serial: String, uuid: [UInt8], nickname: String, firmwareVersion: UInt32,
            batteryMillivolts: Int, privateKey: [UInt8], rootSeed: [UInt8], bootID: UInt32, pairings: [Pairing] = [],
            pingPeriod: Duration? = nil
        ) {
            self.address = address
            self.serial = serial
            self.uuid = uuid
            self.nickname = nickname
            self.firmwareVersion = firmwareVersion
            self.batteryMillivolts = batteryMillivolts
            self.privateKey = privateKey
            self.rootSeed = rootSeed
            self.bootID = bootID
            self.pairings = pairings
            self.pingPeriod = pingPeriod
        }
    }

    public enum Input: Hashable, Sendable {
        /// A central connected; `attMTU` is the effective one (it may change until the first packet).
        case linkUp(attMTU: Int)
        case mtuChanged(attMTU: Int)
        /// A central wrote this GATT value. `random`: 8 fresh octets in case this begins a session.
        case received([UInt8], random: [UInt8])
        case linkDown
        /// The user's finger.
        case pressed
        case released
        case setPublicMode(Bool)
        case timerFired
        /// The battery was changed: clock, counter and stored events are gone, pairings are not.
        case rebooted(bootID: UInt32)
    }

    public enum Effect: Hashable, Sendable {
        /// One GATT value to notify.
        case send([UInt8])
        case setTimer(Instant)
        case cancelTimer
        /// The button asks the central for these (SetConnectionParametersInd passed them on).
        case requestParameters(intervalMinimum: UInt16, intervalMaximum: UInt16, latency: UInt16, timeout: UInt16)
        case paired
        case sessionReady
        /// The button drops the link. `advertiseAgain` as the host asked.
        case disconnect(advertiseAgain: Bool)
    }

    static let ticksPerSecond: UInt64 = 32_768
    /// The auto disconnect time that means never.
    private static let never: UInt16 = 511

    private enum Logical: Sendable {
        case none
        case offered(connectionID: UInt8, random: [UInt8])
        case session(Session)
    }

    private struct Session: Sendable {
        var connectionID: UInt8
        var channel: SignedChannel
        var isPastInit = false
        var autoDisconnectSeconds = FlicPeripheral.never
        var nextPing: Instant?
        var awaitsPingResponse = false
    }

    private struct Link: Sendable {
        var attMTU: Int
        var assembler = FrameAssembler()
        var logical = Logical.none
        var lastConnectionID: UInt8 = 0

        /// 1…31, then again from 1; zero is for everybody.
        mutating func assignConnectionID() -> UInt8 {
            lastConnectionID = lastConnectionID % 31 + 1
            return lastConnectionID
        }
    }

    private let configuration: Configuration
    private let certificate: Certificate?
    private let variant: UInt8

    private var boot: Instant
    private var bootID: UInt32
    private var name: [UInt8]
    private var nameTimestamp: UInt64 = 0
    private var pairingTable: PairingTable
    private var press = PressEncoder()
    private var queue = EventQueue()
    private var lastActivity: Instant
    private var link: Link?
    private var timer: Instant?
    /// True while it would accept a new pairing.
    public private(set) var isInPublicMode = false

    /// With keys of a wrong length it has no certificate, and answers no full verify.
    public init(_ configuration: Configuration, at boot: Instant) {
        self.configuration = configuration
        let issued = Curve25519.agreementPublicKey(privateKey: configuration.privateKey).flatMap {
            Certificate.issue(to: configuration.address, publicKey: $0, rootSeed: configuration.rootSeed)
        }
        certificate = issued?.certificate
        variant = issued?.variant ?? 0
        self.boot = boot
        bootID = configuration.bootID
        name = Array(configuration.nickname.utf8.prefix(ButtonPacket.FullVerifyResponse2.nameLength))
        pairingTable = PairingTable(configuration.pairings)
        lastActivity = boot
    }

    public var isPaired: Bool { !pairingTable.pairings.isEmpty }
    public var pairings: [Pairing] { pairingTable.pairings }

    /// Simulators ship this root; real hosts trust it only when told to. Empty unless the seed has 32 octets.
    public static func rootPublicKey(seed: [UInt8]) -> [UInt8] { Curve25519.signingPublicKey(seed: seed) ?? [] }

    public mutating func handle(_ input: Input, at now: Instant) -> [Effect] {
        var effects: [Effect] = []
        switch input {
        case .linkUp(let attMTU): link = Link(attMTU: attMTU)
        case .mtuChanged(let attMTU): link?.attMTU = attMTU
        case .linkDown: link = nil
        case .received(let value, let random):
            for frame in link?.assembler.receive(value) ?? [] {
                receive(frame, random: random.padded(to: 8), at: now, &effects)
            }
        case .pressed:
            // A second press exactly at the end of the window still counts.
            reportPressSteps(before: now, &effects)
            lastActivity = now
            if let step = press.pressed(at: now) { report(step, &effects) }
        case .released:
            reportPressSteps(before: now, &effects)
            lastActivity = now
            if let step = press.released(at: now) { report(step, &effects) }
        case .setPublicMode(let isOn): isInPublicMode = isOn
        case .timerFired:
            timer = nil
            reportPressSteps(before: now + .nanoseconds(1), &effects)
            pingIfDue(at: now, &effects)
            if let autoDisconnect, now >= autoDisconnect { disconnect(advertiseAgain: false, &effects) }
        case .rebooted(let newBootID):
            link = nil
            press = PressEncoder()
            queue = EventQueue()
            boot = now
            bootID = newBootID
        }
        setTimer(&effects)
        return effects
    }

    // MARK: Verification

    private mutating func receive(_ frame: Frame, random: [UInt8], at now: Instant, _ effects: inout [Effect]) {
        guard let opcode = frame.packet.first else { return }
        guard HostPacket.isUnsigned(opcode: opcode) else { return receiveSigned(frame, at: now, &effects) }
        guard let packet = try? HostPacket(decoding: frame.packet) else { return }
        switch packet {
        case .fullVerifyRequest1(let temporaryID):
            offer(temporaryID, random: random, &effects)
        case .quickVerifyRequest(let request):
            quickVerify(request, random: random, &effects)
        case .fullVerifyRequest2(let request):
            guard let offered = offered(to: frame) else { break }
            pair(request, connectionID: frame.header.connectionID, random: offered, &effects)
        case .testIfReallyUnpairedRequest(let request):
            guard let offered = offered(to: frame) else { break }
            testIfReallyUnpaired(request, connectionID: frame.header.connectionID, random: offered, &effects)
        case .fullVerifyAbort:
            if offered(to: frame) != nil { link?.logical = .none }
        case .forceDisconnect, .getFirmwareVersionRequest, .disconnectVerifiedLink, .setNameRequest, .getNameRequest,
            .setConnectionParameters, .pingResponse, .initButtonEventsRequest, .acknowledgeEvents,
            .setAutoDisconnectTime, .getBatteryLevelRequest, .setAdvertisingParametersRequest, .other:
            break
        }
    }

    /// The random of the certificate that was shown to this host.
    private func offered(to frame: Frame) -> [UInt8]? {
        guard case .offered(frame.header.connectionID, let random) = link?.logical else { return nil }
        return random
    }

    private mutating func offer(_ temporaryID: UInt32, random: [UInt8], _ effects: inout [Effect]) {
        guard let certificate, let connectionID = link?.assignConnectionID() else { return }
        link?.logical = .offered(connectionID: connectionID, random: random)
        let response = ButtonPacket.fullVerifyResponse1(
            .init(
                temporaryID: temporaryID, certificate: certificate, random: random, isInPublicMode: isInPublicMode))
        send(response.octets, FrameHeader(connectionID: connectionID, isNewlyAssigned: true), &effects)
    }

    private mutating func pair(
        _ request: HostPacket.FullVerifyRequest2, connectionID: UInt8, random: [UInt8], _ effects: inout [Effect]
    ) {
        link?.logical = .none
        let header = FrameHeader(connectionID: connectionID)
        let master = MasterSecret(
            privateKey: configuration.privateKey, publicKey: request.publicKey, variant: variant, buttonRandom: random,
            hostRandom: request.random, flags: request.flags)
        guard let master, let verifier = master.verifier(encryptedAppToken: request.encryptedAppToken),
            Digest.isEqualInConstantTime(verifier, request.verifier), let key = master.sessionKey,
            let pairing = master.pairing
        else { return send(ButtonPacket.fullVerifyFailResponse(reason: 0).octets, header, &effects) }
        guard isInPublicMode else {
            return send(ButtonPacket.fullVerifyFailResponse(reason: 1).octets, header, &effects)
        }
        pairingTable.store(pairing)
        link?.logical = .session(Session(connectionID: connectionID, channel: SignedChannel(key, as: .button)))
        sendSigned(
            .fullVerifyResponse2(
                .init(
                    appCredentialsMatch: true, caresAboutAppCredentials: false, uuid: configuration.uuid, name: name,
                    firmwareVersion: configuration.firmwareVersion, rawBattery: rawBattery,
                    serial: Array(configuration.serial.utf8))), &effects)
        effects.append(.paired)
    }

    private mutating func quickVerify(
        _ request: HostPacket.QuickVerifyRequest, random: [UInt8], _ effects: inout [Effect]
    ) {
        link?.logical = .none
        guard let pairing = pairingTable.find(request.pairingIdentifier),
            let key = SessionKey(
                quickVerify: pairing.key, hostRandom: request.random, flags: request.flags, buttonRandom: random),
            let connectionID = link?.assignConnectionID()
        else {
            let response = ButtonPacket.quickVerifyNegativeResponse(temporaryID: request.temporaryID)
            return send(response.octets, FrameHeader(connectionID: 0), &effects)
        }
        pairingTable.store(pairing)
        var session = Session(connectionID: connectionID, channel: SignedChannel(key, as: .button))
        let response = ButtonPacket.quickVerifyResponse(.init(random: random, temporaryID: request.temporaryID))
        let sealed = session.channel.seal(response.octets)
        link?.logical = .session(session)
        send(sealed, FrameHeader(connectionID: connectionID, isNewlyAssigned: true), &effects)
    }

    private mutating func testIfReallyUnpaired(
        _ request: HostPacket.TestIfReallyUnpairedRequest, connectionID: UInt8, random: [UInt8],
        _ effects: inout [Effect]
    ) {
        let master = MasterSecret(
            privateKey: configuration.privateKey, publicKey: request.publicKey, variant: variant, buttonRandom: random,
            hostRandom: request.random, flags: 0)
        guard let master else { return }
        let proof = pairingTable.find(request.pairingIdentifier).flatMap(master.unpairedProof)
        let result: [UInt8]? =
            if let proof, Digest.isEqualInConstantTime(proof.token, request.token) {
                proof.exists
            } else {
                master.denial(of: request.token)
            }
        guard let result else { return }
        let response = ButtonPacket.testIfReallyUnpairedResponse(result: result)
        send(response.octets, FrameHeader(connectionID: connectionID), &effects)
    }

    // MARK: The session

    private mutating func receiveSigned(_ frame: Frame, at now: Instant, _ effects: inout [Effect]) {
        guard case .session(var session) = link?.logical, session.connectionID == frame.header.connectionID else {
            return
        }
        let opened = session.channel.open(frame.packet)
        link?.logical = .session(session)
        guard let opened else {
            sendSigned(.disconnectedVerifiedLink(reason: 1), &effects)
            link?.logical = .none
            return
        }
        guard let packet = try? HostPacket(decoding: opened) else { return }
        switch packet {
        case .initButtonEventsRequest(let request): startEvents(request, at: now, &effects)
        case .acknowledgeEvents(let eventCount): queue.forget(upTo: eventCount)
        case .getFirmwareVersionRequest:
            sendSigned(.getFirmwareVersionResponse(version: configuration.firmwareVersion), &effects)
        case .getBatteryLevelRequest: sendSigned(.getBatteryLevelResponse(raw: rawBattery), &effects)
        case .getNameRequest:
            sendSigned(.getNameResponse(.init(timestamp: nameTimestamp, name: name)), &effects)
        case .setNameRequest(let request):
            if request.isForced || request.timestamp > nameTimestamp {
                name = request.name
                nameTimestamp = request.timestamp
            }
            sendSigned(.setNameResponse(.init(timestamp: nameTimestamp, name: name)), &effects)
        case .setAdvertisingParametersRequest: sendSigned(.setAdvertisingParametersResponse, &effects)
        case .setConnectionParameters(let parameters):
            effects.append(
                .requestParameters(
                    intervalMinimum: parameters.intervalMinimum, intervalMaximum: parameters.intervalMaximum,
                    latency: parameters.latency, timeout: parameters.supervisionTimeout))
        case .setAutoDisconnectTime(let seconds): update { $0.autoDisconnectSeconds = seconds }
        case .pingResponse: update { $0.awaitsPingResponse = false }
        case .disconnectVerifiedLink: link?.logical = .none
        case .forceDisconnect(let advertiseAgain): disconnect(advertiseAgain: advertiseAgain, &effects)
        case .fullVerifyRequest1, .fullVerifyRequest2, .fullVerifyAbort, .testIfReallyUnpairedRequest,
            .quickVerifyRequest, .other:
            break
        }
    }

    private mutating func startEvents(
        _ request: HostPacket.InitButtonEventsRequest, at now: Instant, _ effects: inout [Effect]
    ) {
        let isKnownBoot = request.bootID == bootID
        if isKnownBoot { queue.forget(upTo: request.eventCount) }
        queue.limit(
            count: request.maximumQueuedPackets == 31 ? nil : Int(request.maximumQueuedPackets),
            maximumAge: request.maximumQueuedAge == 0xFFFFF ? nil : request.maximumQueuedAge, now: ticks(at: now))
        let first = queue.entries.first
        lastActivity = now
        update {
            $0.isPastInit = true
            $0.autoDisconnectSeconds = request.autoDisconnectSeconds
        }
        if let period = configuration.pingPeriod { update { $0.nextPing = now + period } }
        sendSigned(
            .initButtonEventsResponse(
                .init(
                    hasQueuedEvents: first != nil, ticks: ticks(at: now),
                    eventCount: first.map { $0.counter &- 1 } ?? press.counter, bootID: isKnownBoot ? nil : bootID)),
            &effects)
        effects.append(.sessionReady)
        for notification in queue.notifications { sendSigned(.buttonEventNotification(notification), &effects) }
    }

    private mutating func reportPressSteps(before now: Instant, _ effects: inout [Effect]) {
        while let deadline = press.deadline, deadline < now, let step = press.timePassed() { report(step, &effects) }
    }

    private mutating func report(_ step: PressEncoder.Step, _ effects: inout [Effect]) {
        let entry = EventQueue.Entry(counter: step.counter, code: step.code, ticks: ticks(at: step.time))
        queue.append(entry)
        guard case .session(let session) = link?.logical, session.isPastInit else { return }
        sendSigned(
            .buttonEventNotification(
                EventNotification(
                    eventCount: entry.counter,
                    items: [EventNotification.Item(ticks: entry.ticks, code: entry.code)])), &effects)
    }

    private mutating func pingIfDue(at now: Instant, _ effects: inout [Effect]) {
        guard case .session(let session) = link?.logical, let nextPing = session.nextPing, now >= nextPing,
            let period = configuration.pingPeriod
        else { return }
        if session.awaitsPingResponse {
            sendSigned(.disconnectedVerifiedLink(reason: 0), &effects)
            link?.logical = .none
        } else {
            update {
                $0.awaitsPingResponse = true
                $0.nextPing = now + period
            }
            sendSigned(.pingRequest, &effects)
        }
    }

    private mutating func disconnect(advertiseAgain: Bool, _ effects: inout [Effect]) {
        link?.logical = .none
        effects.append(.disconnect(advertiseAgain: advertiseAgain))
    }

    // MARK: Sending and waiting

    private mutating func update(_ change: (inout Session) -> Void) {
        guard case .session(var session) = link?.logical else { return }
        change(&session)
        link?.logical = .session(session)
    }

    private mutating func sendSigned(_ packet: ButtonPacket, _ effects: inout [Effect]) {
        guard case .session(var session) = link?.logical else { return }
        let sealed = session.channel.seal(packet.octets)
        link?.logical = .session(session)
        send(sealed, FrameHeader(connectionID: session.connectionID), &effects)
    }

    private func send(_ octets: [UInt8], _ header: FrameHeader, _ effects: inout [Effect]) {
        guard let link else { return }
        effects.append(contentsOf: Frame(header: header, packet: octets).values(attMTU: link.attMTU).map(Effect.send))
    }

    private var autoDisconnect: Instant? {
        guard case .session(let session) = link?.logical, session.isPastInit,
            session.autoDisconnectSeconds != Self.never
        else { return nil }
        return lastActivity + .seconds(Int64(session.autoDisconnectSeconds))
    }

    private var nextPing: Instant? {
        guard case .session(let session) = link?.logical else { return nil }
        return session.nextPing
    }

    private mutating func setTimer(_ effects: inout [Effect]) {
        let deadline = [press.deadline, autoDisconnect, nextPing].compactMap(\.self).min()
        guard timer != deadline else { return }
        timer = deadline
        effects.append(deadline.map(Effect.setTimer) ?? .cancelTimer)
    }

    private var rawBattery: UInt16 { Battery.raw(millivolts: configuration.batteryMillivolts) }

    /// 1/32768 s since boot, 47 bits.
    private func ticks(at time: Instant) -> UInt64 {
        let nanoseconds = UInt64(max(0, (time - boot).nanoseconds))
        let second: UInt64 = 1_000_000_000
        let ticks = nanoseconds / second * Self.ticksPerSecond + nanoseconds % second * Self.ticksPerSecond / second
        return ticks & (1 << 47 - 1)
    }
}
