import ButtonModel
import Buttons
import FlicdProtocol
import JSON
import Rules

// Buttons that are paired with a flicd instead of with Tryck's own adapter. Rules and MQTT treat them like all others.
extension Hub {
    mutating func startUpstreams(at now: Instant) {
        for index in flicd.upstreams.indices {
            let own = buttons.all(from: flicd.upstreams[index].name)
            let wishes = own.map { ($0.identity.address, FlicdButtonRequest($0.settings)) }
            advanceUpstream(index, .start(Dictionary(wishes) { first, _ in first }), at: now)
        }
        for source in buttons.sources.subtracting(flicd.upstreams.map(\.name)).sorted()
        where feed?.owns(source: source) != true {
            let labels = buttons.all(from: source).map { label(of: $0.identity.id) }.sorted()
            log(
                .warning,
                "sources does not contain \(source), which has \(labels.joined(separator: ", ")); forget buttons that are not used"
            )
        }
    }

    mutating func upstreamReported(_ index: Int, _ input: SourceInput, at now: Instant) {
        guard flicd.upstreams.indices.contains(index) else { return }
        switch input {
        case .connected(let bootID): advanceUpstream(index, .connected(bootID: bootID), at: now)
        case .received(let octets): advanceUpstream(index, .received(octets), at: now)
        case .closed(let reason): advanceUpstream(index, .closed(reason), at: now)
        }
    }

    mutating func expireUpstreams(at now: Instant) {
        for index in flicd.takeDue(at: now) { advanceUpstream(index, .timerFired, at: now) }
        rearmUpstreams()
    }

    private mutating func rearmUpstreams() {
        switch flicd.rearm() {
        case .set(let deadline): setTimer(.sources, at: deadline)
        case .cancel: cancelTimer(.sources)
        case nil: break
        }
    }

    mutating func advanceUpstream(_ index: Int, _ input: FlicdSource.Input, at now: Instant) {
        for effect in flicd.handle(input, of: index, at: now) { carryOut(effect, from: index, at: now) }
        rearmUpstreams()
    }

    private mutating func carryOut(_ effect: FlicdSource.Effect, from index: Int, at now: Instant) {
        let name = flicd.upstreams[index].name
        switch effect {
        case .connect: emit(.source(index, .connect))
        case .send(let octets): emit(.source(index, .send(octets)))
        case .close: emit(.source(index, .close))
        case .setTimer(let deadline): flicd.setTimer(of: index, at: deadline)
        case .cancelTimer: flicd.setTimer(of: index, at: nil)
        case .controller(let state): controllerChanged(index, state)
        case .lost(let reason, _): upstreamLost(index, reason)
        case .known(let identity): describedByFlicd(identity, index, at: now)
        case .gone(let address, let hasForgotten):
            guard let button = button(address, of: index) else { break }
            gone(button, hasForgotten ? .unpaired : .removed, at: now)
        case .state(let address, let status):
            guard let button = button(address, of: index) else { break }
            let state = ButtonState(status)
            if buttons[button]?.state != state { stateChanged(button, state, at: now) }
        case .pressed(let events):
            guard let last = events.last, buttons[last.button]?.source == name else { break }
            let cursor = EventCursor(bootID: last.bootID, eventCount: last.counter)
            pressed(last.button, events, cursor, needsAcknowledgement: false, at: now)
        case .battery(let address, let percentage, let measuredAt):
            guard let button = button(address, of: index) else { break }
            batteryReported(button, percentage, measuredAt, at: now)
        case .pairing(let step): pairingProgressed(step, index, at: now)
        case .anomaly(let text): log(.debug, "\(name): \(text)")
        }
    }

    /// The button with that address, if it belongs to this source.
    private func button(_ address: BluetoothAddress, of index: Int) -> ButtonID? {
        let button = ButtonID(address)
        return buttons[button]?.source == flicd.upstreams[index].name ? button : nil
    }

    // MARK: The connection

    private mutating func controllerChanged(_ index: Int, _ state: FlicdControllerState?) {
        completePress(at: handledAt)
        let name = flicd.upstreams[index].name
        let isLogged = flicd.controllerChanged(of: index, state)
        invalidate(.bridgeInfo)
        guard let state else { return }
        if isLogged {
            let isWorking = state == .attached
            log(
                isWorking ? .info : .warning,
                isWorking ? "\(name) is connected" : "\(name) is connected, but has no working adapter")
        }
        broadcast(.sourceConnected(url: name, adapter: state.name))
    }

    private mutating func upstreamLost(_ index: Int, _ reason: String) {
        completePress(at: handledAt)
        let name = flicd.upstreams[index].name
        guard flicd.lost(index, reason) else { return }
        log(.warning, "\(name): \(reason); the connection is retried")
        broadcast(.sourceLost(url: name, reason: reason))
    }

    // MARK: Buttons

