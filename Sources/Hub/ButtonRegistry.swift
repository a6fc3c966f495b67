import ButtonModel
import Buttons
import Gestures

/// A change of one button's record, which `Hub.announce` passes on.
///
/// Only `ButtonRegistry` makes changes, because only it writes records.
struct ButtonChange: Hashable, Sendable {
    let button: ButtonID
    /// The fact that has changed; `nil` if only the store receives the change.
    let fact: ButtonFact?
    /// Changes of the store.
    var changes: [StoreChange]
    /// True if the changes have to be synced at once, because users are told that they are made.
    let isSynced: Bool

    fileprivate init(
        _ button: ButtonID, _ fact: ButtonFact?, storing changes: [StoreChange] = [], isSynced: Bool = false
    ) {
        self.button = button
        self.fact = fact
        self.changes = changes
        self.isSynced = isSynced
    }
}

/// The records of all known buttons. Only this type writes them.
///
/// A method that changes what an audience shows or decides by returns a `ButtonChange`, and the caller passes it to
/// `Hub.announce`. A method that can be called without effect returns `nil` if nothing has changed.
///
/// The progress of presses, the positions of turning dials, and publish watermarks change with each event. The hub takes them
/// as changes of the store when it records the event, or some time later, and announces `notificationHandled`.
struct ButtonRegistry: Sendable {
    private var records: [ButtonID: ButtonRecord] = [:] { didSet { hasChanged = true } }
    /// True if a record was written since `takeHasChanged`.
    private var hasChanged = false
    /// The number of buttons in the state `ready`. It is kept, because an engine with a thousand sites says it for each button
    /// that a site has.
    private(set) var readyCount = 0
    private var identities = IdentityCounts()
    /// The buttons whose watermark may differ from what is recorded. The others are not looked at each time that watermarks
    /// are recorded, which is every second while any of a hundred thousand buttons are pressed.
    private var risenWatermarks: Set<ButtonID> = []

    init(_ stored: [StoredButton]) {
        for button in stored { _ = add(button) }
        hasChanged = false
    }

    /// True if a record was written since the last call.
    mutating func takeHasChanged() -> Bool {
        defer { hasChanged = false }
        return hasChanged
    }

    // MARK: Looking up

    subscript(button: ButtonID) -> ButtonRecord? { records[button] }
    /// True for a known button. Its record, which is large, is not copied.
    func contains(_ button: ButtonID) -> Bool { records.index(forKey: button) != nil }

    var count: Int { records.count }
    var isEmpty: Bool { records.isEmpty }
    var keys: Dictionary<ButtonID, ButtonRecord>.Keys { records.keys }
    /// In no order.
    var values: Dictionary<ButtonID, ButtonRecord>.Values { records.values }
    /// In the order of their ids.
    var sorted: [ButtonRecord] { records.values.sorted { $0.identity.id < $1.identity.id } }

    /// The buttons of the own adapter, in the order of their ids.
    var ownSorted: [ButtonRecord] { sorted.filter { $0.source == nil } }
    /// The flicds from which buttons come.
    var sources: Set<String> { Set(records.values.compactMap(\.source)) }
    /// The buttons that come from this flicd, in no order.
    func all(from source: String) -> [ButtonRecord] { records.values.filter { $0.source == source } }
    func count(from source: String) -> Int { records.values.count { $0.source == source } }

    /// The buttons with this name; if there are none, those with this id, address or serial number.
    ///
    /// - Parameter label: the name of a button for users, which rules may declare.
    func buttons(called text: String, label: (ButtonID) -> String) -> [ButtonID] {
        let named = records.keys.filter { label($0) == text }
        guard named.isEmpty else { return named.sorted() }
        let lowercase = text.lowercased()
        return records.values.filter {
            let identity = $0.identity
            return $0.displayName == text || $0.stored.displayName == text
                || [identity.id.description, identity.address.description.lowercased(), identity.serial.lowercased()]
                    .contains(lowercase)
        }.map(\.identity.id).sorted()
    }

    /// True if another button has this nickname.
    func isNicknameTaken(_ nickname: String, byOtherThan button: ButtonID) -> Bool {
        identities.isNicknameTaken(nickname, byOtherThan: records[button]?.identity)
    }

