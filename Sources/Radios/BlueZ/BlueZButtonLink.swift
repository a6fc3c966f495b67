package import ButtonModel

/// A link of bluetoothd to a Flic button, whichever program asked for it.
package struct BlueZButtonLink: Hashable, Sendable {
    package var address: BluetoothAddress
    /// The name of the adapter, such as `hci0`.
    package var adapter: String
    /// True if a program receives the button's notifications. D-Bus does not tell which program.
    package var isHeld: Bool

    package init(address: BluetoothAddress, adapter: String, isHeld: Bool) {
        self.address = address
        self.adapter = adapter
        self.isHeld = isHeld
    }

    /// All links among the objects of BlueZ, in the order of the addresses.
    package static func all(among objects: [String: BusInterfaces]) -> [BlueZButtonLink] {
        objects.compactMap { path, interfaces -> BlueZButtonLink? in
            guard let device = interfaces[BlueZName.device].flatMap({ BlueZDevice(path: path, $0) }),
                device.isConnected, device.service != nil || device.address.hasFlicPrefix
            else { return nil }
            let adapter = path.split(separator: "/").dropLast().last.map(String.init) ?? path
            let characteristics = objects.filter { $0.key.hasPrefix(path + "/") }.values
            return BlueZButtonLink(
                address: device.address, adapter: adapter,
                isHeld: characteristics.compactMap { $0[BlueZName.characteristic] }.contains(where: isHeld))
        }.sorted { $0.address.rawValue < $1.address.rawValue }
    }

    private static func isHeld(_ characteristic: [String: BusValue]) -> Bool {
        BlueZRadio.HeldCharacteristic.allCases.contains { held in
            held.properties.contains { characteristic[$0]?.bool == true }
        }
    }
}
