package import ButtonModel

/// A value of D-Bus without its exact type.
package indirect enum BusValue: Hashable, Sendable {
    case bool(Bool)
    case integer(Int64)
    /// A text, an object path or a signature.
    case string(String)
    case octets([UInt8])
    case list([BusValue])
    /// Keys that are numbers are in decimal.
    case dictionary([String: BusValue])

    var bool: Bool? { if case .bool(let value) = self { value } else { nil } }
    var integer: Int64? { if case .integer(let value) = self { value } else { nil } }
    var string: String? { if case .string(let value) = self { value } else { nil } }
    var octets: [UInt8]? { if case .octets(let value) = self { value } else { nil } }
    var list: [BusValue]? { if case .list(let value) = self { value } else { nil } }
    var dictionary: [String: BusValue]? { if case .dictionary(let value) = self { value } else { nil } }
}

/// The properties of an object by their names, for each of its interfaces.
package typealias BusInterfaces = [String: [String: BusValue]]

/// The number of a method call, which its answer has, too.
package struct BusCallID: RawRepresentable, Hashable, Sendable {
    package var rawValue: UInt32
    package init(rawValue: UInt32) { self.rawValue = rawValue }
}

/// An error that a method call was answered with.
package struct BusError: Error, Hashable, Sendable {
    /// Such as `org.bluez.Error.NotReady`.
    package var name: String
    package var message: String

    package init(name: String, message: String) {
        self.name = name
        self.message = message
    }
}

/// A report of the connection to the system bus.
package enum BusInput: Hashable, Sendable {
    /// bluetoothd has ended.
    case ownerLost
    case interfacesAdded(String, BusInterfaces)
    case interfacesRemoved(String, [String])
    case propertiesChanged(String, interface: String, [String: BusValue], invalidated: [String])
    /// The answer to `getManagedObjects`: all objects by their paths.
    case objects(BusCallID, [String: BusInterfaces])
    /// The answer to a call that returns nothing.
    case answered(BusCallID)
    /// The answer to `acquireNotify` or `acquireWrite`. The connection keeps the descriptor.
    case acquired(BusCallID, attMTU: Int)
    case refused(BusCallID, BusError)
    /// A notification.
    case received(LinkID, [UInt8])
    /// bluetoothd has closed a descriptor of a link.
    case ended(LinkID)
}

/// An order to the connection to the system bus.
package enum BusEffect: Hashable, Sendable {
    case call(BusCallID, BlueZCall)
    /// Writes a value through the descriptor of `acquireWrite`.
    case write(LinkID, [UInt8])
    /// Closes the descriptors of a link.
    case closeChannels(LinkID)
}

/// A method call to bluetoothd. Objects are named by their paths.
package enum BlueZCall: Hashable, Sendable {
    case getManagedObjects
    /// Registers our GATT profile, so that bluetoothd connects to trusted buttons by itself.
    case registerApplication(adapter: String)
    case setDiscoveryFilter(adapter: String, DiscoveryFilter)
    case startDiscovery(adapter: String)
    case stopDiscovery(adapter: String)
    case connect(device: String)
    case disconnect(device: String)
    case setTrusted(device: String, Bool = true)
    case setBlocked(device: String, Bool)
    case removeDevice(adapter: String, device: String)
    case acquireNotify(characteristic: String, LinkID)
    case acquireWrite(characteristic: String, LinkID)
}

/// The devices that bluetoothd looks for in a discovery that we requested.
package enum DiscoveryFilter: Hashable, Sendable {
    /// All Bluetooth LE devices.
    case all
    /// Devices that advertise a service of Flic buttons.
    case flicServices
    /// Devices whose address begins with a text such as `80:E4:DA`.
    case addressPrefix(String)
}

/// The adapter to use through BlueZ.
package enum BlueZAdapterChoice: Hashable, Sendable {
    /// The first that is powered, or else the first.
    case any
    case index(Int)
    case address(BluetoothAddress)
}