    /// True if a button has this serial number.
    func isSerialTaken(_ serial: String) -> Bool { identities.isSerialTaken(serial) }

    // MARK: Which buttons there are

    /// Adds a button, or replaces everything that is known of it.
    mutating func add(_ stored: StoredButton) -> ButtonChange {
        let former = records.updateValue(ButtonRecord(stored), forKey: stored.id)
        if let former { uncount(former) }
        identities.add(stored.identity)
        risenWatermarks.insert(stored.id)
        return ButtonChange(stored.id, .pairing(isNew: former == nil), storing: [.putButton(stored)], isSynced: true)
    }

    /// A button that was added has reported all that is shown of it at first.
    func introduced(_ button: ButtonID) -> ButtonChange? {
        records[button] == nil ? nil : ButtonChange(button, .introduction)
    }

    /// - Parameter label: the name of the button for users.
    mutating func remove(_ button: ButtonID, _ departure: Departure, label: String) -> ButtonChange? {
        guard let record = records.removeValue(forKey: button) else { return nil }
        uncount(record)
        return ButtonChange(
            button, .removal(departure, label: label, record), storing: [.removeButton(button)],
            isSynced: true)
    }

    private mutating func uncount(_ record: ButtonRecord) {
        if record.state == .ready { readyCount -= 1 }
        identities.remove(record.identity)
    }

    // MARK: What buttons report

    mutating func firmwareReported(_ button: ButtonID, _ version: UInt32) -> ButtonChange? {
        guard let record = records[button], record.identity.firmwareVersion != version else { return nil }
        return set(.firmware(version), of: button, announcing: .firmware)
    }

    /// - Parameter radio: the name of the radio that looks for the button from now on.
    mutating func homeChanged(_ button: ButtonID, to radio: String) -> ButtonChange? {
        guard let record = records[button], record.home != radio else { return nil }
        return set(.home(radio), of: button, announcing: nil)
    }

    /// Another radio has the button, or looks for it, than before.
    func radioChanged(_ button: ButtonID) -> ButtonChange? {
        records[button] == nil ? nil : ButtonChange(button, .radio)
    }

    /// The button has begun or ceased to wait for a free link.
    func linkShortageChanged(_ button: ButtonID) -> ButtonChange? {
        records[button] == nil ? nil : ButtonChange(button, .linkShortage)
    }

    mutating func modelReported(_ button: ButtonID, _ model: FlicModel) -> ButtonChange? {
        guard records[button] != nil else { return nil }
        return set(.model(model), of: button, announcing: .model)
    }

    /// The button has this nickname, and no other nickname waits to be written to it.
    mutating func nicknameReported(_ button: ButtonID, _ nickname: String) -> ButtonChange? {
        guard let before = records[button] else { return nil }
        let isDifferent = before.identity.nickname != nickname
        let wasChosen = before.settings.nicknameChosenAt != nil
        guard isDifferent || wasChosen else { return nil }
        var changes: [StoreChange] = []
        if isDifferent { changes.append(store(.nickname(nickname), of: button)) }
        if wasChosen {
            records[button]?.settings.nicknameChosenAt = nil
            if let settings = records[button]?.settings { changes.append(.settings(button, settings)) }
        }
        return ButtonChange(button, isDifferent ? .nickname : .nicknameTaken, storing: changes)
    }

    mutating func stateReported(_ button: ButtonID, _ state: ButtonState, at now: Instant) -> ButtonChange {
        let before = records[button]?.state
        records[button]?.state = state
        if let before { readyCount += (state == .ready ? 1 : 0) - (before == .ready ? 1 : 0) }
        if (before == .ready) != (state == .ready) { records[button]?.progress.wasSeen(at: now) }
        return ButtonChange(button, .state(state, before: before))
    }

    mutating func signalMeasured(_ button: ButtonID, _ rssi: Int) -> ButtonChange? {
        guard let record = records[button], record.rssi != rssi else { return nil }
        records[button]?.rssi = rssi
        return ButtonChange(button, .signal)
    }

