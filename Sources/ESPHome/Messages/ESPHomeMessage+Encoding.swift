extension ESPHomeMessage {
    /// The payload in protobuf's coding, without fields that have their default value.
    package func encoded() -> [UInt8] {
        var writer = ProtobufWriter()
        switch self {
        case .disconnectRequest, .disconnectResponse, .pingRequest, .pingResponse, .deviceInfoRequest,
            .unsubscribeAdvertisements, .subscribeConnectionsFree, .other:
            break
        case .hello(let hello):
            writer.text(1, hello.clientInfo)
            writer.uint32(2, hello.major)
            writer.uint32(3, hello.minor)
        case .helloResponse(let hello):
            writer.uint32(1, hello.major)
            writer.uint32(2, hello.minor)
            writer.text(3, hello.serverInfo)
            writer.text(4, hello.name)
        case .deviceInfo(let info): info.write(to: &writer)
        case .subscribeAdvertisements(let flags): writer.uint32(1, flags)
        case .rawAdvertisements(let advertisements):
            for advertisement in advertisements { writer.element(1, advertisement.encoded()) }
        case .scannerState(let state, let mode, let configuredMode):
            writer.uint32(1, state.rawValue)
            writer.uint32(2, mode.rawValue)
            writer.uint32(3, configuredMode.rawValue)
        case .setScannerMode(let isActive): writer.bool(1, isActive)
        case .connectionsFree(let free, let limit, let allocated):
            writer.uint32(1, free)
            writer.uint32(2, limit)
            writer.packed(3, allocated)
        case .deviceRequest(let address, _, _), .deviceConnection(let address, _, _, _),
            .clearCacheResponse(let address, _, _), .setConnectionParameters(let address, _, _, _, _),
            .connectionParametersSet(let address, _), .getServices(let address), .services(let address, _),
            .servicesDone(let address), .write(let address, _, _, _), .writeDescriptor(let address, _, _),
            .notify(let address, _, _), .notified(let address, _, _), .writeResponse(let address, _),
            .notifyResponse(let address, _), .gattError(let address, _, _):
            // All messages about a button begin with its address.
            writer.uint64(1, address)
            writeMore(to: &writer)
        }
        return writer.octets
    }

    /// Writes the fields that follow the address in messages about a button.
    private func writeMore(to writer: inout ProtobufWriter) {
        switch self {
        case .deviceRequest(_, let kind, let addressType):
            writer.uint32(2, kind.rawValue)
            writer.bool(3, addressType != nil)
            writer.uint32(4, addressType ?? 0)
        case .deviceConnection(_, let isConnected, let mtu, let error):
            writer.bool(2, isConnected)
            writer.uint32(3, mtu)
            writer.int32(4, error)
        case .clearCacheResponse(_, let isSuccess, let error):
            writer.bool(2, isSuccess)
            writer.int32(3, error)
        case .setConnectionParameters(_, let minimumInterval, let maximumInterval, let latency, let timeout):
            writer.uint32(2, minimumInterval)
            writer.uint32(3, maximumInterval)
            writer.uint32(4, latency)
            writer.uint32(5, timeout)
        case .connectionParametersSet(_, let error): writer.int32(2, error)
        case .services(_, let services):
            for service in services { writer.element(2, service.encoded()) }
        case .write(_, let handle, let withResponse, let value):
            writer.uint32(2, handle)
            writer.bool(3, withResponse)
            writer.bytes(4, value)
        case .writeDescriptor(_, let handle, let value), .notified(_, let handle, let value):
            writer.uint32(2, handle)
            writer.bytes(3, value)
        case .notify(_, let handle, let isEnabled):
            writer.uint32(2, handle)
            writer.bool(3, isEnabled)
        case .writeResponse(_, let handle), .notifyResponse(_, let handle): writer.uint32(2, handle)
        case .gattError(_, let handle, let error):
            writer.uint32(2, handle)
            writer.int32(3, error)
        // The first has nothing more, and the others are not about a button.
        case .getServices, .servicesDone, .hello, .helloResponse, .disconnectRequest, .disconnectResponse,
            .pingRequest, .pingResponse, .deviceInfoRequest, .deviceInfo, .subscribeAdvertisements,
            .unsubscribeAdvertisements, .rawAdvertisements, .scannerState, .setScannerMode,
            .subscribeConnectionsFree, .connectionsFree, .other:
            break
        }
    }
}

extension DeviceInfo {
    fileprivate func write(to writer: inout ProtobufWriter) {
        writer.text(2, name)
        writer.text(3, macAddress)
        writer.text(4, version)
        writer.text(6, model)
        writer.text(12, manufacturer)
        writer.text(13, friendlyName)
        writer.uint32(15, features.rawValue)
        writer.text(16, suggestedArea)
        writer.text(18, bluetoothMACAddress)
    }
}
