import ButtonModel
import Buttons
import FlicdProtocol
import JSON
import MQTTTopics
import Rules

// What the links of the own adapter's buttons report.
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
        case .send(let packet): emit(.send(packet))
        case .setTimer(let deadline): setTimer(.buttons, at: deadline)
        case .cancelTimer: cancelTimer(.buttons)
        case .needsEntropy: emit(.needsEntropy)
        case .controllerReady(let address): controllerReady(address, at: now)
        case .controllerFailed(let reason, let isUnsupported):
            emit(.closeTransport)
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

    // MARK: Dials

    /// The delay from a rotation to the record of the dial's position, unless a message about the rotation is recorded before.
    /// A dial that keeps turning is recorded at this interval.
    static let dialDelay = Hub.settlingTime

    mutating func moved(_ button: ButtonID, _ movements: [ButtonMovement], at now: Instant) {
        guard buttons[button] != nil else { return }
        buttons.wasSeen(button, at: now)
        for movement in movements {
            if let dial = movement.dial { dialMoved(dial, of: button, to: movement.units, at: now) }
            advanceRules(.moved(movement), at: now)
        }
        announce(ButtonChange(button: button, fact: .activity), at: now)
    }

    private mutating func dialMoved(_ dial: Dial, of button: ButtonID, to units: Int, at now: Instant) {
        guard buttons.dialMoved(dial, of: button, to: units) else { return }
        if !isTimerSet(.dials) { setTimer(.dials, at: now + Hub.dialDelay) }
    }

    mutating func setDial(_ dial: Dial, of button: ButtonID, percentage: Int, at now: Instant) {
        let units = Dial.units(percentage: percentage)
        advanceButtons(.request(button, .setDial(dial, units: units)), at: now)
        announce(buttons.dialChosen(dial, of: button, units: units), at: now)
    }
}
