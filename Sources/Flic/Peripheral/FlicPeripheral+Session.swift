import ButtonModel

/// The packets of an established session: responses, pings and notifications.
extension FlicPeripheral {
    /// The reason code of a DisconnectedVerifiedLinkInd.
    ///
    /// - Source: protocol notes, 4.4 (opcode 9).
    enum EndReason: UInt8 {
        case pingTimeout = 0
        case invalidSignature = 1
        case newSession = 2
    }

    mutating func receiveSigned(_ frame: Frame, at now: Instant, _ effects: inout [Effect]) {
        let id = frame.header.connectionID
        guard let opened = connections[id]?.channel.open(frame.packet) else {
            return endSession(id, reason: .invalidSignature, &effects)
        }
        guard let packet = try? HostPacket(decoding: opened, in: dialect) else { return }
        if faults.ignoresRequests, packet.isRequestAfterInit { return }
        switch packet {
        case .initButtonEventsRequest(let request): startEvents(request, on: id, at: now, &effects)
        case .initButtonEventsDuoRequest(let request): startDuoEvents(request, on: id, at: now, &effects)
        case .acknowledgeEvents(let eventCount): acknowledge(eventCount)
        case .acknowledgeDuoEvents(let eventCount, let smallEventCount): acknowledge(eventCount, small: smallEventCount)
        case .enablePushTwist(let parts): connections[id]?.duo?.pushTwist = parts
        case .getFirmwareVersionRequest:
            sendSigned(.getFirmwareVersionResponse(version: firmwareVersion), on: id, &effects)
        case .getBatteryLevelRequest:
            sendSigned(.getBatteryLevelResponse(raw: rawBattery), on: id, &effects)
        case .getNameRequest:
            sendSigned(.getNameResponse(.init(timestamp: nameTimestamp, name: name)), on: id, &effects)
        case .setNameRequest(let request): setName(request, on: id, &effects)
        case .getCurrentTimeRequest: sendSigned(.getCurrentTimeResponse(ticks: ticks(at: now)), on: id, &effects)
        case .getDeviceIDRequest:
            sendSigned(.getDeviceIDResponse(configuration.uuid.padded(to: 8)), on: id, &effects)
        case .setAdvertisingParametersRequest(let parameters):
            guard dialect == .twist || firmwareVersion >= AdvertisingParameters.minimumFirmwareVersion,
                let session = connections[id]
            else { break }
            advertising.store(parameters, of: session.pairingIdentifier, known: pairings.map(\.identifier))
            sendSigned(.setAdvertisingParametersResponse, on: id, &effects)
        case .startFirmwareUpdateRequest(let request):
            startFirmwareUpdate(.init(request), on: id, &effects)
        case .startFirmwareUpdateDuoRequest(let request):
            startFirmwareUpdate(.init(request), on: id, &effects)
        case .firmwareUpdateData(let data), .firmwareUpdateDataDuo(let data): receiveFirmware(data, on: id, &effects)
        case .factoryResetRequest: resetToFactory(askedBy: id, &effects)
        case .setConnectionParameters(let parameters):
            effects.append(
                .requestParameters(
                    intervalMinimum: parameters.intervalMinimum, intervalMaximum: parameters.intervalMaximum,
                    latency: parameters.latency, timeout: parameters.supervisionTimeout))
        case .setAutoDisconnectTime(let seconds): connections[id]?.autoDisconnectSeconds = seconds
        case .startAPITimer(let timeout, let message):
            let deadline = now + .nanoseconds(Int64(UInt64(timeout) * 1_000_000_000 / Self.ticksPerSecond))
            connections[id]?.apiTimer = timeout == 0 ? nil : (deadline, message)
        case .executeLEDPattern(let pattern): effects.append(.light(pattern))
        case .abortLEDPattern: effects.append(.light(nil))
        case .pingResponse: connections[id]?.awaitsPingResponse = false
        case .disconnectVerifiedLink: close(id)
        case .forceDisconnect(let advertiseAgain): disconnect(advertiseAgain: advertiseAgain, &effects)
        case .twist(let packet): receiveTwist(packet, on: id, at: now, &effects)
        case .fullVerifyRequest1, .fullVerifyRequest2, .fullVerifyAbort, .testIfReallyUnpairedRequest,
            .quickVerifyRequest, .other:
            break
        }
    }

    private mutating func acknowledge(_ eventCount: UInt32, small smallEventCount: UInt32 = 0) {
        guard !faults.losesAcknowledgement else {
            faults.losesAcknowledgement = false
            return
        }
        queue.forget(upTo: eventCount)
        queue.forget(upTo: smallEventCount, of: .small)
    }

