import BluetoothHost
import ButtonModel
import Bytes

/// The controller's handling of HCI packets and commands from its host.
extension VirtualController {
    mutating func receive(_ packet: [UInt8], at now: Instant) -> [Effect] {
        guard !configuration.faults.isSilent, !activeFaults.isWedged else { return [] }
        var reader = ByteReader(packet)
        guard let indicator = try? reader.uint8() else { return [.violation("an empty packet")] }
        switch H4Indicator(rawValue: indicator) {
        case .command: return receiveCommand(reader, at: now)
        case .aclData: return receiveACLData(reader)
        case .event, nil: return [.violation("a packet that is neither command nor data: \(packet.hex)")]
        }
    }

    private mutating func receiveCommand(_ header: ByteReader, at now: Instant) -> [Effect] {
        var reader = header
        guard let rawOpcode = try? reader.uint16() else { return [.violation("a command without an opcode")] }
        let opcode = HCIOpcode(rawValue: rawOpcode)
        let parameters = (try? reader.uint8()).flatMap { try? reader.bytes(Int($0)) }
        guard !configuration.faults.unknownCommands.contains(opcode) else {
            return answerUnknown(opcode)
        }
        if let status = activeFaults.refusal(of: opcode) { return refuse(opcode, status) }
        do throws(CommandFault) {
            let command = try ControllerCommand(opcode: opcode, parameters: parameters ?? [])
            guard parameters != nil, reader.isAtEnd else { throw .invalidParameters }
            return execute(command, opcode, at: now)
        } catch {
            switch error {
            case .unknown:
                return answerUnknown(opcode)
            case .invalidParameters:
                return [.violation("malformed parameters of command \(opcode)")] + refuse(opcode, .invalidParameters)
            }
        }
    }

    private func answerUnknown(_ opcode: HCIOpcode) -> [Effect] {
        configuration.faults.completesUnknownCommands
            ? complete(opcode, .unknownCommand)
            : answer(opcode, .commandStatus(opcode, .unknownCommand))
    }

    private func complete(
        _ opcode: HCIOpcode, _ status: HCIStatus = .success, _ write: (inout ByteWriter) -> Void = { _ in }
    ) -> [Effect] {
        var fields = ByteWriter()
        fields.uint8(status.rawValue)
        if status == .success { write(&fields) }
        return answer(opcode, .commandComplete(opcode, returnParameters: fields.bytes))
    }

    private func refuse(_ opcode: HCIOpcode, _ status: HCIStatus) -> [Effect] {
        let isAnsweredByStatus = [HCIOpcode.disconnect, .leCreateConnection, .leConnectionUpdate].contains(opcode)
        return isAnsweredByStatus ? answer(opcode, .commandStatus(opcode, status)) : complete(opcode, status)
    }

