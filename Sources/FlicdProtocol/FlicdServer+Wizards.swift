import ButtonModel

// Scan wizards: all clients' wizards share one search and one pairing attempt at a time.
extension FlicdServer {
    mutating func createWizard(_ id: UInt32, for client: ClientID, at now: Instant) {
        guard let wizards = clients[client]?.wizards, wizards[id] == nil else { return }
        // Wizards beyond `maximumWizards` fail after the usual delay; beyond twice that number they fail at once.
        guard wizards.count < 2 * Self.maximumWizards else {
            return send(.scanWizardCompleted(id: id, .failedTimeout), to: client)
        }
        clients[client]?.wizards[id] = FlicdWizard(createdAt: now)
        guard wizards.count < Self.maximumWizards else { return fail(id, of: client, .failedTimeout, at: now) }
        guard controllerState == .attached else { return fail(id, of: client, .bluetoothUnavailable, at: now) }
        enter(.looking, id, of: client, at: now)
        retriesFailedPairings = true
        guard let attempt else { return }
        found(attempt.address, id, of: client, at: now)
        if attempt.isConnected { connected(attempt.address, id, of: client, at: now) }
    }

    private mutating func enter(_ phase: FlicdWizard.Phase, _ id: UInt32, of client: ClientID, at now: Instant) {
        clients[client]?.wizards[id]?.phase = phase
        deadlines.set(.wizard(client, id), at: now + phase.limit)
    }

    private mutating func found(_ address: BluetoothAddress, _ id: UInt32, of client: ClientID, at now: Instant) {
        enter(.connecting(address), id, of: client, at: now)
        send(.scanWizardFoundPublicButton(id: id, address, name: names[address] ?? ""), to: client)
    }

    private mutating func connected(_ address: BluetoothAddress, _ id: UInt32, of client: ClientID, at now: Instant) {
        enter(.verifying(address), id, of: client, at: now)
        send(.scanWizardButtonConnected(id: id), to: client)
    }

    /// Marks a wizard as failed. Its client is told when the wizard has reached its minimum age.
    private mutating func fail(
        _ id: UInt32, of client: ClientID, _ result: FlicdScanWizardResult, at now: Instant
    ) {
        guard let wizard = clients[client]?.wizards[id], let failures = clients[client]?.failedWizards else { return }
        clients[client]?.failedWizards = min(failures + 1, Int(UInt8.max))
        isListeningChanged = true
        let due = wizard.createdAt + FlicdWizard.minimumAge(afterFailures: failures)
        clients[client]?.wizards[id]?.phase = .failed(result)
        if due > now {
            deadlines.set(.wizard(client, id), at: due)
        } else {
            complete(id, of: client, result, at: now)
        }
    }

    mutating func complete(_ id: UInt32, of client: ClientID, _ result: FlicdScanWizardResult, at now: Instant) {
        guard let wizard = clients[client]?.wizards.removeValue(forKey: id) else { return }
        if !wizard.hasFailed { clients[client]?.failedWizards = 0 }
        deadlines.cancel(.wizard(client, id))
        isListeningChanged = true
        send(.scanWizardCompleted(id: id, result), to: client)
        let peer = clients[client]?.peer ?? ""
        switch result {
        // These results are frequent: some clients search without pause, and some cancel.
        case .failedTimeout where wizard.isLooking, .cancelledByUser:
            log(.debug, "flicd: \(peer) looked for a new button and found none")
        case .success, .failedTimeout, .buttonIsPrivate, .bluetoothUnavailable, .internetBackendError, .invalidData,
            .buttonBelongsToOtherPartner, .buttonAlreadyConnectedToOtherDevice:
            log(.wizard(result), .info, "flicd: \(peer) looked for a new button: \(result.sentence)", at: now)
        }
    }

    mutating func wizardExpired(_ client: ClientID, _ id: UInt32, at now: Instant) {
        guard let wizard = clients[client]?.wizards[id] else { return }
        if case .failed(let result) = wizard.phase {
            complete(id, of: client, result, at: now)
        } else {
            complete(id, of: client, .failedTimeout, at: now)
        }
    }

    // MARK: Progress

    private func wizards(where matches: (FlicdWizard) -> Bool) -> [(client: ClientID, id: UInt32)] {
        clients.keys.sorted().flatMap { client in
            (clients[client]?.wizards ?? [:]).filter { matches($0.value) }.keys.sorted().map { (client, $0) }
        }
    }

