import ButtonModel
import Buttons
import FlicdProtocol
import JSON
import MQTTTopics
import Radios
import Rules

// The radios: adapters of this and of other machines.
extension Hub {
    static let radioRequests = [
        RequestKind(name: ControlRequestName.radios.rawValue, privilege: .owner) { hub, _, _ in
            .ok(hub.describedRadios(at: hub.handledAt))
        }
    ]

    /// - Parameter input: tells the button manager that the transport or the bus is open.
    mutating func transportOpened(_ input: ButtonManager.Input, of radio: RadioID, isShared: Bool, at now: Instant) {
        guard radio.rawValue < radios.slots.count else { return }
        // Presses may have become impossible to record while the adapter was being opened.
        guard !radios.isHeldClosed else { return emit(.closeTransport(radio)) }
        radios.opened(radio, isShared: isShared)
        reportControllerToFlicd(at: now)
        invalidate(.bridgeRadios)
        advanceButtons(input, at: now)
    }

    mutating func controllerReady(
        _ address: BluetoothAddress, _ description: String, of radio: RadioID, at now: Instant
    ) {
        guard radio.rawValue < radios.slots.count else { return }
        radios.becameReady(radio, address, description, at: now)
        reportControllerToFlicd(at: now)
        radiosChanged()
        let slot = radios[radio]
        log(
            .info,
            "Bluetooth adapter \(address) on \(slot.radio.transport) is ready"
                + (slot.isShared ? ", shared with BlueZ" : "") + (description.isEmpty ? "" : ", \(description)"))
        broadcast(.adapter(slot.state, address: address, radio: name(of: radio)))
        reportServiceStatus()
    }

    /// The connection stands, so the radio is not opened again.
    mutating func controllerUnusable(_ reason: String, _ fault: AdapterFault, of radio: RadioID, at now: Instant) {
        guard radio.rawValue < radios.slots.count else { return }
        let isNews = radios.becameUnusable(radio, reason, fault, time: wallClock(at: now), at: now)
        radiosChanged()
        reportControllerToFlicd(at: now)
        if isNews { log(.error, "\(radios[radio].radio.transport): \(reason) Trying again every few seconds.") }
        broadcast(.adapter(radios[radio].state, reason: reason, radio: name(of: radio)))
        reportServiceStatus()
    }

    mutating func transportClosed(_ reason: String, _ fault: AdapterFault, of radio: RadioID, at now: Instant) {
        guard radio.rawValue < radios.slots.count else { return }
        let closing = radios.closed(radio, reason, fault, time: wallClock(at: now), at: now)
        guard !isFinished else { return }
        radiosChanged()
        advanceButtons(.transportClosed(radio), at: now)
        // The links of this radio may have been the last ones that a stop waited for.
        guard !isFinished else { return }
        reportControllerToFlicd(at: now)
        if let delay = closing.retryDelay {
            setTimer(.transport(radio), at: now + delay)
            if closing.isLogged {
                log(
                    .error,
                    "\(radios[radio].radio.transport): \(reason) Trying again in \(delay.milliseconds / 1000) s.")
            }
        } else {
            // The store cannot record presses. Its journal tells when the adapter may be opened.
            cancelTimer(.transport(radio))
        }
        broadcast(.adapter(radios[radio].state, reason: reason, radio: name(of: radio)))
        reportServiceStatus()
    }

    private mutating func radiosChanged() {
        invalidate(.bridgeInfo)
        invalidate(.bridgeHealth)
        invalidate(.bridgeRadios)
    }

    /// The name of a radio for lines of the log and of `watch`; `nil` if there is only one.
    private func name(of radio: RadioID) -> String? { radios.slots.count > 1 ? radios[radio].radio.name : nil }

    /// The radio has reported how many links it can have.
    mutating func linkLimitReported(_ limit: Int, of radio: RadioID) {
        guard radio.rawValue < radios.slots.count else { return }
        radios.linkLimitReported(radio, limit)
        invalidate(.bridgeRadios)
    }

    /// A connection may end `connectAdvice` of the radio.
    mutating func connectionMade(to button: ButtonID, by radio: RadioID, after duration: Duration) {
        radios.connected(radio, after: duration)
        invalidate(.bridgeRadios)
        if buttons.contains(button) { radios.connected(button, through: radio) }
    }

    mutating func connectFailed(_ radio: RadioID, _ failure: ConnectFailure) {
        guard radios.connectFailed(radio, failure), let advice = connectAdvice(of: radio) else { return }
        log(.warning, "\(radios[radio].radio.name): \(advice)")
        invalidate(.bridgeRadios)
    }

    /// - Parameter waiting: the buttons that have no link because their radio has no room for all.
    mutating func linkShortageChanged(_ waiting: Set<ButtonID>, at now: Instant) {
        let before = radios.linkShortageChanged(waiting)
        let isAlone = radios.slots.count == 1
        if before.isEmpty, !waiting.isEmpty {
            let names = waiting.sorted().prefix(8).map { button in
                let radio = isAlone ? nil : radioName(of: button)
                return label(of: button) + (radio.map { " (\($0))" } ?? "")
            }
            log(
                .warning,
                "no space for a new connection: \(names.joined(separator: ", ")) have no link; buttons take turns on the "
                    + (isAlone ? "adapter's links" : "links of their radio"))
        } else if !before.isEmpty, waiting.isEmpty {
            log(.info, isAlone ? "the adapter has room for all buttons again" : "there is room for all buttons again")
        }
        broadcast(.linkShortage(waiting: waiting.sorted().map { label(of: $0) }))
        for button in waiting.symmetricDifference(before).sorted() {
            announce(buttons.linkShortageChanged(button), at: now)
        }
    }

