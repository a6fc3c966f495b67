import ButtonModel
import Buttons
import FlicdProtocol
import HomeAssistant
import JSON
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
        if !timedOutLinks.isEmpty { reportTimedOutLinks(at: now) }
    }

    /// Buttons that were silent for the supervision timeout. The links of an adapter that is gone, and those that a new link
    /// of the same button replaced, end with the same reason: these buttons may have been heard of a moment ago.
    private mutating func reportTimedOutLinks(at now: Instant) {
        let links = timedOutLinks
        timedOutLinks = []
        guard case .ready = adapter else { return }
        for button in links {
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
        case .signal(let button, let rssi):
            guard let record = buttons[button], record.rssi != Int(rssi) else { break }
            buttons[button]?.rssi = Int(rssi)
            saySoon(.status(button), at: now)
        case .rebooted(let button, let cursor):
            advanceRules(.rebooted(button), at: now)
            buttons[button]?.cursor = cursor
            buttons[button]?.isAdvertisingConfigured = false
            if let progress = progress(of: button) { record([progress]) }
        case .events(let button, let events, let cursor, let needsAcknowledgement):
            pressed(button, events, cursor, needsAcknowledgement: needsAcknowledgement, at: now)
        case .moved(let button, let movements): moved(button, movements, at: now)
        case .queueDrained: break
        case .advertisingConfigured(let button):
            buttons[button]?.isAdvertisingConfigured = true
            record([.advertisingConfigured(button, true)])
        case .battery(let button, let millivolts): batteryMeasured(button, millivolts, at: now)
        case .firmware(let button, let version):
            guard buttons[button]?.identity.firmwareVersion != version else { break }
            buttons[button]?.identity.firmwareVersion = version
            record([.firmware(button, version: version)])
            say(.status(button))
            say(.bridgeDevices)
            sayDevices(at: now)
            tellOfChange(button)
            if let identity = buttons[button]?.identity { tellFlicd(.button(identity), at: now) }
        case .model(let button, let model):
            buttons[button]?.identity.model = model
            record([.model(button, model)])
            say(.status(button))
            say(.config(button))
            buttonsChanged(at: now)
            tellOfChange(button)
        case .nickname(let button, let nickname): nicknameTold(button, nickname, at: now)
        case .firmwareUpdate(let button, let progress): updateProgressed(button, progress)
        case .waitingForSpace(let waiting): spaceChanged(waiting)
        case .abandoned(let address): tellFlicd(.pairing(.failed(address, .failedTimeout, nil)), at: now)
        case .capacity(let acceptListSize, let linkLimit):
            tellFlicd(.acceptListSize(acceptListSize), at: now)
            tellFlicd(.linkLimit(linkLimit), at: now)
        case .advertised(let heard): tellFlicd(.advertised(FlicdAdvertisement(heard)), at: now)
        case .allDisconnected: finish(at: now)
        case .disconnected(let button, let reason):
            if reason == ButtonManager.timeoutReason { timedOutLinks.append(button) }
            tellFlicd(.linkFailed(button, word: reason), at: now)
            tell([
                "kind": "disconnected", "button": .string(label(of: button)), "id": .string(button.description),
                "reason": .string(reason),
            ])
        case .sessionFailed(let button, let word, let advice):
            tellFlicd(.linkFailed(button, word: word), at: now)
            log(.warning, "\(label(of: button)): the session failed (\(word)); the pairing is kept. \(advice)")
            tell([
                "kind": "session_failed", "button": .string(label(of: button)), "id": .string(button.description),
                "reason": .string(word), "advice": .string(advice),
            ])
        case .anomaly(let text): log(.debug, text)
        }
    }

    private mutating func controllerReady(_ address: BluetoothAddress, at now: Instant) {
        adapter = .ready(address)
        adapterHistory.ready(at: now)
        tellFlicdController(at: now)
        say(.bridgeInfo)
        log(.info, "Bluetooth adapter \(address) on \(configuration.transport) is ready")
        tell(["kind": "adapter", "state": .string(adapter.word), "address": .string(address.description)])
        sayStatus()
    }

    mutating func transportClosed(_ reason: String, _ fault: AdapterFault, at now: Instant) {
        let wasOpen: Bool
        switch adapter {
        case .closed, .down: wasOpen = false
        case .starting, .ready: wasOpen = true
        }
        if let since = adapterHistory.readySince, now - since >= Hub.transportGood {
            transportBackOff.reset()
        }
        let isNews = adapterHistory.lost(reason, wasOpen: wasOpen, time: wallClock(at: now), at: now)
        adapter = .down(fault, reason)
        say(.bridgeInfo)
        advanceButtons(.transportClosed, at: now)
        tellFlicdController(at: now)
        if isDeaf {
            // `storeMended` opens it.
            deadlines.cancel(.transport)
        } else {
            let isLogged = isNews || !transportBackOff.isAtLongest
            let wait = transportBackOff.next()
            deadlines.set(.transport, at: now + wait)
            if isLogged {
                log(.error, "\(configuration.transport): \(reason) Trying again in \(wait.milliseconds / 1000) s.")
            }
        }
        tell(["kind": "adapter", "state": .string(adapter.word), "reason": .string(reason)])
        sayStatus()
    }

    mutating func stateChanged(_ button: ButtonID, _ state: ButtonState, at now: Instant) {
        let before = buttons[button]?.state
        buttons[button]?.state = state
        saySoon(.status(button), at: now)
        tellFlicdState(of: button, state, at: now)
        if (before == .ready) != (state == .ready) { say(.availability(button)) }
        if (before == .ready) != (state == .ready) { buttons[button]?.wasSeen(at: now) }
        if before == .ready, state != .ready { recordSightings(of: [button]) }
        tell([
            "kind": "button", "button": .string(label(of: button)), "id": .string(button.description),
            "state": .string(state.rawValue),
        ])
        switch (before, state) {
        case (_, .ready): log(.info, "\(label(of: button)) is ready")
        case (.ready, _): log(.info, "\(label(of: button)) is \(state.rawValue)")
        default: break
        }
        if (before == .ready) != (state == .ready) {
            advanceRules(.linkChanged(button, isConnected: state == .ready), at: now)
        }
        sayStatus()
    }

    private mutating func batteryMeasured(_ button: ButtonID, _ millivolts: Int, at now: Instant) {
        guard var record = buttons[button] else { return }
        let time = wallClock(at: now)
        record.batteryMillivolts = millivolts
        record.batteryMeasuredAt = time
        let becameLow = record.batteryAlarm.measured(millivolts: millivolts)
        buttons[button] = record
        saySoon(.status(button), at: now)
        self.record([.battery(button, millivolts: millivolts, measuredAt: time, isLow: record.batteryAlarm.isLow)])
        tellFlicd(.battery(button, millivolts: millivolts, at: time), at: now)
        advanceRules(.battery(button, Int64(Battery.percentage(millivolts: millivolts))), at: now)
        if becameLow { batteryBecameLow(button, "\(millivolts) mV", time, at: now) }
    }

    mutating func batteryBecameLow(_ button: ButtonID, _ reading: String, _ time: UTCTime, at now: Instant) {
        log(.warning, "\(label(of: button)): the battery is low (\(reading)); change it, a CR2032")
        tell([
            "kind": "event", "button": .string(label(of: button)), "id": .string(button.description),
            "event": "battery_low", "queued": false, "age_ms": 0, "at": .string(time.description),
        ])
        advanceRules(.batteryLow(button), at: now)
    }

    /// The button holds this name and nothing else is on its way there.
    private mutating func nicknameTold(_ button: ButtonID, _ nickname: String, at now: Instant) {
        guard let before = buttons[button] else { return }
        var changes: [StoreChange] = []
        if before.identity.nickname != nickname {
            buttons[button]?.identity.nickname = nickname
            changes.append(.nickname(button, nickname))
        }
        if before.settings.nicknameChosenAt != nil {
            buttons[button]?.settings.nicknameChosenAt = nil
            if let settings = buttons[button]?.settings { changes.append(.settings(button, settings)) }
        }
        if !changes.isEmpty { record(changes) }
        guard before.identity.nickname != nickname else { return }
        say(.status(button))
        buttonsChanged(at: now)
        tellOfChange(button)
    }

    private mutating func spaceChanged(_ waiting: Set<ButtonID>) {
        if waitingForSpace.isEmpty, !waiting.isEmpty {
            let names = waiting.sorted().prefix(8).map { label(of: $0) }.joined(separator: ", ")
            log(
                .warning,
                "no space for a new connection: \(names) have no link; buttons take turns on the adapter's links")
        } else if !waitingForSpace.isEmpty, waiting.isEmpty {
            log(.info, "the adapter has room for all buttons again")
        }
        waitingForSpace = waiting
        tell(["kind": "space", "waiting": .array(waiting.sorted().map { .string(label(of: $0)) })])
    }

    private mutating func paired(_ button: KnownButton, _ batteryMillivolts: Int, at now: Instant) {
        let identity = button.identity
        leaveToAdapter(button.id, at: now)
        let stored = StoredButton(
            identity: identity, pairing: button.pairing, pairedAt: wallClock(at: now), dials: button.dials)
        add(stored, at: now)
        batteryMeasured(button.id, batteryMillivolts, at: now)
        announce(button.id, at: now)
        log(.info, "paired \(identity.serial) (\(identity.address)), firmware \(identity.firmwareVersion)")
    }

    /// A button that was not known, or that is known in another way from here on.
    mutating func add(_ stored: StoredButton, at now: Instant) {
        buttons[stored.id] = ButtonRecord(stored)
        recordAndSync([.putButton(stored)])
        if stored.source == nil { tellFlicd(.paired(stored.identity), at: now) }
        buttonsChanged(at: now)
    }

    /// Tells others of a button that is new.
    mutating func announce(_ button: ButtonID, at now: Instant) {
        guard let identity = buttons[button]?.identity else { return }
        announced.hidden.remove(.config(button))
        say(.status(button))
        say(.availability(button))
        say(.config(button))
        let data: JSONValue = [
            "id": .string(button.description), "button": .string(label(of: button)),
            "address": .string(identity.address.description), "serial": .string(identity.serial),
        ]
        publish(
            topics.bridgeMessage("button_paired", data), patience: Hub.bridgePatience, mayRepeat: true,
            as: .other, at: now)
    }

    /// Why a button is not known any more. The raw value is the word for those who watch.
    enum Departure: String {
        /// It has proved that it does not know us.
        case unpaired
        /// Somebody asked for it.
        case removed
    }

    mutating func gone(_ button: ButtonID, _ departure: Departure, at now: Instant) {
        let name = label(of: button)
        guard let record = buttons.removeValue(forKey: button) else { return }
        recordAndSync([.removeButton(button)])
        switch departure {
        case _ where record.source != nil: break
        case .unpaired: tellFlicd(.unpaired(button), at: now)
        case .removed: tellFlicd(.deleted(button), at: now)
        }
        for topic in [RetainedTopic.config(button), .status(button), .availability(button)] { say(topic) }
        switch departure {
        case .unpaired: log(.warning, "\(name) was reset or has forgotten us: pair it again")
        case .removed: log(.info, "\(name) was removed, as asked for; to use it again, pair it")
        }
        tell([
            "kind": "button", "button": .string(name), "id": .string(button.description),
            "state": .string(departure.rawValue),
        ])
        let data: JSONValue = [
            "id": .string(button.description), "button": .string(name),
            "address": .string(record.identity.address.description), "serial": .string(record.identity.serial),
        ]
        publish(
            topics.bridgeMessage("button_\(departure.rawValue)", data), patience: Hub.bridgePatience, mayRepeat: true,
            as: .other, at: now)
        buttonsChanged(at: now)
    }

    mutating func pairingProgressed(_ progress: PairingProgress, at now: Instant) {
        tellFlicdProgress(progress, at: now)
        var data: [JSONValue.Member] = [.init("step", .string(progress.word))]
        if let address = progress.address { data.append(.init("address", .string(address.description))) }
        switch progress {
        case .paired(let identity):
            let record = buttons[identity.id]
            data.append(.init("id", .string(identity.id.description)))
            data.append(.init("button", .string(label(of: identity.id))))
            data.append(.init("serial", .string(identity.serial)))
            data.append(.init("firmware", .integer(Int64(identity.firmwareVersion))))
            data.append(.init("battery_mv", record?.batteryMillivolts.map { .integer(Int64($0)) } ?? .null))
            hasPairedOne = true
        case .failed(let failure, _):
            data.append(.init("reason", .string(failure.word)))
            data.append(.init("advice", .string(failure.advice)))
            log(.warning, "pairing failed: \(failure.advice)")
        case .searching:
            log(.searchBegan, .info, "looking for new buttons", at: now)
            say(.bridgeInfo)
        case .ended:
            log(.searchEnded, .info, "no longer looking for new buttons", at: now)
            joinEnd = nil
            stopSourceSearch(at: now)
            say(.bridgeInfo)
        case .foundPrivate, .foundPublic, .alreadyPaired, .connecting, .connected, .verifying: break
        }
        tellPairing(data)
    }

    mutating func tellPairing(_ data: [JSONValue.Member]) {
        tell(.object([.init("kind", "pairing")] + data))
        publish(topics.bridgeMessage("pairing", .object(data)))
    }

    /// The buttons that exist have changed: names and trigger modes are worked out afresh.
    mutating func buttonsChanged(at now: Instant) {
        advanceRules(.buttonsChanged(buttons.values.map(\.identity).sorted { $0.id < $1.id }), at: now)
        say(.bridgeDevices)
        say(.bridgeInfo)
        sayDevices(at: now)
        sayStatus()
    }

    /// What people call it: its name in the rules, else its own.
    func label(of button: ButtonID) -> String {
        engine.declaredName(of: button) ?? buttons[button]?.displayName ?? button.description
    }

    mutating func sayStatus() {
        let ready = buttons.values.count { $0.state == .ready }
        effects.append(.status("adapter \(adapter.word), \(buttons.count) buttons, \(ready) ready"))
    }
}
