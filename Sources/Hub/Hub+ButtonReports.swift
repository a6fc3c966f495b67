import ButtonModel
import Buttons
import Flic
import FlicdProtocol
import JSON
import MQTTTopics
import Radios
import Rules

// Reports of the own adapter's buttons. Presses, dials, firmware updates and pairings have files of their own.
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
        for button in radios.takeTimedOutLinks() where lifecycle.isRunning {
            switch buttons[button]?.state {
            case .disconnected, .connecting: advanceRules(.linkTimedOut(button), at: now)
            case .connected, .ready, .disconnecting, nil: break
            }
        }
    }

    private mutating func carryOut(_ effect: ButtonManager.Effect, at now: Instant) {
        switch effect {
        case .send(let packet, let radio): emit(.send(packet, radio))
        case .bus(let effect, let radio): emit(.bus(effect, radio))
        case .setTimer(let deadline): setTimer(.buttons, at: deadline)
        case .cancelTimer: cancelTimer(.buttons)
        case .needsEntropy: emit(.needsEntropy)
        case .controllerReady(let address, let description, let radio):
            controllerReady(address, description, of: radio, at: now)
        case .controllerFailed(let reason, let fault, let radio):
            emit(.closeTransport(radio))
            transportClosed(reason, fault, of: radio, at: now)
        case .controllerUnusable(let reason, let fault, let radio):
            controllerUnusable(reason, fault, of: radio, at: now)
        case .pairing(let progress): pairingProgressed(progress, at: now)
        case .paired(let button, let batteryMillivolts): paired(button, batteryMillivolts, at: now)
        case .unpaired(let button): gone(button, .unpaired, at: now)
        case .forgotten(let button): gone(button, .removed, at: now)
        case .state(let button, let state): stateChanged(button, state, at: now)
        case .signal(let button, let rssi): announce(buttons.signalMeasured(button, Int(rssi)), at: now)
        case .rebooted(let button, let cursor):
            completePress(at: now)
            // The next process finds out again, and ends what the rules have begun.
            guard !rules.isStopped else { break }
            advanceRules(.rebooted(button), at: now)
            missedPresses.rebooted(button, from: buttons[button]?.cursor, to: cursor)
            buttons.rebooted(button, cursor)
            if let progress = progress(of: button) { record([progress]) }
        case .events(let button, let events, let cursor, let needsAcknowledgement):
            pressed(button, events, cursor, needsAcknowledgement: needsAcknowledgement, at: now)
        case .moved(let button, let movements): dialsTurned(button, movements, at: now)
        case .advertisingConfigured(let button):
            announce(buttons.advertisingConfigured(button), at: now)
        case .battery(let button, let millivolts): batteryMeasured(button, millivolts, at: now)
        case .firmware(let button, let version): announce(buttons.firmwareReported(button, version), at: now)
        case .model(let button, let model): announce(buttons.modelReported(button, model), at: now)
        case .nickname(let button, let nickname): announce(buttons.nicknameReported(button, nickname), at: now)
        case .firmwareUpdate(let button, let progress): updateProgressed(button, progress, at: now)
        case .buttonsWithoutLink(let waiting): linkShortageChanged(waiting, at: now)
        case .abandoned(let address): advanceFlicdServer(.pairing(.failed(address, .failedTimeout, nil)), at: now)
        case .capacity(let acceptListSize, let linkLimit):
            advanceFlicdServer(.acceptListSize(acceptListSize), at: now)
            advanceFlicdServer(.linkLimit(linkLimit), at: now)
            if let linkLimit, radios.slots.count == 1 { linkLimitReported(linkLimit, of: .first) }
        case .linkLimit(let radio, let limit): linkLimitReported(limit, of: radio)
        case .homeChanged(let button, let radio):
            guard radio.rawValue < radios.slots.count else { break }
            // The first home of a button is the radio that has paired it and still has the link.
            if buttons.contains(button) { radios.connected(button, through: radio) }
            announce(buttons.homeChanged(button, to: radios[radio].radio.name), at: now)
        case .assigned(let button, let radio):
            radios.assign(button, to: radio)
            announce(buttons.radioChanged(button), at: now)
        case .connectionMade(let button, let radio, let duration):
            connectionMade(to: button, by: radio, after: duration)
        case .connectFailed(let radio, let failure): connectFailed(radio, failure)
        case .notificationLost(let radio): radios.notificationLost(radio)
        case .advertised(let advertisement):
            advanceFlicdServer(.advertised(FlicdAdvertisement(advertisement)), at: now)
        case .allDisconnected: finish(at: now)
        case .disconnected(let button, let reason):
            completePress(at: now)
            if reason.mayBeTimeout { radios.linkTimedOut(button) }
            advanceFlicdServer(.linkFailed(button, FlicdDisconnectReason(reason)), at: now)
            broadcast(.disconnected(name(of: button), reason: reason.name))
        case .sessionFailed(let button, let failure):
            completePress(at: now)
            advanceFlicdServer(.linkFailed(button, FlicdDisconnectReason(failure)), at: now)
            let advice = PairingFailure.session(failure).advice
            let sentence =
                "\(label(of: button)): the session failed (\(failure.name)); the pairing is kept. \(advice)"
            log(.failedSession, .warning, sentence, at: now)
            broadcast(.sessionFailed(name(of: button), reason: failure.name, advice: advice))
        case .anomaly(let text): log(.debug, text)
        }
    }

    mutating func stateChanged(_ button: ButtonID, _ state: ButtonState, at now: Instant) {
        // Completes the press first, so that its messages precede the change of state.
        completePress(at: now)
        let wasReady = buttons[button]?.state == .ready
        var change = buttons.stateReported(button, state, at: now)
        if wasReady, state != .ready { change.changes = sightings(of: [button]) }
        announce(change, at: now)
    }

    mutating func batteryMeasured(_ button: ButtonID, _ millivolts: Int, at now: Instant) {
        let time = wallClock(at: now)
        let isBelievable = believableClock(now) != nil
        guard
            let (change, becameLow) = buttons.batteryMeasured(
                button, millivolts: millivolts, at: time, isBelievable: isBelievable)
        else { return }
        announce(change, at: now)
        if becameLow { batteryBecameLow(button, "\(millivolts) mV", time, at: now) }
    }

    mutating func batteryBecameLow(_ button: ButtonID, _ reading: String, _ time: UTCTime, at now: Instant) {
        log(.warning, "\(label(of: button)): the battery is low (\(reading)); change it, a CR2032")
        broadcast(.batteryLow(name(of: button), at: time))
        advanceRules(.batteryLow(button), at: now)
    }
}
