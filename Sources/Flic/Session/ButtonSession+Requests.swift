import ButtonModel

/// Requests to the button: those that every session sends, and those of the application's commands.
extension ButtonSession {
    mutating func perform(_ command: Command, at now: Instant, _ effects: inout [Effect]) {
        switch command {
        case .setNickname(let nickname):
            names.choose(nickname)
            request(.name, at: now, &effects)
        case .setLatencyMode(let mode):
            latencyMode = mode
            if isSettled { send(.setConnectionParameters(mode.connectionParameters), &effects) }
        case .setAutoDisconnectTime(let seconds):
            autoDisconnectTime = Self.autoDisconnectTime(seconds)
            if isSettled { sendAutoDisconnectTime(&effects) }
        case .updateFirmware(let image):
            if case .closed = state {
                effects.append(.firmwareUpdate(.failed(.interrupted)))
            } else if transfer != nil {
                effects.append(.firmwareUpdate(.failed(.busy)))
            } else {
                transfer = FirmwareTransfer(image)
                request(.startFirmwareUpdate, at: now, &effects)
            }
        case .cancelFirmwareUpdate:
            if case .ready(var ready) = state {
                ready.requests.withdraw(.startFirmwareUpdate)
                state = .ready(ready)
            }
            advanceTransfer(.cancel, at: now, &effects)
        case .executeLEDPattern(let pattern):
            light(.executeLEDPattern(pattern), &effects)
        case .abortLEDPattern:
            light(.abortLEDPattern, &effects)
        case .factoryReset:
            pendingCommands.factoryReset = !isSettled
            request(.factoryReset, at: now, &effects)
        case .setDial(let dial, let units):
            duoDials.set(dial, units: units)
            dials.show(units, on: dial)
            sendDialUpdates(&effects)
        case .setLEDMode(let mode): setLEDMode(mode, at: now, &effects)
        case .disconnect(let advertiseAgain):
            if case .ready = state {
                disconnectGracefully(advertiseAgain: advertiseAgain, at: now, &effects)
            } else {
                pendingCommands.disconnect = advertiseAgain
            }
        }
    }

    /// True if the requests after init were sent and the link is not being ended.
    var isSettled: Bool {
        guard case .ready(let ready) = state else { return false }
        return ready.followUpDeadline == nil && ready.disconnectDeadline == nil
    }

    var isDisconnecting: Bool {
        if case .ready(let ready) = state { ready.disconnectDeadline != nil } else { false }
    }

    mutating func followUpIfSettled(at now: Instant, _ effects: inout [Effect]) {
        guard case .ready(let ready) = state, ready.followUpDeadline != nil, !ready.hasStoredEvents,
            ready.acknowledgements.isEmpty
        else { return }
        followUp(at: now, &effects)
    }

    /// Sends the requests that every session sends after init (6.5), and the commands that waited for them.
    mutating func followUp(at now: Instant, _ effects: inout [Effect]) {
        guard case .ready(var ready) = state else { return }
        ready.followUpDeadline = nil
        state = .ready(ready)
        guard isSettled else { return }
        send(.setConnectionParameters(latencyMode.connectionParameters), &effects)
        if autoDisconnectTime != sentAutoDisconnectTime { sendAutoDisconnectTime(&effects) }
        if isDuo { send(.enablePushTwist([.big, .small]), &effects) }
        if let packet = pendingCommands.light { send(packet, &effects) }
        sendDialUpdates(&effects)
        addAdvertisingRequest()
        // FullVerifyResponse2 has reported battery and firmware version.
        if !ready.afterPairing { add(.getBatteryLevel) }
        add(.name)
        if !ready.afterPairing { add(.getFirmwareVersion) }
        if transfer != nil { add(.startFirmwareUpdate) }
        addConfigurationRequest()
        if pendingCommands.factoryReset { add(.factoryReset) }
        pendingCommands = PendingCommands()
        sendRequests(at: now, &effects)
    }

    mutating func addAdvertisingRequest() {
        guard !isAdvertisingConfigured, let firmwareVersion,
            configuration.isTwist || firmwareVersion >= AdvertisingParameters.minimumFirmwareVersion
        else { return }
        add(.setAdvertisingParameters)
    }

