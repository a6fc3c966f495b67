/// A service of a button, as the proxy found it.
package struct GATTService: Hashable, Sendable {
    package var uuid: GATTUUID
    package var handle: UInt32
    package var characteristics: [GATTCharacteristic]

    package init(uuid: GATTUUID, handle: UInt32, characteristics: [GATTCharacteristic] = []) {
        self.uuid = uuid
        self.handle = handle
        self.characteristics = characteristics
    }
}

package struct GATTCharacteristic: Hashable, Sendable {
    package var uuid: GATTUUID
    /// The handle of the value, not that of the declaration.
    package var handle: UInt32
    /// The bits of the declaration.
    package var properties: UInt32
    package var descriptors: [GATTDescriptor]

    package init(uuid: GATTUUID, handle: UInt32, properties: UInt32, descriptors: [GATTDescriptor] = []) {
        self.uuid = uuid
        self.handle = handle
        self.properties = properties
        self.descriptors = descriptors
    }
}

package struct GATTDescriptor: Hashable, Sendable {
    package var uuid: GATTUUID
    package var handle: UInt32

    package init(uuid: GATTUUID, handle: UInt32) {
        self.uuid = uuid
        self.handle = handle
    }
}

extension GATTService {
    init(decoding payload: [UInt8]) throws(ESPHomeMalformed) {
        var attribute = DecodedAttribute(shortField: 4)
        var characteristics: [GATTCharacteristic] = []
        var reader = ProtobufReader(payload)
        while let field = try reader.field() {
            guard field.number == 3, case .octets(let element) = field.value else {
                try attribute.read(field)
                continue
            }
            guard characteristics.count < ESPHomeLimits.characteristics else { throw .tooMany(.characteristics) }
            characteristics.append(try GATTCharacteristic(decoding: element))
        }
        self.init(uuid: try attribute.uuid, handle: attribute.handle, characteristics: characteristics)
    }

    func encoded() -> [UInt8] {
        var writer = ProtobufWriter()
        writer.packed(1, uuid.parts)
        writer.uint32(2, handle)
        for characteristic in characteristics { writer.element(3, characteristic.encoded()) }
        writer.uint32(4, uuid.shortValue)
        return writer.octets
    }
}

extension GATTCharacteristic {
    init(decoding payload: [UInt8]) throws(ESPHomeMalformed) {
        var attribute = DecodedAttribute(shortField: 5)
        var properties: UInt32 = 0
        var descriptors: [GATTDescriptor] = []
        var reader = ProtobufReader(payload)
        while let field = try reader.field() {
            switch (field.number, field.value) {
            case (3, .number(let value)): properties = UInt32(truncatingIfNeeded: value)
            case (4, .octets(let element)):
                guard descriptors.count < ESPHomeLimits.descriptors else { throw .tooMany(.descriptors) }
                descriptors.append(try GATTDescriptor(decoding: element))
            default: try attribute.read(field)
            }
        }
        self.init(
            uuid: try attribute.uuid, handle: attribute.handle, properties: properties, descriptors: descriptors)
    }

    func encoded() -> [UInt8] {
        var writer = ProtobufWriter()
        writer.packed(1, uuid.parts)
        writer.uint32(2, handle)
        writer.uint32(3, properties)
        for descriptor in descriptors { writer.element(4, descriptor.encoded()) }
        writer.uint32(5, uuid.shortValue)
        return writer.octets
    }
}

extension GATTDescriptor {
    init(decoding payload: [UInt8]) throws(ESPHomeMalformed) {
        var attribute = DecodedAttribute(shortField: 3)
        var reader = ProtobufReader(payload)
        while let field = try reader.field() { try attribute.read(field) }
        self.init(uuid: try attribute.uuid, handle: attribute.handle)
    }

    func encoded() -> [UInt8] {
        var writer = ProtobufWriter()
        writer.packed(1, uuid.parts)
        writer.uint32(2, handle)
        writer.uint32(3, uuid.shortValue)
        return writer.octets
    }
}

/// The fields that services, characteristics and descriptors have in common.
private struct DecodedAttribute {
    /// The number of the field with the short UUID, which differs.
    let shortField: UInt32
    private var parts: [UInt64] = []
    private var short: UInt32 = 0
    private(set) var handle: UInt32 = 0

    init(shortField: UInt32) { self.shortField = shortField }

    var uuid: GATTUUID {
        get throws(ESPHomeMalformed) { try GATTUUID(parts: parts, short: short) }
    }

    mutating func read(_ field: ProtobufField) throws(ESPHomeMalformed) {
        switch (field.number, field.value) {
        case (1, let value): try parts.append(value, limit: 2, orThrow: .uuidParts(3))
        case (2, .number(let value)): handle = UInt32(truncatingIfNeeded: value)
        case (shortField, .number(let value)): short = UInt32(truncatingIfNeeded: value)
        default: break
        }
    }
}
