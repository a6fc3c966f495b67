public import ButtonModel

/// Randomness for one session, drawn by the caller so that a session can be replayed.
public struct SessionEntropy: Hashable, Sendable {
    /// Names the session until it has a connection id.
    public var temporaryID: UInt32
    /// 8 octets; quick verify uses the first 7.
    public var random: [UInt8]
    /// 32 octets: the ephemeral X25519 private key of a full verify.
    public var privateKey: [UInt8]

    /// - Parameter octets: at least `octetCount` random octets; the first four are the temporary id, then
    ///   8 of `random`, then 32 of the private key. `nil` when there are fewer.
    public init?(_ octets: [UInt8]) { return nil }

    public init(temporaryID: UInt32, random: [UInt8], privateKey: [UInt8]) {
        self.temporaryID = temporaryID
        self.random = random
        self.privateKey = privateKey
    }

    public static let octetCount = 44
}

/// One link to one Flic 2, from link-up to link-down: verification, then events.
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

        public init(
            address: BluetoothAddress, purpose: Purpose, trustRoots: [[UInt8]] = [ButtonSession.flicRoot],
            latencyMode: LatencyMode = .normal
        ) {
            self.address = address
            self.purpose = purpose
            self.trustRoots = trustRoots
            self.latencyMode = latencyMode
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
        case timerFired
        case linkLost
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
        /// the button waits for `.synced` of that cursor.
        case events([ButtonEvent], EventCursor, needsAcknowledgement: Bool)
        /// The button has no more stored events.
        case queueDrained
        /// The button took the advertising settings; they last until it reboots.
        case advertisingConfigured
        case battery(millivolts: Int)
        case firmware(version: UInt32)
        case nickname(String)
        /// The session is over for this reason.
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

    public init(_ configuration: Configuration) {}

    public mutating func handle(_ input: Input, at now: Instant) -> [Effect] { [] }
}
