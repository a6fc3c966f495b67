/// The client's first message: its name and the version of the API that it knows.
package struct HelloRequest: Hashable, Sendable {
    /// The name of the client, for the proxy's log.
    package var clientInfo: String
    package var major, minor: UInt32

    package init(clientInfo: String, major: UInt32 = 1, minor: UInt32 = 14) {
        self.clientInfo = clientInfo
        self.major = major
        self.minor = minor
    }
}

package struct HelloResponse: Hashable, Sendable {
    package var major, minor: UInt32
    /// The version of the proxy's firmware.
    package var serverInfo: String
    package var name: String

    package init(major: UInt32, minor: UInt32, serverInfo: String, name: String) {
        self.major = major
        self.minor = minor
        self.serverInfo = serverInfo
        self.name = name
    }
}

/// The description that a proxy gives of itself. Fields of the message that are not listed here are ignored.
package struct DeviceInfo: Hashable, Sendable {
    package var name: String
    /// The address of its network interface, as text.
    package var macAddress: String
    package var version: String
    package var model: String
    package var manufacturer: String
    package var friendlyName: String
    package var features: BluetoothProxyFeatures
    package var suggestedArea: String
    /// The address that buttons see, as text.
    package var bluetoothMACAddress: String

    package init(
        name: String, macAddress: String = "", version: String = "", model: String = "", manufacturer: String = "",
        friendlyName: String = "", features: BluetoothProxyFeatures = [], suggestedArea: String = "",
        bluetoothMACAddress: String = ""
    ) {
        self.name = name
        self.macAddress = macAddress
        self.version = version
        self.model = model
        self.manufacturer = manufacturer
        self.friendlyName = friendlyName
        self.features = features
        self.suggestedArea = suggestedArea
        self.bluetoothMACAddress = bluetoothMACAddress
    }
}

/// The Bluetooth features of a proxy. Unknown bits are kept and have no effect.
package struct BluetoothProxyFeatures: OptionSet, Hashable, Sendable {
    package var rawValue: UInt32
    package init(rawValue: UInt32) { self.rawValue = rawValue }

    package static let passiveScan = BluetoothProxyFeatures(rawValue: 1 << 0)
    package static let activeConnections = BluetoothProxyFeatures(rawValue: 1 << 1)
    package static let remoteCaching = BluetoothProxyFeatures(rawValue: 1 << 2)
    package static let pairing = BluetoothProxyFeatures(rawValue: 1 << 3)
    package static let cacheClearing = BluetoothProxyFeatures(rawValue: 1 << 4)
    package static let rawAdvertisements = BluetoothProxyFeatures(rawValue: 1 << 5)
    package static let scannerState = BluetoothProxyFeatures(rawValue: 1 << 6)
    package static let connectionParameters = BluetoothProxyFeatures(rawValue: 1 << 7)

    /// The features that a proxy must have so that buttons can be used through it.
    package static let needed: BluetoothProxyFeatures = [.activeConnections, .remoteCaching, .rawAdvertisements]
}

/// An advertisement and the scan response to it, if there was one, as they were received.
package struct RawAdvertisement: Hashable, Sendable {
    package var address: UInt64
    /// In dBm.
    package var rssi: Int32
    /// 0 for a public address, 1 for a random one.
    package var addressType: UInt32
    /// The AD structures of the advertisement, then those of the scan response.
    package var data: [UInt8]

    package init(address: UInt64, rssi: Int32, addressType: UInt32 = 0, data: [UInt8]) {
        self.address = address
        self.rssi = rssi
        self.addressType = addressType
        self.data = data
    }
}

extension RawAdvertisement {
    init(decoding payload: [UInt8]) throws(ESPHomeMalformed) {
        self.init(address: 0, rssi: 0, data: [])
        var reader = ProtobufReader(payload)
        while let field = try reader.field() {
            switch (field.number, field.value) {
            case (1, .number(let value)): address = value
            case (2, .number(let value)): rssi = Int32(zigzag: value)
            case (3, .number(let value)): addressType = UInt32(truncatingIfNeeded: value)
            case (4, .octets(let value)): data = try value.checkedValue()
            default: break
            }
        }
    }

    func encoded() -> [UInt8] {
        var writer = ProtobufWriter()
        writer.uint64(1, address)
        writer.sint32(2, rssi)
        writer.uint32(3, addressType)
        writer.bytes(4, data)
        return writer.octets
    }
}

/// The operation of a request to a proxy about a button. Numbers without a name are kept, because newer versions have
/// more.
package struct DeviceRequestKind: RawRepresentable, Hashable, Sendable {
    package var rawValue: UInt32
    package init(rawValue: UInt32) { self.rawValue = rawValue }

    /// Proxies do not support it any more and answer that the button is not connected.
    package static let connect = DeviceRequestKind(rawValue: 0)
    package static let disconnect = DeviceRequestKind(rawValue: 1)
    package static let pair = DeviceRequestKind(rawValue: 2)
    package static let unpair = DeviceRequestKind(rawValue: 3)
    package static let connectWithCache = DeviceRequestKind(rawValue: 4)
    package static let connectWithoutCache = DeviceRequestKind(rawValue: 5)
    package static let clearCache = DeviceRequestKind(rawValue: 6)
}

/// The state of a proxy's scanner. Numbers without a name are kept, because newer versions have more.
package struct ScannerState: RawRepresentable, Hashable, Sendable {
    package var rawValue: UInt32
    package init(rawValue: UInt32) { self.rawValue = rawValue }

    package static let idle = ScannerState(rawValue: 0)
    package static let starting = ScannerState(rawValue: 1)
    package static let running = ScannerState(rawValue: 2)
    package static let failed = ScannerState(rawValue: 3)
    package static let stopping = ScannerState(rawValue: 4)
    package static let stopped = ScannerState(rawValue: 5)
}

/// How a proxy's scanner listens. Numbers without a name are kept, because newer versions have more.
package struct ScannerMode: RawRepresentable, Hashable, Sendable {
    package var rawValue: UInt32
    package init(rawValue: UInt32) { self.rawValue = rawValue }

    package static let passive = ScannerMode(rawValue: 0)
    package static let active = ScannerMode(rawValue: 1)
}
