import ButtonModel
import Buttons
import Bytes
import FlicdProtocol
import JSON
import MQTTTopics
import Rules

// Reports of the own adapter's buttons: links, batteries, dials, firmware updates and pairings. Presses are in `Hub+Presses`.
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
        case .advertisingConfigured(let button):
            announce(buttons.set(.isAdvertisingConfigured(true), of: button), at: now)
        case .battery(let button, let millivolts): batteryMeasured(button, millivolts, at: now)
        case .firmware(let button, let version): announce(buttons.firmwareReported(button, version), at: now)
        case .model(let button, let model): announce(buttons.modelReported(button, model), at: now)
        case .nickname(let button, let nickname): announce(buttons.nicknameReported(button, nickname), at: now)
        case .firmwareUpdate(let button, let progress): updateProgressed(button, progress, at: now)
        case .buttonsWithoutLink(let waiting): spaceChanged(waiting)
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

    // MARK: Firmware updates, from files in the state directory or from an image sent over the control socket

    mutating func firmwareFilesChanged(_ files: [FirmwareFile], at now: Instant) {
        let before = buttons.values.map { firmwareFile(for: $0) }
        firmwareFiles = files
        for (record, file) in zip(buttons.values, before) where firmwareFile(for: record) != file {
            invalidate(.status(record.identity.id))
            invalidate(.config(record.identity.id))
        }
    }

    /// The newest file for the button's model, if it is newer than the button's firmware.
    func offeredFirmware(for record: ButtonRecord) -> FirmwareFile? {
        firmwareFile(for: record).flatMap { $0.version > record.identity.firmwareVersion ? $0 : nil }
    }

    /// The newest file for the button's model.
    func firmwareFile(for record: ButtonRecord) -> FirmwareFile? {
        firmwareFiles.filter { $0.model == record.identity.model.rawValue }.max { $0.version < $1.version }
    }

    /// Starts an update with the image in the request, or else with the newest file.
    mutating func update(_ button: ButtonID, _ data: JSONValue, isLocal: Bool, at now: Instant) -> RequestAnswer {
        if let image = data["image"] {
            guard isLocal, let octets = image.stringValue.flatMap({ Array<UInt8>(hex: $0) }) else {
                return .error(
                    isLocal
                        ? #"button/update takes {"id": …, "image": the file's octets in hexadecimal}"#
                        : "an image cannot be sent over MQTT; put it into firmware/ of the state directory, or use the control socket"
                )
            }
            install(octets, on: button, at: now)
            return named(button)
        }
        guard let record = buttons[button], let file = firmwareFile(for: record) else {
            let model = buttons[button]?.identity.model ?? .flic2
            return .error(
                "there is no firmware for this button; put \(model.rawValue)-VERSION.bin into firmware/ of the state directory"
            )
        }
        guard file.version > record.identity.firmwareVersion else {
            return .error(
                "the button already has version \(record.identity.firmwareVersion); \(file.name) is not newer")
        }
        guard record.updatePercentage == nil else {
            return .error("a firmware update of this button is in progress already")
        }
        let id = identifiers.jobID()
        jobs.firmwareReadStarted(id, for: button)
        announce(buttons.updateProgressed(button, 0), at: now)
        emit(.readFirmware(id, file))
        return named(button)
    }

    mutating func firmwareRead(_ id: JobID, _ reading: FirmwareReading, at now: Instant) {
        guard let button = jobs.firmwareReadEnded(id), buttons[button] != nil else { return }
        switch reading {
        case .octets(let octets): install(octets, on: button, at: now)
        case .failed(let sentence): updateProgressed(button, .failed(name: "unreadable", advice: sentence), at: now)
        }
    }

    private mutating func install(_ image: [UInt8], on button: ButtonID, at now: Instant) {
        log(.info, "\(label(of: button)): firmware update, an image of \(image.count) octets")
        advanceButtons(.request(button, .updateFirmware(image)), at: now)
    }

    mutating func updateProgressed(_ button: ButtonID, _ progress: FirmwareProgress, at now: Instant) {
        var percentage: Int?
        let step: Occurrence.FirmwareStep
        switch progress {
        case .waiting:
            step = .waiting
            percentage = 0
        case .transferring(let transferred):
            step = .transferring(percentage: transferred)
            percentage = transferred
        case .finished:
            log(.info, "\(label(of: button)): the new firmware was transferred; the button restarts with it")
            step = .finished
        case .failed(let name, let advice):
            log(.warning, "\(label(of: button)): firmware update failed: \(advice)")
            step = .failed(reason: name, advice: advice)
        }
        announce(buttons.updateProgressed(button, percentage), at: now)
        broadcast(.firmware(name(of: button), step))
    }

    // MARK: Pairing

    mutating func pairingProgressed(_ progress: PairingProgress, at now: Instant) {
        tellFlicdProgress(progress, at: now)
        var data: [JSONValue.Member] = [.init("step", .string(progress.name))]
        if let address = progress.address { data.append(.init("address", .string(address.description))) }
        switch progress {
        case .paired(let identity):
            let record = buttons[identity.id]
            data.append(.init("id", .string(identity.id.description)))
            data.append(.init("button", .string(label(of: identity.id))))
            data.append(.init("serial", .string(identity.serial)))
            data.append(.init("firmware", .integer(Int64(identity.firmwareVersion))))
            data.append(.init("battery_mv", record?.batteryMillivolts.map { .integer(Int64($0)) } ?? .null))
            search.hasPaired = true
        case .failed(let failure, _):
            data.append(.init("reason", .string(failure.name)))
            data.append(.init("advice", .string(failure.advice)))
            log(.warning, "pairing failed: \(failure.advice)")
        case .searching:
            log(.searchBegan, .info, "looking for new buttons", at: now)
            invalidate(.bridgeInfo)
        case .ended:
            log(.searchEnded, .info, "no longer looking for new buttons", at: now)
            search.end = nil
            stopUpstreamSearch(at: now)
            invalidate(.bridgeInfo)
        case .foundPrivate, .foundPublic, .alreadyPaired, .connecting, .connected, .verifying: break
        }
        tellPairing(data)
    }

    mutating func paired(_ button: KnownButton, _ batteryMillivolts: Int, at now: Instant) {
        let identity = button.identity
        leaveToAdapter(button.id, at: now)
        let stored = StoredButton(
            identity: identity, pairing: button.pairing, pairedAt: wallClock(at: now), dials: button.dials)
        add(stored, at: now)
        batteryMeasured(button.id, batteryMillivolts, at: now)
        introduce(button.id, at: now)
        log(.info, "paired \(identity.serial) (\(identity.address)), firmware \(identity.firmwareVersion)")
    }
}
