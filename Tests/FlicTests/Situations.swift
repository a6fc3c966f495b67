import ButtonModel
import Cryptography
import TestSupport

@testable import Flic

/// An input for a session, as a row of the table of transitions.
struct Stimulus {
    enum Kind {
        case input(ButtonSession.Input)
        case timer(isDue: Bool)
        /// A packet of a genuine button in the session's present state, signed if there is a session key.
        case packet(ButtonPacket)
        /// A packet that has a wrong signature.
        case wronglySigned(ButtonPacket)
        /// A GATT value that is passed on unchanged.
        case value([UInt8])
    }

    var name: String
    var kind: Kind

    static let all: [Stimulus] = inputs + commands + packets

    var isFromButton: Bool {
        switch kind {
        case .packet, .wronglySigned, .value: true
        case .input, .timer: false
        }
    }

    private static let cursor = EventCursor(bootID: TestButton.bootID, eventCount: 11)
    private static let inputs: [Stimulus] = [
        .init(name: "linkReady", kind: .input(.linkReady(attMTU: 140, TestButton.entropy))),
        .init(name: "restart", kind: .input(.restart(TestButton.entropy))),
        .init(name: "synced", kind: .input(.synced(cursor))),
        .init(name: "timer, early", kind: .timer(isDue: false)),
        .init(name: "timer, due", kind: .timer(isDue: true)),
        .init(name: "linkLost", kind: .input(.linkLost)),
    ]

    private static let commands: [Stimulus] =
        ([
            .setNickname(Nickname("Hall", chosenAt: 1)), .setLatencyMode(.low), .setAutoDisconnectTime(60),
            .cancelFirmwareUpdate,
            .executeLEDPattern(LEDPattern(colour: 1, brightness: 1, pulseOn: 1, pulseOff: 1, periods: 1)),
            .abortLEDPattern, .factoryReset, .disconnect(advertiseAgain: true),
        ] + ((try? FirmwareImage(FlicPeripheral.firmware(wordCount: 100))).map { [.updateFirmware($0)] } ?? []))
        .map { (command: ButtonSession.Command) in
            Stimulus(name: TransitionTests.caseName(command), kind: .input(.perform(command)))
        }

