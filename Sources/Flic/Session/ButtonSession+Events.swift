import ButtonModel

/// Packets received in a session: the init response, events and their acknowledgements, and responses to requests.
extension ButtonSession {
    mutating func receiveSigned(_ opened: [UInt8]?, at now: Instant, _ effects: inout [Effect]) {
        guard let opened else { return rejectSignature(at: now, &effects) }
        let packet: ButtonPacket
        do {
            packet = try ButtonPacket(decoding: opened, in: dialect)
        } catch {
            effects.append(.ignored(reason: "packet \(opened.first ?? 0) is truncated"))
            return
        }
        switch packet {
        case .pingRequest: send(.pingResponse, &effects)
        case .disconnectedVerifiedLink(let reason):
            pause(Self.pauseAfterSessionEnd, .sessionEnded(reason: reason), at: now, &effects)
        case .initButtonEventsResponse(let response) where !isDuo: becomeReady(response, at: now, &effects)
        case .initButtonEventsDuoResponse(let response) where isDuo:
            becomeReady(.init(response), ofDuo: response, at: now, &effects)
        case .buttonEventNotification(let notification): receiveEvents(notification, at: now, &effects)
        case .buttonEventDuoNotification(let bits): receiveDuoEvents(bits, at: now, &effects)
        case .pushTwistNotification(let notification): receiveTurn(notification, at: now, &effects)
        case .nameUpdatedNotification(let name):
            effects.append(
                names.updated(name).map(Effect.nickname)
                    ?? .ignored(reason: "a name from another host while a new name is being sent"))
        case .getNameResponse(let stamped): nameAnswered(stamped, isSet: false, at: now, &effects)
        case .setNameResponse(let stamped): nameAnswered(stamped, isSet: true, at: now, &effects)
        case .getBatteryLevelResponse(let raw):
            guard isAnswer(to: .getBatteryLevel, &effects) else { break }
            effects.append(.battery(millivolts: millivolts(raw)))
            sendRequests(at: now, &effects)
        case .getFirmwareVersionResponse(let version):
            guard isAnswer(to: .getFirmwareVersion, &effects) else { break }
            let wasUnknown = firmwareVersion == nil
            firmwareVersion = version
            effects.append(.firmware(version: version))
            if wasUnknown { addAdvertisingRequest() }
            sendRequests(at: now, &effects)
        case .setAdvertisingParametersResponse:
            guard isAnswer(to: .setAdvertisingParameters, &effects) else { break }
            isAdvertisingConfigured = true
            effects.append(.advertisingConfigured)
            sendRequests(at: now, &effects)
        case .startFirmwareUpdateResponse(let position):
            guard isAnswer(to: .startFirmwareUpdate, &effects) else { break }
            advanceTransfer(.answered(position: position), at: now, &effects)
            sendRequests(at: now, &effects)
        case .firmwareUpdateNotification(let position):
            guard transfer != nil else {
                return effects.append(.ignored(reason: "firmware progress without an update"))
            }
            advanceTransfer(.received(position: position), at: now, &effects)
        case .factoryResetResponse:
            guard isAnswer(to: .factoryReset, &effects) else { break }
            close(&effects)
            effects.append(contentsOf: [.factoryReset, .disconnect])
        case .twist(let packet): receiveTwist(packet, at: now, &effects)
        case .fullVerifyResponse1, .fullVerifyResponse2, .noLogicalConnectionSlots, .fullVerifyFailResponse,
            .testIfReallyUnpairedResponse, .quickVerifyNegativeResponse, .quickVerifyResponse, .apiTimerNotification,
            .getCurrentTimeResponse, .getDeviceIDResponse, .initButtonEventsResponse, .initButtonEventsDuoResponse,
            .other:
            effects.append(.ignored(reason: "packet \(packet.opcode) in a session"))
        }
    }

    private mutating func becomeReady(
        _ response: ButtonPacket.InitButtonEventsResponse,
        ofDuo duo: ButtonPacket.InitButtonEventsDuoResponse? = nil, at now: Instant, _ effects: inout [Effect]
    ) {
        guard case .awaitingInitResponse(let channel, let afterPairing, _) = state else {
            effects.append(.ignored(reason: "a second init response"))
            return
        }
        let rebooted = intake.begin(with: response, smallEventCount: duo?.smallEventCount ?? 0, at: now)
        if rebooted { isAdvertisingConfigured = false }
        state = .ready(
            Ready(
                channel: channel, afterPairing: afterPairing, hasStoredEvents: response.hasQueuedEvents,
                followUpDeadline: now + Self.followUpTimeout, nextBatteryRequest: now + Self.batteryPeriod,
                duoStream: duo.map { DuoEventStream($0) }))
        effects.append(
            .ready(
                intake.cursor, rebooted: rebooted, clock: response.ticks, hasQueuedEvents: response.hasQueuedEvents))
        if let advertiseAgain = pendingCommands.disconnect {
            pendingCommands.disconnect = nil
            disconnectGracefully(advertiseAgain: advertiseAgain, at: now, &effects)
        }
        followUpIfSettled(at: now, &effects)
    }

