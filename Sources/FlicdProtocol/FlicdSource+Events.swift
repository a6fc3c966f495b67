import ButtonModel

// Events from the flicd.
extension FlicdSource {
    mutating func happened(_ event: FlicdEvent, at now: Instant) {
        switch event {
        case .getInfoResponse(let info): listed(info, at: now)
        case .getButtonInfoResponse(let info): described(info, at: now)
        case .pingResponse:
            guard isConnected, deadlines.deadline(of: .answer) != nil else {
                return noteAnomaly("an unexpected ping response")
            }
            deadlines.cancel(.answer)
            deadlines.set(.ping, at: now + Self.pingInterval)
            pingAnswered()
        case .newVerifiedButton(let address):
            add(address, at: now)
            if isSearching, buttons[address] != nil { newlyPaired.insert(address) }
        case .buttonDeleted(let address, _): deleted(address, at: now)
        case .createConnectionChannelResponse(let id, .noError, let status):
            guard let address = channels[id] else { return noteAnomaly("unknown channel id") }
            effects.append(.state(address, status))
            if status == .ready { buttons[address]?.channelBackOff.reset() }
        case .createConnectionChannelResponse(let id, .maxPendingConnectionsReached, _):
            guard let address = channels.removeValue(forKey: id) else { return noteAnomaly("unknown channel id") }
            noteAnomaly("\(address) must wait: the flicd monitors the maximum number of buttons")
            restChannel(address, at: now)
        case .connectionStatusChanged(let id, let status, _):
            guard let address = channels[id] else { return }
            if status == .disconnected { flushPress(of: address) }
            if status == .ready { buttons[address]?.channelBackOff.reset() }
            effects.append(.state(address, status))
        case .connectionChannelRemoved(let id, let reason): channelRemoved(id, reason, at: now)
        case .button(let id, let family, let clickType, let wasQueued, let timeDifference):
            guard let address = channels[id] else { return }
            pressed(address, family, clickType, wasQueued: wasQueued, timeDifference: timeDifference, at: now)
        case .batteryStatus(let id, let percentage, let timestamp):
            // Timestamps beyond the year 9999 are invalid.
            guard let address = listeners[id], let percentage, (0..<253_402_300_800).contains(timestamp) else { return }
            effects.append(
                .battery(
                    address, percentage: Int(percentage), measuredAt: UTCTime(milliseconds: timestamp * 1000)))
        case .bluetoothControllerStateChange(let state):
            if isConnected { effects.append(.controller(state)) }
        case .scanWizardFoundPrivateButton, .scanWizardFoundPublicButton, .scanWizardButtonConnected,
            .scanWizardCompleted:
            wizardHappened(event, at: now)
        case .noSpaceForNewConnection(let maximum):
            noteAnomaly("no space for a new connection: its adapter supports \(maximum) links")
        case .gotSpaceForNewConnection, .advertisementPacket: break
        case .other(let opcode): noteAnomaly("event \(opcode) is not known")
        }
    }

    // MARK: Buttons

    private mutating func listed(_ info: FlicdInfo, at now: Instant) {
        guard state == .greeting else { return noteAnomaly("an unrequested list of buttons") }
        state = .listening
        deadlines.cancel(.answer)
        deadlines.set(.ping, at: now + Self.pingInterval)
        effects.append(.controller(info.controllerState))
        // Buttons verified before the list arrived have not been requested yet.
        let verified = buttons.keys.sorted { $0.rawValue < $1.rawValue }
        for address in info.verifiedButtons { add(address, at: now) }
        for address in verified { request(address) }
        startWizard()
    }

    private mutating func add(_ address: BluetoothAddress, at now: Instant) {
        guard buttons[address] == nil else { return }
        guard buttons.count < Self.maximumButtons, awaited.count < Self.maximumAwaited else {
            return noteAnomaly("\(address) is ignored: at most \(Self.maximumButtons) buttons are supported")
        }
        buttons[address] = Button(
            presses: FlicdPresses(
                ButtonID(address), bootID: bootID, connectedAt: connectedAt,
                hasEndedClick: endedClicks.remove(address) != nil))
        if isConnected { request(address) }
    }

