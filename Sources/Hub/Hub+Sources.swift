import ButtonModel
import Buttons
import FlicdProtocol
import JSON
import Rules

// Buttons that are paired with a flicd instead of this machine's adapter. To rules and MQTT they are like any other.
extension Hub {
    mutating func startSources(at now: Instant) {
        for place in sources.indices {
            let own = buttons.values.filter { $0.source == sources[place].name }
            let wishes = own.map { ($0.identity.address, FlicdWish($0.settings)) }
            advanceSource(place, .start(Dictionary(wishes) { first, _ in first }), at: now)
        }
        for source in Set(buttons.values.compactMap(\.source)).subtracting(sources.map(\.name)).sorted() {
            let labels = buttons.values.filter { $0.source == source }.map { label(of: $0.identity.id) }.sorted()
            log(
                .warning,
                "sources does not contain \(source), which has \(labels.joined(separator: ", ")); forget buttons that are not used"
            )
        }
    }

    mutating func sourceHappened(_ place: Int, _ input: SourceInput, at now: Instant) {
        guard sources.indices.contains(place) else { return }
        switch input {
        case .connected(let bootID): advanceSource(place, .connected(bootID: bootID), at: now)
        case .received(let octets): advanceSource(place, .received(octets), at: now)
        case .closed(let reason): advanceSource(place, .closed(reason), at: now)
        }
    }

    mutating func expireSources(at now: Instant) {
        for place in sourceDeadlines.takeDue(at: now) { advanceSource(place, .timerFired, at: now) }
        rearmSources()
    }

    private mutating func rearmSources() {
        switch sourceDeadlines.rearm() {
        case .set(let deadline): deadlines.set(.sources, at: deadline)
        case .cancel: deadlines.cancel(.sources)
        case nil: break
        }
    }

    private mutating func advanceSource(_ place: Int, _ input: FlicdSource.Input, at now: Instant) {
        for effect in sources[place].flicd.handle(input, at: now) { carryOut(effect, from: place, at: now) }
        rearmSources()
    }

    private mutating func carryOut(_ effect: FlicdSource.Effect, from place: Int, at now: Instant) {
        let name = sources[place].name
        switch effect {
        case .connect: effects.append(.source(place, .connect))
        case .send(let octets): effects.append(.source(place, .send(octets)))
        case .close: effects.append(.source(place, .close))
        case .setTimer(let deadline): sourceDeadlines.set(place, at: deadline)
        case .cancelTimer: sourceDeadlines.cancel(place)
        case .controller(let state): controllerChanged(place, state)
        case .lost(let reason, let retryAfter): sourceLost(place, reason, retryAfter)
        case .known(let identity): describedByFlicd(identity, place, at: now)
        case .gone(let address, let hasForgotten):
            guard let button = button(address, of: place) else { break }
            gone(button, hasForgotten ? .unpaired : .removed, at: now)
        case .state(let address, let status):
            guard let button = button(address, of: place) else { break }
            let state = ButtonState(status)
            if buttons[button]?.state != state { stateChanged(button, state, at: now) }
        case .pressed(let events):
            guard let last = events.last, buttons[last.button]?.source == name else { break }
            let cursor = EventCursor(bootID: last.bootID, eventCount: last.counter)
            pressed(last.button, events, cursor, needsAcknowledgement: false, at: now)
        case .battery(let address, let percentage, let measuredAt):
            guard let button = button(address, of: place) else { break }
            batteryTold(button, percentage, measuredAt, at: now)
        case .pairing(let step): pairingProgressed(step, place, at: now)
        case .anomaly(let text): log(.debug, "\(name): \(text)")
        }
    }

    /// The button with that address, if it belongs to this source.
    private func button(_ address: BluetoothAddress, of place: Int) -> ButtonID? {
        let button = ButtonID(address)
        return buttons[button]?.source == sources[place].name ? button : nil
    }

    // MARK: The connection