    mutating func allowOpening() {
        guard radios.allowOpening() else { return }
        // `start` opens the radios for the first time.
        if startedAt != nil, !isFinished { for radio in radios.ids { emit(.openTransport(radio)) } }
    }

    /// Ends all links. A button keeps the presses that it cannot deliver, and they are judged by their age when they arrive.
    mutating func holdRadiosClosed(at now: Instant) {
        let open = radios.ids.filter { radios[$0].isOpen }
        guard radios.holdClosed() else { return }
        for radio in radios.ids {
            guard open.contains(radio) else {
                cancelTimer(.transport(radio))
                continue
            }
            emit(.closeTransport(radio))
            transportClosed("The adapter is closed until presses can be recorded.", .absent, of: radio, at: now)
        }
    }

    mutating func reportServiceStatus() {
        let (count, ready) = buttonCounts
        let state =
            radios.slots.count > 1
            ? "\(radios.readyCount) of \(radios.slots.count) radios ready" : "adapter \(radios.best.state.name)"
        emit(.status("\(state), \(count) buttons, \(ready) ready"))
    }

    // MARK: The list of radios

    /// The array of `bridge/radios` and of `tryck radios`.
    func describedRadios(at now: Instant) -> JSONValue {
        let own = buttons.values.filter { $0.source == nil }.map(\.identity.id).sorted()
        let assigned = Dictionary(grouping: own) { radios.radio(of: $0) }
        return .array(
            radios.ids.map { id in
                let home = assigned[id] ?? []
                return radios[id].described(
                    buttons: home.map { label(of: $0) }, linkCount: home.count { buttons[$0]?.state.hasLink == true },
                    waiting: home.filter { radios.buttonsWithoutLink.contains($0) }.map { label(of: $0) },
                    heardPerMinute: buttonSource.heardPerMinute(by: id, at: now),
                    connectAdvice: connectAdvice(of: id))
            })
    }

    /// `RadioConnections.advice` of a radio without a link. While it has links, attempts may fail only because it has no
    /// room for another one.
    func connectAdvice(of radio: RadioID) -> String? {
        let hasLink = buttons.values.contains {
            $0.source == nil && $0.state.hasLink && radios.radio(of: $0.identity.id) == radio
        }
        return hasLink ? nil : radios.connections[Int(radio.rawValue)].advice
    }

    /// The radios at which presses of the last day found no free link.
    func describedCrowding(at now: Instant) -> JSONValue {
        .array(
            radios.ids.compactMap { id in
                let day = buttonSource.crowding(of: id, at: now)
                guard day.late > 0 else { return nil }
                return [
                    "radio": .string(radios[id].radio.name), "presses": .integer(Int64(day.presses)),
                    "late": .integer(Int64(day.late)),
                    "button": day.button.map { .string(label(of: $0)) } ?? .null,
                ]
            })
    }

    /// The name of the radio that has a button, or looks for it; `nil` if none is ready or none shall look for it, or the button comes
    /// from a flicd.
    func radioName(of button: ButtonID) -> String? {
        guard let record = buttons[button], record.source == nil else { return nil }
        guard record.settings.isConnectionWanted || record.state.hasLink else { return nil }
        return radios.radio(of: button).map { radios[$0].radio.name }
    }

    /// The radios that have received a button lately, with the signal strength, the strongest first; `null` with one
    /// adapter, because there is no choice.
    func describeSignals(of button: ButtonID) -> JSONValue {
        guard radios.slots.count > 1 else { return .null }
        return .array(
            buttonSource.signals(of: button, at: handledAt).sorted { $0.rssi > $1.rssi }.map {
                [
                    "name": .string(radios[$0.radio].radio.name), "rssi": .integer(Int64($0.rssi)),
                    "age_s": .integer($0.age.milliseconds / 1000),
                ]
            })
    }
}

extension ButtonState {
    var hasLink: Bool {
        switch self {
        case .connected, .ready, .disconnecting: true
        case .connecting, .disconnected: false
        }
    }
}

extension RadioSlot {
    /// - Parameters:
    ///   - buttons: the labels of the buttons that the radio has or looks for.
    ///   - waiting: those of them that have no link, because there is no room.
    ///   - heardPerMinute: how often it heard buttons; `nil` if it does not tell.
    ///   - connectAdvice: what to do about a radio that is ready and connects nothing.
    fileprivate func described(
        buttons: [String], linkCount: Int, waiting: [String], heardPerMinute: Int?, connectAdvice: String?
    ) -> JSONValue {
        [
            "name": .string(radio.name), "transport": .string(radio.transport), "kind": .string(kindName),
            "description": .string(description), "address": address.map { .string($0.description) } ?? .null,
            "state": .string(stateName), "fault": fault.map { .string($0.rawValue) } ?? .null,
            "advice": (isReady ? connectAdvice : advice).map { .string($0) } ?? .null,
            "links": .integer(Int64(linkCount)),
            "limit": linkLimit.map { .integer(Int64($0)) } ?? .null,
            "buttons": .array(buttons.map(JSONValue.string)), "waiting": .array(waiting.map(JSONValue.string)),
            "heard_per_minute": heardPerMinute.map { .integer(Int64($0)) } ?? .null,
            "restarts": .integer(Int64(history.resets)),
        ]
    }

    private var fault: AdapterFault? { if case .down(let fault, _) = state { fault } else { nil } }
    private var advice: String? { if case .down(_, let sentence) = state { sentence } else { nil } }

    private var kindName: String {
        switch radio.kind {
        case .local: isShared || radio.transport.hasPrefix("bluez") ? "bluez" : "hci"
        case .esphome: "esphome"
        }
    }

    private var stateName: String {
        switch state {
        case .closed: "off"
        case .starting: "starting"
        case .ready: "ready"
        case .down: "failed"
        }
    }
}
