/// Finds one primary service by its UUID, then its characteristics, then where each one's notifications are
/// switched on.
///
/// | state            | on                         | becomes          | and we                                  |
/// |------------------|----------------------------|------------------|-----------------------------------------|
/// | service          | a range                    | characteristics  | Read By Type from its first handle      |
/// | service          | attribute not found        | –                | failed: serviceNotFound                 |
/// | characteristics  | declarations, more to come | characteristics  | Read By Type after the last one         |
/// | characteristics  | the last, or not found     | descriptors      | Find Information after the first value  |
/// | descriptors      | a list                     | descriptors      | the rest of the gap, or the next one    |
/// | descriptors      | not found                  | descriptors      | the next gap                            |
/// | descriptors      | no gap left                | –                | done                                    |
/// | any              | another error              | –                | failed: errorResponse                   |
/// | any              | handles that run backwards or leave the range | – | failed: malformedResponse           |
///
/// Of several services with the UUID the first is taken; one whose handles are known begins with its
/// characteristics. A characteristic directly before the next declaration has no descriptor and costs no request.
///
/// - Source: Bluetooth Core 5.4, Vol 3, Part G, 4.4.2, 4.6.1 and 4.7.1.
struct ServiceDiscovery: Hashable, Sendable {
    typealias Step = GATTStep<RemoteService>

    /// More than any button has; the rest is not looked at.
    static let maximumCharacteristics = 64

    private enum State: Hashable, Sendable {
        case service
        case characteristics
        /// Looking behind the value of the characteristic with this index.
        case descriptors(index: Int)
    }

    private struct Found: Hashable, Sendable {
        var declaration: UInt16
        var characteristic: RemoteService.Characteristic
        /// The last handle that may belong to it.
        var end: UInt16
    }

    private let uuid: UUID
    private var state = State.service
    private var range = HandleRange(start: 1, end: .max)
    private var found: [Found] = []
    /// What the outstanding request asked about.
    private var asked = HandleRange(start: 1, end: .max)

    init(_ uuid: UUID) { self.uuid = UUID(wireOctets: uuid.wireOctets) ?? uuid }

    /// Of a service whose handles are known; its characteristics are looked for afresh.
    init(_ service: RemoteService) {
        uuid = service.uuid
        range = HandleRange(start: service.handles.lowerBound.rawValue, end: service.handles.upperBound.rawValue)
        asked = range
        state = .characteristics
    }

    var firstRequest: ATTPDU {
        switch state {
        case .service: .findByTypeValueRequest(range, type: GATTType.primaryService, value: uuid.wireOctets)
        case .characteristics, .descriptors: .readByTypeRequest(asked, type: .short(GATTType.characteristic))
        }
    }

    mutating func handle(_ response: ATTPDU) -> Step {
        if case .errorResponse(_, let handle, let code) = response {
            guard code == .attributeNotFound else {
                return .failed(.errorResponse(code: code.rawValue, attributeHandle: handle))
            }
            switch state {
            case .service: return .failed(.serviceNotFound)
            case .characteristics: return findDescriptors(from: 0)
            case .descriptors(let index): return findDescriptors(from: index + 1)
            }
        }
        switch (state, response) {
        case (.service, .findByTypeValueResponse(let ranges)): return foundService(ranges)
        case (.characteristics, .readByTypeResponse(let list)): return foundCharacteristics(list)
        case (.descriptors(let index), .findInformationResponse(let list)): return foundDescriptors(list, of: index)
        case (.service, _), (.characteristics, _), (.descriptors, _): return .failed(.malformedResponse)
        }
    }

    private mutating func foundService(_ ranges: [HandleRange]) -> Step {
        guard let first = ranges.first, first.start > 0, first.start <= first.end else {
            return .failed(.malformedResponse)
        }
        range = first
        state = .characteristics
        return findCharacteristics(from: first.start)
    }

    private mutating func findCharacteristics(from start: UInt16) -> Step {
        asked = HandleRange(start: start, end: range.end)
        return .request(.readByTypeRequest(asked, type: .short(GATTType.characteristic)))
    }

    private mutating func foundCharacteristics(_ list: [AttributeData]) -> Step {
        for element in list {
            guard element.handle >= asked.start, element.handle <= asked.end,
                element.handle > found.last?.declaration ?? 0,
                let declaration = CharacteristicDeclaration(decoding: element.value),
                declaration.valueHandle > element.handle, declaration.valueHandle <= range.end
            else { return .failed(.malformedResponse) }
            guard found.count < Self.maximumCharacteristics else { return findDescriptors(from: 0) }
            // A value beyond the next declaration would leave no room between: the range below is then empty.
            if let last = found.indices.last { found[last].end = element.handle - 1 }
            found.append(
                Found(
                    declaration: element.handle,
                    characteristic: .init(
                        uuid: declaration.uuid, valueHandle: AttributeHandle(rawValue: declaration.valueHandle),
                        properties: declaration.properties, configurationHandle: nil),
                    end: range.end))
        }
        guard let last = found.last?.characteristic.valueHandle.rawValue, last < range.end else {
            return findDescriptors(from: 0)
        }
        return findCharacteristics(from: last + 1)
    }

    private mutating func findDescriptors(from first: Int) -> Step {
        for (index, element) in found.enumerated().dropFirst(first) {
            let value = element.characteristic.valueHandle.rawValue
            guard value < element.end else { continue }
            state = .descriptors(index: index)
            asked = HandleRange(start: value + 1, end: element.end)
            return .request(.findInformationRequest(asked))
        }
        return .done(
            RemoteService(
                uuid: uuid,
                handles: AttributeHandle(rawValue: range.start)...AttributeHandle(rawValue: range.end),
                characteristics: found.map {
                    var characteristic = $0.characteristic
                    // A value behind the next declaration leaves no room for descriptors.
                    characteristic.lastHandle = max(characteristic.valueHandle, AttributeHandle(rawValue: $0.end))
                    return characteristic
                }))
    }

    private mutating func foundDescriptors(_ list: [AttributeInformation], of index: Int) -> Step {
        var last: UInt16 = 0
        for element in list {
            guard element.handle >= asked.start, element.handle <= asked.end, element.handle > last else {
                return .failed(.malformedResponse)
            }
            last = element.handle
            if element.type == .short(GATTType.clientCharacteristicConfiguration) {
                found[index].characteristic.configurationHandle = AttributeHandle(rawValue: element.handle)
                return findDescriptors(from: index + 1)
            }
        }
        guard last > 0, last < asked.end else { return findDescriptors(from: index + 1) }
        asked.start = last + 1
        return .request(.findInformationRequest(asked))
    }
}
