/// The messages of ESPHome's native API that are needed for buttons, in both directions. An address is the printed form
/// read as one number: `80:E4:DA:7B:00:01` is 0x80E4DA7B0001.
///
/// - Source: ESPHome's `api.proto`.
package enum ESPHomeMessage: Hashable, Sendable {
    case hello(HelloRequest)
    case helloResponse(HelloResponse)
    case disconnectRequest
    case disconnectResponse
    case pingRequest
    case pingResponse
    case deviceInfoRequest
    case deviceInfo(DeviceInfo)

    /// Bit 0 of the flags asks for raw advertisements.
    case subscribeAdvertisements(flags: UInt32)
    case unsubscribeAdvertisements
    case rawAdvertisements([RawAdvertisement])
    case scannerState(ScannerState, mode: ScannerMode, configuredMode: ScannerMode)
    case setScannerMode(isActive: Bool)

    /// A proxy that is asked to connect without an address type keeps the slot for ever, so only other requests may
    /// leave it out.
    case deviceRequest(address: UInt64, DeviceRequestKind, addressType: UInt32?)
    case deviceConnection(address: UInt64, isConnected: Bool, mtu: UInt32, error: Int32)
    case subscribeConnectionsFree
    case connectionsFree(free: UInt32, limit: UInt32, allocated: [UInt64])
    case clearCacheResponse(address: UInt64, isSuccess: Bool, error: Int32)
    /// The intervals in units of 1.25 ms, the timeout in units of 10 ms.
    case setConnectionParameters(
        address: UInt64, minimumInterval: UInt32, maximumInterval: UInt32, latency: UInt32, timeout: UInt32)
    case connectionParametersSet(address: UInt64, error: Int32)

    case getServices(address: UInt64)
    case services(address: UInt64, [GATTService])
    case servicesDone(address: UInt64)
    case write(address: UInt64, handle: UInt32, withResponse: Bool, value: [UInt8])
    case writeDescriptor(address: UInt64, handle: UInt32, value: [UInt8])
    case notify(address: UInt64, handle: UInt32, isEnabled: Bool)
    case notified(address: UInt64, handle: UInt32, value: [UInt8])
    case writeResponse(address: UInt64, handle: UInt32)
    case notifyResponse(address: UInt64, handle: UInt32)
    case gattError(address: UInt64, handle: UInt32, error: Int32)

    /// Any other message, by its number. What it says is neither read nor checked; when sent, it is empty.
    case other(UInt32)

    package var id: UInt32 {
        switch self {
        case .hello: 1
        case .helloResponse: 2
        case .disconnectRequest: 5
        case .disconnectResponse: 6
        case .pingRequest: 7
        case .pingResponse: 8
        case .deviceInfoRequest: 9
        case .deviceInfo: 10
        case .subscribeAdvertisements: 66
        case .deviceRequest: 68
        case .deviceConnection: 69
        case .getServices: 70
        case .services: 71
        case .servicesDone: 72
        case .write: 75
        case .writeDescriptor: 77
        case .notify: 78
        case .notified: 79
        case .subscribeConnectionsFree: 80
        case .connectionsFree: 81
        case .gattError: 82
        case .writeResponse: 83
        case .notifyResponse: 84
        case .unsubscribeAdvertisements: 87
        case .clearCacheResponse: 88
        case .rawAdvertisements: 93
        case .scannerState: 126
        case .setScannerMode: 127
        case .setConnectionParameters: 145
        case .connectionParametersSet: 146
        case .other(let id): id
        }
    }
}
