import Bytes

/// Attribute types that GATT defines.
///
/// - Source: Bluetooth Core 5.4, Vol 3, Part G, 3.4.
enum GATTType {
    static let primaryService: UInt16 = 0x2800
    static let secondaryService: UInt16 = 0x2801
    static let characteristic: UInt16 = 0x2803
    static let clientCharacteristicConfiguration: UInt16 = 0x2902
    static let genericAttribute: UInt16 = 0x1801
    static let serviceChanged: UInt16 = 0x2A05
}

/// The bits of Characteristic Properties.
///
/// - Source: Bluetooth Core 5.4, Vol 3, Part G, 3.3.1.1.
enum CharacteristicProperty {
    static let read: UInt8 = 0x02
    static let writeWithoutResponse: UInt8 = 0x04
    static let write: UInt8 = 0x08
    static let notify: UInt8 = 0x10
    static let indicate: UInt8 = 0x20
}

/// The bits of a Client Characteristic Configuration.
///
/// - Source: Bluetooth Core 5.4, Vol 3, Part G, 3.3.3.3.
enum ClientConfiguration {
    static let notifications: UInt8 = 0x01
    static let indications: UInt8 = 0x02
}

/// The value of the Service Changed characteristic: the first and the last affected handle.
///
/// - Source: Bluetooth Core 5.4, Vol 3, Part G, 7.1.
struct ServiceChanged: Hashable, Sendable {
    var handles: ClosedRange<AttributeHandle>

    init(from first: UInt16) { handles = AttributeHandle(rawValue: first)...AttributeHandle(rawValue: .max) }

    /// `nil` unless the value has four octets, and the first handle does not exceed the last.
    init?(decoding value: [UInt8]) {
        var reader = ByteReader(value)
        guard let start = try? reader.uint16(), let end = try? reader.uint16(), start <= end, reader.isAtEnd else {
            return nil
        }
        handles = AttributeHandle(rawValue: start)...AttributeHandle(rawValue: end)
    }

    var encoded: [UInt8] {
        var writer = ByteWriter(capacity: 4)
        writer.uint16(handles.lowerBound.rawValue)
        writer.uint16(handles.upperBound.rawValue)
        return writer.bytes
    }
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
    var uuid: BluetoothUUID

    init(properties: UInt8, valueHandle: UInt16, uuid: BluetoothUUID) {
        self.properties = properties
        self.valueHandle = valueHandle
        self.uuid = uuid
    }

    /// `nil` unless the value has 5 or 19 octets.
    init?(decoding value: [UInt8]) {
        var reader = ByteReader(value)
        guard let properties = try? reader.uint8(), let valueHandle = try? reader.uint16(),
            let uuid = BluetoothUUID(wireOctets: reader.remainder())
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