    mutating func askForBatteryIfDue(at now: Instant, _ effects: inout [Effect]) {
        guard case .ready(var ready) = state, now >= ready.nextBatteryRequest else { return }
        ready.nextBatteryRequest = now + Self.batteryPeriod
        state = .ready(ready)
        add(.getBatteryLevel)
        sendRequests(at: now, &effects)
    }

    mutating func sendRequests(at now: Instant, _ effects: inout [Effect]) {
        while isSettled, case .ready(var ready) = state, let request = ready.requests.next(at: now) {
            state = .ready(ready)
            switch request {
            case .setAdvertisingParameters: send(.setAdvertisingParametersRequest(AdvertisingParameters()), &effects)
            case .getBatteryLevel: send(.getBatteryLevelRequest, &effects)
            case .name: send(names.next(), &effects)
            case .getFirmwareVersion: send(.getFirmwareVersionRequest, &effects)
            case .startFirmwareUpdate:
                if configuration.isTwist { transfer?.fit(intoValuesOf: attMTU - 3) }
                advanceTransfer(.mayAsk, at: now, &effects)
            case .factoryReset: send(.factoryResetRequest, &effects)
            case .changeConfiguration: sendConfiguration(&effects)
            }
        }
    }

    mutating func giveUpRequests(at now: Instant, _ effects: inout [Effect]) {
        guard case .ready(var ready) = state else { return }
        let expired = ready.requests.expire(at: now)
        state = .ready(ready)
        for request in expired {
            switch request {
            case .setAdvertisingParameters: effects.append(.unanswered("SetAdvParametersRequest"))
            case .getBatteryLevel: effects.append(.unanswered("GetBatteryLevelRequest"))
            case .name: effects.append(.unanswered(names.unanswered()))
            case .getFirmwareVersion: effects.append(.unanswered("GetFirmwareVersionRequest"))
            case .startFirmwareUpdate:
                effects.append(.unanswered("StartFirmwareUpdateRequest"))
                advanceTransfer(.unanswered, at: now, &effects)
            case .factoryReset: effects.append(.unanswered("FactoryResetRequest"))
            case .changeConfiguration: effects.append(.unanswered("ChangeConfigRequest"))
            }
        }
        sendRequests(at: now, &effects)
    }

    mutating func advanceTransfer(_ input: FirmwareTransfer.Input, at now: Instant, _ effects: inout [Effect]) {
        guard var current = transfer else { return }
        let answers = current.handle(input, at: now)
        transfer = current.hasEnded ? nil : current
        for answer in answers {
            switch answer {
            case .send(let packet): send(packet, &effects)
            case .progress(let progress):
                // The button installs the firmware when the link ends, and must advertise to be connected again.
                if progress == .finished { disconnectGracefully(advertiseAgain: true, at: now, &effects) }
                effects.append(.firmwareUpdate(progress))
            }
        }
    }

    /// Asks the button to end the link. Until it does, its packets are still handled.
    mutating func disconnectGracefully(advertiseAgain: Bool, at now: Instant, _ effects: inout [Effect]) {
        guard case .ready(var ready) = state, ready.disconnectDeadline == nil else { return }
        ready.disconnectDeadline = now + Self.disconnectTimeout
        state = .ready(ready)
        send(.forceDisconnect(advertiseAgain: advertiseAgain), &effects)
    }

    private mutating func request(
        _ request: RequestQueue.Request, at now: Instant, _ effects: inout [Effect]
    ) {
        guard isSettled else { return }
        add(request)
        sendRequests(at: now, &effects)
    }

    mutating func add(_ request: RequestQueue.Request) {
        guard case .ready(var ready) = state else { return }
        ready.requests.add(request)
        state = .ready(ready)
    }

    private mutating func light(_ packet: HostPacket, _ effects: inout [Effect]) {
        if isSettled { send(packet, &effects) } else { pendingCommands.light = packet }
    }

    private mutating func sendAutoDisconnectTime(_ effects: inout [Effect]) {
        sentAutoDisconnectTime = autoDisconnectTime
        send(.setAutoDisconnectTime(seconds: autoDisconnectTime), &effects)
    }

    /// The auto disconnect time as in a packet: 40…510 seconds, or 511 for never.
    static func autoDisconnectTime(_ seconds: UInt16?) -> UInt16 { seconds.map { min(max($0, 40), 510) } ?? 511 }
}
