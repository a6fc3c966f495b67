public import ButtonModel

/// A link's number at the controller, 0x0000…0x0EFF.
public struct ConnectionHandle: RawRepresentable, Hashable, Sendable {
    public var rawValue: UInt16
    public init(rawValue: UInt16) { self.rawValue = rawValue }
}

/// An attribute's number at a GATT server, 0x0001…0xFFFF.
public struct AttributeHandle: RawRepresentable, Hashable, Comparable, Sendable {
    public var rawValue: UInt16
    public init(rawValue: UInt16) { self.rawValue = rawValue }
    public static func < (left: AttributeHandle, right: AttributeHandle) -> Bool { left.rawValue < right.rawValue }
}

/// A 128-bit or 16-bit Bluetooth UUID.
public enum UUID: Hashable, Sendable {
    case short(UInt16)
    /// 16 octets in the order of the wire (the printed form backwards).
    case long([UInt8])
}

public enum LinkRole: UInt8, Hashable, Sendable {
    case central = 0
    case peripheral = 1
}

/// What a link's two ends agreed on.
///
/// - Source: Bluetooth Core 5.4, Vol 4, Part E, 7.8.18.
public struct ConnectionParameters: Hashable, Sendable {
    /// Units of 1.25 ms, 6…3200.
    public var intervalMinimum, intervalMaximum: UInt16
    /// Connection events the peripheral may skip, 0…499.
    public var peripheralLatency: UInt16
    /// Units of 10 ms, 10…3200; more than 2 × (1 + latency) × interval.
    public var supervisionTimeout: UInt16

    public init(
        intervalMinimum: UInt16, intervalMaximum: UInt16, peripheralLatency: UInt16, supervisionTimeout: UInt16
    ) {
        self.intervalMinimum = intervalMinimum
        self.intervalMaximum = intervalMaximum
        self.peripheralLatency = peripheralLatency
        self.supervisionTimeout = supervisionTimeout
    }
}

/// A link that has come up.
public struct Connection: Hashable, Sendable {
    public var handle: ConnectionHandle
    public var peer: BluetoothAddress
    public var role: LinkRole

    public init(handle: ConnectionHandle, peer: BluetoothAddress, role: LinkRole) {
        self.handle = handle
        self.peer = peer
        self.role = role
    }
}

/// One advertisement or scan response as the controller reported it.
public struct AdvertisingReport: Hashable, Sendable {
    public enum Kind: UInt8, Hashable, Sendable {
        case connectable = 0
        case connectableDirected = 1
        case scannable = 2
        case nonConnectable = 3
        case scanResponse = 4
    }

    public var kind: Kind
    public var address: BluetoothAddress
    /// At most 31 octets of AD structures; `ADStructure` takes them apart.
    public var data: [UInt8]
    /// dBm; `nil` where the controller does not know.
    public var rssi: Int8?

    public init(kind: Kind, address: BluetoothAddress, data: [UInt8], rssi: Int8?) {
        self.kind = kind
        self.address = address
        self.data = data
        self.rssi = rssi
    }
}

/// What the controller told of itself during set-up.
public struct ControllerInfo: Hashable, Sendable {
    public var address: BluetoothAddress
    public var hciVersion: UInt8
    public var manufacturer: UInt16
    /// Entries of the filter accept list; 0 means it has none.
    public var acceptListSize: Int
    public var aclDataLength: Int
    public var aclBufferCount: Int
    /// Where it does not say, it does: one that cannot refuses.
    public var scansWhileInitiating: Bool

    public init(
        address: BluetoothAddress, hciVersion: UInt8, manufacturer: UInt16, acceptListSize: Int,
        aclDataLength: Int, aclBufferCount: Int, scansWhileInitiating: Bool = true
    ) {
        self.address = address
        self.hciVersion = hciVersion
        self.manufacturer = manufacturer
        self.acceptListSize = acceptListSize
        self.aclDataLength = aclDataLength
        self.aclBufferCount = aclBufferCount
        self.scansWhileInitiating = scansWhileInitiating
    }
}

/// Why there is no usable controller.
public enum ControllerFailure: Error, Hashable, Sendable {
    /// A command that set-up cannot do without was not answered in time.
    case noAnswer(HCIOpcode)
    /// It answered such a command with an error.
    case refused(HCIOpcode, HCIStatus)
    /// It has no Bluetooth LE.
    case notLowEnergy
    /// It reported a fault of its own (Hardware Error event).
    case hardwareError(UInt8)
    /// What it sends is not HCI.
    case malformed(String)
    /// It answers commands and leaves undone what it has taken on; `String` says what.
    case stopped(String)
}

