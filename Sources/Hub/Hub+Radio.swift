import ButtonModel
import Buttons
import FlicdProtocol
import JSON
import MQTTTopics
import Rules

// The adapter and what the buttons' links report; presses are in `Hub+Presses`.
extension Hub {
    mutating func advanceButtons(_ input: ButtonManager.Input, at now: Instant) {
        buttonInputs.append(input)
        guard buttonInputs.count == 1 else { return }
        var next = 0
        while next < buttonInputs.count {
            for effect in buttonSource.handle(buttonInputs[next], at: now) { carryOut(effect, at: now) }
            next += 1
        }
        buttonInputs.removeAll(keepingCapacity: true)
        for button in radio.takeTimedOutLinks() {
            switch buttons[button]?.state {
            case .disconnected, .connecting: advanceRules(.linkTimedOut(button), at: now)
            case .connected, .ready, .disconnecting, nil: break
            }
        }
    }

    private mutating func carryOut(_ effect: ButtonManager.Effect, at now: Instant) {
        switch effect {
        case .send(let packet): effects.append(.send(packet))
        case .setTimer(let deadline): deadlines.set(.buttons, at: deadline)
        case .cancelTimer: deadlines.cancel(.buttons)
        case .needsEntropy: effects.append(.needsEntropy)
        case .controllerReady(let address): controllerReady(address, at: now)
        case .controllerFailed(let reason, let isUnsupported):
            effects.append(.closeTransport)
            transportClosed(reason, isUnsupported ? .unsupported : .failed, at: now)
        case .pairing(let progress): pairingProgressed(progress, at: now)
        case .paired(let button, let batteryMillivolts): paired(button, batteryMillivolts, at: now)
        case .unpaired(let button): gone(button, .unpaired, at: now)
        case .forgotten(let button): gone(button, .removed, at: now)
        case .state(let button, let state): stateChanged(button, state, at: now)
        case .signal(let button, let rssi): announce(buttons.signalMeasured(button, Int(rssi)), at: now)
        case .rebooted(let button, let cursor):
            advanceRules(.rebooted(button), at: now)
            buttons.rebooted(button, cursor)
            if let progress = progress(of: button) { record([progress]) }
        case .events(let button, let events, let cursor, let needsAcknowledgement):
            pressed(button, events, cursor, needsAcknowledgement: needsAcknowledgement, at: now)
        case .moved(let button, let movements): moved(button, movements, at: now)
        case .queueDrained: break
        case .advertisingConfigured(let button): announce(buttons.advertisingConfigured(button), at: now)
        case .battery(let button, let millivolts): batteryMeasured(button, millivolts, at: now)
        case .firmware(let button, let version): announce(buttons.firmwareReported(button, version), at: now)
        case .model(let button, let model): announce(buttons.modelReported(button, model), at: now)
        case .nickname(let button, let nickname): announce(buttons.nicknameReported(button, nickname), at: now)
        case .firmwareUpdate(let button, let progress): updateProgressed(button, progress, at: now)
        case .waitingForSpace(let waiting): spaceChanged(waiting)
        case .abandoned(let address): tellFlicd(.pairing(.failed(address, .failedTimeout, nil)), at: now)
        case .capacity(let acceptListSize, let linkLimit):
            tellFlicd(.acceptListSize(acceptListSize), at: now)
            tellFlicd(.linkLimit(linkLimit), at: now)
        case .advertised(let heard): tellFlicd(.advertised(FlicdAdvertisement(heard)), at: now)
        case .allDisconnected: finish(at: now)
        case .disconnected(let button, let reason):
            if reason == ButtonManager.timeoutReason { radio.linkTimedOut(button) }
            tellFlicd(.linkFailed(button, word: reason), at: now)
            broadcast(.disconnected(name(of: button), reason: reason))
        case .sessionFailed(let button, let word, let advice):
            tellFlicd(.linkFailed(button, word: word), at: now)
            log(.warning, "\(label(of: button)): the session failed (\(word)); the pairing is kept. \(advice)")
            broadcast(.sessionFailed(name(of: button), reason: word, advice: advice))
        case .anomaly(let text): log(.debug, text)
        }
    }

