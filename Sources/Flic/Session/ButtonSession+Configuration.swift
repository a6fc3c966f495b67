public import ButtonModel

extension ButtonSession {
    public enum Purpose: Hashable, Sendable {
        /// Full verify: make a new pairing.
        case pair
        /// Quick verify with what an earlier pairing left.
        ///
        /// The cursor says what is on the disk: the button forgets everything up to it. `delivered` is ahead of it where
        /// an earlier session has delivered events that are not on the disk yet; the button tells them again, and the
        /// session does not deliver them again. `advertisingConfigured`: since the boot id of the later cursor.
        case reconnect(Pairing, EventCursor, delivered: EventCursor? = nil, advertisingConfigured: Bool)
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
        /// What the button's GATT service says: a Twist has one of its own. A Duo is found to be one by its answers.
        public var isTwist: Bool
        /// Where its dials stood, 0…`Dial.unitsPerTurn`; those that are missing stand at 0.
        public var dials: [Dial: Int]
        public var ledMode: LEDMode
        /// Whether a Duo is told that we know of it. To a host that does not say so it is a Flic 2 with one button.
        public var supportsDuo: Bool

        public init(
            address: BluetoothAddress, purpose: Purpose, trustRoots: [[UInt8]] = [ButtonSession.flicRoot],
            latencyMode: LatencyMode = .normal, firmwareVersion: UInt32? = nil, pendingNickname: Nickname? = nil,
            autoDisconnectTime: UInt16? = nil, isTwist: Bool = false, dials: [Dial: Int] = [:],
            ledMode: LEDMode = .fill, supportsDuo: Bool = true
        ) {
            self.address = address
            self.purpose = purpose
            self.trustRoots = trustRoots
            self.latencyMode = latencyMode
            self.firmwareVersion = firmwareVersion
            self.pendingNickname = pendingNickname
            self.autoDisconnectTime = autoDisconnectTime
            self.isTwist = isTwist
            self.dials = dials
            self.ledMode = ledMode
            self.supportsDuo = supportsDuo
        }
    }

    /// The key that signs the certificates of Flic 2 and Duo (protocol notes, "Root public keys").
    public static let flicRoot: [UInt8] = [
        0xD3, 0x3F, 0x24, 0x40, 0xDD, 0x54, 0xB3, 0x1B, 0x2E, 0x1D, 0xCF, 0x40, 0x13, 0x2E, 0xFA, 0x41,
        0xD8, 0xF8, 0xA7, 0x47, 0x41, 0x68, 0xDF, 0x40, 0x08, 0xF5, 0xA9, 0x5F, 0xB3, 0xB0, 0xD0, 0x22,
    ]

    /// The key that signs those of a Twist.
    public static let twistRoot: [UInt8] = [
        0xA8, 0xB7, 0xDF, 0x10, 0x43, 0x4F, 0x56, 0x50, 0x69, 0xE4, 0x13, 0x1F, 0x5B, 0x13, 0xF1, 0xD9,
        0x05, 0x6F, 0xAF, 0x2B, 0x61, 0xCF, 0x92, 0x9B, 0x05, 0xD0, 0x2D, 0x63, 0x0B, 0xDA, 0xF4, 0x8B,
    ]
}
