/// What a GATT server has, in the order of its handles, which count from 0x0001 without gaps: for each service
/// its declaration, then for each characteristic its declaration, its value and, where it notifies, its
/// configuration.
///
/// - Source: Bluetooth Core 5.4, Vol 3, Part G, 3.
struct AttributeTable: Hashable, Sendable {
    struct Attribute: Hashable, Sendable {
        enum Kind: Hashable, Sendable {
            /// Its last handle.
            case service(end: UInt16)
            case characteristic
            case value(properties: UInt8)
            /// Whose notifications it switches. Its value is each link's own.
            case configuration(of: UInt16)
        }

        var handle: UInt16
        var type: UUID
        var kind: Kind
        var value: [UInt8]
    }

    private(set) var attributes: [Attribute] = []

    /// Characteristics that find no handle below 0xFFFF are left out.
    init(_ services: [LocalService] = []) {
        for service in services {
            guard let start = append(.short(GATTType.primaryService), .service(end: 0), service.uuid.wireOctets)
            else { return }
            for characteristic in service.characteristics { append(characteristic) }
            attributes[start].kind = .service(end: UInt16(attributes.count))
        }
    }

    subscript(handle: UInt16) -> Attribute? {
        guard handle > 0, Int(handle) <= attributes.count else { return nil }
        return attributes[Int(handle) - 1]
    }

    /// The attributes of a range, in order.
    subscript(range: HandleRange) -> ArraySlice<Attribute> {
        guard range.start > 0, range.start <= range.end, Int(range.start) <= attributes.count else { return [] }
        return attributes[(Int(range.start) - 1)..<min(Int(range.end), attributes.count)]
    }

    /// The value of the first characteristic with this UUID.
    func valueHandle(of characteristic: UUID) -> AttributeHandle? {
        let uuid = UUID(wireOctets: characteristic.wireOctets) ?? characteristic
        let value = attributes.first {
            if case .value = $0.kind { $0.type == uuid } else { false }
        }
        return value.map { AttributeHandle(rawValue: $0.handle) }
    }

    private mutating func append(_ characteristic: LocalService.Characteristic) {
        guard attributes.count < Int(UInt16.max) - 3 else { return }
        let valueHandle = UInt16(attributes.count + 2)
        let uuid = UUID(wireOctets: characteristic.uuid.wireOctets) ?? characteristic.uuid
        let declaration = CharacteristicDeclaration(
            properties: characteristic.properties, valueHandle: valueHandle, uuid: uuid)
        append(.short(GATTType.characteristic), .characteristic, declaration.encoded)
        append(uuid, .value(properties: characteristic.properties), characteristic.value)
        if characteristic.properties & CharacteristicProperty.notify != 0 {
            append(.short(GATTType.clientCharacteristicConfiguration), .configuration(of: valueHandle), [0, 0])
        }
    }

    /// - Returns: the attribute's index, unless there is no handle left.
    @discardableResult
    private mutating func append(_ type: UUID, _ kind: Attribute.Kind, _ value: [UInt8]) -> Int? {
        guard attributes.count < Int(UInt16.max) else { return nil }
        attributes.append(Attribute(handle: UInt16(attributes.count + 1), type: type, kind: kind, value: value))
        return attributes.count - 1
    }
}