    mutating func receiveEvents(
        _ notification: EventNotification, at now: Instant, _ effects: inout [Effect]
    ) {
        guard case .ready(let ready) = state else {
            effects.append(.ignored(reason: "events before the init response"))
            return
        }
        var events = intake.receive(notification, at: now)
        // The init request of a Twist cannot exclude the events that it stored before the pairing.
        if configuration.isTwist, ready.afterPairing, ready.hasStoredEvents { events.removeAll(where: \.wasQueued) }
        report(
            events, upTo: EventCursor(bootID: intake.cursor.bootID, eventCount: notification.eventCount),
            needsAcknowledgement: notification.needsAcknowledgement,
            endsQueue: notification.items.contains(where: \.wasQueuedLast), at: now, &effects)
    }

    /// Reports the new events of a notification, whose acknowledgement contains the cursor `last`.
    mutating func report(
        _ events: [ButtonEvent], upTo last: EventCursor, needsAcknowledgement: Bool, endsQueue: Bool, at now: Instant,
        _ effects: inout [Effect]
    ) {
        guard case .ready(var ready) = state else { return }
        // Repeated events that are on disk already are acknowledged without another sync.
        let isOnDisk = events.isEmpty && syncedCursor.covers(last)
        if needsAcknowledgement { ready.acknowledgements.expect(last) }
        for event in events {
            let part: UInt8 = event.part == .small ? 2 : 1
            if event.step.leavesPressOpen { ready.openPresses |= part } else { ready.openPresses &= ~part }
        }
        if endsQueue { ready.hasStoredEvents = false }
        state = .ready(ready)
        if !events.isEmpty || needsAcknowledgement && !isOnDisk {
            effects.append(.events(events, intake.cursor, needsAcknowledgement: needsAcknowledgement))
        }
        if isOnDisk { acknowledge(upTo: last, &effects) }
        followUpIfSettled(at: now, &effects)
    }

    mutating func synced(_ cursor: EventCursor, at now: Instant, _ effects: inout [Effect]) {
        syncedCursor.advance(to: cursor)
        acknowledge(upTo: cursor, &effects)
        followUpIfSettled(at: now, &effects)
    }

    /// True if neither side needs the link now: the session is ready, all events are acknowledged, no press is open,
    /// and no request is unanswered.
    package var isAtRest: Bool {
        guard case .ready(let ready) = state else { return false }
        return !ready.hasStoredEvents && ready.acknowledgements.isEmpty && ready.openPresses == 0
            && ready.followUpDeadline == nil && ready.requests.deadline == nil
    }

    private mutating func acknowledge(upTo cursor: EventCursor, _ effects: inout [Effect]) {
        guard case .ready(var ready) = state else { return }
        let cursors = ready.acknowledgements.synced(cursor)
        state = .ready(ready)
        for cursor in cursors { send(acknowledgement(upTo: cursor), &effects) }
    }

    private mutating func nameAnswered(
        _ stamped: ButtonPacket.StampedName, isSet: Bool, at now: Instant, _ effects: inout [Effect]
    ) {
        switch names.answered(stamped.name, isSet: isSet) {
        case .unexpected:
            return effects.append(.ignored(reason: Self.unexpectedResponse))
        case .adopt(let name):
            effects.append(.nickname(name))
        case .again:
            break
        }
        if case .ready(var ready) = state {
            _ = ready.requests.answered(.name)
            state = .ready(ready)
        }
        sendRequests(at: now, &effects)
    }

    /// Completes an outstanding request. If it is not outstanding, reports an ignored packet and returns false.
    mutating func isAnswer(to request: RequestQueue.Request, _ effects: inout [Effect]) -> Bool {
        guard case .ready(var ready) = state, ready.requests.answered(request) else {
            effects.append(.ignored(reason: Self.unexpectedResponse))
            return false
        }
        state = .ready(ready)
        return true
    }

    private static let unexpectedResponse = "an unexpected response"
}

extension PressStep {
    /// True if further steps of the same press, or of the same double click, follow.
    fileprivate var leavesPressOpen: Bool {
        switch self {
        case .down, .hold, .up(.open): true
        case .clickTimeout, .up: false
        }
    }
}
