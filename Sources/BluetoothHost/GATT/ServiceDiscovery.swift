/// Discovers a primary service by its UUID, then its characteristics, then their Client Characteristic Configuration
/// descriptors.
///
/// | state            | on                         | becomes          | and we                                  |
/// |------------------|----------------------------|------------------|-----------------------------------------|
/// | service          | a range                    | characteristics  | Read By Type from its first handle      |
/// | service          | attribute not found        | –                | failed: serviceNotFound                 |
/// | characteristics  | declarations, more to come | characteristics  | Read By Type after the last one         |
/// | characteristics  | the last, or not found     | descriptors      | Find Information after the first value  |
/// | descriptors      | a list                     | descriptors      | the rest of the gap, or the next gap    |
/// | descriptors      | not found                  | descriptors      | the next gap                            |
/// | descriptors      | no gap left                | –                | done                                    |
/// | any              | another error              | –                | failed: errorResponse                   |
/// | any              | handles that decrease or leave the range | –  | failed: malformedResponse               |
///
/// If several services have the same UUID, the first is used. For a service with known handles, discovery begins with
/// the characteristics. A gap is the range between a characteristic's value and the next declaration; an empty gap
/// needs no request.
///
/// - Source: Bluetooth Core 5.4, Vol 3, Part G, 4.4.2, 4.6.1 and 4.7.1.
struct ServiceDiscovery: Hashable, Sendable {
    typealias Step = GATTStep<RemoteService>

    /// The maximum number of characteristics, far more than a button has; further characteristics are ignored.
    static let maximumCharacteristics = 64

    private enum State: Hashable, Sendable {
        case service
        case characteristics
        /// Looking for descriptors after the value of the characteristic with this index.
        case descriptors(index: Int)
    }

    private struct Found: Hashable, Sendable {
        var declaration: UInt16
        var characteristic: RemoteService.Characteristic
        /// The last handle that may belong to the characteristic.
        var end: UInt16
    }

    private let uuid: BluetoothUUID
    private var state = State.service
    private var range = HandleRange(start: 1, end: .max)
    private var found: [Found] = []
    /// The range of the outstanding request.
    private var asked = HandleRange(start: 1, end: .max)

    init(_ uuid: BluetoothUUID) { self.uuid = BluetoothUUID(wireOctets: uuid.wireOctets) ?? uuid }

    /// Discovers the characteristics of a service whose handles are known.
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
            // If a value's handle is beyond the next declaration, the range for its descriptors is empty.
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
                    // `end` is below the value's handle if that is beyond the next declaration.
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
