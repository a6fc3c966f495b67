public import ButtonModel

extension ButtonSession {
    public enum Purpose: Hashable, Sendable {
        /// Full verify, which makes a new pairing.
        case pair
        /// Quick verify with an existing pairing.
        ///
        /// The cursor is that of the last events on disk: the button deletes the events up to it. `delivered` is later
        /// if an earlier session delivered events that are not on disk yet; the button repeats them, and the session
        /// does not deliver them again. `advertisingConfigured`: whether the button has accepted the advertising
        /// settings since it drew the boot id of the later cursor.
        case reconnect(Pairing, EventCursor, delivered: EventCursor? = nil, advertisingConfigured: Bool)
    }

    public struct Configuration: Hashable, Sendable {
        /// The address of the link's peer, which the certificate must contain.
        public var address: BluetoothAddress
        public var purpose: Purpose
        /// Ed25519 public keys, 32 octets each, that may have signed the certificate.
        public var trustRoots: [[UInt8]]
        public var latencyMode: LatencyMode
        /// The version known from an earlier session. Without it the advertising settings wait for the button's report.
        public var firmwareVersion: UInt32?
        /// A name that was chosen and has not reached the button yet.
        public var pendingNickname: Nickname?
        /// Seconds without a press after which the button ends the link, 40…510. `nil`: never.
        public var autoDisconnectTime: UInt16?
        /// True if the button has the GATT service of a Twist. A Duo has that of a Flic 2, and declares itself during
        /// the verification.
        public var isTwist: Bool
        /// The last shown positions of the dials, 0…`Dial.unitsPerTurn`; 0 for a missing dial.
        public var dials: [Dial: Int]
        public var ledMode: LEDMode
        /// True if the host declares support for Duo. Otherwise a Duo behaves as a Flic 2 with one button.
        public var supportsDuo: Bool
        /// True if the radio may lose a notification, as a busy ESPHome proxy does. The next packet then has a wrong signature,
        /// and the session starts anew after 1 s instead of 5 s, so that the button repeats the press while it is live. Only a third
        /// wrong signature within a minute ends the link.
        public var mayLoseNotifications: Bool

        public init(
            address: BluetoothAddress, purpose: Purpose, trustRoots: [[UInt8]] = [ButtonSession.flicRoot],
            latencyMode: LatencyMode = .normal, firmwareVersion: UInt32? = nil, pendingNickname: Nickname? = nil,
            autoDisconnectTime: UInt16? = nil, isTwist: Bool = false, dials: [Dial: Int] = [:],
            ledMode: LEDMode = .fill, supportsDuo: Bool = true, mayLoseNotifications: Bool = false
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
            self.mayLoseNotifications = mayLoseNotifications
        }
    }

    /// The Ed25519 public key of the root that signs the certificates of Flic 2 and Duo (protocol notes, 5.1).
    public static let flicRoot: [UInt8] = [
        0xD3, 0x3F, 0x24, 0x40, 0xDD, 0x54, 0xB3, 0x1B, 0x2E, 0x1D, 0xCF, 0x40, 0x13, 0x2E, 0xFA, 0x41,
        0xD8, 0xF8, 0xA7, 0x47, 0x41, 0x68, 0xDF, 0x40, 0x08, 0xF5, 0xA9, 0x5F, 0xB3, 0xB0, 0xD0, 0x22,
    ]

    /// The Ed25519 public key of the root that signs the certificates of Twists.
    public static let twistRoot: [UInt8] = [
        0xA8, 0xB7, 0xDF, 0x10, 0x43, 0x4F, 0x56, 0x50, 0x69, 0xE4, 0x13, 0x1F, 0x5B, 0x13, 0xF1, 0xD9,
        0x05, 0x6F, 0xAF, 0x2B, 0x61, 0xCF, 0x92, 0x9B, 0x05, 0xD0, 0x2D, 0x63, 0x0B, 0xDA, 0xF4, 0x8B,
    ]
}