    mutating func pairingProgressed(_ step: FlicdPairingStep, at now: Instant) {
        switch step {
        case .found(let address):
            endAttempt(.failedTimeout, at: now)
            attempt = PairingAttempt(address: address)
            for (client, id) in wizards(where: \.isLooking) { found(address, id, of: client, at: now) }
        case .connected(let address):
            guard attempt == PairingAttempt(address: address), buttons[ButtonID(address)] == nil else { break }
            attempt?.isConnected = true
            for channel in channels[ButtonID(address)] ?? [] {
                send(.connectionStatusChanged(id: channel.id, .connected, reason: .unspecified), to: channel.client)
            }
            for (client, id) in wizards(where: { $0.phase == .connecting(address) }) {
                connected(address, id, of: client, at: now)
            }
        case .failed(let address, let result, let reason):
            guard attempt?.address == address else { break }
            endAttempt(result, reason, at: now)
        }
    }

    /// Ends the pairing attempt. Channels that were told `connected` are told `disconnected`, and removed if there is a
    /// reason.
    mutating func endAttempt(
        _ result: FlicdScanWizardResult, _ reason: FlicdRemovedReason? = nil, at now: Instant
    ) {
        guard let ended = attempt else { return }
        attempt = nil
        let button = ButtonID(ended.address)
        if ended.isConnected, buttons[button] == nil {
            for channel in channels[button] ?? [] {
                send(.connectionStatusChanged(id: channel.id, .disconnected, reason: .unspecified), to: channel.client)
                if let reason { endChannel(channel.id, of: channel.client, reason) }
            }
        }
        for (client, id) in wizards(where: { $0.address == ended.address }) { fail(id, of: client, result, at: now) }
    }

    mutating func completeWizards(with button: BluetoothAddress, at now: Instant) {
        for (client, id) in wizards(where: { $0.address == button }) { complete(id, of: client, .success, at: now) }
    }

    mutating func failWizards(_ result: FlicdScanWizardResult, at now: Instant) {
        for (client, id) in wizards(where: { !$0.hasFailed }) { fail(id, of: client, result, at: now) }
    }

    // MARK: Advertisements

    private static let maximumNames = 64

    mutating func createScanner(_ id: UInt32, for client: ClientID) {
        guard let scanners = clients[client]?.scanners, scanners.count < Self.maximumScanners else { return }
        clients[client]?.scanners.insert(id)
        isListeningChanged = true
    }

    mutating func advertised(_ received: FlicdAdvertisement, at now: Instant) {
        let button = buttons[ButtonID(received.address)]
        var advertisement = received
        advertisement.isAlreadyVerified = button != nil
        advertisement.isConnectedToThisDevice = button.map { $0.status != .disconnected } ?? false
        if !received.name.isEmpty {
            if names.count >= Self.maximumNames { names = [:] }
            names[received.address] = received.name
        }
        for client in clients.keys {
            for scanner in clients[client]?.scanners.sorted() ?? [] { report(advertisement, to: scanner, of: client) }
        }
        guard received.isPrivate, button == nil else { return }
        for (client, id) in wizards(where: { $0.phase == .looking }) {
            enter(.privateSeen, id, of: client, at: now)
            send(.scanWizardFoundPrivateButton(id: id), to: client)
        }
    }

    /// Sends an advertisement, or, while the socket is blocked, keeps it as the newest of this button and scanner.
    private mutating func report(_ advertisement: FlicdAdvertisement, to scanner: UInt32, of client: ClientID) {
        guard clients[client]?.isBlocked == true else {
            return send(.advertisementPacket(scanID: scanner, advertisement), to: client)
        }
        let key = FlicdClient.AdvertisementKey(scanner: scanner, address: advertisement.address)
        guard let waiting = clients[client]?.advertisements,
            waiting[key] != nil || waiting.count < FlicdClient.maximumAdvertisements
        else { return }
        clients[client]?.advertisements[key] = advertisement
    }
}

extension FlicdScanWizardResult {
    /// The result in words, for the log.
    fileprivate var sentence: String {
        switch self {
        case .success: "it is paired."
        case .cancelledByUser: "given up by the client."
        case .failedTimeout: "it did not answer in time. Bring it nearer and try again."
        case .buttonIsPrivate: "the button is in private mode. Hold it down for 7 seconds and try again."
        case .bluetoothUnavailable: "there is no Bluetooth adapter."
        case .internetBackendError: "a server of the maker could not be reached."
        case .invalidData: "the button could not prove that it is genuine."
        case .buttonBelongsToOtherPartner: "the button is bound to another program."
        case .buttonAlreadyConnectedToOtherDevice:
            "the button is connected to another device. Disconnect it there first."
        }
    }
}