    private mutating func describedByFlicd(_ identity: ButtonIdentity, _ index: Int, at now: Instant) {
        let name = flicd.upstreams[index].name
        let button = identity.id
        guard let known = buttons[button] else {
            // Buttons remain stored when another flicd gets the URL, so their number is bounded here, too.
            guard buttons.count(from: name) < FlicdSource.maximumButtons else {
                if flicd.upstreams[index].foreign.isEmpty {
                    log(
                        .warning,
                        "\(name): only \(FlicdSource.maximumButtons) buttons are used; forget some to add others")
                }
                _ = flicd.leaveAlone(button, of: index)
                return advanceUpstream(
                    index, .request(identity.address, FlicdButtonRequest(isConnectionWanted: false)), at: now)
            }
            add(StoredButton(identity: identity, pairing: nil, source: name, pairedAt: wallClock(at: now)), at: now)
            announce(buttons.introduced(button), at: now)
            log(.info, "\(name) has the button \(label(of: button)) (\(identity.address))")
            return advanceUpstream(index, .request(identity.address, FlicdButtonRequest()), at: now)
        }
        guard known.source == name || adopt(button, index, at: now) else {
            if flicd.leaveAlone(button, of: index) {
                let other = known.source ?? "the local adapter"
                log(.info, "\(name) has \(label(of: button)), too; its presses are taken from \(other)")
            }
            return advanceUpstream(
                index, .request(identity.address, FlicdButtonRequest(isConnectionWanted: false)), at: now)
        }
        announce(buttons.firmwareReported(button, identity.firmwareVersion), at: now)
    }

    /// Releases a button at its flicd after the own adapter was paired with it: a button can be connected only once.
    mutating func leaveToAdapter(_ button: ButtonID, at now: Instant) {
        guard let record = buttons[button], let index = flicd.index(of: record.source) else {
            return
        }
        _ = flicd.leaveAlone(button, of: index)
        advanceUpstream(
            index, .request(record.identity.address, FlicdButtonRequest(isConnectionWanted: false)), at: now)
    }

    /// Assigns a button of a source that is no longer configured to this source, because the same flicd may have got
    /// another URL. Its settings are kept.
    ///
    /// - Returns: whether the button belongs to this source now.
    private mutating func adopt(_ button: ButtonID, _ index: Int, at now: Instant) -> Bool {
        guard let record = buttons[button], let former = record.source, !flicd.has(former)
        else { return false }
        let name = flicd.upstreams[index].name
        announce(buttons.adopted(button, by: name), at: now)
        advanceUpstream(index, .request(record.identity.address, FlicdButtonRequest(record.settings)), at: now)
        log(.info, "\(label(of: button)) belongs to \(name) now, and no longer to \(former)")
        return true
    }

    mutating func batteryReported(_ button: ButtonID, _ percentage: Int, _ measuredAt: UTCTime, at now: Instant) {
        guard
            let (change, becameLow) = buttons.batteryReported(button, percentage: percentage, at: measuredAt)
        else { return }
        announce(change, at: now)
        if becameLow { batteryBecameLow(button, "\(percentage) %", wallClock(at: now), at: now) }
    }

    /// Sends the settings of a button to its flicd if a change contains them.
    mutating func requestFromFlicd(_ settings: ButtonSettings, of change: ButtonChange, at now: Instant) {
        guard change.changes.contains(.settings(change.button, settings)), let record = buttons[change.button],
            let index = flicd.index(of: record.source)
        else { return }
        advanceUpstream(index, .request(record.identity.address, FlicdButtonRequest(settings)), at: now)
    }

    /// Deletes the button at its flicd, or only here if that flicd is no longer configured.
    ///
    /// - Returns: the reason, if the button cannot be deleted.
    mutating func forget(_ button: ButtonID, from source: String, at now: Instant) -> String? {
        if feed?.isHere(source: source) == true { return "the button belongs to \(source); forget it at that site" }
        guard let index = flicd.index(of: source) else {
            gone(button, .removed, at: now)
            return nil
        }
        guard flicd.upstreams[index].isConnected, let address = buttons[button]?.identity.address else {
            return
                "the button is paired with \(source), which is not connected; try again later, or remove it from sources"
        }
        advanceUpstream(index, .forget(address), at: now)
        return nil
    }
}

extension ButtonSettings {
    /// Takes over what a user requests of a button of a flicd. `Hub` refuses other requests.
    mutating func apply(_ request: ButtonRequest) {
        switch request {
        case .setLatencyMode(let mode): latencyMode = mode
        case .setAutoDisconnectTime(let seconds): autoDisconnectTime = seconds
        case .setConnectionWanted(let isWanted): isConnectionWanted = isWanted
        case .setNickname, .measureSignal, .updateFirmware, .cancelFirmwareUpdate, .factoryReset, .setDial,
            .setLEDMode:
            break
        }
    }
}
