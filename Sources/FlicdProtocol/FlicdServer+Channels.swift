import ButtonModel

// Channels: a channel requests that a button be connected, and receives the button's events.
extension FlicdServer {
    mutating func createChannel(
        _ id: UInt32, to address: BluetoothAddress, _ mode: FlicdChannelMode, for client: ClientID
    ) {
        guard let present = clients[client]?.channels, present[id] == nil else {
            return logMisuse(client, opcode: 3, "names a channel that already exists")
        }
        let button = ButtonID(address)
        let status = status(of: button)
        guard present.count < Self.maximumChannels,
            present.values.count(where: { $0.button == button }) < Self.maximumChannelsOfButton
        else {
            return send(
                .createConnectionChannelResponse(id: id, error: .maxPendingConnectionsReached, status), to: client)
        }
        clients[client]?.channels[id] = FlicdClient.Channel(button: button, mode: mode)
        channels[button, default: []].append(ChannelKey(client: client, id: id))
        channelsChanged(of: button)
        send(.createConnectionChannelResponse(id: id, error: .noError, status), to: client)
    }

    mutating func changeMode(of id: UInt32, _ mode: FlicdChannelMode, for client: ClientID) {
        guard let button = clients[client]?.channels[id]?.button else { return }
        clients[client]?.channels[id]?.mode = mode
        channelsChanged(of: button)
    }

    mutating func endChannel(_ id: UInt32, of client: ClientID, _ reason: FlicdRemovedReason) {
        guard clients[client]?.channels[id] != nil else { return }
        dropChannel(id, of: client)
        send(.connectionChannelRemoved(id: id, reason), to: client)
    }

    /// Removes a channel without sending ConnectionChannelRemoved.
    mutating func dropChannel(_ id: UInt32, of client: ClientID) {
        guard let button = clients[client]?.channels.removeValue(forKey: id)?.button else { return }
        channels[button]?.removeAll { $0 == ChannelKey(client: client, id: id) }
        if channels[button]?.isEmpty == true { channels[button] = nil }
        channelsChanged(of: button)
    }

    mutating func endChannels(
        of button: ButtonID, for requester: ClientID?, _ reason: FlicdRemovedReason, others: FlicdRemovedReason
    ) {
        for channel in channels[button] ?? [] {
            endChannel(channel.id, of: channel.client, channel.client == requester ? reason : others)
        }
    }

    mutating func forceDisconnect(_ button: ButtonID, for client: ClientID) {
        endChannels(of: button, for: client, .forceDisconnectedByThisClient, others: .forceDisconnectedByOtherClient)
    }

    mutating func channelsChanged(of button: ButtonID) {
        changedModes.insert(button)
        let isUnpaired = buttons[button] == nil && channels[button] != nil
        guard isUnpaired != unpaired.contains(button) else { return }
        if isUnpaired { unpaired.insert(button) } else { unpaired.remove(button) }
        isListeningChanged = true
    }

    // MARK: Status

    private func status(of button: ButtonID) -> FlicdConnectionStatus {
        if let known = buttons[button] { return known.status }
        guard let attempt, ButtonID(attempt.address) == button else { return .disconnected }
        return attempt.isConnected ? .connected : .disconnected
    }

    /// Sends the changes that lead from the last reported status to this status, with the intermediate status and
    /// without repetition.
    mutating func statusChanged(_ button: ButtonID, _ status: FlicdConnectionStatus) {
        guard let known = buttons[button] else { return }
        switch (known.status, status) {
        case (.disconnected, .disconnected):
            buttons[button]?.hasLostSession = false
            buttons[button]?.disconnectReason = nil
        case (.connected, .connected), (.ready, .ready): break
        case (.disconnected, .connected) where known.hasLostSession: break
        case (.disconnected, .connected), (.connected, .ready): report(button, status)
        case (.disconnected, .ready):
            report(button, .connected)
            report(button, .ready)
        case (.connected, .disconnected), (.ready, .disconnected): reportDisconnected(button)
        case (.ready, .connected):
            // The session has failed, and the link stays. flicd's protocol has no such state, so clients are told that
            // the button is disconnected until it is ready again.
            reportDisconnected(button)
            buttons[button]?.hasLostSession = true
        }
        if status == .ready { buttons[button]?.hasLostSession = false }
        if status != .connected { announce(button) }
    }

