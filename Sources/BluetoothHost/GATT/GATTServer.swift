import ButtonModel

/// The answering side of one link: what the peer may find, read and write in an `AttributeTable`.
///
/// It keeps nothing but which notifications the peer switched on. A request it does not know is refused, a
/// command it does not know is ignored.
///
/// - Source: Bluetooth Core 5.4, Vol 3, Part F, 3.4.
struct GATTServer: Hashable, Sendable {
    enum Effect: Hashable, Sendable {
        case send(ATTPDU)
        /// What the client takes.
        case mtuRequested(clientMTU: UInt16)
        case written(AttributeHandle, [UInt8])
        /// The handle is the characteristic's value's.
        case subscribed(AttributeHandle, enabled: Bool)
    }

    /// - Source: Bluetooth Core 5.4, Vol 3, Part F, 3.2.9.
    static let maximumValueLength = 512

    /// Values whose notifications are on.
    private var subscriptions: Set<UInt16> = []

    /// - Parameters:
    ///   - offeredMTU: what we answer to Exchange MTU.
    ///   - mtu: no answer is longer.
    mutating func handle(
        _ request: ATTPDU, in table: AttributeTable, offeredMTU: UInt16, mtu: UInt16
    ) -> [Effect] {
        switch request {
        case .exchangeMTURequest(let clientMTU):
            [.send(.exchangeMTUResponse(offeredMTU)), .mtuRequested(clientMTU: clientMTU)]
        case .writeRequest(let handle, let value):
            write(value, to: handle, in: table)
        case .writeCommand(let handle, let value):
            writeCommand(value, to: handle, in: table)
        default:
            [.send(answer(request, in: table, mtu: Int(mtu)))]
        }
    }

    private func answer(_ request: ATTPDU, in table: AttributeTable, mtu: Int) -> ATTPDU {
        switch request {
        case .findInformationRequest(let range):
            list(request, range, in: table) { findInformation(in: $0, mtu: mtu) }
        case .findByTypeValueRequest(let range, let type, let value):
            list(request, range, in: table) { findByTypeValue(type, value, in: $0, mtu: mtu) }
        case .readByTypeRequest(let range, let type):
            list(request, range, in: table) { readByType(request, type, in: $0, mtu: mtu) }
        case .readByGroupTypeRequest(let range, let type):
            list(request, range, in: table) { readByGroupType(request, type, in: $0, mtu: mtu) }
        case .readRequest(let handle):
            read(request, handle, offset: 0, in: table) { .readResponse(Array($0.prefix(mtu - 1))) }
        case .readBlobRequest(let handle, let offset):
            read(request, handle, offset: Int(offset), in: table) { .readBlobResponse(Array($0.prefix(mtu - 1))) }
        default:
            .errorResponse(request: request.opcode, attributeHandle: 0, .requestNotSupported)
        }
    }

    // MARK: Finding

    private func list(
        _ request: ATTPDU, _ range: HandleRange, in table: AttributeTable,
        _ answer: (ArraySlice<AttributeTable.Attribute>) -> ATTPDU?
    ) -> ATTPDU {
        guard range.start > 0, range.start <= range.end else {
            return .errorResponse(request: request.opcode, attributeHandle: range.start, .invalidHandle)
        }
        return answer(table[range])
            ?? .errorResponse(request: request.opcode, attributeHandle: range.start, .attributeNotFound)
    }

    private func findInformation(in attributes: ArraySlice<AttributeTable.Attribute>, mtu: Int) -> ATTPDU? {
        guard let length = attributes.first?.type.wireOctets.count else { return nil }
        let list = attributes.prefix { $0.type.wireOctets.count == length }.prefix((mtu - 2) / (2 + length))
        return .findInformationResponse(list.map { AttributeInformation(handle: $0.handle, type: $0.type) })
    }

    private func findByTypeValue(
        _ type: UInt16, _ value: [UInt8], in attributes: ArraySlice<AttributeTable.Attribute>, mtu: Int
    ) -> ATTPDU? {
        let ranges = attributes.lazy.filter { $0.type == .short(type) && $0.value == value }.map { attribute in
            if case .service(let end) = attribute.kind {
                HandleRange(start: attribute.handle, end: end)
            } else {
                HandleRange(start: attribute.handle, end: attribute.handle)
            }
        }.prefix((mtu - 1) / 4)
        return ranges.isEmpty ? nil : .findByTypeValueResponse(Array(ranges))
    }

