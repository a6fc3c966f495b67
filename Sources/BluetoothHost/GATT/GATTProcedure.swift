/// A GATT procedure: one or more requests to a server, with one result or failure.
///
/// - Source: Bluetooth Core 5.4, Vol 3, Part G, 4.
public enum GATTProcedure: Hashable, Sendable {
    case exchangeMTU
    /// Discovers all primary services, at most `LEHost.maximumServices`.
    case discoverServices
    /// Discovers the first primary service with this UUID, and its characteristics.
    case discoverService(BluetoothUUID)
    /// Discovers the characteristics within the handles of a service.
    case discoverCharacteristics(RemoteService)
    case discoverDescriptors(RemoteService.Characteristic)
    /// Reads a complete value or descriptor, at most 512 octets.
    case read(AttributeHandle)
    /// Writes a value or descriptor with response; as a long write if it does not fit into one request.
    case write(AttributeHandle, [UInt8])
    case setNotifications(configuration: AttributeHandle, enabled: Bool)
    case setIndications(configuration: AttributeHandle, enabled: Bool)
}

/// The next step of a GATT procedure after a response: another request, the result or a failure.
enum GATTStep<Result: Hashable & Sendable>: Hashable, Sendable {
    case request(ATTPDU)
    case done(Result)
    case failed(ATTFailure)
}
