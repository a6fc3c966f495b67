import BluetoothHost
package import ButtonModel

/// The names of interfaces, properties and errors of BlueZ that are used.
enum BlueZName {
    static let adapter = "org.bluez.Adapter1"
    static let gattManager = "org.bluez.GattManager1"
    static let device = "org.bluez.Device1"
    static let characteristic = "org.bluez.GattCharacteristic1"
    /// The company of the manufacturer data of Flic buttons, as a key of `ManufacturerData`.
    static let flicCompany = String(0x030F)
}

/// An adapter, as BlueZ describes it.
package struct BlueZAdapter: Hashable, Sendable {
    package var path: String
    package var address: BluetoothAddress
    package var isPowered: Bool
    /// False for a moment after bluetoothd has started.
    package var hasGATTManager: Bool

    /// Such as `hci0`.
    package var name: String { path.split(separator: "/").last.map(String.init) ?? path }

    init?(path: String, _ interfaces: BusInterfaces) {
        guard let properties = interfaces[BlueZName.adapter],
            let address = properties["Address"]?.string.flatMap({ BluetoothAddress($0) })
        else { return nil }
        self.path = path
        self.address = address
        isPowered = properties["Powered"]?.bool ?? false
        hasGATTManager = interfaces[BlueZName.gattManager] != nil
    }

    /// The chosen adapter among the objects of BlueZ.
    ///
    /// - Returns: `nil` if it does not exist.
    package static func find(_ choice: BlueZAdapterChoice, among objects: [String: BusInterfaces]) -> BlueZAdapter? {
        let adapters = objects.compactMap { BlueZAdapter(path: $0, $1) }.sorted { $0.path < $1.path }
        return switch choice {
        case .any: adapters.first(where: \.isPowered) ?? adapters.first
        case .index(let index): adapters.first { $0.path == "/org/bluez/hci\(index)" }
        case .address(let address): adapters.first { $0.address == address }
        }
    }
}

/// A button, or a device that may be one, as BlueZ describes it.
struct BlueZDevice: Hashable, Sendable {
    let path: String
    let address: BluetoothAddress
    var name = ""
    var service: FlicService?
    var rssi: Int8?
    /// `nil` while no manufacturer data of a Flic button are known.
    var isConnectedElsewhere: Bool?
    var isTrusted = false
    /// True if it was trusted when it was seen first, so that somebody has set it up in BlueZ, perhaps for another program.
    let wasTrusted: Bool
    var isBlocked = false
    var isConnected = false
    /// True if a link has come up, and has neither been reported nor ended since.
    var isLinkNew = false
    var isResolved = false
    /// True if it was heard advertising since it was last connected.
    var wasHeard = false
    /// True if bluetoothd connects to the device whenever it advertises. bluetoothd does this for a trusted device if it knows the
    /// services of the device, either from a link since bluetoothd was started or from its storage. Setting `Trusted` is not
    /// enough.
    var connectsByItself = false
    /// True if we have told bluetoothd not to connect to it by itself, and have neither called `Connect` nor seen a link since.
    var isParked = false
    /// True if bluetoothd does not connect to it by itself because we parked it. Only a `Connect` ends this that was called without
    /// a link. A link alone does not show it, because it may have begun while the device was being parked.
    var isDisarmed = false
    /// True if bluetoothd connected to it by itself before it was parked.
    var wasArmed = false
    /// True if we made it untrusted to park it, until bluetoothd has answered that it is trusted again.
    var isTrustDue = false
    /// True if `Connect` was refused because the adapter has no link left.
    var wantsLink = false
    /// How often `Connect` has failed, so that devices are connected in turns.
    var failureCount = 0
    /// The paths of the characteristics for packets to the button and from it.
    var write: [FlicService: String] = [:]
    var notify: [FlicService: String] = [:]

    init?(path: String, _ properties: [String: BusValue]) {
        let kind: BluetoothAddress.Kind = properties["AddressType"]?.string == "random" ? .random : .public
        guard let address = properties["Address"]?.string.flatMap({ BluetoothAddress($0, kind: kind) }) else {
            return nil
        }
        self.path = path
        self.address = address
        wasTrusted = properties["Trusted"]?.bool ?? false
        update(properties)
        isLinkNew = false
        connectsByItself = connectsByItself || isTrusted && service != nil
    }

    mutating func update(_ properties: [String: BusValue]) {
        let wasBlocked = isBlocked
        if let name = properties["Name"]?.string { self.name = name }
        if let value = properties["RSSI"]?.integer, let rssi = Int8(exactly: value) {
            self.rssi = rssi
            wasHeard = true
        }
        if let texts = properties["UUIDs"]?.list {
            let uuids = texts.compactMap { $0.string.flatMap { BluetoothUUID($0) } }
            service = FlicService.allCases.first { uuids.contains($0.uuid) }
        }
        if let data = properties["ManufacturerData"]?.dictionary?[BlueZName.flicCompany]?.octets {
            isConnectedElsewhere = HeardAdvertisement.saysConnectedElsewhere(data)
        }
        if let isTrusted = properties["Trusted"]?.bool { self.isTrusted = isTrusted }
        if let isBlocked = properties["Blocked"]?.bool { self.isBlocked = isBlocked }
        if let isResolved = properties["ServicesResolved"]?.bool { self.isResolved = isResolved }
        if let isConnected = properties["Connected"]?.bool {
            isLinkNew = isConnected && (isLinkNew || !self.isConnected)
            self.isConnected = isConnected
            if isConnected { (wasHeard, wantsLink, failureCount, isParked) = (false, false, 0, false) }
        }
        if isTrusted, !isDisarmed, isConnected && isResolved || wasBlocked && !isBlocked && service != nil {
            connectsByItself = true
        } else if !isTrusted, !isConnected {
            connectsByItself = false
        }
    }

    /// True if `Connect` need not succeed, because calling it makes bluetoothd connect to the device by itself again. bluetoothd must
    /// have found its services: those of an advertisement do not count.
    var canBeArmed: Bool {
        isDisarmed && isTrusted && service != nil && (wasArmed || !write.isEmpty || !notify.isEmpty)
    }

    /// Notes the path of a characteristic, if it is one of a Flic service.
    mutating func note(characteristic path: String, uuid: BluetoothUUID) {
        for service in FlicService.allCases {
            if uuid == service.write { write[service] = path }
            if uuid == service.notify { notify[service] = path }
        }
    }

    mutating func forget(characteristic path: String) {
        write = write.filter { $0.value != path }
        notify = notify.filter { $0.value != path }
    }
}