    private mutating func controllerChanged(_ place: Int, _ state: FlicdControllerState?) {
        let name = sources[place].name
        let before = sources[place].controller
        sources[place].controller = state
        invalidate(.bridgeInfo)
        guard let state else { return }
        sources[place].fault = nil
        let isWorking = state == .attached
        if before == nil || (before == .attached) != isWorking {
            log(
                isWorking ? .info : .warning,
                isWorking ? "\(name) is connected" : "\(name) is connected, but has no working adapter")
        }
        broadcast(["kind": "source", "url": .string(name), "connected": true, "adapter": .string(state.word)])
    }

    private mutating func sourceLost(_ place: Int, _ reason: String, _ retryAfter: Duration) {
        let name = sources[place].name
        let fault = "\(name): \(reason)"
        sources[place].foreign = []
        if sources[place].fault != fault {
            log(.warning, "\(fault); the connection is retried")
            broadcast(["kind": "source", "url": .string(name), "connected": false, "reason": .string(reason)])
        }
        sources[place].fault = fault
    }

    // MARK: Buttons

    private mutating func describedByFlicd(_ identity: ButtonIdentity, _ place: Int, at now: Instant) {
        let name = sources[place].name
        let button = identity.id
        guard let known = buttons[button] else {
            // Buttons remain stored when another flicd gets the URL, so their number is bounded here, too.
            guard buttons.values.count(where: { $0.source == name }) < FlicdSource.maximumButtons else {
                if sources[place].foreign.isEmpty {
                    log(
                        .warning,
                        "\(name): only \(FlicdSource.maximumButtons) buttons are used; forget some to add others")
                }
                sources[place].foreign.insert(button)
                return advanceSource(place, .wish(identity.address, FlicdWish(isConnectionWanted: false)), at: now)
            }
            add(StoredButton(identity: identity, pairing: nil, source: name, pairedAt: wallClock(at: now)), at: now)
            introduce(button, at: now)
            log(.info, "\(name) has the button \(label(of: button)) (\(identity.address))")
            return advanceSource(place, .wish(identity.address, FlicdWish()), at: now)
        }
        guard known.source == name || adopt(button, place, at: now) else {
            if sources[place].foreign.insert(button).inserted {
                let other = known.source ?? "the local adapter"
                log(.info, "\(name) has \(label(of: button)), too; its presses are taken from \(other)")
            }
            return advanceSource(place, .wish(identity.address, FlicdWish(isConnectionWanted: false)), at: now)
        }
        announce(buttons.firmwareReported(button, identity.firmwareVersion), at: now)
    }

    /// Releases a button at its flicd after the own adapter was paired with it: a button can be connected only once.
    mutating func leaveToAdapter(_ button: ButtonID, at now: Instant) {
        guard let record = buttons[button], let place = sources.firstIndex(where: { $0.name == record.source }) else {
            return
        }
        sources[place].foreign.insert(button)
        advanceSource(place, .wish(record.identity.address, FlicdWish(isConnectionWanted: false)), at: now)
    }

    /// Assigns a button of a source that is no longer configured to this source, because the same flicd may have got
    /// another URL. Its settings are kept.
    ///
    /// - Returns: whether the button belongs to this source now.
    private mutating func adopt(_ button: ButtonID, _ place: Int, at now: Instant) -> Bool {
        guard let record = buttons[button], let former = record.source, !sources.contains(where: { $0.name == former })
        else { return false }
        let name = sources[place].name
        announce(buttons.adopted(button, by: name), at: now)
        advanceSource(place, .wish(record.identity.address, FlicdWish(record.settings)), at: now)
        log(.info, "\(label(of: button)) belongs to \(name) now, and no longer to \(former)")
        return true
    }

    private mutating func batteryTold(_ button: ButtonID, _ percentage: Int, _ measuredAt: UTCTime, at now: Instant) {
        guard
            let (change, becameLow) = buttons.batteryReported(button, percentage: percentage, at: measuredAt)
        else { return }
        announce(change, at: now)
        if becameLow { batteryBecameLow(button, "\(percentage) %", wallClock(at: now), at: now) }
    }

