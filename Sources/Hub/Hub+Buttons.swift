import ButtonModel
import Buttons
import FlicdProtocol
import JSON
import MQTTTopics
import Rules

// Changes of buttons, and all audiences that are told of them.
extension Hub {
    /// Records a change of a button, and tells all audiences that show the fact or decide by it.
    ///
    /// `ButtonFact.audiences` lists which audience is told of which fact. The order is: the store; flicd's clients; the
    /// retained topics; the log and the live stream; the rules; the lists of all buttons; engines; the `changed` line of the
    /// live stream.
    mutating func announce(_ change: ButtonChange, at now: Instant) {
        let button = change.button
        let audiences = change.fact?.audiences ?? []
        // Flicd's clients are informed of the end of a link before the last sighting is recorded.
        if case .state(let state, _) = change.fact { reportStateToFlicd(of: button, state, at: now) }
        if !change.changes.isEmpty {
            if change.isSynced { recordAndSync(change.changes) } else { record(change.changes) }
        }
        // A device that was deleted in Home Assistant is announced once more when its button is paired.
        if case .introduction = change.fact { broker.reveal(button) }
        if audiences.contains(.flicd), let fact = change.fact {
            advanceFlicdServer(FlicdServer.Input(fact, of: button, buttons[button]), at: now)
        }
        invalidateTopics(of: button, audiences, at: now)
        if audiences.contains(.narration) { narrate(change, at: now) }
        if audiences.contains(.rules) { reportToRules(change, at: now) }
        if audiences.contains(.identities) {
            identityChanged(change, at: now)
        } else if audiences.contains(.deviceList) {
            invalidate(.bridgeDevices)
            invalidateDevice(of: button, at: now)
        }
        if audiences.contains(.engines), uplink != nil { uplinkButtonChanged(button, at: now) }
        if audiences.contains(.serviceStatus) { reportServiceStatus() }
        if audiences.contains(.watchers) { broadcastChange(of: button) }
    }

    /// Announces a change if there is one.
    mutating func announce(_ change: ButtonChange?, at now: Instant) {
        if let change { announce(change, at: now) }
    }

    private mutating func invalidateTopics(of button: ButtonID, _ audiences: ButtonAudiences, at now: Instant) {
        let isKnown = buttons.contains(button)
        // Home Assistant removes a device before its topics are cleared.
        if audiences.contains(.config), !isKnown { invalidate(.config(button)) }
        if audiences.contains(.statusSoon) { invalidateDebounced(.status(button), at: now) }
        if audiences.contains(.status) { invalidate(.status(button)) }
        if audiences.contains(.availability) { invalidate(.availability(button)) }
        if audiences.contains(.config), isKnown { invalidate(.config(button)) }
        // The buttons of flicds and of sites are in no list of radios. One that is not known any more may have been in it.
        if audiences.contains(.radios), buttons[button]?.source == nil { invalidate(.bridgeRadios) }
    }

    private mutating func narrate(_ change: ButtonChange, at now: Instant) {
        switch change.fact {
        case .state(let state, let before): narrate(state, before: before, of: change.button)
        case .removal(let departure, let label, let record): narrate(departure, label, record, at: now)
        case .name(let before): narrateName(of: change.button, before: before, at: now)
        case .introduction: narrateIntroduction(of: change.button, at: now)
        case .pairing, .ruleName, .nickname, .nicknameTaken, .firmware, .model, .source, .triggerMode, .rules, .options,
            .isConnectionWanted, .battery, .signal, .activity, .updateProgress, .radio, .linkShortage, .firmwareFile,
            nil:
            break
        }
    }

    private mutating func narrate(_ state: ButtonState, before: ButtonState?, of button: ButtonID) {
        // With several radios it is of interest which of them has the button.
        let radio = state == .ready && radios.slots.count > 1 ? radioName(of: button) : nil
        broadcast(.button(name(of: button), state: state.rawValue, radio: radio))
        if state == .ready {
            log(.info, "\(label(of: button)) is ready" + (radio.map { ", through \($0)" } ?? ""))
        } else if before == .ready {
            log(.info, "\(label(of: button)) is \(state.rawValue)")
        }
    }

    private mutating func narrateName(of button: ButtonID, before: String, at now: Instant) {
        let data = renaming(of: button, before: before)
        publishEvent("button_renamed", data, at: now)
    }

    /// The data of the event about a new name, and of the answer to the request.
    func renaming(of button: ButtonID, before: String) -> JSONValue {
        let name = buttons[button]?.displayName ?? ""
        return [
            "id": .string(button.description), "from": .string(before), "to": .string(name), "name": .string(name),
            "rule_name": rules.declaredName(of: button).map(JSONValue.string) ?? .null,
        ]
    }

    private mutating func narrate(_ departure: Departure, _ label: String, _ record: ButtonRecord, at now: Instant) {
        switch departure {
        case .unpaired: log(.warning, "\(label) was reset or has deleted the pairing: pair it again")
        case .removed: log(.info, "\(label) was removed, as requested; to use it again, pair it")
        }
        broadcast(.button(ButtonName(id: record.identity.id, label: label), state: departure.rawValue))
        publishEvent("button_\(departure.rawValue)", Self.description(of: record.identity, label), at: now)
    }

