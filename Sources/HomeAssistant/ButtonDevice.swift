package import ButtonModel

/// A button as Home Assistant gets to know it.
package struct ButtonDevice: Hashable, Sendable {
    package var id: ButtonID
    package var address: BluetoothAddress
    /// What people call it; a rename changes this, and no topic and no entity id.
    package var name: String
    package var serial: String
    package var firmwareVersion: UInt32
    package var model: FlicModel
    /// Of 3…8 clicks, those that rules wait for.
    package var clickCounts: Set<Int>
    /// A file with firmware for this model lies there, so there is something to install.
    package var hasFirmwareFile: Bool
    /// Where rules wait for turns; only these dials have an entity that is there without being asked for.
    package var usedDials: Set<Dial>

    static let manufacturer = "Shortcut Labs"

    package init(
        id: ButtonID, address: BluetoothAddress, name: String, serial: String, firmwareVersion: UInt32,
        model: FlicModel = .flic2, clickCounts: Set<Int> = [], hasFirmwareFile: Bool = false,
        usedDials: Set<Dial> = []
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
    }
}

extension FlicModel {
    /// As its maker calls it.
    package var productName: String {
        switch self {
        case .flic1: "Flic 1"
        case .flic2: "Flic 2"
        case .duo: "Flic Duo"
        case .twist: "Flic Twist"
        }
    }

    /// What it knows besides presses.
    var movementWords: [String] {
        let swipes = SwipeDirection.allCases.map(\.rawValue)
        let turns = RotationDirection.allCases.map(\.rawValue)
        return switch self {
        case .flic1, .flic2: []
        case .duo: swipes + turns
        case .twist: turns
        }
    }
}
