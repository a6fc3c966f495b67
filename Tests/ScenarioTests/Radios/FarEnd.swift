import ButtonModel
import Radios

/// The kinds of radio that a `Household` can have.
enum HouseRadio: String, CaseIterable, Hashable, Sendable {
    /// An adapter that the hub drives itself, over HCI.
    case adapter
    /// An adapter that bluetoothd drives.
    case bluez
    /// An ESPHome proxy.
    case proxy

    /// - Parameter maximumLinks: the number of links that is configured for BlueZ, which does not tell it; `nil`: none is.
    func kind(maximumLinks: Int?) -> RadioKind {
        switch self {
        case .adapter: .local(maximumLinks: nil)
        case .bluez: .local(maximumLinks: maximumLinks)
        case .proxy: .esphome(key: nil)
        }
    }

    /// `nil` for an adapter, whose far end is its controller.
    func farEnd(maximumLinks: Int, ownAddress: BluetoothAddress) -> FarEnd? {
        switch self {
        case .adapter: nil
        case .bluez: FarEnd(SimulatedBluetoothd(maximumLinks: maximumLinks, ownAddress: ownAddress))
        case .proxy: FarEnd(SimulatedProxy(slots: maximumLinks, ownAddress: ownAddress))
        }
    }
}

/// A program between the hub and a controller, with a Bluetooth host of its own.
///
/// It is a struct, so that it changes in place and is not copied.
struct FarEnd: Sendable {
    private var bluetoothd: SimulatedBluetoothd?
    private var proxy: SimulatedProxy?

    init(_ bluetoothd: SimulatedBluetoothd) { self.bluetoothd = bluetoothd }
    init(_ proxy: SimulatedProxy) { self.proxy = proxy }

    enum Input: Hashable, Sendable {
        /// The machine is switched on.
        case begun
        /// An HCI packet of the controller.
        case received([UInt8])
        case timerFired
        /// The hub has opened the bus or the connection.
        case opened
        /// The hub has closed it, or its process is dead.
        case closed
        case bus(BusEffect)
        case octets([UInt8])
        case trouble(FarEndTrouble)
    }

    enum Effect: Hashable, Sendable {
        /// An HCI packet to the controller.
        case send([UInt8])
        /// The controller loses its power.
        case powerCycle
        case bus(BusInput)
        case octets([UInt8])
        /// The connection to the hub is closed by this side.
        case close(String)
    }

    mutating func handle(_ input: Input, at now: Instant) -> [Effect] {
        bluetoothd?.handle(input, at: now) ?? proxy?.handle(input, at: now) ?? []
    }

    var deadline: Instant? { bluetoothd?.deadlines.earliest ?? proxy?.deadlines.earliest }

    /// True while bluetoothd searches for the hub.
    var isDiscovering: Bool { bluetoothd?.isDiscovering ?? false }

    /// True if the hub can open a connection to it. The system bus is there without bluetoothd.
    var isReachable: Bool { proxy?.isReachable ?? true }
}

/// What may happen to a far end. The trouble of another kind has no effect.
enum FarEndTrouble: Hashable, Sendable {
    case bluetoothd(SimulatedBluetoothd.Trouble)
    case proxy(SimulatedProxy.Trouble)
}