    private mutating func narrateIntroduction(of button: ButtonID, at now: Instant) {
        guard let identity = buttons[button]?.identity else { return }
        publishEvent("button_paired", Self.description(of: identity, label(of: button)), at: now)
    }

    /// The data of the events about a button that comes or goes.
    private static func description(of identity: ButtonIdentity, _ label: String) -> JSONValue {
        [
            "id": .string(identity.id.description), "button": .string(label),
            "address": .string(identity.address.description), "serial": .string(identity.serial),
        ]
    }

    private mutating func reportToRules(_ change: ButtonChange, at now: Instant) {
        switch change.fact {
        case .state(let state, _):
            // A daemon that stops ends the links itself, which is no event for rules.
            guard lifecycle.isRunning || state == .ready else { break }
            let isFromFlicd = buttons[change.button]?.source.map { !EngineFeed.isSite(source: $0) } ?? false
            advanceRules(
                .linkChanged(change.button, isConnected: state == .ready, repeatsEvents: !isFromFlicd), at: now)
            if state == .ready { rules.prepare(for: change.button) }
        case .battery:
            if let percentage = buttons[change.button]?.batteryPercentage {
                advanceRules(.battery(change.button, Int64(percentage)), at: now)
            }
        case .pairing, .introduction, .removal, .name, .ruleName, .nickname, .nicknameTaken, .firmware, .model, .source,
            .triggerMode, .rules, .options, .isConnectionWanted, .signal, .activity, .updateProgress, .radio,
            .linkShortage, .firmwareFile, nil:
            break
        }
    }

    private mutating func identityChanged(_ change: ButtonChange, at now: Instant) {
        guard collectedIdentityChanges == nil else { return collectedIdentityChanges?.add(change) ?? () }
        var changes = IdentityChanges()
        changes.add(change)
        tell(changes, at: now)
    }

    /// Tells all parts that resolve names or count buttons: the rule engine, the list of devices, and the service manager.
    ///
    /// The time for new buttons does not depend on the number of the others, because an engine learns of a hundred thousand
    /// buttons from the hellos of a thousand sites.
    mutating func tell(_ changes: IdentityChanges, at now: Instant) {
        guard !changes.hasOthers else { return allIdentitiesChanged(at: now) }
        guard !changes.added.isEmpty else { return }
        advanceRules(.buttonsAdded(changes.added.compactMap { buttons[$0]?.identity }), at: now)
        takeNamesOfRules(for: changes.added, at: now)
        identitiesTold()
    }

    /// Tells all parts that resolve names or count buttons of all buttons.
    mutating func allIdentitiesChanged(at now: Instant) {
        let sorted = buttons.sorted
        advanceRules(.buttonsChanged(sorted.map(\.identity)), at: now)
        takeNamesOfRules(for: sorted.map(\.identity.id), at: now)
        invalidateDevices(at: now)
        identitiesTold()
    }

    private mutating func identitiesTold() {
        invalidate(.bridgeDevices)
        invalidate(.bridgeInfo)
        reportServiceStatus()
    }

    private mutating func broadcastChange(of button: ButtonID) {
        guard isWatched, let record = buttons[button] else { return }
        broadcast(.changed(label: label(of: button), data: describe(record)))
    }

    func name(of button: ButtonID) -> ButtonName { ButtonName(id: button, label: label(of: button)) }

    /// The name of a button in the log, in the live stream and in answers about rules: its name in the rules, else its own.
    func label(of button: ButtonID) -> String {
        rules.declaredName(of: button) ?? buttons[button]?.displayName ?? button.description
    }

    /// Gives each of the buttons the name that the rules have for it.
    private mutating func takeNamesOfRules(for buttons: [ButtonID], at now: Instant) {
        for button in buttons {
            announce(self.buttons.declared(button, as: rules.declaredName(of: button)), at: now)
        }
    }

    /// The rules do not allow the chosen trigger mode any more.
    mutating func dropTriggerMode(of button: ButtonID, at now: Instant) {
        announce(buttons.triggerModeDropped(button), at: now)
    }

    /// The number of known buttons, and of those that are ready.
    var buttonCounts: (known: Int, ready: Int) { (buttons.count, buttons.readyCount) }

    // MARK: Buttons that come and go

    /// Adds a button that was not known, or that came from a flicd and is paired with the own adapter now.
    mutating func add(_ stored: StoredButton, at now: Instant) { announce(buttons.add(stored), at: now) }

    mutating func gone(_ button: ButtonID, _ departure: Departure, at now: Instant) {
        completePress(at: now)
        // If a hold was published, its end is published now, because the message needs the name in the button's record, which is
        // removed below.
        advanceRules(.rebooted(button), at: now)
        guard let change = buttons.remove(button, departure, label: label(of: button)) else { return }
        forgetRecords(of: button)
        missedPresses.forget(button)
        radios.forget(button)
        announce(change, at: now)
    }
}
