/// The messages of ESPHome's native API that a client of a Bluetooth proxy and the proxy exchange. Addresses are the
/// printed form read as one number.
///
/// - Source: esphome/aioesphomeapi, `api.proto`.
package enum ESPHomeMessage: Hashable, Sendable {
    case helloRequest(clientInfo: String, major: UInt32, minor: UInt32)
    case helloResponse(ESPHomeHello)
    case disconnectRequest(reason: UInt32)
    case disconnectResponse
    case pingRequest
    case pingResponse
    case deviceInfoRequest
    case deviceInfoResponse(ESPHomeDeviceInfo)
    /// Flag 1 asks for raw advertisements.
    case subscribeAdvertisements(flags: UInt32)
    case unsubscribeAdvertisements
    case advertisements([ESPHomeAdvertisement])
    /// - Parameter addressKind: 0 public, 1 random. With `nil` the proxy's slot would never become free again.
    case deviceRequest(address: UInt64, ESPHomeDeviceRequest, addressKind: UInt32?)
    case deviceConnection(address: UInt64, isConnected: Bool, mtu: UInt32, error: Int32)
    case getServices(address: UInt64)
    case services(address: UInt64, [ESPHomeService])
    case servicesDone(address: UInt64)
    case readRequest(address: UInt64, handle: UInt32)
    case readResponse(address: UInt64, handle: UInt32, [UInt8])
    case writeRequest(address: UInt64, handle: UInt32, withResponse: Bool, [UInt8])
    case writeDescriptor(address: UInt64, handle: UInt32, [UInt8])
    case writeResponse(address: UInt64, handle: UInt32)
    case notifyRequest(address: UInt64, handle: UInt32, isEnabled: Bool)
    case notifyResponse(address: UInt64, handle: UInt32)
    case notifyData(address: UInt64, handle: UInt32, [UInt8])
    case gattError(address: UInt64, handle: UInt32, error: Int32)
    case subscribeConnectionsFree
    case connectionsFree(ESPHomeSlots)
    case clearCacheResponse(address: UInt64, isCleared: Bool, error: Int32)
    /// - Parameter state: see `ESPHomeScannerState`; the modes are 0 passive, 1 active.
    case scannerState(state: UInt32, mode: UInt32, configuredMode: UInt32)
    case setScannerMode(isActive: Bool)
    case setConnectionParameters(address: UInt64, ESPHomeConnectionParameters)
    case connectionParametersResponse(address: UInt64, error: Int32)
    case capabilitiesRequest
    case capabilitiesResponse(features: UInt32, bluetoothAddress: String)
    /// A message of another purpose, or one that this client does not know.
    case other(id: UInt32)
}

package struct ESPHomeHello: Hashable, Sendable {
    package var major: UInt32 = 0
    package var minor: UInt32 = 0
    package var serverInfo = ""
    package var name = ""

    package init() {}

    package init(major: UInt32, minor: UInt32, serverInfo: String, name: String) {
        self.major = major
        self.minor = minor
        self.serverInfo = serverInfo
        self.name = name
    }
}

package struct ESPHomeDeviceInfo: Hashable, Sendable {
    package var name = ""
    package var macAddress = ""
    package var version = ""
    package var model = ""
    package var manufacturer = ""
    package var friendlyName = ""
    package var features: ESPHomeFeatures = []
    package var suggestedArea = ""
    package var bluetoothAddress = ""

    package init() {}
}

/// What a proxy's Bluetooth can do.
package struct ESPHomeFeatures: OptionSet, Hashable, Sendable {
    package let rawValue: UInt32

    package init(rawValue: UInt32) { self.rawValue = rawValue }

    package static let passiveScan = ESPHomeFeatures(rawValue: 1)
    package static let activeConnections = ESPHomeFeatures(rawValue: 1 << 1)
    package static let remoteCaching = ESPHomeFeatures(rawValue: 1 << 2)
    package static let pairing = ESPHomeFeatures(rawValue: 1 << 3)
    package static let cacheClearing = ESPHomeFeatures(rawValue: 1 << 4)
    package static let rawAdvertisements = ESPHomeFeatures(rawValue: 1 << 5)
    package static let scannerState = ESPHomeFeatures(rawValue: 1 << 6)
    package static let connectionParameters = ESPHomeFeatures(rawValue: 1 << 7)

    /// A proxy without one of these cannot carry a link to a button.
    package static let needed: ESPHomeFeatures = [.activeConnections, .remoteCaching, .rawAdvertisements]
}