    private static let packets: [Stimulus] = {
        let stamped = ButtonPacket.StampedName(timestamp: 1, name: Array("Hall".utf8))
        let proof = Situation.proof
        var packets: [(String, ButtonPacket)] = [
            ("fullVerifyResponse1", Situation.certificate()),
            ("fullVerifyResponse1 of another address", Situation.certificate(of: BluetoothAddress(rawValue: 1))),
            ("fullVerifyResponse1 of another root", Situation.certificate(rootSeed: [UInt8](repeating: 1, count: 32))),
            ("fullVerifyResponse1 to another host", Situation.certificate(temporaryID: 1)),
            ("fullVerifyResponse2", Situation.welcome()),
            ("fullVerifyResponse2 to others' programs", Situation.welcome(isDenied: true)),
            ("noLogicalConnectionSlots", .noLogicalConnectionSlots(temporaryIDs: [1, TestButton.entropy.temporaryID])),
            ("noLogicalConnectionSlots for others", .noLogicalConnectionSlots(temporaryIDs: [1])),
        ]
        for reason: UInt8 in [0, 1, 2] {
            packets.append(("fullVerifyFailResponse \(reason)", .fullVerifyFailResponse(reason: reason)))
        }
        packets += [
            ("testIfReallyUnpairedResponse, forgotten", .testIfReallyUnpairedResponse(result: proof.notExists)),
            ("testIfReallyUnpairedResponse, known", .testIfReallyUnpairedResponse(result: proof.exists)),
            ("testIfReallyUnpairedResponse, neither", .testIfReallyUnpairedResponse(result: proof.token)),
            ("quickVerifyNegativeResponse", .quickVerifyNegativeResponse(temporaryID: TestButton.entropy.temporaryID)),
            ("quickVerifyNegativeResponse to another host", .quickVerifyNegativeResponse(temporaryID: 1)),
            ("quickVerifyResponse", Situation.quickVerifyResponse()),
            ("quickVerifyResponse to another host", Situation.quickVerifyResponse(temporaryID: 1)),
            ("disconnectedVerifiedLink", .disconnectedVerifiedLink(reason: 0)),
            (
                "initButtonEventsResponse",
                .initButtonEventsResponse(.init(hasQueuedEvents: false, ticks: 9, eventCount: 8, bootID: nil))
            ),
            (
                "initButtonEventsResponse, events stored",
                .initButtonEventsResponse(.init(hasQueuedEvents: true, ticks: 9, eventCount: 8, bootID: nil))
            ),
            ("buttonEventNotification, open", Situation.events(9, 1)),
            ("buttonEventNotification, certain", Situation.events(11, 1, 10)),
            ("buttonEventNotification, the last stored", Situation.events(11, 1, 10, isLastStored: true)),
            ("buttonEventNotification, known", Situation.events(7, 10)),
            ("apiTimerNotification", .apiTimerNotification(message: 1)),
            ("nameUpdatedNotification", .nameUpdatedNotification(name: Array("Hall".utf8))),
            ("pingRequest", .pingRequest), ("getNameResponse", .getNameResponse(stamped)),
            ("setNameResponse", .setNameResponse(stamped)),
            ("getFirmwareVersionResponse", .getFirmwareVersionResponse(version: 11)),
            ("startFirmwareUpdateResponse", .startFirmwareUpdateResponse(position: 0)),
            ("startFirmwareUpdateResponse, no", .startFirmwareUpdateResponse(position: -2)),
            ("firmwareUpdateNotification, some", .firmwareUpdateNotification(position: 60)),
            ("firmwareUpdateNotification, all", .firmwareUpdateNotification(position: 100)),
            ("firmwareUpdateNotification, 0", .firmwareUpdateNotification(position: 0)),
            ("getBatteryLevelResponse", .getBatteryLevelResponse(raw: 860)),
            ("factoryResetResponse", .factoryResetResponse),
            ("getCurrentTimeResponse", .getCurrentTimeResponse(ticks: 1)),
            ("getDeviceIDResponse", .getDeviceIDResponse([])),
            ("setAdvertisingParametersResponse", .setAdvertisingParametersResponse),
            ("another packet", .other(opcode: 99)),
        ]
        return packets.map { Stimulus(name: $0.0, kind: .packet($0.1)) } + [
            .init(name: "fullVerifyResponse2, wrong signature", kind: .wronglySigned(Situation.welcome())),
            .init(name: "quickVerifyResponse, wrong signature", kind: .wronglySigned(Situation.quickVerifyResponse())),
            .init(name: "any packet, wrong signature", kind: .wronglySigned(.pingRequest)),
            .init(name: "a packet cut off", kind: .packet(.other(opcode: 20))),
            .init(name: "a packet for all logical connections", kind: .value([0, 6, 1, 1, 1, 1])),
            .init(name: "a packet for another program", kind: .value([9, 15, 1, 2, 3, 4, 5])),
        ]
    }()
}

/// A session in one of its states, and the button's end of the signed channel if there is one.
struct Situation {
    static let rootSeed = [UInt8](repeating: 0x42, count: 32)
    private static let privateKey = [UInt8](repeating: 0x17, count: 32)
    private static let random: [UInt8] = [8, 7, 6, 5, 4, 3, 2, 1]

    var name: String
    var session: ButtonSession
    private var now = Instant(sinceBoot: .seconds(100))
    private var timer: Instant?
    /// The button's end of the signed channel, if the session has begun.
    private var channel: SignedChannel?

