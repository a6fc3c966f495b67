extension ESPHomeMessage {
    /// Decodes the payload of a frame. Unknown fields are passed over, and of a field that comes twice the last counts.
    /// The fields of messages that a client does not know are checked for their form.
    package init(id: UInt32, decoding payload: [UInt8]) throws(ProtobufFault) {
        let fields = try Fields(payload, id: id)
        let address = fields.number(1)
        let handle = fields.uint32(2)
        switch id {
        case 1: self = .helloRequest(clientInfo: fields.string(1), major: fields.uint32(2), minor: fields.uint32(3))
        case 2:
            self = .helloResponse(
                ESPHomeHello(
                    major: fields.uint32(1), minor: fields.uint32(2), serverInfo: fields.string(3),
                    name: fields.string(4)))
        case 5: self = .disconnectRequest(reason: fields.uint32(1))
        case 6: self = .disconnectResponse
        case 7: self = .pingRequest
        case 8: self = .pingResponse
        case 9: self = .deviceInfoRequest
        case 10: self = .deviceInfoResponse(ESPHomeDeviceInfo(fields))
        case 66: self = .subscribeAdvertisements(flags: fields.uint32(1))
        case 68:
            guard let request = ESPHomeDeviceRequest(rawValue: fields.uint32(2)) else {
                self = .other(id: id)
                return
            }
            self = .deviceRequest(
                address: address, request, addressKind: fields.bool(3) ? fields.uint32(4) : nil)
        case 69:
            self = .deviceConnection(
                address: address, isConnected: fields.bool(2), mtu: fields.uint32(3), error: fields.int32(4))
        case 70: self = .getServices(address: address)
        case 71:
            var services: [ESPHomeService] = []
            for part in fields.parts { services.append(try ESPHomeService(decoding: part)) }
            self = .services(address: address, services)
        case 72: self = .servicesDone(address: address)
        case 73: self = .readRequest(address: address, handle: handle)
        case 74: self = .readResponse(address: address, handle: handle, try fields.value(3))
        case 75:
            self = .writeRequest(
                address: address, handle: handle, withResponse: fields.bool(3), try fields.value(4))
        case 77: self = .writeDescriptor(address: address, handle: handle, try fields.value(3))
        case 78: self = .notifyRequest(address: address, handle: handle, isEnabled: fields.bool(3))
        case 79: self = .notifyData(address: address, handle: handle, try fields.value(3))
        case 80: self = .subscribeConnectionsFree
        case 81:
            self = .connectionsFree(
                ESPHomeSlots(free: fields.uint32(1), limit: fields.uint32(2), allocated: fields.numbers))
        case 82: self = .gattError(address: address, handle: handle, error: fields.int32(3))
        case 83: self = .writeResponse(address: address, handle: handle)
        case 84: self = .notifyResponse(address: address, handle: handle)
        case 87: self = .unsubscribeAdvertisements
        case 88: self = .clearCacheResponse(address: address, isCleared: fields.bool(2), error: fields.int32(3))
        case 93:
            var list: [ESPHomeAdvertisement] = []
            for part in fields.parts { list.append(try ESPHomeAdvertisement(decoding: part)) }
            self = .advertisements(list)
        case 126:
            self = .scannerState(
                state: fields.uint32(1), mode: fields.uint32(2), configuredMode: fields.uint32(3))
        case 127: self = .setScannerMode(isActive: fields.bool(1))
        case 145:
            self = .setConnectionParameters(
                address: address,
                ESPHomeConnectionParameters(
                    minimumInterval: fields.uint32(2), maximumInterval: fields.uint32(3), latency: fields.uint32(4),
                    timeout: fields.uint32(5)))
        case 146: self = .connectionParametersResponse(address: address, error: fields.int32(2))
        case 149: self = .capabilitiesRequest
        case 150:
            let part = try Fields(fields.octets(1), id: 0)
            self = .capabilitiesResponse(features: part.uint32(1), bluetoothAddress: part.string(2))
        default: self = .other(id: id)
        }
    }
}

/// The fields of one message: the last value of each number, and all elements of the one repeated field that some
/// messages have.
private struct Fields {
    private var last: [UInt64: ProtobufValue] = [:]
    /// The elements of a repeated message field.
    private(set) var parts: [[UInt8]] = []
    /// The elements of a repeated number field, packed or not.
    private(set) var numbers: [UInt64] = []

    /// - Parameter id: the message id, which tells the repeated field; 0 for a message without one.
    init(_ payload: [UInt8], id: UInt32) throws(ProtobufFault) {
        switch id {
        case 71: try self.init(payload, parts: 2, upTo: ESPHomeLimits.services)
        case 81: try self.init(payload, numbers: 3, upTo: ESPHomeLimits.links)
        case 93: try self.init(payload, parts: 1, upTo: ESPHomeLimits.advertisements)
        default: try self.init(payload, parts: nil, upTo: 0)
        }
    }

