/// Discovers all primary services, without their characteristics.
///
/// | on                        | and we                                                     |
/// |---------------------------|------------------------------------------------------------|
/// | groups, more to come      | Read By Group Type after the last group's end              |
/// | the last, or not found    | done                                                       |
/// | another error             | failed: errorResponse                                      |
/// | handles that decrease or overlap | failed: malformedResponse                           |
///
/// - Source: Bluetooth Core 5.4, Vol 3, Part G, 4.4.1.
struct PrimaryServiceDiscovery: Hashable, Sendable {
    private var found: [RemoteService] = []
    private var start: UInt16 = 1

    var request: ATTPDU {
        .readByGroupTypeRequest(HandleRange(start: start, end: .max), type: .short(GATTType.primaryService))
    }

    mutating func handle(_ response: ATTPDU) -> GATTStep<[RemoteService]> {
        if case .readByGroupTypeResponse(let groups) = response { return take(groups) }
        if case .errorResponse(_, _, .attributeNotFound) = response { return .done(found) }
        return .failed(ATTFailure(unexpected: response))
    }

    private mutating func take(_ groups: [AttributeGroup]) -> GATTStep<[RemoteService]> {
        var last = start - 1
        for group in groups {
            guard group.range.start > last, group.range.start <= group.range.end,
                let uuid = BluetoothUUID(wireOctets: group.value)
            else { return .failed(.malformedResponse) }
            last = group.range.end
            found.append(
                RemoteService(
                    uuid: uuid,
                    handles: AttributeHandle(rawValue: group.range.start)...AttributeHandle(rawValue: last),
                    characteristics: []))
            guard found.count < LEHost.maximumServices else { return .done(found) }
        }
        guard last < .max else { return .done(found) }
        start = last + 1
        return .request(request)
    }
}
