package import ButtonModel

/// A button as Home Assistant gets to know it.
package struct ButtonDevice: Hashable, Sendable {
    package var id: ButtonID
    package var address: BluetoothAddress
    /// What people call it; a rename changes this, and no topic and no entity id.
    package var name: String
    package var serial: String
    package var firmwareVersion: UInt32
    /// Of 3…8 clicks, those that rules wait for.
    package var clickCounts: Set<Int>
    /// A file with firmware for this model lies there, so there is something to install.
    package var hasFirmwareFile: Bool

    static let manufacturer = "Shortcut Labs"
    static let model = "Flic 2"

    package init(
        id: ButtonID, address: BluetoothAddress, name: String, serial: String, firmwareVersion: UInt32,
        clickCounts: Set<Int> = [], hasFirmwareFile: Bool = false
    ) {
        self.id = id
        self.address = address
        self.name = name
        self.serial = serial
        self.firmwareVersion = firmwareVersion
        self.clickCounts = clickCounts
        self.hasFirmwareFile = hasFirmwareFile
    }
}
