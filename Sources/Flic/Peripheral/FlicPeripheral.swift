public import ButtonModel

/// The button's end of the protocol, for simulators: GATT values in, GATT values out.
///
/// It owns everything a Flic 2 keeps (static key, pairings, event counter, queue) and one link at a time.
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

        public init(
            address: BluetoothAddress, serial: String, uuid: [UInt8], nickname: String, firmwareVersion: UInt32,
            batteryMillivolts: Int, privateKey: [UInt8], rootSeed: [UInt8], bootID: UInt32
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

    public init(_ configuration: Configuration, at boot: Instant) {}

    public mutating func handle(_ input: Input, at now: Instant) -> [Effect] { [] }

    /// True while it would accept a new pairing.
    public var isInPublicMode: Bool { false }
    public var isPaired: Bool { false }
    /// Simulators ship this root; real hosts trust it only when told to.
    public static func rootPublicKey(seed: [UInt8]) -> [UInt8] { Curve25519.signingPublicKey(seed: seed) ?? [] }
}