    /// Requests a button's description, channel and battery readings.
    private mutating func request(_ address: BluetoothAddress) {
        awaited.append(address)
        send(.getButtonInfo(address))
        openChannel(address)
        let id = takeID()
        listeners[id] = address
        send(.createBatteryStatusListener(id: id, address))
    }

    private mutating func described(_ info: FlicdButtonInfo, at now: Instant) {
        guard !awaited.isEmpty else { return noteAnomaly("an unrequested description of a button") }
        let address = awaited.removeFirst()
        guard address == info.address else {
            return noteAnomaly("a description of \(info.address) instead of \(address)")
        }
        let identity = ButtonIdentity(
            address: address, uuid: info.uuid, serial: info.serial, nickname: "",
            firmwareVersion: info.firmwareVersion, model: info.flicVersion == 1 ? .flic1 : .flic2)
        guard buttons[address] != nil else { return }
        buttons[address]?.identity = identity
        effects.append(.known(identity))
        if newlyPaired.remove(address) != nil { effects.append(.pairing(.paired(identity))) }
    }

    /// Handles the deletion of a button, including a button that is known from `requests` only and not in this
    /// connection's list.
    private mutating func deleted(_ address: BluetoothAddress, at now: Instant) {
        guard buttons[address] == nil else { return drop(address, hasForgotten: false, at: now) }
        guard requests.removeValue(forKey: address) != nil else { return }
        effects.append(.gone(address, hasForgotten: false))
    }

    private mutating func drop(_ address: BluetoothAddress, hasForgotten: Bool, at now: Instant) {
        endPress(of: address, at: now)
        guard let button = buttons.removeValue(forKey: address) else { return }
        if let channel = button.channel { channels[channel] = nil }
        for (id, _) in listeners.filter({ $0.value == address }) {
            listeners[id] = nil
            send(.removeBatteryStatusListener(id: id))
        }
        deadlines.cancel(.channel(address))
        requests[address] = nil
        newlyPaired.remove(address)
        effects.append(.gone(address, hasForgotten: hasForgotten))
    }

    // MARK: Channels

    mutating func requestChanged(_ request: FlicdButtonRequest, of address: BluetoothAddress, at now: Instant) {
        let before = requests.updateValue(request, forKey: address) ?? FlicdButtonRequest()
        guard isConnected, let button = buttons[address] else { return }
        guard request.isConnectionWanted else {
            deadlines.cancel(.channel(address))
            guard let channel = button.channel else { return }
            endPress(of: address, at: now)
            channels[channel] = nil
            buttons[address]?.channel = nil
            send(.removeConnectionChannel(id: channel))
            return effects.append(.state(address, nil))
        }
        if let channel = button.channel {
            if request.mode != before.mode { send(.changeModeParameters(id: channel, request.mode)) }
        } else if !before.isConnectionWanted {
            // A user's request does not wait for the back-off.
            deadlines.cancel(.channel(address))
            openChannel(address)
        }
    }

    mutating func openChannel(_ address: BluetoothAddress) {
        let request = requests[address] ?? FlicdButtonRequest()
        guard isConnected, request.isConnectionWanted, let button = buttons[address], button.channel == nil else {
            return
        }
        let id = takeID()
        buttons[address]?.channel = id
        channels[id] = address
        send(.createConnectionChannel(id: id, address, request.mode))
    }

    private mutating func channelRemoved(_ id: UInt32, _ reason: FlicdRemovedReason, at now: Instant) {
        // A channel that we removed is no longer in `channels`.
        guard let address = channels.removeValue(forKey: id) else { return }
        switch reason {
        case .deletedByThisClient, .deletedByOtherClient: drop(address, hasForgotten: false, at: now)
        case .deletedFromButton: drop(address, hasForgotten: true, at: now)
        case .removedByThisClient, .forceDisconnectedByThisClient, .forceDisconnectedByOtherClient, .buttonIsPrivate,
            .verifyTimeout, .internetBackendError, .invalidData, .couldntLoadDevice, .buttonBelongsToOtherPartner:
            restChannel(address, at: now)
        }
    }

    private mutating func restChannel(_ address: BluetoothAddress, at now: Instant) {
        guard buttons[address] != nil else { return }
        endPress(of: address, at: now)
        buttons[address]?.channel = nil
        if let wait = buttons[address]?.channelBackOff.next() { deadlines.set(.channel(address), at: now + wait) }
        effects.append(.state(address, nil))
    }

