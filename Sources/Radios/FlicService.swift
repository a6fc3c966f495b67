import BluetoothHost
package import ButtonModel

/// The two GATT services of Flic buttons, with the UUIDs of their characteristics (protocol notes, 2).
package enum FlicService: Hashable, Sendable, CaseIterable {
    /// The service of a Flic 2 and of a Duo.
    case flic2
    case twist

    package init(_ model: FlicModel) {
        switch model {
        case .flic1, .flic2, .duo: self = .flic2
        case .twist: self = .twist
        }
    }

    var uuid: BluetoothUUID { uuid(0) }
    var write: BluetoothUUID { uuid(1) }
    var notify: BluetoothUUID { uuid(2) }

    var other: FlicService {
        switch self {
        case .flic2: .twist
        case .twist: .flic2
        }
    }

    /// The texts of both services' UUIDs.
    package static var uuidTexts: [String] { allCases.map(\.uuid.description) }

    /// `0042000N-8f59-4420-870d-84f3b617e493` or `00c9000N-2cbd-4f2a-a725-5ccd960ffb7d`, in wire order.
    private func uuid(_ number: UInt8) -> BluetoothUUID {
        switch self {
        case .flic2:
            .long([
                0x93, 0xE4, 0x17, 0xB6, 0xF3, 0x84, 0x0D, 0x87, 0x20, 0x44, 0x59, 0x8F, number, 0x00, 0x42, 0x00,
            ])
        case .twist:
            .long([
                0x7D, 0xFB, 0x0F, 0x96, 0xCD, 0x5C, 0x25, 0xA7, 0x2A, 0x4F, 0xBD, 0x2C, number, 0x00, 0xC9, 0x00,
            ])
        }
    }
}