    /// Stores the reason for the next `disconnected`, unless there is one already.
    mutating func linkFailed(_ button: ButtonID, _ reason: FlicdDisconnectReason) {
        guard buttons[button]?.disconnectReason == nil else { return }
        buttons[button]?.disconnectReason = reason
    }

    private mutating func report(_ button: ButtonID, _ status: FlicdConnectionStatus) {
        buttons[button]?.status = status
        buttons[button]?.disconnectReason = nil
        for channel in channels[button] ?? [] {
            send(.connectionStatusChanged(id: channel.id, status, reason: .unspecified), to: channel.client)
        }
    }

    mutating func reportDisconnected(_ button: ButtonID) {
        let reason = buttons[button]?.disconnectReason ?? .unspecified
        buttons[button]?.disconnectReason = nil
        buttons[button]?.status = .disconnected
        for channel in channels[button] ?? [] {
            send(.connectionStatusChanged(id: channel.id, .disconnected, reason: reason), to: channel.client)
        }
    }

    // MARK: Presses

    mutating func pressed(_ button: ButtonID, _ events: [ButtonEvent]) {
        guard let listening = channels[button], buttons[button]?.status == .ready else { return }
        for event in events where event.part != .small {
            let age = UInt32(clamping: event.wasQueued ? min(event.age.milliseconds / 1000, Int64(Int32.max)) : 0)
            for (family, clickType) in FlicdFamily.clickTypes(of: event) {
                for channel in listening {
                    send(
                        .button(
                            id: channel.id, family, clickType, wasQueued: event.wasQueued, timeDifference: age),
                        to: channel.client)
                }
            }
        }
    }

    // MARK: Requests to the radio

    /// Emits `requestMode` and `listen` effects where the clients' combined requests have changed, subject to the minimum
    /// intervals.
    mutating func emitRequests(at now: Instant) {
        for button in changedModes.sorted() where deadlines.deadline(of: .mode(button)) == nil {
            changedModes.remove(button)
            let mode = buttons[button] == nil ? nil : wantedMode(of: button)
            guard mode != emittedModes[button] else { continue }
            emittedModes[button] = mode
            effects.append(.requestMode(button, mode))
            deadlines.set(.mode(button), at: now + Self.minimumModeInterval)
        }
        if isListeningChanged || retriesFailedPairings { emitListening(at: now) }
    }

    /// Emits `listen` if needed. A reduction is emitted at once, an extension at most once every `minimumListeningInterval`.
    private mutating func emitListening(at now: Instant) {
        let listening = wantedListening()
        if !listening.pairsAny { retriesFailedPairings = false }
        if retriesFailedPairings || !listening.isCovered(by: emittedListening) {
            guard deadlines.deadline(of: .listening) == nil else { return }
            deadlines.set(.listening, at: now + Self.minimumListeningInterval)
        }
        if listening != emittedListening || retriesFailedPairings {
            emittedListening = listening
            effects.append(.listen(listening))
        }
        isListeningChanged = false
        retriesFailedPairings = false
    }

    /// The combined mode of a button's channels: the lowest latency, the longest auto disconnect time; `nil`: none.
    private func wantedMode(of button: ButtonID) -> FlicdChannelMode? {
        let modes = (channels[button] ?? []).compactMap { clients[$0.client]?.channels[$0.id]?.mode }
        guard var result = modes.first else { return nil }
        for mode in modes.dropFirst() {
            if mode.latencyMode.rank < result.latencyMode.rank { result.latencyMode = mode.latencyMode }
            guard let time = result.autoDisconnectTime, let other = mode.autoDisconnectTime else {
                result.autoDisconnectTime = nil
                continue
            }
            result.autoDisconnectTime = max(time, other)
        }
        return result
    }

    private func wantedListening() -> FlicdListening {
        FlicdListening(
            reportsAll: clients.values.contains { !$0.scanners.isEmpty },
            pairsAny: clients.values.contains { $0.wizards.values.contains { !$0.hasFailed } },
            pairs: unpaired)
    }
}

extension LatencyMode {
    /// The order of latency, lowest first; the numbers on the wire have another order.
    fileprivate var rank: Int {
        switch self {
        case .low: 0
        case .normal: 1
        case .high: 2
        }
    }
}