    /// - Parameter isBelievable: true if the clock is, so that the measurement may get a place in the trend.
    /// - Returns: whether the battery has become low.
    mutating func batteryMeasured(
        _ button: ButtonID, millivolts: Int, at time: UTCTime, isBelievable: Bool
    ) -> (change: ButtonChange, becameLow: Bool)? {
        guard var record = records[button] else { return nil }
        var isDifferent = millivolts != record.batteryMillivolts
        record.batteryMillivolts = millivolts
        record.batteryMeasuredAt = time
        var alarm = BatteryAlarm(isLow: record.isBatteryLow)
        let becameLow = alarm.update(millivolts: millivolts)
        record.isBatteryLow = alarm.isLow
        var changes = [StoreChange.battery(button, millivolts: millivolts, measuredAt: time, isLow: alarm.isLow)]
        if isBelievable, record.stored.batteryTrend.add(millivolts: millivolts, at: time) {
            changes.append(.fact(button, .batteryTrend(record.stored.batteryTrend)))
            isDifferent = true
        }
        records[button] = record
        return (ButtonChange(button, .battery(isDifferent: isDifferent), storing: changes), becameLow)
    }

    /// A flicd reports percentages instead of voltages.
    ///
    /// - Returns: whether the battery has become low; `nil` if the report is known already.
    mutating func batteryReported(
        _ button: ButtonID, percentage: Int, at time: UTCTime
    ) -> (change: ButtonChange, becameLow: Bool)? {
        guard var record = records[button],
            record.stored.batteryPercentage != percentage || record.batteryMeasuredAt != time
        else { return nil }
        let before = record.stored.batteryPercentage
        record.stored.batteryPercentage = percentage
        record.batteryMeasuredAt = time
        var alarm = BatteryAlarm(isLow: record.isBatteryLow)
        let becameLow = alarm.update(percentage: percentage)
        record.isBatteryLow = alarm.isLow
        records[button] = record
        let stored = StoreChange.batteryPercentage(button, percentage, measuredAt: time, isLow: alarm.isLow)
        return (ButtonChange(button, .battery(isDifferent: percentage != before), storing: [stored]), becameLow)
    }

    /// The button counts from the beginning, and has lost its advertising settings.
    mutating func rebooted(_ button: ButtonID, _ cursor: EventCursor) {
        records[button]?.cursor = cursor
        records[button]?.isAdvertisingConfigured = false
    }

    /// A firmware update has progressed.
    ///
    /// - Parameter percentage: 0…100; `nil` if the update has ended.
    mutating func updateProgressed(_ button: ButtonID, _ percentage: Int?) -> ButtonChange {
        records[button]?.updatePercentage = percentage
        return ButtonChange(button, .updateProgress)
    }

    // MARK: What users choose

    /// - Parameter name: `nil` takes the name back.
    mutating func renamed(_ button: ButtonID, _ name: String?) -> ButtonChange {
        let before = records[button]?.displayName ?? ""
        return set(.name(name), of: button, announcing: .name(before: before), isSynced: true)
    }

    /// A user has chosen options in one request.
    ///
    /// - Parameters:
    ///   - settings: the settings that the button has to get; `nil` if the request contains none. The same applies to the other
    ///     parameters.
    ///   - mode: `.some(nil)` if the rules are to choose the trigger mode.
    ///   - dials: the units of the dials whose positions were chosen.
    mutating func optionsChosen(
        _ button: ButtonID, settings: ButtonSettings?, nickname: String?, mode: TriggerMode??, dials: [Dial: Int]
    ) -> ButtonChange {
        var changes: [StoreChange] = []
        if let nickname, nickname != records[button]?.identity.nickname {
            changes.append(store(.nickname(nickname), of: button))
        }
        if let settings, settings != records[button]?.settings {
            records[button]?.settings = settings
            changes.append(.settings(button, settings))
        }
        if !dials.isEmpty {
            records[button]?.dials.merge(dials) { $1 }
            records[button]?.hasUnrecordedDials = false
            changes.append(.fact(button, .dials(records[button]?.dials ?? [:])))
        }
        if let mode { changes.append(store(.triggerMode(mode), of: button)) }
        return ButtonChange(button, .options, storing: changes, isSynced: true)
    }

