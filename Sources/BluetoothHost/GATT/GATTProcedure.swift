/// Something asked of a peer's GATT server: several requests, one result or one failure.
///
/// - Source: Bluetooth Core 5.4, Vol 3, Part G, 4.
public enum GATTProcedure: Hashable, Sendable {
    case exchangeMTU
    /// All primary services, at most `Host.maximumServices` of them.
    case discoverServices
    /// The first primary service with this UUID, and its characteristics.
    case discoverService(UUID)
    /// The characteristics in the handles of a service.
    case discoverCharacteristics(RemoteService)
    case discoverDescriptors(RemoteService.Characteristic)
    /// A value or a descriptor, whole: at most 512 octets.
    case read(AttributeHandle)
    /// A value or a descriptor, with response; prepared in parts where one request is too short for it.
    case write(AttributeHandle, [UInt8])
    case setNotifications(configuration: AttributeHandle, enabled: Bool)
    case setIndications(configuration: AttributeHandle, enabled: Bool)
}

/// What a procedure does with a response.
enum GATTStep<Result: Hashable & Sendable>: Hashable, Sendable {
    case request(ATTPDU)
    case done(Result)
    case failed(ATTFailure)
}