    init(
        _ payload: [UInt8], parts partsNumber: UInt64? = nil, upTo maximum: Int = 0, numbers numbersNumber: UInt64? = nil
    ) throws(ProtobufFault) {
        try self.init(payload, partsNumber, maximum, numbersNumber, ESPHomeLimits.links)
    }

    init(_ payload: [UInt8], numbers: UInt64, upTo maximum: Int) throws(ProtobufFault) {
        try self.init(payload, nil, 0, numbers, maximum)
    }

    private init(
        _ payload: [UInt8], _ partsNumber: UInt64?, _ maximumParts: Int, _ numbersNumber: UInt64?, _ maximumNumbers: Int
    ) throws(ProtobufFault) {
        var reader = ProtobufReader(payload)
        while let (number, value) = try reader.next() {
            if number == partsNumber, let octets = value.octets {
                guard parts.count < maximumParts else { throw .tooMany }
                parts.append(octets)
            } else if number == numbersNumber {
                switch value {
                case .varint(let element): numbers.append(element)
                case .octets(let octets): numbers += try ProtobufReader.packed(octets, upTo: maximumNumbers)
                case .fixed64, .fixed32: break
                }
                guard numbers.count <= maximumNumbers else { throw .tooMany }
            } else if number <= Self.highestNumber {
                last[number] = value
            }
        }
    }

    func number(_ number: UInt64) -> UInt64 { last[number]?.number ?? 0 }
    func uint32(_ number: UInt64) -> UInt32 { last[number]?.uint32 ?? 0 }
    func int32(_ number: UInt64) -> Int32 { last[number]?.int32 ?? 0 }
    func zigzag(_ number: UInt64) -> Int32 { last[number]?.zigzag ?? 0 }
    func bool(_ number: UInt64) -> Bool { last[number]?.bool ?? false }
    func string(_ number: UInt64) -> String { last[number]?.string ?? "" }
    func octets(_ number: UInt64) -> [UInt8] { last[number]?.octets ?? [] }

    /// The value of an attribute.
    func value(_ number: UInt64) throws(ProtobufFault) -> [UInt8] {
        let octets = octets(number)
        guard octets.count <= ESPHomeLimits.value else { throw .tooMany }
        return octets
    }

    /// The UUID of a part whose halves are in the repeated field 1 and whose short form is in the given field.
    func uuid(short number: UInt64) throws(ProtobufFault) -> ESPHomeUUID {
        if numbers.count == 2, let high = numbers.first, let low = numbers.last {
            return ESPHomeUUID(high: high, low: low)
        }
        guard numbers.isEmpty, last[number] != nil else { throw .uuid }
        return ESPHomeUUID(short: uint32(number))
    }

    /// The highest field number that a known message uses.
    private static let highestNumber: UInt64 = 18
}

extension ESPHomeDeviceInfo {
    fileprivate init(_ fields: Fields) {
        name = fields.string(2)
        macAddress = fields.string(3)
        version = fields.string(4)
        model = fields.string(6)
        manufacturer = fields.string(12)
        friendlyName = fields.string(13)
        features = ESPHomeFeatures(rawValue: fields.uint32(15))
        suggestedArea = fields.string(16)
        bluetoothAddress = fields.string(18)
    }
}

extension ESPHomeAdvertisement {
    fileprivate init(decoding payload: [UInt8]) throws(ProtobufFault) {
        let fields = try Fields(payload, id: 0)
        let data = fields.octets(4)
        guard data.count <= ESPHomeLimits.advertisementData else { throw .tooMany }
        self.init(
            address: fields.number(1), rssi: fields.zigzag(2), addressKind: fields.uint32(3), data: data)
    }
}

extension ESPHomeService {
    fileprivate init(decoding payload: [UInt8]) throws(ProtobufFault) {
        let fields = try Fields(payload, parts: 3, upTo: ESPHomeLimits.characteristics, numbers: 1)
        var characteristics: [ESPHomeCharacteristic] = []
        for part in fields.parts { characteristics.append(try ESPHomeCharacteristic(decoding: part)) }
        self.init(uuid: try fields.uuid(short: 4), handle: fields.uint32(2), characteristics: characteristics)
    }
}

extension ESPHomeCharacteristic {
    fileprivate init(decoding payload: [UInt8]) throws(ProtobufFault) {
        let fields = try Fields(payload, parts: 4, upTo: ESPHomeLimits.descriptors, numbers: 1)
        var descriptors: [ESPHomeDescriptor] = []
        for part in fields.parts { descriptors.append(try ESPHomeDescriptor(decoding: part)) }
        self.init(
            uuid: try fields.uuid(short: 5), handle: fields.uint32(2), properties: fields.uint32(3),
            descriptors: descriptors)
    }
}

extension ESPHomeDescriptor {
    fileprivate init(decoding payload: [UInt8]) throws(ProtobufFault) {
        let fields = try Fields(payload, numbers: 1, upTo: 2)
        self.init(uuid: try fields.uuid(short: 3), handle: fields.uint32(2))
    }
}