    private init(_ purpose: ButtonSession.Purpose) {
        name = "idle"
        session = ButtonSession(
            .init(
                address: TestButton.address, purpose: purpose,
                trustRoots: [FlicPeripheral.rootPublicKey(seed: Self.rootSeed)], firmwareVersion: 11))
    }

    static func all() throws -> [Situation] {
        let cursor = EventCursor(bootID: TestButton.bootID, eventCount: 8)
        let idle = Situation(.reconnect(TestButton.pairing, cursor, advertisingConfigured: false))
        let linkReady = Stimulus.Kind.input(.linkReady(attMTU: 140, TestButton.entropy))
        let pairing = Situation(.pair).after("to pair", linkReady)
        let proving = pairing.after("its certificate was genuine", .packet(certificate()))
        let quick = idle.after("to reconnect", linkReady)
        let denied = ButtonPacket.quickVerifyNegativeResponse(temporaryID: TestButton.entropy.temporaryID)
        let doubting = quick.after("it denied the pairing", .packet(denied))
        let asking = doubting.after("its certificate was genuine", .packet(certificate()))
        let verified = quick.after("verified", .packet(quickVerifyResponse()))
        func response(_ hasQueuedEvents: Bool) -> Stimulus.Kind {
            .packet(
                .initButtonEventsResponse(.init(hasQueuedEvents: hasQueuedEvents, ticks: 9, eventCount: 8, bootID: nil))
            )
        }
        let storing = verified.after("its stored events come", response(true))
        let busy = verified.after("two requests outstanding, two waiting", response(false))
        var settled = busy
        for packet in [
            .setAdvertisingParametersResponse, .getBatteryLevelResponse(raw: 860),
            .getNameResponse(.init(timestamp: 0, name: [])), .getFirmwareVersionResponse(version: 11),
        ] as [ButtonPacket] {
            settled = settled.after("settled", .packet(packet))
        }
        let image = try FirmwareImage(FlicPeripheral.firmware(wordCount: 100))
        let updating = settled.after("", .input(.perform(.updateFirmware(image))))
            .after("a firmware image is under way", .packet(.startFirmwareUpdateResponse(position: 0)))
        let unsynced = settled.after("an acknowledgement waits for the disk", .packet(events(11, 1, 10)))
        let leaving = settled.after("", .input(.perform(.disconnect(advertiseAgain: true))))
        let pausing = settled.after("the button ended the session", .packet(.disconnectedVerifiedLink(reason: 0)))
        let entropy = pausing.after("the pause is over", .timer(isDue: true))
        return [
            idle, pairing, proving, quick, doubting, asking, verified, storing, busy, settled, unsynced, updating,
            leaving,
            pausing,
            entropy, settled.after("", .input(.linkLost)),
        ]
    }

    private func after(_ remark: String, _ kind: Stimulus.Kind) -> Situation {
        var next = self
        _ = next.take(Stimulus(name: remark, kind: kind))
        let state = Self.name(of: next.session.state)
        next.name = remark.isEmpty ? state : "\(state), \(remark)"
        return next
    }

    mutating func take(_ stimulus: Stimulus) -> [ButtonSession.Effect] {
        let input: ButtonSession.Input
        switch stimulus.kind {
        case .input(let given): input = given
        case .timer(let isDue):
            if isDue, let timer { now = max(now, timer) }
            input = .timerFired
        case .packet(let packet): input = .received(value(packet, isGenuine: true))
        case .wronglySigned(let packet): input = .received(value(packet, isGenuine: false))
        case .value(let octets): input = .received(octets)
        }
        let effects = session.handle(input, at: now)
        for effect in effects {
            if case .setTimer(let deadline) = effect { timer = deadline }
            if case .cancelTimer = effect { timer = nil }
        }
        return effects
    }

