/// What a button says of itself when it is paired. Nothing secret.
public struct ButtonIdentity: Hashable, Sendable {
    public var address: BluetoothAddress
    /// 16 octets as 32 lower-case hexadecimal digits.
    public var uuid: String
    /// `BA00-A00001`.
    public var serial: String
    /// The name stored on the button, at most 23 octets of UTF-8; may be empty.
    public var nickname: String
    /// A running number.
    public var firmwareVersion: UInt32
    public var model: FlicModel

    public var id: ButtonID { ButtonID(address) }

    public init(
        address: BluetoothAddress, uuid: String, serial: String, nickname: String, firmwareVersion: UInt32,
        model: FlicModel = .flic2
    ) {
        self.address = address
        self.uuid = uuid
        self.serial = serial
        self.nickname = nickname
        self.firmwareVersion = firmwareVersion
        self.model = model
    }
}

/// Up to where a button's events are known: what was delivered last, or what is on the disk.
///
/// It never runs backwards within one `bootID`.
public struct EventCursor: Hashable, Sendable {
    public var bootID: UInt32
    public var eventCount: UInt32
    /// Of a Duo's small button, which counts for itself.
    public var smallEventCount: UInt32

    public init(bootID: UInt32 = 0, eventCount: UInt32 = 0, smallEventCount: UInt32 = 0) {
        self.bootID = bootID
        self.eventCount = eventCount
        self.smallEventCount = smallEventCount
    }

    /// Whether every event up to `other` is at or below this cursor, in the same boot.
    package func covers(_ other: EventCursor) -> Bool {
        bootID == other.bootID && eventCount >= other.eventCount && smallEventCount >= other.smallEventCount
    }

    /// Takes over what was confirmed later. An older cursor of the same boot changes nothing.
    package mutating func advance(to other: EventCursor) {
        if bootID != other.bootID || other.covers(self) { self = other }
    }
}

/// A 16-octet key that never prints itself.
public struct PairingKey: Hashable, Sendable, CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    public let octets: [UInt8]

    /// `nil` unless there are 16 octets.
    public init?(_ octets: [UInt8]) {
        guard octets.count == 16 else { return nil }
        self.octets = octets
    }

    public var description: String { "***" }
    public var debugDescription: String { "***" }
    public var customMirror: Mirror { Mirror(self, children: []) }
}

/// What both sides keep of a pairing.
public struct Pairing: Hashable, Sendable {
    public var identifier: UInt32
    public var key: PairingKey

    public init(identifier: UInt32, key: PairingKey) {
        self.identifier = identifier
        self.key = key
    }
}
