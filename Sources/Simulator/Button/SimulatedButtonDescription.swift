public import ButtonModel
import Flic

/// One simulated button as a simulator file describes it. Everything a file may leave out is derived from the name.
public struct SimulatedButtonDescription: Hashable, Sendable {
    public var name: String
    /// `nil`: derived from the name.
    public var address: BluetoothAddress?
    public var serial: String?
    public var nickname: String?
    public var firmwareVersion: UInt32?
    public var batteryMillivolts: Int?
    /// Starts in public mode and stays there until it is paired.
    public var isPublic: Bool
    /// Made before, and not forgotten: such a button is not public.
    public var pairings: [Pairing]
    /// Another device, not in this world, holds a link to it: its public advertising says so.
    public var isTaken: Bool
    /// A hold makes it public while it has a link, too.
    public var advertisesWhileConnected: Bool
    /// How often it asks whether its host is still there; `nil` for never. A real one's is not known.
    public var pingPeriod: Duration?
    public var model: FlicModel

    public init(
        name: String, address: BluetoothAddress? = nil, serial: String? = nil, nickname: String? = nil,
        firmwareVersion: UInt32? = nil, batteryMillivolts: Int? = nil, isPublic: Bool = true,
        pairings: [Pairing] = [], isTaken: Bool = false, advertisesWhileConnected: Bool = false,
        pingPeriod: Duration? = nil, model: FlicModel = .flic2
    ) {
        self.name = name
        self.address = address
        self.serial = serial
        self.nickname = nickname
        self.firmwareVersion = firmwareVersion
        self.batteryMillivolts = batteryMillivolts
        self.isPublic = isPublic
        self.pairings = pairings
        self.isTaken = isTaken
        self.advertisesWhileConnected = advertisesWhileConnected
        self.pingPeriod = pingPeriod
        self.model = model
    }
}

extension SimulatedButtonDescription {
    /// The description's own address, or a public one: the vendor's 80:E4:DA and 24 bits of the name's hash.
    public var wantedAddress: BluetoothAddress {
        address ?? BluetoothAddress(rawValue: 0x80E4_DA00_0000 | (stableHash(name) & 0xFF_FFFF))
    }

    /// The address it can have behind a controller with `controllerAddress`: its own where that is the same, else
    /// the static random address nearest to it.
    ///
    /// - Source: Bluetooth Core 5.4, Vol 6, Part B, 1.3.2.1.
    func address(behind controllerAddress: BluetoothAddress) -> BluetoothAddress {
        let wanted = wantedAddress
        guard wanted != controllerAddress else { return wanted }
        return BluetoothAddress(rawValue: wanted.rawValue | 0xC000_0000_0000, kind: .random)
    }

    var firmware: UInt32 { firmwareVersion ?? 11 }

    /// `BA00-A00001`: a letter and five digits of the name's hash. The first letter says what it is.
    var derivedSerial: String {
        let hash = stableHash(name)
        let letter = Character(UnicodeScalar(UInt8(ascii: "A") + UInt8((hash >> 32) % 26)))
        let digits = String(hash % 100_000)
        return "\(model.serialLetter)A00-\(letter)" + String(repeating: "0", count: 5 - digits.count) + digits
    }

    /// - Parameter randomness: draws the button's static key and its boot id.
    func peripheral(
        at address: BluetoothAddress, drawing randomness: inout SplitMix64
    ) -> FlicPeripheral.Configuration {
        var identity = SplitMix64(seed: stableHash(name))
        return FlicPeripheral.Configuration(
            address: address, serial: serial ?? derivedSerial, uuid: identity.octets(16),
            nickname: Nickname.cut(nickname ?? name), firmwareVersion: firmware,
            batteryMillivolts: batteryMillivolts ?? 3000, privateKey: randomness.octets(32),
            rootSeed: SimulatorRoot.seed, bootID: UInt32(truncatingIfNeeded: randomness.next()), pairings: pairings,
            pingPeriod: pingPeriod, model: model)
    }
}

extension FlicModel {
    /// - Source: protocol notes, 1.
    fileprivate var serialLetter: Character {
        switch self {
        case .flic1, .flic2: "B"
        case .duo: "D"
        case .twist: "T"
        }
    }
}
