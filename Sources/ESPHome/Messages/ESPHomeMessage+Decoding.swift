extension ESPHomeMessage {
    /// Reads a payload in protobuf's coding. Unknown fields are passed over, and text that is not UTF-8 is repaired.
    package init(id: UInt32, payload: [UInt8]) throws(ESPHomeMalformed) {
        guard payload.count <= ESPHomeLimits.messageLength else { throw .messageTooLong(payload.count) }
        switch id {
        case 71: self = try Self.services(payload)
        case 81: self = try Self.connectionsFree(payload)
        case 93: self = try Self.rawAdvertisements(payload)
        default:
            guard let message = try Self.scalars(id: id, payload) else {
                self = .other(id)
                return
            }
            self = message
        }
    }

    /// A message without repeated fields; `nil` if the number is not that of a known one.
    private static func scalars(id: UInt32, _ payload: [UInt8]) throws(ESPHomeMalformed) -> ESPHomeMessage? {
        guard isScalar(id) else { return nil }
        let fields = try ProtobufScalars(payload)
        switch id {
        case 1:
            return .hello(HelloRequest(clientInfo: fields.text(1), major: fields.uint32(2), minor: fields.uint32(3)))
        case 2:
            return .helloResponse(
                HelloResponse(
                    major: fields.uint32(1), minor: fields.uint32(2), serverInfo: fields.text(3), name: fields.text(4)))
        case 5: return .disconnectRequest
        case 6: return .disconnectResponse
        case 7: return .pingRequest
        case 8: return .pingResponse
        case 9: return .deviceInfoRequest
        case 10: return .deviceInfo(DeviceInfo(fields))
        case 66: return .subscribeAdvertisements(flags: fields.uint32(1))
        case 80: return .subscribeConnectionsFree
        case 87: return .unsubscribeAdvertisements
        case 126:
            return .scannerState(
                ScannerState(rawValue: fields.uint32(1)), mode: ScannerMode(rawValue: fields.uint32(2)),
                configuredMode: ScannerMode(rawValue: fields.uint32(3)))
        case 127: return .setScannerMode(isActive: fields.bool(1))
        default: return try aboutButton(id: id, address: fields.uint64(1), fields)
        }
    }

    private static func isScalar(_ id: UInt32) -> Bool {
        switch id {
        case 1, 2, 5...10, 66, 68...70, 72, 75, 77...80, 82...84, 87, 88, 126, 127, 145, 146: true
        default: false
        }
    }

    private static func aboutButton(
        id: UInt32, address: UInt64, _ fields: ProtobufScalars
    ) throws(ESPHomeMalformed) -> ESPHomeMessage? {
        switch id {
        case 68:
            return .deviceRequest(
                address: address, DeviceRequestKind(rawValue: fields.uint32(2)),
                addressType: fields.bool(3) ? fields.uint32(4) : nil)
        case 69:
            return .deviceConnection(
                address: address, isConnected: fields.bool(2), mtu: fields.uint32(3), error: fields.int32(4))
        case 70: return .getServices(address: address)
        case 72: return .servicesDone(address: address)
        case 75:
            return .write(
                address: address, handle: fields.uint32(2), withResponse: fields.bool(3), value: try fields.value(4))
        case 77: return .writeDescriptor(address: address, handle: fields.uint32(2), value: try fields.value(3))
        case 78: return .notify(address: address, handle: fields.uint32(2), isEnabled: fields.bool(3))
        case 79: return .notified(address: address, handle: fields.uint32(2), value: try fields.value(3))
        case 82: return .gattError(address: address, handle: fields.uint32(2), error: fields.int32(3))
        case 83: return .writeResponse(address: address, handle: fields.uint32(2))
        case 84: return .notifyResponse(address: address, handle: fields.uint32(2))
        case 88: return .clearCacheResponse(address: address, isSuccess: fields.bool(2), error: fields.int32(3))
        case 145:
            return .setConnectionParameters(
                address: address, minimumInterval: fields.uint32(2), maximumInterval: fields.uint32(3),
                latency: fields.uint32(4), timeout: fields.uint32(5))
        case 146: return .connectionParametersSet(address: address, error: fields.int32(2))
        default: return nil
        }
    }

    private static func services(_ payload: [UInt8]) throws(ESPHomeMalformed) -> ESPHomeMessage {
        var address: UInt64 = 0
        var services: [GATTService] = []
        var reader = ProtobufReader(payload)
        while let field = try reader.field() {
            switch (field.number, field.value) {
            case (1, .number(let value)): address = value
            case (2, .octets(let element)):
                guard services.count < ESPHomeLimits.services else { throw .tooMany(.services) }
                services.append(try GATTService(decoding: element))
            default: break
            }
        }
        return .services(address: address, services)
    }

    private static func connectionsFree(_ payload: [UInt8]) throws(ESPHomeMalformed) -> ESPHomeMessage {
        var free: UInt32 = 0
        var limit: UInt32 = 0
        var allocated: [UInt64] = []
        var reader = ProtobufReader(payload)
        while let field = try reader.field() {
            switch (field.number, field.value) {
            case (1, .number(let value)): free = UInt32(truncatingIfNeeded: value)
            case (2, .number(let value)): limit = UInt32(truncatingIfNeeded: value)
            case (3, let value):
                try allocated.append(value, limit: ESPHomeLimits.links, orThrow: .tooMany(.links))
            default: break
            }
        }
        return .connectionsFree(free: free, limit: limit, allocated: allocated)
    }

    private static func rawAdvertisements(_ payload: [UInt8]) throws(ESPHomeMalformed) -> ESPHomeMessage {
        var advertisements: [RawAdvertisement] = []
        var reader = ProtobufReader(payload)
        while let field = try reader.field() {
            guard field.number == 1, case .octets(let element) = field.value else { continue }
            guard advertisements.count < ESPHomeLimits.advertisements else { throw .tooMany(.advertisements) }
            advertisements.append(try RawAdvertisement(decoding: element))
        }
        return .rawAdvertisements(advertisements)
    }
}

extension DeviceInfo {
    fileprivate init(_ fields: ProtobufScalars) {
        self.init(
            name: fields.text(2), macAddress: fields.text(3), version: fields.text(4), model: fields.text(6),
            manufacturer: fields.text(12), friendlyName: fields.text(13),
            features: BluetoothProxyFeatures(rawValue: fields.uint32(15)), suggestedArea: fields.text(16),
            bluetoothMACAddress: fields.text(18))
    }
}
