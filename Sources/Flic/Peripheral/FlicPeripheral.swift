public import ButtonModel
import Cryptography

/// A simulated button: the button's side of the protocol, for simulators and tests. GATT values in, GATT values out.
///
/// It has the memory of a Flic 2, Duo or Twist (static key, pairings, name, event counters, stored events, partial
/// firmware image), one link at a time, and the logical connections on the link. Each of these has its own state:
///
/// | logical connection | on                                   | becomes | and the button                                |
/// |--------------------|--------------------------------------|---------|-----------------------------------------------|
/// | none               | FullVerifyRequest1                   | offered | FullVerifyResponse1, with its certificate     |
/// | none               | FullVerifyRequest1, no slot left     | none    | NoLogicalConnectionSlotsInd                   |
/// | offered            | FullVerifyRequest2, verifier wrong   | none    | FullVerifyFailResponse 0                      |
/// | offered            | FullVerifyRequest2, not public       | none    | FullVerifyFailResponse 1                      |
/// | offered            | FullVerifyRequest2                   | session | stores the pairing, FullVerifyResponse2       |
/// | offered            | TestIfReallyUnpairedRequest          | offered | proves whether it knows the pairing           |
/// | offered            | FullVerifyAbortInd                   | none    |                                               |
/// | none               | QuickVerifyRequest, pairing unknown  | none    | QuickVerifyNegativeResponse                   |
/// | none               | QuickVerifyRequest                   | session | QuickVerifyResponse; ends the pairing's other session |
/// | session            | init request                         | session | deletes the events that it covers, responds, sends the others |
/// | session            | acknowledgement                      | session | deletes the events that it covers             |
/// | session            | any other request                    | session | responds                                      |
/// | session            | wrong signature, no answer to a ping | none    | DisconnectedVerifiedLinkInd                   |
/// | session            | FactoryResetRequest                  | none    | responds, deletes all pairings                |
/// | any                | disconnect, link down                | none    |                                               |
///
/// With a host that supports Duo, a Duo uses other packets for init, events, acknowledgement and rotation. To other
/// hosts it is a Flic 2 with only the big button.
///
/// Presses are counted and stored in every state; after init each step is also sent at once. Events that are neither
/// acknowledged nor covered by the next init request are sent again after it, marked as queued.
///
/// The button ends a link that has had no session for `sessionTimeout`, and a link without presses for the longest
/// auto disconnect time of its sessions. With a verified firmware image it reboots when the link ends, and its version
/// increases by one.
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
        /// The static X25519 private key, 32 octets. The certificate is issued for it, signed with `rootSeed`.
        public var privateKey: [UInt8]
        /// The Ed25519 seed of the root key, 32 octets.
        public var rootSeed: [UInt8]
        public var bootID: UInt32
        /// The initial pairings.
        public var pairings: [Pairing]
        /// The interval between pings to the host; `nil`: no pings.
        public var pingPeriod: Duration?
        /// The maximum number of logical connections on a link, 1…31. That of a real button is not known.
        public var maximumLogicalConnections: Int
        /// The model; a Twist has one logical connection, and its own `PacketDialect`.
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
        /// A central connected, with this effective ATT_MTU, which may change until the first packet.
        case linkUp(attMTU: Int)
        case mtuChanged(attMTU: Int)
        /// A central wrote this GATT value. `random`: 8 fresh random octets, used if the value begins a session.
        case received([UInt8], random: [UInt8])
        case linkDown
        /// A user presses or releases the button, or the big button of a Duo.
        case pressed
        case released
        /// A user presses or releases one of the buttons of a Duo. `swipe`: the movement during the press.
        case partPressed(ButtonPart)
        case partReleased(ButtonPart, swipe: SwipeDirection?)
        /// A user turns the dial of a Twist, or a Duo, which notices it only while one of its buttons is down.
        /// `Dial.unitsPerTurn` units are a turn; clockwise is positive.
        case turned(units: Int)
        case setPublicMode(Bool)
        case timerFired
        /// The battery was taken out and put back: link, clock, counters, stored events and advertising settings are
        /// lost; pairings and name are kept.
        case rebooted(bootID: UInt32)
        case batteryChanged(millivolts: Int)
        case fault(Fault)
    }

    /// A fault of the button, for tests of hosts.
    public enum Fault: Hashable, Sendable {
        /// The next signed packet carries a wrong signature.
        case wrongSignature
        /// The button ignores the next acknowledgement, so it sends the events again.
        case lostAcknowledgement
        /// True if requests after init remain unanswered.
        case ignoresRequests(Bool)
    }

    public enum Effect: Hashable, Sendable, TimerEffect {
        /// A GATT value to notify.
        case send([UInt8])
        case setTimer(Instant)
        case cancelTimer
        /// The button requests these connection parameters from the central, as set by a SetConnectionParametersInd.
        case requestParameters(intervalMinimum: UInt16, intervalMaximum: UInt16, latency: UInt16, timeout: UInt16)
        case paired
        case sessionReady
        /// The button ends the link. `advertiseAgain`: whether it shall advertise afterwards.
        case disconnect(advertiseAgain: Bool)
        /// A host starts a pattern of the LED, or, with `nil`, stops it.
        case light(LEDPattern?)
        /// All pairings are deleted.
        case factoryReset
        /// The button has rebooted with new firmware.
        case updated(firmwareVersion: UInt32)
    }

    static let ticksPerSecond: UInt64 = 32_768
    /// The auto disconnect time that means never.
    static let never: UInt16 = 511
    /// How long a link may be without a session, as known from a Twist (protocol notes, 6.9).
    static let sessionTimeout = Duration.seconds(40)

    struct HostLink: Sendable {
        var attMTU: Int
        var assembler = FrameAssembler()
        /// When the last session on the link ended, or else the link began; `nil` while there is a session.
        var idleSince: Instant?
        /// True if the button has ended the link, and `linkDown` has not arrived yet.
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
    /// The state of a Duo: its small button, the gesture during the last press of each button, and the buttons whose
    /// rotation was reported during the current press.
    var smallPress = PressEncoder()
    var gestures: [ButtonPart: DuoEvent.Gesture] = [:]
    var reportedRotation: ButtonPacket.PushTwistNotification.Parts = []
    /// The rotation that was reported in excess, because of rounding, in thirds of a Duo's unit.
    var excessRotation: [ButtonPart: Int] = [:]
    var queue = EventQueue()
    var dial = SimulatedTwistDial()
    var lastActivity: Instant
    var link: HostLink?
    var connections: LogicalConnections
    var faults = Faults()
    private var timer = LogicalTimer()
    /// True if the button accepts a new pairing.
    public private(set) var isInPublicMode = false

    struct Faults: Sendable {
        var hasWrongSignature = false
        var losesAcknowledgement = false
        var ignoresRequests = false
    }

    /// Creates a button. With keys of a wrong length it has no certificate, and does not answer a full verify.
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
    /// The pairings in the order of their last use, the most recent last.
    public var pairings: [Pairing] { pairingTable.pairings }
    public var nickname: String { String(decoding: name, as: UTF8.self) }
    /// How the button advertises after a lost link, as set by its hosts; `nil`: it does not advertise.
    public var advertisingSettings: AdvertisingSettings? { advertising.settings }

    /// The Ed25519 public key of a simulator's root, which a host trusts only if configured to. Empty unless the seed
    /// has 32 octets.
    public static func rootPublicKey(seed: [UInt8]) -> [UInt8] { Curve25519.signingPublicKey(seed: seed) ?? [] }

    public mutating func handle(_ input: Input, at now: Instant) -> [Effect] {
        var effects: [Effect] = []
        switch input {
        case .linkUp(let attMTU):
            connections.closeAll()
            link = HostLink(attMTU: attMTU)
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
            timer.fired()
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
        // A real button draws a random boot id. This one is new as well, but predictable, so that runs can be repeated.
        if firmware.isVerified { reboot(bootID: bootID &+ 0x9E37_79B9, at: now, &effects) }
    }

    private mutating func reboot(bootID newBootID: UInt32, at now: Instant, _ effects: inout [Effect]) {
        link = nil
        connections.closeAll()
        press = PressEncoder()
        smallPress = PressEncoder()
        gestures = [:]
        reportedRotation = []
        queue = EventQueue()
        dial = SimulatedTwistDial()
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

    /// When the button ends the link by itself.
    private var linkDeadline: Instant? {
        guard let link, !link.isEnding else { return nil }
        if let idleSince = link.idleSince { return idleSince + Self.sessionTimeout }
        let times = connections.sessions.map(\.session).map { $0.isPastInit ? $0.autoDisconnectSeconds : Self.never }
        guard let longest = times.max(), longest != Self.never else { return nil }
        return lastActivity + .seconds(Int64(longest))
    }

    private mutating func setTimer(_ effects: inout [Effect]) {
        let sessions = connections.sessions.flatMap { [$0.session.nextPing, $0.session.apiTimer?.deadline] }
        let deadline = ([pressDeadline, linkDeadline] + sessions).compactMap(\.self).min()
        timer.appendChange(for: deadline, to: &effects)
    }
}