    /// A user has requested or ended the connection to the button.
    ///
    /// - Returns: `nil` if these are the settings already.
    mutating func connectionChosen(_ button: ButtonID, _ settings: ButtonSettings) -> ButtonChange? {
        guard let record = records[button], record.settings != settings else { return nil }
        records[button]?.settings = settings
        return ButtonChange(button, .isConnectionWanted, storing: [.settings(button, settings)], isSynced: true)
    }

    private mutating func set(
        _ stored: StoredFact, of button: ButtonID, announcing fact: ButtonFact? = nil, isSynced: Bool = false
    ) -> ButtonChange {
        ButtonChange(button, fact, storing: [store(stored, of: button)], isSynced: isSynced)
    }

    /// Sets a value that nothing else depends on in the registry, whether or not it has changed.
    private mutating func store(_ fact: StoredFact, of button: ButtonID) -> StoreChange {
        if let before = records[button]?.identity {
            records[button]?.stored.apply(fact)
            if let after = records[button]?.identity, after.nickname != before.nickname {
                identities.remove(before)
                identities.add(after)
            }
        }
        return .fact(button, fact)
    }

    // MARK: What else decides about buttons

    /// The rules do not allow the chosen trigger mode any more.
    mutating func triggerModeDropped(_ button: ButtonID) -> ButtonChange {
        set(.triggerMode(nil), of: button, announcing: .triggerMode)
    }

    /// The rules give the button this name, or none.
    ///
    /// - Returns: `nil` if the name is the same as before.
    mutating func declared(_ button: ButtonID, as name: String?) -> ButtonChange? {
        guard let record = records[button], record.ruleName != name else { return nil }
        records[button]?.ruleName = name
        return ButtonChange(button, .ruleName)
    }

    /// The rules were replaced.
    ///
    /// - Parameters:
    ///   - name: the name that the new rules give the button; `nil` if they give it none.
    ///   - isDifferent: true if the rules now say something else of the button, for example its name.
    mutating func rulesReplaced(_ button: ButtonID, name: String?, isDifferent: Bool) -> ButtonChange {
        if let record = records[button], record.ruleName != name { records[button]?.ruleName = name }
        return ButtonChange(button, .rules(isDifferent: isDifferent))
    }

    /// The button belongs to another flicd now.
    mutating func adopted(_ button: ButtonID, by source: String) -> ButtonChange {
        set(.source(source), of: button, announcing: .source, isSynced: true)
    }

    /// The button has received its advertising settings.
    mutating func advertisingConfigured(_ button: ButtonID) -> ButtonChange {
        set(.isAdvertisingConfigured(true), of: button)
    }

    /// The newest firmware file for the button's model is another one.
    func firmwareFileChanged(_ button: ButtonID) -> ButtonChange { ButtonChange(button, .firmwareFile) }

    // MARK: Dials

    /// - Returns: whether the position has changed.
    mutating func dialMoved(_ dial: Dial, of button: ButtonID, to units: Int) -> Bool {
        guard let index = records.index(forKey: button) else { return false }
        return records.values[index].dialMoved(dial, to: units)
    }

    /// The positions of the dials, if they are not recorded; they count as recorded from now on.
    mutating func takeMovedDials(of button: ButtonID) -> StoreChange? {
        guard let record = records[button], record.hasUnrecordedDials else { return nil }
        records[button]?.hasUnrecordedDials = false
        return .fact(button, .dials(record.dials))
    }

    // MARK: Events

    /// The part of a button's record that a press changes; `nil` for an unknown button, and for one of a flicd or a site.
    func ownProgress(of button: ButtonID) -> ButtonProgress? {
        guard let record = records[button], record.stored.source == nil else { return nil }
        return record.progress
    }

    mutating func wasSeen(_ button: ButtonID, at now: Instant) {
        if let index = records.index(forKey: button) { records.values[index].progress.wasSeen(at: now) }
    }

    /// The events or movements of one notification are handled.
    func notificationHandled(_ button: ButtonID) -> ButtonChange { ButtonChange(button, .activity) }