    private mutating func execute(
        _ command: ControllerCommand, _ opcode: HCIOpcode, at now: Instant
    ) -> [Effect] {
        switch command {
        case .reset:
            let abandoned = resettable.links.keys.sorted { $0.rawValue < $1.rawValue }
            let late: [Effect] = resettable.late.isEmpty ? [] : [.discardLate]
            resettable = ResettableState()
            return abandoned.map(Effect.abandon) + late + complete(opcode)

        case .setEventMask(let mask):
            resettable.eventMask = mask
            return complete(opcode)

        case .leSetEventMask(let mask):
            resettable.leEventMask = mask
            return complete(opcode)

        case .readLocalVersionInformation, .readLocalSupportedCommands, .readLocalSupportedFeatures,
            .readBufferSize, .readBDADDR, .leReadBufferSize, .leReadLocalSupportedFeatures,
            .leReadFilterAcceptListSize, .leReadSupportedStates:
            return complete(opcode) { fields in describe(command, &fields) }

        case .readRSSI(let handle):
            guard resettable.links[handle] != nil else { return refuse(opcode, .unknownConnectionIdentifier) }
            return [.measure(handle)]

        case .leSetRandomAddress(let address):
            guard resettable.advertisingSince == nil, resettable.scan == nil, resettable.initiating == nil else {
                return refuse(opcode, .commandDisallowed)
            }
            resettable.randomAddress = address
            return complete(opcode)

        case .leSetAdvertisingParameters(let parameters):
            guard resettable.advertisingSince == nil else { return refuse(opcode, .commandDisallowed) }
            resettable.advertisingParameters = parameters
            return complete(opcode)

        case .leSetAdvertisingData(let data):
            resettable.advertisingData = data
            return complete(opcode)

        case .leSetScanResponseData(let data):
            resettable.scanResponse = data
            return complete(opcode)

        case .leSetAdvertisingEnable(let isEnabled):
            return enableAdvertising(isEnabled, opcode, at: now)

        case .leSetScanParameters(let parameters):
            guard resettable.scan == nil else { return refuse(opcode, .commandDisallowed) }
            resettable.scanParameters = parameters
            return complete(opcode)

        case .leSetScanEnable(let isEnabled, let filterDuplicates):
            guard !isEnabled || address(resettable.scanParameters.ownAddressKind) != nil else {
                return refuse(opcode, .invalidParameters)
            }
            guard !isEnabled || configuration.scansWhileInitiating || resettable.initiating == nil else {
                return refuse(opcode, .commandDisallowed)
            }
            resettable.scan = isEnabled ? Scan(since: now, filtersDuplicates: filterDuplicates) : nil
            return complete(opcode)

        case .leCreateConnection(let parameters):
            return createConnection(parameters, opcode, at: now)

        case .leCreateConnectionCancel:
            guard let initiating = resettable.initiating else { return refuse(opcode, .commandDisallowed) }
            resettable.initiating = nil
            let created = HCIOpcode.leCreateConnection
            return (initiating.isStatusDue ? answer(created, .commandStatus(created, .success)) : [])
                + complete(opcode) + connectionComplete(.failed(.unknownConnectionIdentifier))

        case .leClearFilterAcceptList:
            guard !usesFilterAcceptList else { return refuse(opcode, .commandDisallowed) }
            resettable.acceptList.removeAll()
            return complete(opcode)

        case .leAddDeviceToFilterAcceptList(let entry):
            guard !usesFilterAcceptList else { return refuse(opcode, .commandDisallowed) }
            guard !resettable.acceptList.contains(entry) else { return complete(opcode) }
            guard resettable.acceptList.count < Int(configuration.acceptListSize) else {
                return refuse(opcode, .memoryCapacityExceeded)
            }
            resettable.acceptList.append(entry)
            return complete(opcode)

        case .leRemoveDeviceFromFilterAcceptList(let entry):
            guard !usesFilterAcceptList else { return refuse(opcode, .commandDisallowed) }
            resettable.acceptList.removeAll { $0 == entry }
            return complete(opcode)

        case .disconnect(let handle, let reason):
            guard let link = resettable.links[handle] else { return refuse(opcode, .unknownConnectionIdentifier) }
            guard !link.isTerminating else { return refuse(opcode, .commandDisallowed) }
            resettable.links[handle]?.isTerminating = true
            return answer(opcode, .commandStatus(opcode, .success))
                + [.terminate(handle, reason: HCIStatus(rawValue: reason))]

        case .leConnectionUpdate(let handle, let parameters):
            return updateConnection(handle, parameters, opcode)

        case .leRemoteConnectionParameterRequestReply(let handle, let parameters):
            return answerParameterRequest(handle, opcode, .updateParameters(handle, parameters))

        case .leRemoteConnectionParameterRequestNegativeReply(let handle, let reason):
            return answerParameterRequest(
                handle, opcode, .refuseParameters(handle, reason: HCIStatus(rawValue: reason)))
        }
    }

    func measured(_ handle: ConnectionHandle, rssi: Int8) -> [Effect] {
        complete(.readRSSI) { fields in
            fields.uint16(handle.rawValue)
            fields.int8(rssi)
        }
    }