    private mutating func setName(
        _ request: HostPacket.SetNameRequest, on id: UInt8, _ effects: inout [Effect]
    ) {
        let isAdopted = request.isForced || request.timestamp > nameTimestamp
        if isAdopted {
            name = request.name
            nameTimestamp = request.timestamp
        }
        sendSigned(.setNameResponse(.init(timestamp: nameTimestamp, name: name)), on: id, &effects)
        guard isAdopted else { return }
        for (other, session) in connections.sessions where other != id && session.isPastInit {
            sendSigned(.nameUpdatedNotification(name: name), on: other, &effects)
        }
    }

    private mutating func resetToFactory(askedBy id: UInt8, _ effects: inout [Effect]) {
        sendSigned(.factoryResetResponse, on: id, &effects)
        connections.closeAll()
        pairingTable = PairingTable([])
        advertising = AdvertisingMemory()
        queue = EventQueue()
        name = []
        nameTimestamp = 0
        effects.append(.factoryReset)
    }

    /// Handles the timer of opcode 13 and the pings of a session.
    mutating func timePassed(on id: UInt8, at now: Instant, _ effects: inout [Effect]) {
        if let timer = connections[id]?.apiTimer, now >= timer.deadline {
            connections[id]?.apiTimer = nil
            sendSigned(.apiTimerNotification(message: timer.message), on: id, &effects)
        }
        guard let session = connections[id], let nextPing = session.nextPing, now >= nextPing,
            let period = configuration.pingPeriod
        else { return }
        guard !session.awaitsPingResponse else { return endSession(id, reason: .pingTimeout, &effects) }
        connections[id]?.awaitsPingResponse = true
        connections[id]?.nextPing = now + period
        sendSigned(.pingRequest, on: id, &effects)
    }

    mutating func endSession(_ id: UInt8, reason: EndReason, _ effects: inout [Effect]) {
        guard connections[id] != nil else { return }
        sendSigned(.disconnectedVerifiedLink(reason: reason.rawValue), on: id, &effects)
        close(id)
    }

    mutating func close(_ id: UInt8) {
        connections.close(id)
        firmware.connectionEnded(id)
    }

    mutating func sendSigned(_ packet: ButtonPacket, on id: UInt8, _ effects: inout [Effect]) {
        guard let octets = packet.octets(in: dialect), var sealed = connections[id]?.channel.seal(octets) else {
            return
        }
        if faults.hasWrongSignature, let last = sealed.popLast() {
            faults.hasWrongSignature = false
            sealed.append(last ^ 1)
        }
        send(sealed, FrameHeader(connectionID: id), &effects)
    }

    func send(_ packet: ButtonPacket, _ header: FrameHeader, _ effects: inout [Effect]) {
        guard let octets = packet.octets(in: dialect) else { return }
        send(octets, header, &effects)
    }

    func send(_ octets: [UInt8], _ header: FrameHeader, _ effects: inout [Effect]) {
        guard let link else { return }
        guard dialect == .flic2 else { return effects.append(.send(octets)) }
        effects.append(contentsOf: Frame(header: header, packet: octets).values(attMTU: link.attMTU).map(Effect.send))
    }
}

extension HostPacket {
    fileprivate var isRequestAfterInit: Bool {
        switch self {
        case .getFirmwareVersionRequest, .setNameRequest, .getNameRequest, .startFirmwareUpdateRequest,
            .startFirmwareUpdateDuoRequest, .getBatteryLevelRequest, .factoryResetRequest, .getCurrentTimeRequest,
            .getDeviceIDRequest, .setAdvertisingParametersRequest, .twist(.startFirmwareUpdateRequest),
            .twist(.changeConfigurationRequest):
            true
        case .fullVerifyRequest1, .fullVerifyRequest2, .fullVerifyAbort, .testIfReallyUnpairedRequest,
            .quickVerifyRequest, .forceDisconnect, .disconnectVerifiedLink, .setConnectionParameters, .startAPITimer,
            .pingResponse, .initButtonEventsRequest, .acknowledgeEvents, .initButtonEventsDuoRequest,
            .acknowledgeDuoEvents, .enablePushTwist, .firmwareUpdateData, .firmwareUpdateDataDuo,
            .setAutoDisconnectTime, .executeLEDPattern, .abortLEDPattern, .twist(.initButtonEventsRequest),
            .twist(.updatePosition), .other:
            false
        }
    }
}
