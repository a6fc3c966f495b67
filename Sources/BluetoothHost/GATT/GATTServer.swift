import ButtonModel

/// The server side of GATT on one link: answers a peer's requests from an `AttributeTable`.
///
/// Its state is the peer's subscriptions and prepared writes. Unknown requests are refused, unknown commands ignored.
/// Written values are reported, and not stored.
///
/// - Source: Bluetooth Core 5.4, Vol 3, Part F, 3.4.
struct GATTServer: Hashable, Sendable {
    enum Effect: Hashable, Sendable {
        case send(ATTPDU)
        /// The client's ATT_MTU.
        case mtuRequested(clientMTU: UInt16)
        case written(AttributeHandle, [UInt8])
        /// The handle of the characteristic's value.
        case subscribed(AttributeHandle, enabled: Bool)
        /// Like `subscribed`, for indications.
        case subscribedToIndications(AttributeHandle, enabled: Bool)
    }

    /// The subscriptions by the handle of the characteristic's value, as bits of `ClientConfiguration`.
    private var subscriptions: [UInt16: UInt8] = [:]
    private var prepared = PreparedWrites()

    /// - Parameters:
    ///   - offeredMTU: the ATT_MTU in our Exchange MTU Response.
    ///   - mtu: the ATT_MTU in force, which no answer exceeds.
    mutating func handle(
        _ request: ATTPDU, in table: AttributeTable, offeredMTU: UInt16, mtu: UInt16
    ) -> [Effect] {
        let mtu = Int(mtu)
        return switch request {
        case .exchangeMTURequest(let clientMTU):
            [.send(.exchangeMTUResponse(offeredMTU)), .mtuRequested(clientMTU: clientMTU)]
        case .writeRequest(let handle, let value):
            write(value, to: handle, in: table)
        case .writeCommand(let handle, let value):
            writeCommand(value, to: handle, in: table)
        case .prepareWriteRequest(let handle, let offset, let part):
            [.send(prepare(part, at: offset, of: handle, in: table))]
        case .executeWriteRequest(let isCancelled):
            execute(request, isCancelled, in: table)
        case .findInformationRequest(let range):
            [.send(list(request, range, in: table) { findInformation(in: $0, mtu: mtu) })]
        case .findByTypeValueRequest(let range, let type, let value):
            [.send(list(request, range, in: table) { findByTypeValue(type, value, in: $0, mtu: mtu) })]
        case .readByTypeRequest(let range, let type):
            [.send(list(request, range, in: table) { readByType(request, type, in: $0, mtu: mtu) })]
        case .readByGroupTypeRequest(let range, let type):
            [.send(list(request, range, in: table) { readByGroupType(request, type, in: $0, mtu: mtu) })]
        case .readRequest(let handle):
            [.send(read(request, handle, offset: 0, in: table) { .readResponse(Array($0.prefix(mtu - 1))) })]
        case .readBlobRequest(let handle, let offset):
            [
                .send(
                    read(request, handle, offset: Int(offset), in: table) {
                        .readBlobResponse(Array($0.prefix(mtu - 1)))
                    })
            ]
        case .errorResponse, .exchangeMTUResponse, .findInformationResponse, .findByTypeValueResponse,
            .readByTypeResponse, .readResponse, .readBlobResponse, .readByGroupTypeResponse, .writeResponse,
            .prepareWriteResponse, .executeWriteResponse, .handleValueNotification, .handleValueIndication,
            .handleValueConfirmation, .unknown:
            [.send(.errorResponse(request: request.opcode, attributeHandle: 0, .requestNotSupported))]
        }
    }

    /// Removes the subscriptions from this handle on, and all prepared writes, after a change of the services.
    mutating func forget(from handle: UInt16) {
        subscriptions = subscriptions.filter { $0.key < handle }
        prepared = PreparedWrites()
    }

    func isSubscribedToIndications(of valueHandle: UInt16) -> Bool {
        subscriptions[valueHandle, default: 0] & ClientConfiguration.indications != 0
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
        _ request: ATTPDU, _ type: BluetoothUUID, in attributes: ArraySlice<AttributeTable.Attribute>, mtu: Int
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
        _ request: ATTPDU, _ type: BluetoothUUID, in attributes: ArraySlice<AttributeTable.Attribute>, mtu: Int
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
        if let code = refusal(of: value, for: handle, in: table) {
            return [.send(refusal(of: .writeRequest(handle, value), handle, code))]
        }
        return [.send(.writeResponse)] + take(value, for: handle, in: table)
    }