    private mutating func enableAdvertising(_ isEnabled: Bool, _ opcode: HCIOpcode, at now: Instant) -> [Effect] {
        guard isEnabled else {
            resettable.advertisingSince = nil
            return complete(opcode)
        }
        guard address(resettable.advertisingParameters.ownAddressKind) != nil else {
            return refuse(opcode, .invalidParameters)
        }
        guard
            resettable.advertisingParameters.kind != .connectable || resettable.links.count < configuration.maximumLinks
        else { return refuse(opcode, .connectionLimitExceeded) }
        resettable.advertisingSince = resettable.advertisingSince ?? now
        return complete(opcode)
    }

    private mutating func createConnection(
        _ parameters: InitiatingParameters, _ opcode: HCIOpcode, at now: Instant
    ) -> [Effect] {
        guard resettable.initiating == nil, configuration.scansWhileInitiating || resettable.scan == nil else {
            return refuse(opcode, .commandDisallowed)
        }
        guard address(parameters.ownAddressKind) != nil else { return refuse(opcode, .invalidParameters) }
        guard resettable.links.count < configuration.maximumLinks else {
            return refuse(opcode, .connectionLimitExceeded)
        }
        if let peer = parameters.peer, isLinked(to: peer) { return refuse(opcode, .connectionAlreadyExists) }
        let holdsStatus = configuration.faults.reportsConnectionBeforeCommandStatus
        resettable.initiating = Initiating(parameters: parameters, since: now, isStatusDue: holdsStatus)
        return holdsStatus ? [] : answer(opcode, .commandStatus(opcode, .success))
    }

    private mutating func updateConnection(
        _ handle: ConnectionHandle, _ parameters: ConnectionParameters, _ opcode: HCIOpcode
    ) -> [Effect] {
        guard let link = resettable.links[handle] else { return refuse(opcode, .unknownConnectionIdentifier) }
        guard !link.isUpdating, !link.isTerminating else { return refuse(opcode, .commandDisallowed) }
        guard link.role == .central || configuration.supportsParameterRequests else {
            return refuse(opcode, .unsupportedRemoteFeature)
        }
        resettable.links[handle]?.isUpdating = true
        return answer(opcode, .commandStatus(opcode, .success))
            + [
                link.role == .central
                    ? .updateParameters(handle, parameters) : .requestParameters(handle, parameters)
            ]
    }

    /// Answers one of the two replies, which both return the handle after the status.
    private mutating func answerParameterRequest(
        _ handle: ConnectionHandle, _ opcode: HCIOpcode, _ effect: Effect
    ) -> [Effect] {
        guard let link = resettable.links[handle] else { return refuse(opcode, .unknownConnectionIdentifier) }
        guard link.isAskedForParameters else { return refuse(opcode, .commandDisallowed) }
        resettable.links[handle]?.isAskedForParameters = false
        return complete(opcode) { $0.uint16(handle.rawValue) } + [effect]
    }

    /// Passes on an ACL fragment from the host, which is the first of a frame (0b00) or a continuation (0b01).
    ///
    /// - Source: Bluetooth Core 5.4, Vol 4, Part E, 5.4.2.
    private mutating func receiveACLData(_ header: ByteReader) -> [Effect] {
        var reader = header
        guard let handleAndFlags = try? reader.uint16(), let count = try? reader.uint16(),
            Int(count) == reader.remainingCount
        else { return [.violation("ACL data with a wrong length field")] }
        let handle = ConnectionHandle(rawValue: handleAndFlags & 0x0FFF)
        guard handleAndFlags >> 12 <= 1 else { return [.violation("ACL data with flags \(handleAndFlags >> 12)")] }
        guard count > 0, count <= configuration.aclDataLength else {
            return [.violation("ACL data of \(count) octets")]
        }
        guard let link = resettable.links[handle], !link.isTerminating else {
            // The host may not have received the Disconnection Complete event yet.
            return []
        }
        let inUse = resettable.links.values.reduce(0) { $0 + $1.buffersInUse }
        guard inUse < Int(configuration.aclBufferCount) else {
            return [.violation("ACL data without a free buffer")] + event(.dataBufferOverflow)
        }
        resettable.links[handle]?.buffersInUse += 1
        return [.transmit(handle, ACLFragment(isFirst: handleAndFlags >> 12 == 0, data: reader.remainder()))]
    }
}