    // MARK: Presses

    private mutating func pressed(
        _ address: BluetoothAddress, _ family: FlicdFamily, _ clickType: FlicdClickType, wasQueued: Bool,
        timeDifference: UInt32, at now: Instant
    ) {
        guard var presses = buttons[address]?.presses else { return }
        guard family.has(clickType) else { return noteAnomaly("\(clickType) is never in \(family)") }
        let events = presses.add(family, clickType, wasQueued: wasQueued, timeDifference: timeDifference, at: now)
        buttons[address]?.presses = presses
        if let deadline = presses.deadline {
            deadlines.set(.press(address), at: deadline)
        } else {
            deadlines.cancel(.press(address))
        }
        if !events.isEmpty { effects.append(.pressed(events)) }
    }

    mutating func flushPress(of address: BluetoothAddress) {
        deadlines.cancel(.press(address))
        guard let event = buttons[address]?.presses.flush() else { return }
        effects.append(.pressed([event]))
    }

    /// Completes the current press, because its remaining events will not be received.
    mutating func endPress(of address: BluetoothAddress, at now: Instant) {
        deadlines.cancel(.press(address))
        guard let events = buttons[address]?.presses.end(at: now), !events.isEmpty else { return }
        effects.append(.pressed(events))
    }

    // MARK: Pairing

    private mutating func wizardHappened(_ event: FlicdEvent, at now: Instant) {
        switch event {
        case .scanWizardFoundPrivateButton(let id) where id == wizard?.id:
            effects.append(.pairing(.foundPrivate))
        case .scanWizardFoundPublicButton(let id, let address, _) where id == wizard?.id:
            wizard?.found = address
            effects.append(.pairing(.foundPublic(address)))
        case .scanWizardButtonConnected(let id) where id == wizard?.id:
            effects.append(.pairing(.connected(wizard?.found)))
        case .scanWizardCompleted(let id, let result) where id == wizard?.id:
            wizardCompleted(result, at: now)
        case .scanWizardFoundPrivateButton, .scanWizardFoundPublicButton, .scanWizardButtonConnected,
            .scanWizardCompleted:
            noteAnomaly("progress of an unknown scan wizard")
        case .advertisementPacket, .createConnectionChannelResponse, .connectionStatusChanged,
            .connectionChannelRemoved, .button, .newVerifiedButton, .getInfoResponse, .noSpaceForNewConnection,
            .gotSpaceForNewConnection, .bluetoothControllerStateChange, .pingResponse, .getButtonInfoResponse,
            .buttonDeleted, .batteryStatus, .other:
            break
        }
    }

    private mutating func wizardCompleted(_ result: FlicdScanWizardResult, at now: Instant) {
        let found = wizard?.found
        wizard = nil
        switch result {
        // The wizard's time limit is over, but the search may continue with another wizard.
        case .success, .cancelledByUser,
            .failedTimeout where found == nil:
            if isSearching { deadlines.set(.wizard, at: now + Self.wizardWaits.lowerBound) }
        case .failedTimeout, .buttonIsPrivate, .bluetoothUnavailable, .internetBackendError, .invalidData,
            .buttonBelongsToOtherPartner, .buttonAlreadyConnectedToOtherDevice:
            guard isSearching else { return }
            effects.append(.pairing(.failed(result, found)))
            deadlines.set(.wizard, at: now + Self.wizardWaits.upperBound)
        }
    }
}

extension FlicdFamily {
    /// True if this click type occurs in this family.
    fileprivate func has(_ clickType: FlicdClickType) -> Bool {
        switch (self, clickType) {
        case (.upOrDown, .buttonDown), (.upOrDown, .buttonUp), (.clickOrHold, .buttonClick),
            (.clickOrHold, .buttonHold),
            (.singleOrDoubleClick, .buttonSingleClick), (.singleOrDoubleClick, .buttonDoubleClick),
            (.singleOrDoubleClickOrHold, .buttonSingleClick), (.singleOrDoubleClickOrHold, .buttonDoubleClick),
            (.singleOrDoubleClickOrHold, .buttonHold):
            true
        case (.upOrDown, _), (.clickOrHold, _), (.singleOrDoubleClick, _), (.singleOrDoubleClickOrHold, _): false
        }
    }
}