    mutating func transportOpened(at now: Instant) {
        // Presses may have become impossible to record while the adapter was being opened.
        guard !radio.isHeldClosed else { return effects.append(.closeTransport) }
        radio.opened()
        metrics.isOutdated = true
        tellFlicdController(at: now)
        advanceButtons(.transportOpened, at: now)
    }

    private mutating func controllerReady(_ address: BluetoothAddress, at now: Instant) {
        radio.becameReady(address, at: now)
        metrics.isOutdated = true
        tellFlicdController(at: now)
        invalidate(.bridgeInfo)
        log(.info, "Bluetooth adapter \(address) on \(configuration.transport) is ready")
        broadcast(.adapter(radio.state, address: address))
        reportServiceStatus()
    }

    mutating func transportClosed(_ reason: String, _ fault: AdapterFault, at now: Instant) {
        metrics.isOutdated = true
        let closing = radio.closed(reason, fault, time: wallClock(at: now), at: now)
        invalidate(.bridgeInfo)
        advanceButtons(.transportClosed, at: now)
        tellFlicdController(at: now)
        if let delay = closing.retryDelay {
            deadlines.set(.transport, at: now + delay)
            if closing.isLogged {
                log(.error, "\(configuration.transport): \(reason) Trying again in \(delay.milliseconds / 1000) s.")
            }
        } else {
            // The journal of the store says when the adapter may be opened.
            deadlines.cancel(.transport)
        }
        broadcast(.adapter(radio.state, reason: reason))
        reportServiceStatus()
    }

    mutating func stateChanged(_ button: ButtonID, _ state: ButtonState, at now: Instant) {
        let wasReady = buttons[button]?.state == .ready
        var change = buttons.stateReported(button, state, at: now)
        if wasReady, state != .ready { change.changes = sightings(of: [button]) }
        announce(change, at: now)
    }

    mutating func batteryMeasured(_ button: ButtonID, _ millivolts: Int, at now: Instant) {
        let time = wallClock(at: now)
        guard let (change, becameLow) = buttons.batteryMeasured(button, millivolts: millivolts, at: time) else {
            return
        }
        announce(change, at: now)
        if becameLow { batteryBecameLow(button, "\(millivolts) mV", time, at: now) }
    }

    mutating func batteryBecameLow(_ button: ButtonID, _ reading: String, _ time: UTCTime, at now: Instant) {
        log(.warning, "\(label(of: button)): the battery is low (\(reading)); change it, a CR2032")
        broadcast(.batteryLow(name(of: button), at: time))
        advanceRules(.batteryLow(button), at: now)
    }

    private mutating func spaceChanged(_ waiting: Set<ButtonID>) {
        let before = radio.spaceChanged(waiting)
        if before.isEmpty, !waiting.isEmpty {
            let names = waiting.sorted().prefix(8).map { label(of: $0) }.joined(separator: ", ")
            log(
                .warning,
                "no space for a new connection: \(names) have no link; buttons take turns on the adapter's links")
        } else if !before.isEmpty, waiting.isEmpty {
            log(.info, "the adapter has room for all buttons again")
        }
        broadcast(.space(waiting: waiting.sorted().map { label(of: $0) }))
    }

    func name(of button: ButtonID) -> ButtonName { ButtonName(id: button, label: label(of: button)) }

    /// The name of a button for users: its name in the rules, else its own.
    func label(of button: ButtonID) -> String {
        rules.declaredName(of: button) ?? buttons[button]?.displayName ?? button.description
    }

    mutating func reportServiceStatus() {
        let ready = buttons.values.count { $0.state == .ready }
        effects.append(.status("adapter \(radio.state.name), \(buttons.count) buttons, \(ready) ready"))
    }
}