    private mutating func value(_ packet: ButtonPacket, isGenuine: Bool) -> [UInt8] {
        var sealed: [UInt8]
        var header: UInt8 = 1
        switch (session.state, packet) {
        case (.awaitingInitResponse, _), (.ready, _):
            sealed = channel?.seal(packet.octets) ?? []
        case (_, .quickVerifyResponse):
            header = 0x21
            channel = Self.quickKey.map { SignedChannel($0, as: .button) }
            sealed = channel?.seal(packet.octets) ?? []
        case (_, .fullVerifyResponse2):
            channel = Self.master()?.sessionKey.map { SignedChannel($0, as: .button) }
            sealed = channel?.seal(packet.octets) ?? []
        case (_, .fullVerifyResponse1):
            header = 0x21
            sealed = packet.octets
        case (_, .quickVerifyNegativeResponse), (_, .noLogicalConnectionSlots):
            header = 0
            sealed = packet.octets
        default:
            sealed = packet.octets
        }
        if !isGenuine, let last = sealed.popLast() { sealed.append(last ^ 1) }
        return [header] + sealed
    }

    static func name(of state: ButtonSession.State) -> String {
        if case .ready(let ready) = state, ready.disconnectDeadline != nil { return "ready, leaving" }
        return TransitionTests.caseName(state)
    }
}

/// Packets of the button.
extension Situation {
    private static var quickKey: SessionKey? {
        SessionKey(
            quickVerify: TestButton.pairing.key, hostRandom: Array(TestButton.entropy.random.prefix(7)), flags: 0x40,
            buttonRandom: random)
    }

    /// The secret that a genuine button derives.
    ///
    /// - Parameter flags: 0 for a pairing that the host asks the button to prove.
    static func master(flags: UInt8 = 0x80) -> MasterSecret? {
        guard let publicKey = Curve25519.agreementPublicKey(privateKey: privateKey),
            let hostKey = Curve25519.agreementPublicKey(privateKey: TestButton.entropy.privateKey),
            let issued = Certificate.issue(to: TestButton.address, publicKey: publicKey, rootSeed: rootSeed)
        else { return nil }
        return MasterSecret(
            privateKey: privateKey, publicKey: hostKey, variant: issued.variant, buttonRandom: random,
            hostRandom: TestButton.entropy.random, flags: flags)
    }

    static var proof: MasterSecret.UnpairedProof {
        master(flags: 0)?.unpairedProof(of: TestButton.pairing) ?? .init(token: [], exists: [], notExists: [])
    }

    static func certificate(
        of address: BluetoothAddress = TestButton.address, rootSeed: [UInt8] = rootSeed,
        temporaryID: UInt32 = TestButton.entropy.temporaryID
    ) -> ButtonPacket {
        let publicKey = Curve25519.agreementPublicKey(privateKey: privateKey) ?? []
        guard let issued = Certificate.issue(to: address, publicKey: publicKey, rootSeed: rootSeed) else {
            return .other(opcode: 0)
        }
        return .fullVerifyResponse1(
            .init(temporaryID: temporaryID, certificate: issued.certificate, random: random, isInPublicMode: true))
    }

    static func welcome(isDenied: Bool = false) -> ButtonPacket {
        .fullVerifyResponse2(
            .init(
                appCredentialsMatch: !isDenied, caresAboutAppCredentials: isDenied, uuid: [], name: Array("Hall".utf8),
                firmwareVersion: 11, rawBattery: 860, serial: Array("BA00-A00001".utf8)))
    }

    static func quickVerifyResponse(temporaryID: UInt32 = TestButton.entropy.temporaryID) -> ButtonPacket {
        .quickVerifyResponse(.init(random: random, temporaryID: temporaryID))
    }

    static func events(_ eventCount: UInt32, _ codes: UInt8..., isLastStored: Bool = false) -> ButtonPacket {
        let items = codes.enumerated().map { index, code in
            EventNotification.Item(
                ticks: 5, code: EventCode(rawValue: code), wasQueued: isLastStored,
                wasQueuedLast: isLastStored && index == codes.count - 1)
        }
        return .buttonEventNotification(EventNotification(eventCount: eventCount, items: items))
    }
}
