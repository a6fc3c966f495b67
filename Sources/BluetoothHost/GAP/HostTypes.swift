public import ButtonModel

/// An HCI connection handle: the controller's number for a link, 0x0000…0x0EFF.
public struct ConnectionHandle: RawRepresentable, Hashable, Sendable {
    public var rawValue: UInt16
    public init(rawValue: UInt16) { self.rawValue = rawValue }
}

/// The handle of an attribute in a GATT server, 0x0001…0xFFFF.
public struct AttributeHandle: RawRepresentable, Hashable, Comparable, Sendable {
    public var rawValue: UInt16
    public init(rawValue: UInt16) { self.rawValue = rawValue }
    public static func < (left: AttributeHandle, right: AttributeHandle) -> Bool { left.rawValue < right.rawValue }
}

/// A 128-bit or 16-bit Bluetooth UUID.
public enum BluetoothUUID: Hashable, Sendable {
    case short(UInt16)
    /// A 128-bit UUID: 16 octets in wire order, the reverse of the printed form.
    case long([UInt8])
}

/// This host's role on a link, with the values of HCI.
public enum LinkRole: UInt8, Hashable, Sendable {
    case central = 0
    case peripheral = 1
}

/// The connection parameters of a link, or a range to choose them from.
///
/// - Source: Bluetooth Core 5.4, Vol 4, Part E, 7.8.18.
public struct ConnectionParameters: Hashable, Sendable {
    /// The connection interval in units of 1.25 ms, 6…3200.
    public var intervalMinimum, intervalMaximum: UInt16
    /// The number of connection events that the peripheral may skip, 0…499.
    public var peripheralLatency: UInt16
    /// In units of 10 ms, 10…3200; must exceed 2 × (1 + latency) × interval.
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

/// An established link.
public struct LEConnection: Hashable, Sendable {
    public var handle: ConnectionHandle
    public var peer: BluetoothAddress
    public var role: LinkRole

    public init(handle: ConnectionHandle, peer: BluetoothAddress, role: LinkRole) {
        self.handle = handle
        self.peer = peer
        self.role = role
    }
}

/// An advertisement or a scan response, as the controller reported it.
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
    /// At most 31 octets of AD structures; see `ADStructure`.
    public var data: [UInt8]
    /// In dBm; `nil` if the controller does not know.
    public var rssi: Int8?

    public init(kind: Kind, address: BluetoothAddress, data: [UInt8], rssi: Int8?) {
        self.kind = kind
        self.address = address
        self.data = data
        self.rssi = rssi
    }
}

/// The properties of the controller, read during set-up.
public struct ControllerInfo: Hashable, Sendable {
    public var address: BluetoothAddress
    public var hciVersion: UInt8
    public var manufacturer: UInt16
    /// The number of entries in the filter accept list; 0: the controller has none.
    public var acceptListSize: Int
    public var aclDataLength: Int
    public var aclBufferCount: Int
    /// True if the controller can scan while a connection is pending. Assumed true when LE Read Supported States is
    /// unavailable; a controller that cannot will reject the command.
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

/// Why the controller cannot be used.
public enum ControllerFailure: Error, Hashable, Sendable {
    /// A command that is indispensable for set-up or operation was not answered in time.
    case noAnswer(HCIOpcode)
    /// A command that is indispensable for set-up was answered with an error.
    case refused(HCIOpcode, HCIStatus)
    /// The controller does not support Bluetooth LE.
    case notLowEnergy
    /// The controller reported a Hardware Error event.
    case hardwareError(UInt8)
    /// The controller sent an invalid answer during set-up.
    case malformed(String)
    /// The controller answers commands, but does not complete an operation that it has accepted; the text names it.
    case stopped(String)
}

/// A service of a peer, with the characteristics discovered so far.
public struct RemoteService: Hashable, Sendable {
    public struct Characteristic: Hashable, Sendable {
        public var uuid: BluetoothUUID
        public var valueHandle: AttributeHandle
        /// The Characteristic Properties bit field.
        public var properties: UInt8
        /// The handle of the Client Characteristic Configuration descriptor; `nil` if there is none.
        public var configurationHandle: AttributeHandle?
        /// The last handle of the characteristic: its descriptors lie between `valueHandle` and this handle.
        public var lastHandle: AttributeHandle

