/// Discovers all descriptors of a characteristic.
///
/// | on                         | and we                                     |
/// |----------------------------|--------------------------------------------|
/// | a list, more to come       | Find Information after the last handle     |
/// | the last list, or not found | done                                      |
/// | another error              | failed: errorResponse                      |
/// | handles that decrease or leave the range | failed: malformedResponse    |
///
/// - Source: Bluetooth Core 5.4, Vol 3, Part G, 4.7.1.
struct DescriptorDiscovery: Hashable, Sendable {
    /// The maximum number of descriptors reported; further descriptors are ignored.
    static let maximumDescriptors = 64

    let valueHandle: AttributeHandle
    private var range: HandleRange
    private var found: [RemoteService.Descriptor] = []

    /// `nil` if there is no handle after the value, and hence no descriptor to ask for.
    init?(_ characteristic: RemoteService.Characteristic) {
        valueHandle = characteristic.valueHandle
        let value = valueHandle.rawValue
        guard value < characteristic.lastHandle.rawValue else { return nil }
        range = HandleRange(start: value + 1, end: characteristic.lastHandle.rawValue)
    }

    var request: ATTPDU { .findInformationRequest(range) }

    mutating func handle(_ response: ATTPDU) -> GATTStep<[RemoteService.Descriptor]> {
        if case .findInformationResponse(let list) = response { return take(list) }
        if case .errorResponse(_, _, .attributeNotFound) = response { return .done(found) }
        return .failed(ATTFailure(unexpected: response))
    }

    private mutating func take(_ list: [AttributeInformation]) -> GATTStep<[RemoteService.Descriptor]> {
        var last = range.start - 1
        for element in list {
            guard element.handle > last, element.handle <= range.end else { return .failed(.malformedResponse) }
            last = element.handle
            found.append(.init(uuid: element.type, handle: AttributeHandle(rawValue: last)))
            guard found.count < Self.maximumDescriptors else { return .done(found) }
        }
        guard last < range.end else { return .done(found) }
        range.start = last + 1
        return .request(request)
    }
}