/// A service found at a peer, with the characteristics asked for.
public struct RemoteService: Hashable, Sendable {
    public struct Characteristic: Hashable, Sendable {
        public var uuid: UUID
        public var valueHandle: AttributeHandle
        /// Characteristic properties as on the wire.
        public var properties: UInt8
        /// The Client Characteristic Configuration descriptor, where there is one.
        public var configurationHandle: AttributeHandle?
        /// Its descriptors lie behind the value and up to here.
        public var lastHandle: AttributeHandle

        /// Without a `lastHandle` it is the last that is known to be its own.
        public init(
            uuid: UUID, valueHandle: AttributeHandle, properties: UInt8, configurationHandle: AttributeHandle?,
            lastHandle: AttributeHandle? = nil
        ) {
            self.uuid = uuid
            self.valueHandle = valueHandle
            self.properties = properties
            self.configurationHandle = configurationHandle
            self.lastHandle = lastHandle ?? configurationHandle ?? valueHandle
        }
    }

    public struct Descriptor: Hashable, Sendable {
        public var uuid: UUID
        public var handle: AttributeHandle

        public init(uuid: UUID, handle: AttributeHandle) {
            self.uuid = uuid
            self.handle = handle
        }
    }

    public var uuid: UUID
    public var handles: ClosedRange<AttributeHandle>
    public var characteristics: [Characteristic]

    public init(uuid: UUID, handles: ClosedRange<AttributeHandle>, characteristics: [Characteristic]) {
        self.uuid = uuid
        self.handles = handles
        self.characteristics = characteristics
    }
}

/// Why a GATT procedure has no result.
public enum ATTFailure: Error, Hashable, Sendable {
    /// The peer answered no.
    case errorResponse(code: UInt8, attributeHandle: UInt16)
    /// Thirty seconds without an answer; the bearer must not be used again.
    ///
    /// - Source: Bluetooth Core 5.4, Vol 3, Part F, 3.3.3.
    case transactionTimedOut
    case malformedResponse
    /// The peer has no such service.
    case serviceNotFound
    /// The link ended, or there is none with that handle.
    case linkLost
    /// More procedures wait on this link than are kept.
    case tooManyProcedures
    /// Longer than 512 octets, or than the ATT_MTU where the value goes in one PDU.
    case valueTooLong
    /// A long write was cancelled: the peer repeated something else than it was sent.
    case preparedValueDiffers
}

/// A service this host offers as a GATT server. Handles are assigned from 0x0001 in order.
public struct LocalService: Hashable, Sendable {
    public struct Characteristic: Hashable, Sendable {
        public var uuid: UUID
        /// Characteristic properties as on the wire: 0x02 read, 0x04 write without response, 0x08 write, 0x10 notify,
        /// 0x20 indicate.
        public var properties: UInt8
        /// What a read answers, at most 512 octets. `Host.Command.setValue` changes it; what a peer writes does not.
        public var value: [UInt8]
        /// Besides the Client Characteristic Configuration, which notify and indicate bring with them.
        public var descriptors: [Descriptor]

        public init(uuid: UUID, properties: UInt8, value: [UInt8] = [], descriptors: [Descriptor] = []) {
            self.uuid = uuid
            self.properties = properties
            self.value = value
            self.descriptors = descriptors
        }
    }

    public struct Descriptor: Hashable, Sendable {
        public var uuid: UUID
        /// What a read answers, at most 512 octets.
        public var value: [UInt8]
        public var isWritable: Bool

        public init(uuid: UUID, value: [UInt8], isWritable: Bool = false) {
            self.uuid = uuid
            self.value = value
            self.isWritable = isWritable
        }
    }

    /// The Generic Attribute service with its Service Changed characteristic. Where it is the first of the services,
    /// a peer that asked for its indications hears of it when `setServices` replaces the others.
    public static let genericAttribute = LocalService(
        uuid: .short(GATTType.genericAttribute),
        characteristics: [
            .init(uuid: .short(GATTType.serviceChanged), properties: CharacteristicProperty.indicate)
        ])

    public var uuid: UUID
    public var characteristics: [Characteristic]

    public init(uuid: UUID, characteristics: [Characteristic]) {
        self.uuid = uuid
        self.characteristics = characteristics
    }
}

/// How a peripheral advertises.
public struct Advertisement: Hashable, Sendable {
    /// At most 31 octets each.
    public var data: [UInt8]
    public var scanResponse: [UInt8]
    /// Units of 0.625 ms, 32…16384.
    public var interval: UInt16
    /// `nil`: the controller's public address; else this static random address.
    public var randomAddress: BluetoothAddress?

    public init(data: [UInt8], scanResponse: [UInt8], interval: UInt16, randomAddress: BluetoothAddress? = nil) {
        self.data = data
        self.scanResponse = scanResponse
        self.interval = interval
        self.randomAddress = randomAddress
    }
}