    private func readByType(
        _ request: ATTPDU, _ type: UUID, in attributes: ArraySlice<AttributeTable.Attribute>, mtu: Int
    ) -> ATTPDU? {
        let matching = attributes.filter { $0.type == type }
        guard let first = matching.first else { return nil }
        guard isReadable(first) else {
            return .errorResponse(request: request.opcode, attributeHandle: first.handle, .readNotPermitted)
        }
        let longest = min(mtu - 4, 253)
        let length = min(value(of: first).count, longest)
        let list = matching.prefix { isReadable($0) && min(value(of: $0).count, longest) == length }
        return .readByTypeResponse(
            list.prefix((mtu - 2) / (2 + length)).map {
                AttributeData(handle: $0.handle, value: Array(value(of: $0).prefix(length)))
            })
    }

    private func readByGroupType(
        _ request: ATTPDU, _ type: UUID, in attributes: ArraySlice<AttributeTable.Attribute>, mtu: Int
    ) -> ATTPDU? {
        guard type == .short(GATTType.primaryService) || type == .short(GATTType.secondaryService) else {
            let start = attributes.first?.handle ?? 0
            return .errorResponse(request: request.opcode, attributeHandle: start, .unsupportedGroupType)
        }
        let groups = attributes.filter { $0.type == type }.map { attribute in
            let end = if case .service(let end) = attribute.kind { end } else { attribute.handle }
            return AttributeGroup(range: HandleRange(start: attribute.handle, end: end), value: attribute.value)
        }
        guard let length = groups.first?.value.count else { return nil }
        return .readByGroupTypeResponse(
            Array(groups.prefix { $0.value.count == length }.prefix((mtu - 2) / (4 + length))))
    }

    // MARK: Reading and writing

    private func read(
        _ request: ATTPDU, _ handle: UInt16, offset: Int, in table: AttributeTable,
        _ answer: (ArraySlice<UInt8>) -> ATTPDU
    ) -> ATTPDU {
        guard let attribute = table[handle] else { return refusal(of: request, handle, .invalidHandle) }
        guard isReadable(attribute) else { return refusal(of: request, handle, .readNotPermitted) }
        let value = value(of: attribute)
        guard offset <= value.count else { return refusal(of: request, handle, .invalidOffset) }
        return answer(value.dropFirst(offset))
    }

    private mutating func write(_ value: [UInt8], to handle: UInt16, in table: AttributeTable) -> [Effect] {
        let request = ATTPDU.writeRequest(handle, value)
        guard let attribute = table[handle] else { return [.send(refusal(of: request, handle, .invalidHandle))] }
        switch attribute.kind {
        case .value(let properties) where properties & CharacteristicProperty.write != 0:
            guard value.count <= Self.maximumValueLength else {
                return [.send(refusal(of: request, handle, .invalidAttributeValueLength))]
            }
            return [.send(.writeResponse), .written(AttributeHandle(rawValue: handle), value)]
        case .configuration(let valueHandle):
            guard let bits = value.first, value.count == 2 else {
                return [.send(refusal(of: request, handle, .invalidAttributeValueLength))]
            }
            return [.send(.writeResponse)] + subscribe(valueHandle, enabled: bits & 1 != 0)
        case .service, .characteristic, .value:
            return [.send(refusal(of: request, handle, .writeNotPermitted))]
        }
    }

    /// A command is carried out or ignored; it has no answer either way.
    private mutating func writeCommand(_ value: [UInt8], to handle: UInt16, in table: AttributeTable) -> [Effect] {
        guard case .value(let properties) = table[handle]?.kind, value.count <= Self.maximumValueLength,
            properties & CharacteristicProperty.writeWithoutResponse != 0
        else { return [] }
        return [.written(AttributeHandle(rawValue: handle), value)]
    }

    private mutating func subscribe(_ valueHandle: UInt16, enabled: Bool) -> [Effect] {
        let isChange =
            enabled ? subscriptions.insert(valueHandle).inserted : subscriptions.remove(valueHandle) != nil
        return isChange ? [.subscribed(AttributeHandle(rawValue: valueHandle), enabled: enabled)] : []
    }

    private func refusal(of request: ATTPDU, _ handle: UInt16, _ code: ATTErrorCode) -> ATTPDU {
        .errorResponse(request: request.opcode, attributeHandle: handle, code)
    }

    private func isReadable(_ attribute: AttributeTable.Attribute) -> Bool {
        switch attribute.kind {
        case .service, .characteristic, .configuration: true
        case .value(let properties): properties & CharacteristicProperty.read != 0
        }
    }

    private func value(of attribute: AttributeTable.Attribute) -> [UInt8] {
        guard case .configuration(let valueHandle) = attribute.kind else { return attribute.value }
        return [subscriptions.contains(valueHandle) ? 1 : 0, 0]
    }
}