    /// The events up to this cursor are handled.
    mutating func handled(_ button: ButtonID, upTo cursor: EventCursor) { records[button]?.cursor = cursor }

    /// Counts an event of a button (`ButtonProgress.count`).
    mutating func count(_ event: RecognisedEvent, _ kind: Hub.Reports.Message.Kind?, isAwaited: Bool) {
        records[event.button]?.progress.count(event, kind, isAwaited: isAwaited)
        if !isAwaited { risenWatermarks.insert(event.button) }
    }

    /// Returns the record of everything that was handled so far, which counts as recorded from now on.
    ///
    /// - Parameters:
    ///   - recogniser: the button's undecided press train.
    mutating func takeProgress(
        of button: ButtonID, recogniser: String, wallClock: BelievableClock
    ) -> StoreChange? {
        records[button]?.progress.take(recogniser: recogniser, wallClock: wallClock)
    }

    /// When the button was last heard of, unless that is recorded; it counts as recorded from now on.
    ///
    /// - Parameter wallClock: the wall time of an instant; `nil` if the clock is not believable.
    mutating func takeSighting(of button: ButtonID, wallClock: BelievableClock) -> UTCTime? {
        records[button]?.progress.takeSighting(wallClock: wallClock) ?? nil
    }

    // MARK: Publish watermark

    /// A message with this sequence number has ended.
    ///
    /// - Returns: whether the watermark differs from what is recorded.
    mutating func messageEnded(of button: ButtonID, _ number: Int64) -> Bool {
        records[button]?.watermark.ended(number)
        risenWatermarks.insert(button)
        return records[button]?.hasUnrecordedWatermark ?? false
    }

    /// Keeps the watermark below this number until the message that reports it has ended.
    mutating func reportOpened(of button: ButtonID, from number: Int64) { records[button]?.watermark.opened(number) }

    /// The watermarks that are not recorded, which count as recorded from now on; in the order of the buttons' ids.
    mutating func takeWatermarks() -> [StoreChange] {
        var changes: [StoreChange] = []
        for button in risenWatermarks.sorted() {
            guard let record = records[button], record.hasUnrecordedWatermark else { continue }
            records[button]?.watermark.recorded = record.acknowledgedSequence
            changes.append(.publishWatermark(button, record.acknowledgedSequence))
        }
        risenWatermarks = []
        return changes
    }

    #if DEBUG
        /// The invariants that the records violate between two inputs; empty unless this type has a bug.
        func problems() -> [String] {
            var problems: [String] = []
            if readyCount != records.values.count(where: { $0.state == .ready }) {
                problems.append("\(readyCount) buttons are counted as ready, and others are")
            }
            var counted = IdentityCounts()
            for record in records.values { counted.add(record.identity) }
            if counted != identities { problems.append("nicknames or serial numbers are counted that others have") }
            for (button, record) in records {
                if record.identity.id != button { problems.append("the record of \(button) is that of another button") }
                if record.acknowledgedSequence > record.sequence.value {
                    problems.append("\(button): the publish watermark is above the sequence number")
                }
                if record.watermark.recorded > record.acknowledgedSequence {
                    problems.append("\(button): the recorded watermark is above the watermark")
                }
                if record.watermark.recorded < 0 { problems.append("\(button): the recorded watermark is negative") }
                if record.hasUnrecordedWatermark, !risenWatermarks.contains(button) {
                    problems.append("\(button): the watermark would never be recorded")
                }
                if !record.watermark.isOrdered { problems.append("\(button): sequence numbers are open out of order") }
                if record.hasUnrecordedSighting, record.lastSeen == nil {
                    problems.append("\(button): a sighting is to be recorded, and there was none")
                }
                if record.pairing == nil, record.source == nil {
                    problems.append("\(button) has neither a pairing nor a source")
                }
                if let percentage = record.updatePercentage, !(0...100).contains(percentage) {
                    problems.append("\(button): a firmware update is at \(percentage) %")
                }
                if !record.dials.values.allSatisfy({ (0...Dial.unitsPerTurn).contains($0) }) {
                    problems.append("\(button): a dial stands beyond its range")
                }
            }
            return problems.sorted()
        }
    #endif
}
