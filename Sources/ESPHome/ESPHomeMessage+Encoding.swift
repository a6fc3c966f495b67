extension ESPHomeMessage {
    /// The message id, which the frame carries.
    package var id: UInt32 {
        switch self {
        case .helloRequest: 1
        case .helloResponse: 2
        case .disconnectRequest: 5
        case .disconnectResponse: 6
        case .pingRequest: 7
        case .pingResponse: 8
        case .deviceInfoRequest: 9
        case .deviceInfoResponse: 10
        case .subscribeAdvertisements: 66
        case .deviceRequest: 68
        case .deviceConnection: 69
        case .getServices: 70
        case .services: 71
        case .servicesDone: 72
        case .readRequest: 73
        case .readResponse: 74
        case .writeRequest: 75
        case .writeDescriptor: 77
        case .notifyRequest: 78
        case .notifyData: 79
        case .subscribeConnectionsFree: 80
        case .connectionsFree: 81
        case .gattError: 82
        case .writeResponse: 83
        case .notifyResponse: 84
        case .unsubscribeAdvertisements: 87
        case .clearCacheResponse: 88
        case .advertisements: 93
        case .scannerState: 126
        case .setScannerMode: 127
        case .setConnectionParameters: 145
        case .connectionParametersResponse: 146
        case .capabilitiesRequest: 149
        case .capabilitiesResponse: 150
        case .other(let id): id
        }
    }

    /// The payload of the frame.
    package var payload: [UInt8] {
        var fields = ProtobufWriter()
        switch self {
        case .disconnectResponse, .pingRequest, .pingResponse, .deviceInfoRequest, .unsubscribeAdvertisements,
            .subscribeConnectionsFree, .capabilitiesRequest, .other:
            break
        case .helloRequest(let clientInfo, let major, let minor):
            fields.string(1, clientInfo)
            fields.unsigned(2, major)
            fields.unsigned(3, minor)
        case .helloResponse(let hello):
            fields.unsigned(1, hello.major)
            fields.unsigned(2, hello.minor)
            fields.string(3, hello.serverInfo)
            fields.string(4, hello.name)
        case .deviceInfoResponse(let info):
            fields.string(2, info.name)
            fields.string(3, info.macAddress)
            fields.string(4, info.version)
            fields.string(6, info.model)
            fields.string(12, info.manufacturer)
            fields.string(13, info.friendlyName)
            fields.unsigned(15, info.features.rawValue)
            fields.string(16, info.suggestedArea)
            fields.string(18, info.bluetoothAddress)
        case .disconnectRequest(let value), .subscribeAdvertisements(let value): fields.unsigned(1, value)
        case .advertisements(let list):
            for advertisement in list {
                var part = ProtobufWriter()
                part.unsigned(1, advertisement.address)
                part.zigzag(2, advertisement.rssi)
                part.unsigned(3, advertisement.addressKind)
                part.bytes(4, advertisement.data)
                fields.message(1, part.octets)
            }
        case .deviceRequest(let address, let request, let addressKind):
            fields.unsigned(1, address)
            fields.unsigned(2, request.rawValue)
            fields.bool(3, addressKind != nil)
            fields.unsigned(4, addressKind ?? 0)
        case .deviceConnection(let address, let isConnected, let mtu, let error):
            fields.unsigned(1, address)
            fields.bool(2, isConnected)
            fields.unsigned(3, mtu)
            fields.signed(4, error)
        case .getServices(let address), .servicesDone(let address): fields.unsigned(1, address)
        case .services(let address, let services):
            fields.unsigned(1, address)
            for service in services { fields.message(2, service.payload) }
        case .readRequest(let address, let handle), .writeResponse(let address, let handle),
            .notifyResponse(let address, let handle):
            fields.unsigned(1, address)
            fields.unsigned(2, handle)
        case .readResponse(let address, let handle, let value), .writeDescriptor(let address, let handle, let value),
            .notifyData(let address, let handle, let value):
            fields.unsigned(1, address)
            fields.unsigned(2, handle)
            fields.bytes(3, value)
        case .writeRequest(let address, let handle, let withResponse, let value):
            fields.unsigned(1, address)
            fields.unsigned(2, handle)
            fields.bool(3, withResponse)
            fields.bytes(4, value)
        case .notifyRequest(let address, let handle, let isEnabled):
            fields.unsigned(1, address)
            fields.unsigned(2, handle)
            fields.bool(3, isEnabled)
        case .gattError(let address, let handle, let error):
            fields.unsigned(1, address)
            fields.unsigned(2, handle)
            fields.signed(3, error)
        case .connectionsFree(let slots):
            fields.unsigned(1, slots.free)
            fields.unsigned(2, slots.limit)
            fields.packed(3, slots.allocated)
        case .clearCacheResponse(let address, let isCleared, let error):
            fields.unsigned(1, address)
            fields.bool(2, isCleared)
            fields.signed(3, error)
        case .scannerState(let state, let mode, let configuredMode):
            fields.unsigned(1, state)
            fields.unsigned(2, mode)
            fields.unsigned(3, configuredMode)
        case .setScannerMode(let isActive): fields.bool(1, isActive)
        case .setConnectionParameters(let address, let parameters):
            fields.unsigned(1, address)
            fields.unsigned(2, parameters.minimumInterval)
            fields.unsigned(3, parameters.maximumInterval)
            fields.unsigned(4, parameters.latency)
            fields.unsigned(5, parameters.timeout)
        case .connectionParametersResponse(let address, let error):
            fields.unsigned(1, address)
            fields.signed(2, error)
        case .capabilitiesResponse(let features, let bluetoothAddress):
            var part = ProtobufWriter()
            part.unsigned(1, features)
            part.string(2, bluetoothAddress)
            fields.message(1, part.octets)
        }
        return fields.octets
    }
}

extension ESPHomeUUID {
    fileprivate func write(to fields: inout ProtobufWriter) {
        if short == nil { fields.packed(1, [high, low]) }
    }
}

extension ESPHomeService {
    fileprivate var payload: [UInt8] {
        var fields = ProtobufWriter()
        uuid.write(to: &fields)
        fields.unsigned(2, handle)
        for characteristic in characteristics { fields.message(3, characteristic.payload) }
        fields.unsigned(4, uuid.short ?? 0)
        return fields.octets
    }
}

extension ESPHomeCharacteristic {
    fileprivate var payload: [UInt8] {
        var fields = ProtobufWriter()
        uuid.write(to: &fields)
        fields.unsigned(2, handle)
        fields.unsigned(3, properties)
        for descriptor in descriptors { fields.message(4, descriptor.payload) }
        fields.unsigned(5, uuid.short ?? 0)
        return fields.octets
    }
}

extension ESPHomeDescriptor {
    fileprivate var payload: [UInt8] {
        var fields = ProtobufWriter()
        uuid.write(to: &fields)
        fields.unsigned(2, handle)
        fields.unsigned(3, uuid.short ?? 0)
        return fields.octets
    }
}