    /// Handles a Write Command, which has no answer: it is carried out or ignored.
    private mutating func writeCommand(_ value: [UInt8], to handle: UInt16, in table: AttributeTable) -> [Effect] {
        guard case .value(let properties) = table[handle]?.kind, value.count <= ATTPDU.maximumValueLength,
            properties & CharacteristicProperty.writeWithoutResponse != 0
        else { return [] }
        return [.written(AttributeHandle(rawValue: handle), value)]
    }

    private mutating func prepare(
        _ part: [UInt8], at offset: UInt16, of handle: UInt16, in table: AttributeTable
    ) -> ATTPDU {
        let request = ATTPDU.prepareWriteRequest(handle, offset: offset, part)
        if let code = refusal(toWrite: handle, in: table) { return refusal(of: request, handle, code) }
        guard prepared.append(part, at: offset, of: handle) else {
            return refusal(of: request, handle, .prepareQueueFull)
        }
        return .prepareWriteResponse(handle, offset: offset, part)
    }

    /// Writes all prepared values, or none if one of them is invalid.
    private mutating func execute(_ request: ATTPDU, _ isCancelled: Bool, in table: AttributeTable) -> [Effect] {
        let writes = prepared
        prepared = PreparedWrites()
        guard !isCancelled else { return [.send(.executeWriteResponse)] }
        do throws(PreparedWrites.Refused) {
            let values = try writes.values { table[$0]?.value ?? [] }
            for (handle, value) in values {
                guard let code = refusal(of: value, for: handle, in: table) else { continue }
                return [.send(refusal(of: request, handle, code))]
            }
            return [.send(.executeWriteResponse)] + values.flatMap { take($0.value, for: $0.handle, in: table) }
        } catch {
            return [.send(refusal(of: request, error.attributeHandle, error.code))]
        }
    }

    /// The error code if this attribute cannot be written by a request, whatever the value; else `nil`.
    private func refusal(toWrite handle: UInt16, in table: AttributeTable) -> ATTErrorCode? {
        guard let attribute = table[handle] else { return .invalidHandle }
        switch attribute.kind {
        case .value(let properties) where properties & CharacteristicProperty.write != 0: return nil
        case .configuration, .descriptor(isWritable: true): return nil
        case .service, .characteristic, .value, .descriptor: return .writeNotPermitted
        }
    }

    private func refusal(of value: [UInt8], for handle: UInt16, in table: AttributeTable) -> ATTErrorCode? {
        if let code = refusal(toWrite: handle, in: table) { return code }
        guard case .configuration(_, let allowed) = table[handle]?.kind else {
            return value.count <= ATTPDU.maximumValueLength ? nil : .invalidAttributeValueLength
        }
        guard let bits = value.first, value.count == 2 else { return .invalidAttributeValueLength }
        // Reserved bits are ignored.
        let known = bits & (ClientConfiguration.notifications | ClientConfiguration.indications)
        return known & ~allowed == 0 ? nil : .improperlyConfigured
    }

    /// Carries out a write that was not refused.
    private mutating func take(_ value: [UInt8], for handle: UInt16, in table: AttributeTable) -> [Effect] {
        guard case .configuration(let valueHandle, let allowed) = table[handle]?.kind else {
            return [.written(AttributeHandle(rawValue: handle), value)]
        }
        let before = subscriptions[valueHandle, default: 0]
        let after = value.first.map { $0 & allowed } ?? 0
        subscriptions[valueHandle] = after == 0 ? nil : after
        let attribute = AttributeHandle(rawValue: valueHandle)
        var effects: [Effect] = []
        if (before ^ after) & ClientConfiguration.notifications != 0 {
            effects.append(.subscribed(attribute, enabled: after & ClientConfiguration.notifications != 0))
        }
        if (before ^ after) & ClientConfiguration.indications != 0 {
            effects.append(.subscribedToIndications(attribute, enabled: after & ClientConfiguration.indications != 0))
        }
        return effects
    }

    private func refusal(of request: ATTPDU, _ handle: UInt16, _ code: ATTErrorCode) -> ATTPDU {
        .errorResponse(request: request.opcode, attributeHandle: handle, code)
    }

    private func isReadable(_ attribute: AttributeTable.Attribute) -> Bool {
        switch attribute.kind {
        case .service, .characteristic, .configuration, .descriptor: true
        case .value(let properties): properties & CharacteristicProperty.read != 0
        }
    }

    private func value(of attribute: AttributeTable.Attribute) -> [UInt8] {
        guard case .configuration(let valueHandle, _) = attribute.kind else { return attribute.value }
        return [subscriptions[valueHandle, default: 0], 0]
    }
}
