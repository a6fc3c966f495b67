/// The attributes of a GATT server. Handles count from 0x0001 without gaps: for each service its declaration, then for
/// each characteristic its declaration, its value, its Client Characteristic Configuration if it notifies or indicates,
/// and its other descriptors.
///
/// - Source: Bluetooth Core 5.4, Vol 3, Part G, 3.
struct AttributeTable: Hashable, Sendable {
    struct Attribute: Hashable, Sendable {
        enum Kind: Hashable, Sendable {
            /// `end`: the service's last handle.
            case service(end: UInt16)
            case characteristic
            case value(properties: UInt8)
            /// A Client Characteristic Configuration descriptor. `of`: the handle of the characteristic's value;
            /// `allowed`: the bits that may be set (`ClientConfiguration`). Each link has its own value, in
            /// `GATTServer`.
            case configuration(of: UInt16, allowed: UInt8)
            case descriptor(isWritable: Bool)
        }

        var handle: UInt16
        var type: BluetoothUUID
        var kind: Kind
        var value: [UInt8]
    }

    private(set) var attributes: [Attribute] = []

    /// Characteristics that do not fit below handle 0xFFFF are left out.
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

    /// The attributes whose handles are in a range, in order.
    subscript(range: HandleRange) -> ArraySlice<Attribute> {
        guard range.start > 0, range.start <= range.end, Int(range.start) <= attributes.count else { return [] }
        return attributes[(Int(range.start) - 1)..<min(Int(range.end), attributes.count)]
    }

    /// The handle of the value of the first characteristic with this UUID.
    func valueHandle(of characteristic: BluetoothUUID) -> AttributeHandle? {
        let uuid = BluetoothUUID(wireOctets: characteristic.wireOctets) ?? characteristic
        let value = attributes.first {
            if case .value = $0.kind { $0.type == uuid } else { false }
        }
        return value.map { AttributeHandle(rawValue: $0.handle) }
    }

    /// - Returns: whether the value was set: the handle is that of a characteristic value or descriptor, and the value
    ///   has at most 512 octets.
    mutating func setValue(_ value: [UInt8], of handle: AttributeHandle) -> Bool {
        guard value.count <= ATTPDU.maximumValueLength, let attribute = self[handle.rawValue] else { return false }
        switch attribute.kind {
        case .value, .descriptor:
            attributes[Int(handle.rawValue) - 1].value = value
            return true
        case .service, .characteristic, .configuration:
            return false
        }
    }

    /// The first handle whose meaning differs from that in `other`; `nil` if all have the same meaning. Values of
    /// characteristics and descriptors do not count.
    func firstDifference(from other: AttributeTable) -> UInt16? {
        let same = zip(attributes, other.attributes).prefix { $0.meansSame(as: $1) }.count
        guard same < max(attributes.count, other.attributes.count) else { return nil }
        return UInt16(same + 1)
    }

    private mutating func append(_ characteristic: LocalService.Characteristic) {
        guard attributes.count + 3 + characteristic.descriptors.count < Int(UInt16.max) else { return }
        let valueHandle = UInt16(attributes.count + 2)
        let uuid = BluetoothUUID(wireOctets: characteristic.uuid.wireOctets) ?? characteristic.uuid
        let declaration = CharacteristicDeclaration(
            properties: characteristic.properties, valueHandle: valueHandle, uuid: uuid)
        append(.short(GATTType.characteristic), .characteristic, declaration.encoded)
        append(uuid, .value(properties: characteristic.properties), limited(characteristic.value))
        let allowed = characteristic.allowedConfiguration
        if allowed != 0 {
            append(
                .short(GATTType.clientCharacteristicConfiguration), .configuration(of: valueHandle, allowed: allowed),
                [0, 0])
        }
        for descriptor in characteristic.descriptors {
            let uuid = BluetoothUUID(wireOctets: descriptor.uuid.wireOctets) ?? descriptor.uuid
            append(uuid, .descriptor(isWritable: descriptor.isWritable), limited(descriptor.value))
        }
    }

    private func limited(_ value: [UInt8]) -> [UInt8] { Array(value.prefix(ATTPDU.maximumValueLength)) }

    /// - Returns: the attribute's index; `nil` when no handle is left.
    @discardableResult
    private mutating func append(_ type: BluetoothUUID, _ kind: Attribute.Kind, _ value: [UInt8]) -> Int? {
        guard attributes.count < Int(UInt16.max) else { return nil }
        attributes.append(Attribute(handle: UInt16(attributes.count + 1), type: type, kind: kind, value: value))
        return attributes.count - 1
    }
}

extension AttributeTable.Attribute {
    /// True if both attributes have the same meaning. The value of a declaration is part of its meaning; other values
    /// are not.
    fileprivate func meansSame(as other: Self) -> Bool {
        guard handle == other.handle, type == other.type, kind == other.kind else { return false }
        switch kind {
        case .service, .characteristic: return value == other.value
        case .value, .configuration, .descriptor: return true
        }
    }
}

extension LocalService.Characteristic {
    fileprivate var allowedConfiguration: UInt8 {
        (properties & CharacteristicProperty.notify != 0 ? ClientConfiguration.notifications : 0)
            | (properties & CharacteristicProperty.indicate != 0 ? ClientConfiguration.indications : 0)
    }
}
