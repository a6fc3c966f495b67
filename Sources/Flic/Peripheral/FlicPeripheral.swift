public import ButtonModel

/// The button's end of the protocol, for simulators: GATT values in, GATT values out.
///
/// It owns everything a Flic 2 or a Duo keeps (static key, pairings, name, event counter, queue, half an image), one
/// link at a time, and the logical connections on it. Each of those lives by itself:
///
/// | logical connection | on                                   | becomes | and it                                        |
/// |--------------------|--------------------------------------|---------|-----------------------------------------------|
/// | none               | FullVerifyRequest1                   | offered | shows its certificate                         |
/// | none               | the same, no slot left               | none    | says so                                       |
/// | offered            | FullVerifyRequest2, verifier wrong   | none    | refuses, 0                                    |
/// | offered            | FullVerifyRequest2, not public       | none    | refuses, 1                                    |
/// | offered            | FullVerifyRequest2                   | session | stores the pairing, answers signed            |
/// | offered            | TestIfReallyUnpairedRequest          | offered | proves whether it knows the pairing           |
/// | offered            | FullVerifyAbortInd                   | none    |                                               |
/// | none               | QuickVerifyRequest, pairing unknown  | none    | says so                                       |
/// | none               | QuickVerifyRequest                   | session | answers signed; ends the pairing's other one  |
/// | session            | init request                         | session | forgets what the request covers, answers,     |
/// |                    |                                      |         | sends what it still has                       |
/// | session            | acknowledgement                      | session | forgets what it stored up to there            |
/// | session            | any other request                    | session | answers                                       |
/// | session            | wrong signature, no answer to a ping | none    | says so                                       |
/// | session            | FactoryResetRequest                  | none    | answers, forgets all pairings                 |
/// | any                | disconnect, link down                | none    |                                               |
///
/// A Duo answers a host that knows of Duos with packets of its own for init, events, acknowledgement and turns; to
/// others it is a Flic 2 with its big button.
///
/// Presses count and are stored in every state; in a session past init each goes out at once as well. What was neither
/// acknowledged nor covered by the counters of the next init request is sent again as queued after that init.
///
/// It drops a link on which there was no session for `sessionPatience`, and one without presses for the longest auto
/// disconnect time of its sessions. With a verified image it restarts when the link ends, one version later.
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
        /// Logical connections on a link, 1…31. How many a real button has is not known.
        public var maximumLogicalConnections: Int
        /// A Twist has one logical connection, and speaks its own dialect.
        public var model: FlicModel

        public init(
            address: BluetoothAddress, serial: String, uuid: [UInt8], nickname: String, firmwareVersion: UInt32,
            batteryMillivolts: Int, privateKey: [UInt8], rootSeed: [UInt8], bootID: UInt32, pairings: [Pairing] = [],
            pingPeriod: Duration? = nil, maximumLogicalConnections: Int = 8, model: FlicModel = .flic2
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
            self.maximumLogicalConnections = maximumLogicalConnections
            self.model = model
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
        /// The same of one of a Duo's two buttons; `pressed` is its big one. With a swipe the hand moved meanwhile.
        case partPressed(ButtonPart)
        case partReleased(ButtonPart, swipe: SwipeDirection?)
        /// The user's hand at the dial of a Twist, or at a Duo, in `Dial.unitsPerTurn` to a turn; positive: clockwise.
        /// A Duo notices only while one of its buttons is down.
        case turned(units: Int)
        case setPublicMode(Bool)
        case timerFired
        /// The battery was taken out and put back: link, clock, counter, stored events and advertising settings are
        /// gone; pairings and name are not.
        case rebooted(bootID: UInt32)
        case batteryChanged(millivolts: Int)
        case fault(Fault)
    }

    /// What a button should not do, for tests of those who talk to it.
    public enum Fault: Hashable, Sendable {
        /// The next signed packet carries a wrong signature.
        case wrongSignature
        /// The next acknowledgement is lost on it: the events come again.
        case lostAcknowledgement
        /// Requests after init get no answer, until this is taken back.
        case ignoresRequests(Bool)
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
        /// A host lets the light pulse, or stops that.
        case light(LEDPattern?)
        /// All pairings are gone.
        case factoryReset
        /// It has restarted with new firmware.
        case updated(firmwareVersion: UInt32)
    }

    static let ticksPerSecond: UInt64 = 32_768
    /// The auto disconnect time that means never.
    static let never: UInt16 = 511
    /// How long a link may be without a session.
    ///
    /// - Source: protocol notes, 1; it is known of a Twist.
    static let sessionPatience = Duration.seconds(40)

    struct Link: Sendable {
        var attMTU: Int
        var assembler = FrameAssembler()
        /// Since when there is no session on it.
        var idleSince: Instant?
        /// The button has dropped it, and waits for word of that.
        var isEnding = false
    }

    let configuration: Configuration
    let certificate: Certificate?
    let variant: UInt8

    var boot: Instant
    var bootID: UInt32
    public internal(set) var firmwareVersion: UInt32
    var batteryMillivolts: Int
    var name: [UInt8]
    var nameTimestamp: UInt64 = 0
    var pairingTable: PairingTable
    var advertising = AdvertisingMemory()
    var firmware = FirmwareReceiver()
    var press = PressEncoder()
    /// Of a Duo: its other button, what the hand did during the last press of each, and those whose turns were told.
    var smallPress = PressEncoder()
    var gestures: [ButtonPart: DuoEvent.Gesture] = [:]
    var toldTurns: ButtonPacket.PushTwistNotification.Parts = []
    /// In thirds of what it tells: by how much that was more than it was turned.
    var turnSurplus: [ButtonPart: Int] = [:]
    var queue = EventQueue()
    var dial = TwistDial()
    var lastActivity: Instant
    var link: Link?
    var connections: LogicalConnections
    var faults = Faults()
    private var timer: Instant?
    /// True while it would accept a new pairing.
    public private(set) var isInPublicMode = false

    struct Faults: Sendable {
        var hasWrongSignature = false
        var losesAcknowledgement = false
        var ignoresRequests = false
    }

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
        firmwareVersion = configuration.firmwareVersion
        batteryMillivolts = configuration.batteryMillivolts
        name = Array(configuration.nickname.utf8.prefix(Nickname.maximumLength))
        pairingTable = PairingTable(configuration.pairings)
        connections = LogicalConnections(
            maximumCount: configuration.model == .twist ? 1 : configuration.maximumLogicalConnections)
        lastActivity = boot
    }

    public var isPaired: Bool { !pairingTable.pairings.isEmpty }
    /// The one used last comes last.
    public var pairings: [Pairing] { pairingTable.pairings }
    public var nickname: String { String(decoding: name, as: UTF8.self) }
    /// What its hosts want after a lost link; `nil`: it stays silent then.
    public var advertisingSettings: AdvertisingSettings? { advertising.settings }

    /// Simulators ship this root; real hosts trust it only when told to. Empty unless the seed has 32 octets.
    public static func rootPublicKey(seed: [UInt8]) -> [UInt8] { Curve25519.signingPublicKey(seed: seed) ?? [] }

    public mutating func handle(_ input: Input, at now: Instant) -> [Effect] {
        var effects: [Effect] = []
        switch input {
        case .linkUp(let attMTU):
            connections.closeAll()
            link = Link(attMTU: attMTU)
        case .mtuChanged(let attMTU): link?.attMTU = attMTU
        case .linkDown: endLink(at: now, &effects)
        case .received(let value, let random):
            for frame in frames(in: value) where link?.isEnding == false {
                receive(frame, random: random.padded(to: 8), at: now, &effects)
            }
        case .pressed: press(.big, at: now, &effects)
        case .released: release(.big, swipe: nil, at: now, &effects)
        case .partPressed(let part): press(part, at: now, &effects)
        case .partReleased(let part, let swipe): release(part, swipe: swipe, at: now, &effects)
        case .turned(let units): turn(units: units, at: now, &effects)
        case .setPublicMode(let isOn): isInPublicMode = isOn
        case .timerFired:
            timer = nil
            reportPressSteps(before: now + .nanoseconds(1), &effects)
            for (id, _) in connections.sessions { timePassed(on: id, at: now, &effects) }
            if let deadline = linkDeadline, now >= deadline { disconnect(advertiseAgain: false, &effects) }
        case .rebooted(let newBootID): reboot(bootID: newBootID, at: now, &effects)
        case .batteryChanged(let millivolts): batteryMillivolts = millivolts
        case .fault(let fault): take(fault)
        }
        if connections.hasSession { link?.idleSince = nil } else if link?.idleSince == nil { link?.idleSince = now }
        setTimer(&effects)
        return effects
    }

    private mutating func take(_ fault: Fault) {
        switch fault {
        case .wrongSignature: faults.hasWrongSignature = true
        case .lostAcknowledgement: faults.losesAcknowledgement = true
        case .ignoresRequests(let isOn): faults.ignoresRequests = isOn
        }
    }

    private mutating func endLink(at now: Instant, _ effects: inout [Effect]) {
        link = nil
        connections.closeAll()
        firmware.linkEnded()
        // A real button draws it; this one's next is as new, and known beforehand.
        if firmware.isVerified { reboot(bootID: bootID &+ 0x9E37_79B9, at: now, &effects) }
    }

    private mutating func reboot(bootID newBootID: UInt32, at now: Instant, _ effects: inout [Effect]) {
        link = nil
        connections.closeAll()
        press = PressEncoder()
        smallPress = PressEncoder()
        gestures = [:]
        toldTurns = []
        queue = EventQueue()
        dial = TwistDial()
        advertising = AdvertisingMemory()
        boot = now
        lastActivity = now
        bootID = newBootID
        if firmware.reboot() {
            firmwareVersion &+= 1
            effects.append(.updated(firmwareVersion: firmwareVersion))
        }
    }

    mutating func disconnect(advertiseAgain: Bool, _ effects: inout [Effect]) {
        connections.closeAll()
        link?.isEnding = true
        effects.append(.disconnect(advertiseAgain: advertiseAgain))
    }

    /// When it gives the link up.
    private var linkDeadline: Instant? {
        guard let link, !link.isEnding else { return nil }
        if let idleSince = link.idleSince { return idleSince + Self.sessionPatience }
        let times = connections.sessions.map(\.session).map { $0.isPastInit ? $0.autoDisconnectSeconds : Self.never }
        guard let longest = times.max(), longest != Self.never else { return nil }
        return lastActivity + .seconds(Int64(longest))
    }

    private mutating func setTimer(_ effects: inout [Effect]) {
        let sessions = connections.sessions.flatMap { [$0.session.nextPing, $0.session.apiTimer?.deadline] }
        let deadline = ([pressDeadline, linkDeadline] + sessions).compactMap(\.self).min()
        guard timer != deadline else { return }
        timer = deadline
        effects.append(deadline.map(Effect.setTimer) ?? .cancelTimer)
    }
}