package struct ESPHomeAdvertisement: Hashable, Sendable {
    package var address: UInt64 = 0
    package var rssi: Int32 = 0
    /// 0 public, 1 random.
    package var addressKind: UInt32 = 0
    /// The advertisement and the scan response, one after the other.
    package var data: [UInt8] = []

    package init() {}

    package init(address: UInt64, rssi: Int32, addressKind: UInt32, data: [UInt8]) {
        self.address = address
        self.rssi = rssi
        self.addressKind = addressKind
        self.data = data
    }
}

package enum ESPHomeDeviceRequest: UInt32, Hashable, Sendable, CaseIterable {
    /// Proxies of today refuse this request.
    case connect = 0
    case disconnect = 1
    case pair = 2
    case unpair = 3
    case connectWithCache = 4
    case connectWithoutCache = 5
    case clearCache = 6
}

/// The proxy's places for links.
package struct ESPHomeSlots: Hashable, Sendable {
    package var free: UInt32 = 0
    package var limit: UInt32 = 0
    /// The addresses of the devices that have a slot.
    package var allocated: [UInt64] = []

    package init() {}

    package init(free: UInt32, limit: UInt32, allocated: [UInt64] = []) {
        self.free = free
        self.limit = limit
        self.allocated = allocated
    }
}

package enum ESPHomeScannerState: UInt32, Hashable, Sendable {
    case idle = 0
    case starting = 1
    case running = 2
    case failed = 3
    case stopping = 4
    case stopped = 5
}

/// Intervals in units of 1.25 ms, the timeout in units of 10 ms.
package struct ESPHomeConnectionParameters: Hashable, Sendable {
    package var minimumInterval: UInt32 = 0
    package var maximumInterval: UInt32 = 0
    package var latency: UInt32 = 0
    package var timeout: UInt32 = 0

    package init() {}

    package init(minimumInterval: UInt32, maximumInterval: UInt32, latency: UInt32, timeout: UInt32) {
        self.minimumInterval = minimumInterval
        self.maximumInterval = maximumInterval
        self.latency = latency
        self.timeout = timeout
    }
}

/// A UUID of 128 bits: the first and the last eight octets of its printed form.
package struct ESPHomeUUID: Hashable, Sendable {
    package var high: UInt64
    package var low: UInt64

    package init(high: UInt64, low: UInt64) {
        self.high = high
        self.low = low
    }

    /// A UUID of 16 or 32 bits.
    package init(short: UInt32) {
        self.init(high: UInt64(short) << 32 | Self.baseHigh, low: Self.baseLow)
    }

    /// The short form; `nil` if the UUID has none.
    package var short: UInt32? {
        low == Self.baseLow && high & 0xFFFF_FFFF == Self.baseHigh ? UInt32(high >> 32) : nil
    }

    private static let baseHigh: UInt64 = 0x1000
    private static let baseLow: UInt64 = 0x8000_0080_5F9B_34FB
}

package struct ESPHomeService: Hashable, Sendable {
    package var uuid: ESPHomeUUID
    package var handle: UInt32
    package var characteristics: [ESPHomeCharacteristic]

    package init(uuid: ESPHomeUUID, handle: UInt32, characteristics: [ESPHomeCharacteristic] = []) {
        self.uuid = uuid
        self.handle = handle
        self.characteristics = characteristics
    }
}

package struct ESPHomeCharacteristic: Hashable, Sendable {
    package var uuid: ESPHomeUUID
    /// The handle of the value, not of the declaration.
    package var handle: UInt32
    package var properties: UInt32
    package var descriptors: [ESPHomeDescriptor]

    package init(uuid: ESPHomeUUID, handle: UInt32, properties: UInt32, descriptors: [ESPHomeDescriptor] = []) {
        self.uuid = uuid
        self.handle = handle
        self.properties = properties
        self.descriptors = descriptors
    }
}

package struct ESPHomeDescriptor: Hashable, Sendable {
    package var uuid: ESPHomeUUID
    package var handle: UInt32

    package init(uuid: ESPHomeUUID, handle: UInt32) {
        self.uuid = uuid
        self.handle = handle
    }
}

/// The largest numbers of parts that a message may have. A message with more is malformed.
package enum ESPHomeLimits {
    package static let advertisements = 256
    package static let advertisementData = 62
    package static let services = 64
    package static let characteristics = 64
    package static let descriptors = 16
    package static let links = 16
    package static let value = 512
    /// The largest payload in octets, in both directions.
    package static let payload = 16384
}
