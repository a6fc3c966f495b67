import Bytes

/// Attribute types that give a server its shape.
///
/// - Source: Bluetooth Core 5.4, Vol 3, Part G, 3.4.
enum GATTType {
    static let primaryService: UInt16 = 0x2800
    static let secondaryService: UInt16 = 0x2801
    static let characteristic: UInt16 = 0x2803
    static let clientCharacteristicConfiguration: UInt16 = 0x2902
}

/// Characteristic properties, one bit each.
///
/// - Source: Bluetooth Core 5.4, Vol 3, Part G, 3.3.1.1.
enum CharacteristicProperty {
    static let read: UInt8 = 0x02
    static let writeWithoutResponse: UInt8 = 0x04
    static let write: UInt8 = 0x08
    static let notify: UInt8 = 0x10
}

/// The value of a characteristic declaration.
///
///     octet  0            1…2            3…
///            properties   value handle   UUID, 2 or 16 octets
///
/// - Source: Bluetooth Core 5.4, Vol 3, Part G, 3.3.1.
struct CharacteristicDeclaration: Hashable, Sendable {
    var properties: UInt8
    var valueHandle: UInt16
    var uuid: UUID

    init(properties: UInt8, valueHandle: UInt16, uuid: UUID) {
        self.properties = properties
        self.valueHandle = valueHandle
        self.uuid = uuid
    }

    /// `nil` for anything but 5 or 19 octets.
    init?(decoding value: [UInt8]) {
        var reader = ByteReader(value)
        guard let properties = try? reader.uint8(), let valueHandle = try? reader.uint16(),
            let uuid = UUID(wireOctets: reader.remainder())
        else { return nil }
        self.init(properties: properties, valueHandle: valueHandle, uuid: uuid)
    }

    var encoded: [UInt8] {
        var writer = ByteWriter(capacity: 19)
        writer.uint8(properties)
        writer.uint16(valueHandle)
        writer.bytes(uuid.wireOctets)
        return writer.bytes
    }
}