        /// - Parameter lastHandle: `nil`: the configuration descriptor's handle, or else the value's.
        public init(
            uuid: BluetoothUUID, valueHandle: AttributeHandle, properties: UInt8, configurationHandle: AttributeHandle?,
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
        public var uuid: BluetoothUUID
        public var handle: AttributeHandle

        public init(uuid: BluetoothUUID, handle: AttributeHandle) {
            self.uuid = uuid
            self.handle = handle
        }
    }

    public var uuid: BluetoothUUID
    public var handles: ClosedRange<AttributeHandle>
    public var characteristics: [Characteristic]

    public init(uuid: BluetoothUUID, handles: ClosedRange<AttributeHandle>, characteristics: [Characteristic]) {
        self.uuid = uuid
        self.handles = handles
        self.characteristics = characteristics
    }
}

/// Why a GATT procedure failed.
public enum ATTFailure: Error, Hashable, Sendable {
    /// The peer answered with an Error Response.
    case errorResponse(code: UInt8, attributeHandle: UInt16)
    /// The peer did not answer for 30 seconds; the bearer must not be used again.
    ///
    /// - Source: Bluetooth Core 5.4, Vol 3, Part F, 3.3.3.
    case transactionTimedOut
    case malformedResponse
    /// The peer has no such service.
    case serviceNotFound
    /// The link ended, or there is no link with this handle.
    case linkLost
    /// The link's queue of procedures is full.
    case tooManyProcedures
    /// The value is longer than 512 octets, or, for an indication, does not fit into one PDU.
    case valueTooLong
    /// A long write was cancelled because the peer's Prepare Write Response did not repeat the octets that were sent.
    case preparedValueDiffers
}

/// A service this host offers as a GATT server. Handles are assigned from 0x0001 in order.
public struct LocalService: Hashable, Sendable {
    public struct Characteristic: Hashable, Sendable {
        public var uuid: BluetoothUUID
        /// The Characteristic Properties bit field: 0x02 read, 0x04 write without response, 0x08 write, 0x10 notify,
        /// 0x20 indicate.
        public var properties: UInt8
        /// The value that peers read, at most 512 octets. `LEHost.Command.setValue` changes it; a peer's write does
        /// not.
        public var value: [UInt8]
        /// Further descriptors. A characteristic that notifies or indicates gets its Client Characteristic
        /// Configuration descriptor automatically.
        public var descriptors: [Descriptor]

        public init(uuid: BluetoothUUID, properties: UInt8, value: [UInt8] = [], descriptors: [Descriptor] = []) {
            self.uuid = uuid
            self.properties = properties
            self.value = value
            self.descriptors = descriptors
        }
    }

    public struct Descriptor: Hashable, Sendable {
        public var uuid: BluetoothUUID
        /// The value that peers read, at most 512 octets.
        public var value: [UInt8]
        public var isWritable: Bool

        public init(uuid: BluetoothUUID, value: [UInt8], isWritable: Bool = false) {
            self.uuid = uuid
            self.value = value
            self.isWritable = isWritable
        }
    }

    /// The Generic Attribute service with the Service Changed characteristic. If it is the first service, a peer that
    /// subscribed to its indications is informed when `setServices` replaces the services.
    public static let genericAttribute = LocalService(
        uuid: .short(GATTType.genericAttribute),
        characteristics: [
            .init(uuid: .short(GATTType.serviceChanged), properties: CharacteristicProperty.indicate)
        ])

    public var uuid: BluetoothUUID
    public var characteristics: [Characteristic]

    public init(uuid: BluetoothUUID, characteristics: [Characteristic]) {
        self.uuid = uuid
        self.characteristics = characteristics
    }
}

/// The content and parameters of a peripheral's advertising.
public struct Advertisement: Hashable, Sendable {
    /// `data` and `scanResponse` have at most 31 octets each.
    public var data: [UInt8]
    public var scanResponse: [UInt8]
    /// In units of 0.625 ms, 32…16384.
    public var interval: UInt16
    /// A static random address to advertise with; `nil`: the controller's public address.
    public var randomAddress: BluetoothAddress?

    public init(data: [UInt8], scanResponse: [UInt8], interval: UInt16, randomAddress: BluetoothAddress? = nil) {
        self.data = data
        self.scanResponse = scanResponse
        self.interval = interval
        self.randomAddress = randomAddress
    }
}
