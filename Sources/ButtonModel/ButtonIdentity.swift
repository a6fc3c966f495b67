/// The facts that a button reports about itself when it is paired. None of them is secret.
public struct ButtonIdentity: Hashable, Sendable {
    public var address: BluetoothAddress
    /// The button's UUID: 16 octets as 32 lower-case hexadecimal digits.
    public var uuid: String
    /// The serial number printed on the button, such as `BA00-A00001`.
    public var serial: String
    /// The name stored on the button: at most 23 octets of UTF-8, may be empty.
    public var nickname: String
    /// The firmware's version number, which rises with each release.
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

/// A position in the event counters of a button: the last event that was delivered, or the last that is on disk.
///
/// Within one `bootID` the counters never decrease.
public struct EventCursor: Hashable, Sendable {
    public var bootID: UInt32
    public var eventCount: UInt32
    /// The counter of a Duo's small button; `eventCount` counts its big button.
    public var smallEventCount: UInt32

    public init(bootID: UInt32 = 0, eventCount: UInt32 = 0, smallEventCount: UInt32 = 0) {
        self.bootID = bootID
        self.eventCount = eventCount
        self.smallEventCount = smallEventCount
    }

    /// True if every event up to `other` is at or below this cursor, in the same boot.
    package func covers(_ other: EventCursor) -> Bool {
        bootID == other.bootID && eventCount >= other.eventCount && smallEventCount >= other.smallEventCount
    }

    /// Advances to a later cursor. An older cursor of the same boot changes nothing.
    package mutating func advance(to other: EventCursor) {
        if bootID != other.bootID || other.covers(self) { self = other }
    }
}

/// A secret key of 16 octets, which is never printed.
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

/// The secrets that a button and its host share after pairing.
public struct Pairing: Hashable, Sendable {
    public var identifier: UInt32
    public var key: PairingKey

    public init(identifier: UInt32, key: PairingKey) {
        self.identifier = identifier
        self.key = key
    }
}