    /// Changes a setting, stores it and sends it to the flicd. Other requests are rejected by the caller.
    ///
    /// - Returns: whether it is another than before.
    mutating func change(
        _ button: ButtonID, of source: String, by request: ButtonRequest, at now: Instant
    ) -> Bool {
        guard var settings = buttons[button]?.settings else { return false }
        switch request {
        case .setLatencyMode(let mode): settings.latencyMode = mode
        case .setAutoDisconnectTime(let seconds): settings.autoDisconnectTime = seconds
        case .setConnectionWanted(let isWanted): settings.isConnectionWanted = isWanted
        case .setNickname, .measureSignal, .updateFirmware, .cancelFirmwareUpdate, .factoryReset, .setDial,
            .setLEDMode:
            return false
        }
        guard let change = buttons.settingsChosen(button, settings) else { return false }
        announce(change, at: now)
        if let index = sources.firstIndex(where: { $0.name == source }), let record = buttons[button] {
            advanceSource(index, .wish(record.identity.address, FlicdWish(settings)), at: now)
        }
        return true
    }

    /// Deletes the button at its flicd, or only here if that flicd is no longer configured.
    ///
    /// - Returns: the reason, if the button cannot be deleted.
    mutating func forget(_ button: ButtonID, from source: String, at now: Instant) -> String? {
        guard let place = sources.firstIndex(where: { $0.name == source }) else {
            gone(button, .removed, at: now)
            return nil
        }
        guard sources[place].isConnected, let address = buttons[button]?.identity.address else {
            return
                "the button is paired with \(source), which is not connected; try again later, or remove it from sources"
        }
        advanceSource(place, .forget(address), at: now)
        return nil
    }

    // MARK: Pairing

    mutating func searchSources(withAdapter: Bool, at now: Instant) {
        guard !sources.isEmpty else { return }
        let isNew = !sources.contains(where: \.isSearching)
        if isNew { hasPairedOne = false }
        if !withAdapter {
            if isNew { pairingProgressed(.searching, at: now) }
            if let joinEnd { deadlines.set(.join, at: joinEnd) }
        }
        for place in sources.indices { advanceSource(place, .search, at: now) }
    }

    mutating func stopSourceSearch(at now: Instant) {
        deadlines.cancel(.join)
        for place in sources.indices where sources[place].isSearching {
            advanceSource(place, .stopSearch, at: now)
        }
    }

    /// Ends a search in which the own adapter does not take part.
    mutating func endSourceSearch(isAsked: Bool, at now: Instant) {
        guard joinEnd != nil else { return }
        if !isAsked, !hasPairedOne { pairingProgressed(.failed(.noNewButtonsFound, nil), at: now) }
        pairingProgressed(.ended, at: now)
    }

    private mutating func pairingProgressed(_ step: FlicdWizardStep, _ place: Int, at now: Instant) {
        let name = sources[place].name
        var data: [JSONValue.Member] = [.init("step", .string(step.word))]
        if let address = step.address { data.append(.init("address", .string(address.description))) }
        data.append(.init("source", .string(name)))
        switch step {
        case .paired(let identity):
            hasPairedOne = true
            data.append(.init("id", .string(identity.id.description)))
            data.append(.init("button", .string(label(of: identity.id))))
            data.append(.init("serial", .string(identity.serial)))
            data.append(.init("firmware", .integer(Int64(identity.firmwareVersion))))
        case .failed(let result, _):
            data.append(.init("reason", .string(result.reason)))
            data.append(.init("advice", .string(result.advice)))
            log(.warning, "\(name): pairing failed: \(result.advice)")
        case .foundPrivate, .foundPublic, .connected: break
        }
        tellPairing(data)
    }
}

extension FlicdWish {
    fileprivate init(_ settings: ButtonSettings) {
        self.init(
            mode: FlicdChannelMode(
                latencyMode: settings.latencyMode, autoDisconnectTime: settings.autoDisconnectTime),
            isConnectionWanted: settings.isConnectionWanted)
    }
}

extension ButtonState {
    /// - Parameter status: the status of the button's channel; `nil` if there is none.
    fileprivate init(_ status: FlicdConnectionStatus?) {
        self =
            switch status {
            case nil: .disconnected
            case .disconnected: .connecting
            case .connected: .connected
            case .ready: .ready
            }
    }
}
