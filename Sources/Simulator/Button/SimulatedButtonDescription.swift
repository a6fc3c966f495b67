public import ButtonModel
import Bytes
import Flic

/// A simulated button as described in a simulator file. Properties that the file omits are derived from the name.
public struct SimulatedButtonDescription: Hashable, Sendable {
    public var name: String
    /// The address; if `nil`, it is derived from the name.
    public var address: BluetoothAddress?
    public var serial: String?
    /// 32 hexadecimal digits; any other text, and `nil`, gives the uuid that is derived from the name.
    public var uuid: String?
    public var nickname: String?
    public var firmwareVersion: UInt32?
    public var batteryMillivolts: Int?
    /// True if the button begins in public mode, and stays there until it is paired.
    public var isPublic: Bool
    /// Existing pairings. A button with pairings does not begin in public mode.
    public var pairings: [Pairing]
    /// True if a device outside the simulation is connected to the button, as its public scan response reports.
    public var isConnectedElsewhere: Bool
    /// True if a hold of 7 s makes the button public even while it is connected.
    public var advertisesWhileConnected: Bool
    /// The period of the button's pings; `nil`: no pings. The period of real buttons is not known.
    public var pingPeriod: Duration?
    public var model: FlicModel

    public init(
        name: String, address: BluetoothAddress? = nil, serial: String? = nil, uuid: String? = nil,
        nickname: String? = nil, firmwareVersion: UInt32? = nil, batteryMillivolts: Int? = nil, isPublic: Bool = true,
        pairings: [Pairing] = [], isConnectedElsewhere: Bool = false, advertisesWhileConnected: Bool = false,
        pingPeriod: Duration? = nil, model: FlicModel = .flic2
    ) {
        self.name = name
        self.address = address
        self.serial = serial
        self.uuid = uuid
        self.nickname = nickname
        self.firmwareVersion = firmwareVersion
        self.batteryMillivolts = batteryMillivolts
        self.isPublic = isPublic
        self.pairings = pairings
        self.isConnectedElsewhere = isConnectedElsewhere
        self.advertisesWhileConnected = advertisesWhileConnected
        self.pingPeriod = pingPeriod
        self.model = model
    }
}

extension SimulatedButtonDescription {
    /// The described address, or a public address: the vendor's prefix 80:E4:DA and 24 bits of the name's hash.
    public var wantedAddress: BluetoothAddress {
        address ?? BluetoothAddress(rawValue: 0x80E4_DA00_0000 | (stableHash(name) & 0xFF_FFFF))
    }

    /// The address behind a controller: the wanted address if it is the controller's public address, else a static
    /// random address with the same low 46 bits.
    ///
    /// - Source: Bluetooth Core 5.4, Vol 6, Part B, 1.3.2.1.
    func address(behind controllerAddress: BluetoothAddress) -> BluetoothAddress {
        let wanted = wantedAddress
        guard wanted != controllerAddress else { return wanted }
        return BluetoothAddress(rawValue: wanted.rawValue | 0xC000_0000_0000, kind: .random)
    }

    var firmware: UInt32 { firmwareVersion ?? 11 }

    /// A serial number such as `BA00-A00001`: a letter for the model, `A00-`, a letter and five digits from the name's
    /// hash.
    var derivedSerial: String {
        let hash = stableHash(name)
        let letter = Character(UnicodeScalar(UInt8(ascii: "A") + UInt8((hash >> 32) % 26)))
        let digits = String(hash % 100_000)
        return "\(model.serialLetter)A00-\(letter)" + String(repeating: "0", count: 5 - digits.count) + digits
    }

    /// The button as a daemon knows it that has paired it at its wanted address.
    package var identity: ButtonIdentity {
        ButtonIdentity(
            address: wantedAddress, uuid: uuidOctets.hex, serial: serial ?? derivedSerial,
            nickname: Nickname.cut(nickname ?? name), firmwareVersion: firmware, model: model)
    }

    private var uuidOctets: [UInt8] {
        if let uuid, let octets = [UInt8](hex: uuid), octets.count == 16 { return octets }
        var octets = SplitMix64(seed: stableHash(name))
        return octets.octets(16)
    }

    /// - Parameter randomness: the source of the button's static key and boot id.
    func peripheral(
        at address: BluetoothAddress, drawing randomness: inout SplitMix64
    ) -> FlicPeripheral.Configuration {
        let identity = identity
        return FlicPeripheral.Configuration(
            address: address, serial: identity.serial, uuid: uuidOctets, nickname: identity.nickname,
            firmwareVersion: firmware,
            batteryMillivolts: batteryMillivolts ?? 3000, privateKey: randomness.octets(32),
            rootSeed: SimulatorRoot.seed, bootID: UInt32(truncatingIfNeeded: randomness.next()), pairings: pairings,
            pingPeriod: pingPeriod, model: model)
    }
}

extension FlicModel {
    /// The first letter of the model's serial numbers.
    fileprivate var serialLetter: Character {
        switch self {
        case .flic1, .flic2: "B"
        case .duo: "D"
        case .twist: "T"
        }
    }
}
