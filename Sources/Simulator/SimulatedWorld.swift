public import ButtonModel

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

    public init(
        name: String, address: BluetoothAddress? = nil, serial: String? = nil, nickname: String? = nil,
        firmwareVersion: UInt32? = nil, batteryMillivolts: Int? = nil, isPublic: Bool = true
    ) {
        self.name = name
        self.address = address
        self.serial = serial
        self.nickname = nickname
        self.firmwareVersion = firmwareVersion
        self.batteryMillivolts = batteryMillivolts
        self.isPublic = isPublic
    }
}

/// What a finger does to a simulated button. The raw value is the word of the command line.
public enum SimulatedPress: String, CaseIterable, Hashable, Sendable {
    /// Down, and up 80 ms later.
    case click
    /// Two clicks; the second `down` 200 ms after the first.
    case doubleClick = "double_click"
    /// Down, and up 1.3 s later.
    case hold
    case down
    case up
    /// Down, and up 7.5 s later: an unconnected button enters public mode.
    case makePublic = "make_public"
}

/// The simulator's own root key: what `simulated:` trusts unasked and `tryck simulate` prints.
public enum SimulatorRoot {
    /// 32 octets, an Ed25519 public key.
    public static var publicKey: [UInt8] { [] }
}

/// A controller for the host under test, and buttons in its air, each with a controller of its own.
public struct SimulatedWorld: Sendable {
    public enum Input: Hashable, Sendable {
        /// One HCI packet from the host, with its H4 indicator.
        case received([UInt8])
        case press(button: String, SimulatedPress)
        /// The button goes out of reach (links end by supervision timeout) or comes back.
        case setReachable(button: String, Bool)
        case timerFired
    }

    public enum Effect: Hashable, Sendable {
        /// One HCI packet to the host.
        case send([UInt8])
        case setTimer(Instant)
        case cancelTimer
        /// The last `up` of a press script has happened.
        case pressFinished(button: String, SimulatedPress)
        /// Something happened that a person watching would like to read.
        case note(button: String, String)
        /// No button of that name.
        case unknownButton(String)
    }

    /// - Parameter seed: everything random in the world comes from it.
    public init(_ buttons: [SimulatedButtonDescription], seed: UInt64, at now: Instant) {}

    public mutating func handle(_ input: Input, at now: Instant) -> [Effect] { [] }
}

/// One button as a peripheral behind a controller of somebody else's making.
public struct SimulatedButton: Sendable {
    public enum Input: Hashable, Sendable {
        case transportOpened
        case received([UInt8])
        case transportClosed
        case press(SimulatedPress)
        case timerFired
    }

    public enum Effect: Hashable, Sendable {
        case send([UInt8])
        case setTimer(Instant)
        case cancelTimer
        case pressFinished(SimulatedPress)
        case note(String)
        /// The controller cannot be used.
        case failed(String)
    }

    /// The address it advertises with, once its controller is known.
    public var address: BluetoothAddress? { nil }

    public init(_ description: SimulatedButtonDescription, seed: UInt64, at now: Instant) {}

    public mutating func handle(_ input: Input, at now: Instant) -> [Effect] { [] }
}
