package import ButtonModel

/// The properties of a button that its announcement to Home Assistant needs.
package struct ButtonDevice: Hashable, Sendable {
    package var id: ButtonID
    package var address: BluetoothAddress
    /// The button's name for people. A rename changes no topic and no entity id.
    package var name: String
    package var serial: String
    package var firmwareVersion: UInt32
    package var model: FlicModel
    /// The numbers of clicks, from 3 to 8, that rules wait for.
    package var clickCounts: Set<Int>
    /// True if there is a firmware file for this model, which enables the update entity.
    package var hasFirmwareFile: Bool
    /// The dials whose turns rules wait for. Their entities are enabled by default, like those of the usual dials.
    package var usedDials: Set<Dial>

    /// The trigger mode that the rules fix, so that Home Assistant cannot set another; `nil` if they fix none.
    package var fixedTriggerMode: TriggerMode?

    /// True for a button of a site. Its settings are changed at the site, so an engine announces none but the trigger mode, which
    /// is its own.
    package var isRemote: Bool

    static let manufacturer = "Shortcut Labs"

    package init(
        id: ButtonID, address: BluetoothAddress, name: String, serial: String, firmwareVersion: UInt32,
        model: FlicModel = .flic2, clickCounts: Set<Int> = [], hasFirmwareFile: Bool = false,
        usedDials: Set<Dial> = [], fixedTriggerMode: TriggerMode? = nil, isRemote: Bool = false
    ) {
        self.id = id
        self.address = address
        self.name = name
        self.serial = serial
        self.firmwareVersion = firmwareVersion
        self.model = model
        self.clickCounts = clickCounts
        self.hasFirmwareFile = hasFirmwareFile
        self.usedDials = usedDials
        self.fixedTriggerMode = fixedTriggerMode
        self.isRemote = isRemote
    }
}
