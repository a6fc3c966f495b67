import ButtonModel

/// Decides which of several radios looks for which button.
///
/// Two adapters that look for the same button answer the same advertisement at the same moment, and collide. So one radio
/// at a time looks for a button: its *home*, which is the radio that had it twice in a row while the former home had room, or that
/// took it over from one that is lost or hears it much worse. The owner keeps it over restarts. A button that never had a link has
/// none: the radio that hears it best looks for it. The other radios listen, and one of them takes over when it hears a button that
/// its home does not connect.
///
/// | button     | on                                                   | becomes    | and we                              |
/// |------------|------------------------------------------------------|------------|-------------------------------------|
/// | away       | heard by the radio that looks for it by itself       | away       | wait, because that radio connects   |
/// | away       | heard by another radio                               | considered | wait for home, if it has room       |
/// | considered | the time is over                                     | trying     | let the best radio look for it      |
/// | considered | the time is over, and only full radios hear it       | waiting    | let the best of those make room     |
/// | considered | the time is over, and no radio hears it well         | away       |                                     |
/// | trying     | no link for 1.5 s, or the radio has failed           | considered | leave that radio out for a while    |
/// | waiting    | heard, and a radio has room                          | trying     | let it look for the button          |
/// | waiting    | 5 s                                                  | away       |                                     |
/// | away       | a lost link, and not heard for 60 s                  | away       | let a shared radio look for it too  |
/// | any        | a link                                               | linked     |                                     |
/// | linked     | the link ends                                        | away       | choose its home anew                |
/// | any        | its radio is lost                                    | away       |                                     |
///
/// While the home of a button is not ready, the best other radio looks for it, and while it has no link left, the best other one that
/// has room and has heard the button. A radio that was lost is trusted again when it has been ready for 60 s; until then another
/// radio that had heard the button before looks for it.
///
/// A radio that other programs share does not listen, so it cannot hear a button that was carried to it. A button whose link was
/// lost, and which no radio has heard for a minute, is *missing* until it has a link on which its service was found: the first such
/// radio then looks for it besides its home. The only other case in which two radios look for a button is the moment in which it
/// moves away from a shared home (`looksToo`).
struct RadioChoice: Sendable {
    enum Effect: Hashable, Sendable {
        /// The result of `radio(for:)` may have changed for some buttons.
        case assignmentChanged
        /// A radio that does not connect by itself is to connect to the button now.
        case attempt(RadioID, BluetoothAddress)
        /// The button has another home, which is to be kept over restarts.
        case homeChanged(BluetoothAddress, RadioID)
    }

    enum TimerKey: Hashable, Sendable {
        case button(BluetoothAddress)
        /// A radio that was lost is trusted again.
        case trust(RadioID)
        /// A button whose link was lost was not heard for a minute.
        case missing(BluetoothAddress)
    }

    static let attemptLimit = Duration.milliseconds(1500)
    static let waitingLimit = Duration.seconds(5)
    /// How long a radio that did not connect a button is left out for it, if another radio hears the button.
    static let failureTime = Duration.seconds(20)
    /// How long a radio that did not connect a button is left out for it, if no other radio hears the button.
    static let shortFailureTime = Duration.milliseconds(300)
    static let trustDelay = Duration.seconds(60)
    /// How long a button whose link was lost is not heard until it is missing. A button that lost its link advertises every 8 s, so
    /// a home in whose range it is hears it before.
    static let missingTime = Duration.seconds(60)
    /// The age of a signal, and of a failure to connect, from which it does not count, because the button may be elsewhere by then.
    static let signalAge = Duration.seconds(15 * 60)
    /// The age of an advertisement from which no attempt to connect is made, because the button may have stopped advertising. An
    /// ESPHome proxy would then hear nothing for 20 s.
    static let attemptAge = Duration.seconds(1)
    /// The weakest signal with which a link lasts, in dBm.
    static let weakestSignal = -92.0
    /// The difference in dB by which another radio has to hear a button better than its home to become its home.
    static let clearlyBetter = 10.0
    /// The maximum number of buttons that are remembered only because they were heard.
    static let maximumStrangers = 64
    /// The weight of a new signal strength in the smoothed one.
    static let smoothing = 0.3

    private enum State: Hashable, Sendable {
        case away
        case considered
        case trying(RadioID)
        case waiting(RadioID)
        case linked(RadioID)
    }

    private struct Signal: Sendable {
        /// Smoothed, in dBm.
        var strength: Double
        var heardAt: Instant
    }

    private struct Button: Sendable {
        var state = State.away
        /// True if the button is to be connected to. A button that is not is only remembered.
        var isExpected = false
        /// The only radio that may connect to the button until it has connected.
        var pinned: RadioID?
        var home: RadioID?
        /// True if the button's service was found on the link.
        var isAttached = false
        /// True if the last link was lost and no radio heard the button for a minute; false again when its service was found on a link.
        var isMissing = false
        /// The radio of the last link.
        var previous: RadioID?
        /// True if it was forgotten while it had a link.
        var isForgotten = false
        /// The radio that was told to look for it.
        var told: RadioID?
        var signals: [RadioID: Signal] = [:]
        var failures: [RadioID: (count: Int, at: Instant)] = [:]
    }

    private struct Radio: Sendable {
        var info: RadioInfo?
        /// False for a while after the radio was lost.
        var isTrusted = true
        var wasLost = false
        var isFull = false
        /// The number of links that it can have; `nil` if it is not known.
        var limit: Int?
        /// The buttons to which a radio that does not connect by itself is connecting. An attempt may take 25 s, and may
        /// still go on while another radio is tried. Until it ends, the radio hears no advertisements.
        var attempts: Set<BluetoothAddress> = []

        var isReady: Bool { info != nil }
        var connectsByItself: Bool { info?.connectsByItself ?? false }
        /// True if other programs use the radio too, so that it does not listen.
        var isShared: Bool { info?.isShared ?? false }
        /// How long another radio that has heard a button waits for this radio, which is the button's home, to connect it; `nil` if this
        /// radio does not connect by itself.
        var patience: Duration? { connectsByItself ? info?.connectionTime : nil }
    }

    private var radios: [Radio]
    private var buttons: [BluetoothAddress: Button] = [:]
    private(set) var deadlines = Deadlines<TimerKey>()
    private var effects: [Effect] = []

    /// - Parameter limits: for each radio, the number of links that it can have; `nil` if it is not known.
    init(limits: [Int?]) { radios = limits.map { Radio(limit: $0) } }

    private var ids: some Sequence<RadioID> { radios.indices.lazy.map { RadioID(rawValue: UInt8($0)) } }
    private subscript(id: RadioID) -> Radio {
        get { radios[Int(id.rawValue)] }
        set { radios[Int(id.rawValue)] = newValue }
    }

    // MARK: Inputs

    /// Replaces the buttons to connect to. What is known of a button that is not among them any more is kept, until
    /// `forget`, because it may be expected again after a delay.
    mutating func expect(_ addresses: Set<BluetoothAddress>, at now: Instant) {
        for address in addresses {
            let isNew = buttons[address]?.isExpected != true
            buttons[address, default: Button()].isExpected = true
            buttons[address]?.isForgotten = false
            if isNew { awaitSign(of: address, at: now) }
        }
        for (address, button) in buttons where button.isExpected && !addresses.contains(address) {
            buttons[address]?.isExpected = false
            notMissing(address)
            switch button.state {
            case .considered, .trying, .waiting: rest(address)
            case .away, .linked: break
            }
        }
    }

    /// Remembers a button that was heard and may be paired. Others that were only heard make room for it after a minute.
    private mutating func add(_ address: BluetoothAddress, at now: Instant) {
        var strangers = buttons.filter { !$0.value.isExpected && $0.value.state == .away && $0.value.home == nil }
        if strangers.count >= Self.maximumStrangers {
            strangers = strangers.filter { $0.value.signals.values.allSatisfy { now - $0.heardAt > .seconds(60) } }
            for address in strangers.keys { buttons[address] = nil }
            guard !strangers.isEmpty else { return }
        }
        buttons[address] = Button()
    }

    mutating func pin(_ address: BluetoothAddress, to id: RadioID) {
        guard id.rawValue < radios.count else { return }
        buttons[address, default: Button()].pinned = id
    }

    /// - Parameter id: the home of a button before the start of the program.
    mutating func restore(home id: RadioID, of address: BluetoothAddress) {
        guard id.rawValue < radios.count else { return }
        buttons[address, default: Button()].home = id
    }

    mutating func forget(_ address: BluetoothAddress) {
        guard let button = buttons[address] else { return }
        deadlines.cancel(.button(address))
        notMissing(address)
        guard case .linked = button.state else { return buttons[address] = nil }
        buttons[address]?.home = nil
        buttons[address]?.isForgotten = true
    }

    mutating func ready(_ id: RadioID, _ info: RadioInfo, at now: Instant) {
        self[id].info = info
        self[id].isFull = false
        if self[id].wasLost {
            self[id].isTrusted = false
            deadlines.set(.trust(id), at: now + Self.trustDelay)
        }
        if info.isShared { for address in buttons.keys { awaitSign(of: address, at: now) } }
        effects.append(.assignmentChanged)
    }

    /// The links of the radio must have been reported as ended before.
    mutating func lost(_ id: RadioID) {
        self[id].wasLost = self[id].wasLost || self[id].isReady
        self[id].info = nil
        self[id].attempts = []
        deadlines.cancel(.trust(id))
        for (address, button) in buttons {
            switch button.state {
            case .trying(id), .waiting(id): rest(address)
            case .away, .considered, .trying, .waiting, .linked: break
            }
        }
        effects.append(.assignmentChanged)
    }

    mutating func roomChanged(_ id: RadioID, isFull: Bool) {
        guard self[id].isFull != isFull else { return }
        self[id].isFull = isFull
        effects.append(.assignmentChanged)
    }

    /// - Parameter limit: the number of links that the radio can have.
    mutating func limitChanged(_ id: RadioID, to limit: Int) {
        guard self[id].limit != limit else { return }
        self[id].limit = limit
        effects.append(.assignmentChanged)
    }

    /// - Parameter isNew: whether the button can be paired, so that it may be expected in a moment.
    mutating func heard(
        _ address: BluetoothAddress, by id: RadioID, _ strength: Int8?, isNew: Bool, at now: Instant
    ) {
        if isNew, buttons[address] == nil { add(address, at: now) }
        guard let button = buttons[address] else { return }
        let value = Double(strength ?? -80)
        let before = button.signals[id].flatMap { now - $0.heardAt < Self.signalAge ? $0.strength : nil }
        buttons[address]?.signals[id] = Signal(
            strength: before.map { $0 + (value - $0) * Self.smoothing } ?? value, heardAt: now)
        guard button.isExpected else { return }
        notice(address, at: now)
        defer { checkAssignment(of: address, at: now) }
        switch button.state {
        case .linked, .considered, .trying: break
        case .waiting: decide(address, at: now)
        case .away:
            let searching = radio(for: address, at: now)
            let patience = searching.flatMap { self[$0].isFull ? nil : self[$0].patience }
            if patience != nil, searching == id { break }
            buttons[address]?.state = .considered
            if let patience {
                deadlines.set(.button(address), at: now + patience)
            } else {
                decide(address, at: now)
            }
        }
    }

    mutating func connected(_ address: BluetoothAddress, by id: RadioID) {
        self[id].attempts.remove(address)
        guard let button = buttons[address] else { return }
        deadlines.cancel(.button(address))
        deadlines.cancel(.missing(address))
        buttons[address]?.isAttached = false
        buttons[address]?.failures[id] = nil
        buttons[address]?.pinned = nil
        buttons[address]?.state = .linked(id)
        if button.state != .linked(id) { effects.append(.assignmentChanged) }
    }

    /// The button's service was found on the link, so the radio can be the button's home.
    mutating func attached(_ address: BluetoothAddress, to id: RadioID) {
        guard let button = buttons[address], button.state == .linked(id), !button.isForgotten else { return }
        buttons[address]?.isAttached = true
        notMissing(address)
        if button.home == nil { changeHome(of: address, to: id) }
        // A shared radio looked for the button until now.
        let hasSharedHome = button.home.map { $0 != id && self[$0].isShared } ?? false
        if hasSharedHome || button.isMissing { effects.append(.assignmentChanged) }
    }

    /// - Parameters:
    ///   - wasAttached: whether the button's service was found on the link.
    ///   - isLost: false if the button or the program ended the link, so that the button does not advertise.
    mutating func disconnected(
        _ address: BluetoothAddress, from id: RadioID, wasAttached: Bool, isLost: Bool, at now: Instant
    ) {
        guard let button = buttons[address], button.state == .linked(id) else { return }
        guard !button.isForgotten else {
            buttons[address] = nil
            return effects.append(.assignmentChanged)
        }
        if !wasAttached { noteFailure(address, of: id, at: now) }
        let isBetter: Bool
        // A shared home does not listen, so its last signal is from when the button was paired.
        if let home = button.home, !self[home].isShared, let old = button.signals[home], let new = button.signals[id] {
            isBetter = new.strength - old.strength >= Self.clearlyBetter
        } else {
            isBetter = false
        }
        if wasAttached, let home = button.home, home != id,
            button.previous == id && !self[home].isFull || !self[home].isReady || isBetter
        {
            changeHome(of: address, to: id)
        }
        buttons[address]?.previous = id
        rest(address)
        // A link on which the service was not found may not have been real, and then says nothing about where the button is.
        if isLost || !wasAttached { awaitSign(of: address, at: now) }
        effects.append(.assignmentChanged)
    }

    private mutating func changeHome(of address: BluetoothAddress, to id: RadioID) {
        buttons[address]?.home = id
        effects.append(.homeChanged(address, id))
    }

    mutating func attemptFailed(_ address: BluetoothAddress, by id: RadioID, at now: Instant) {
        self[id].attempts.remove(address)
        guard buttons[address]?.state == .trying(id) else { return }
        noteFailure(address, of: id, at: now)
        decide(address, at: now)
    }

    mutating func timerFired(at now: Instant) {
        for key in deadlines.takeDue(at: now) {
            switch key {
            case .trust(let id):
                self[id].isTrusted = true
                effects.append(.assignmentChanged)
            case .missing(let address):
                buttons[address]?.isMissing = true
                effects.append(.assignmentChanged)
            case .button(let address):
                switch buttons[address]?.state {
                case .considered: decide(address, at: now)
                case .trying(let id):
                    noteFailure(address, of: id, at: now)
                    decide(address, at: now)
                case .waiting:
                    rest(address)
                    effects.append(.assignmentChanged)
                case .away, .linked, nil: break
                }
            }
        }
    }

    /// The effects of the inputs since the last call.
    mutating func takeEffects() -> [Effect] {
        defer { effects = [] }
        return effects
    }

    // MARK: Choice

    /// The radio that looks for a button, or has it; `nil` while none is ready.
    func radio(for address: BluetoothAddress, at now: Instant) -> RadioID? {
        switch buttons[address]?.state {
        case .linked(let id), .trying(let id), .waiting(let id): id
        case .away, .considered, nil: searching(for: address, at: now)
        }
    }

    /// True if a shared radio looks for a button besides the one that `radio(for:)` names.
    ///
    /// That radio is the one that looks for the button when no other one has taken over, or the button is missing and it is the first
    /// shared radio that has room. It goes on looking until another radio has found the button's service on its link, for two reasons:
    /// the call that stops BlueZ would end a link that is just coming up, and the link of the other radio may not last.
    func looksToo(_ id: RadioID, for address: BluetoothAddress, at now: Instant) -> Bool {
        guard self[id].isShared, let button = buttons[address], let searching = searching(for: address, at: now) else {
            return false
        }
        switch button.state {
        case .linked(let other):
            guard other != id, !button.isAttached else { return false }
            if searching == id { return true }
        case .trying, .waiting: if searching == id { return true }
        case .away, .considered: break
        }
        guard button.isMissing, !self[searching].isShared else { return false }
        return id == ids.first { self[$0].isShared && self[$0].isTrusted && hasRoom($0) }
    }

    private func hasRoom(_ id: RadioID) -> Bool { !self[id].isFull && linkCount(of: id) < self[id].limit ?? .max }

    /// The radio that looks for a button as long as no other one has taken over; `nil` while none is ready.
    private func searching(for address: BluetoothAddress, at now: Instant) -> RadioID? {
        let button = buttons[address]
        if let pinned = button?.pinned { return self[pinned].isReady ? pinned : nil }
        let ready = ids.filter { self[$0].isReady }
        let trusted = ready.filter { self[$0].isTrusted }
        func signal(_ id: RadioID) -> Double? {
            button?.signals[id].flatMap { now - $0.heardAt < Self.signalAge ? $0.strength : nil }
        }
        func strength(_ id: RadioID) -> Double { signal(id) ?? -200 }
        if let home = button?.home, self[home].isReady {
            if self[home].isTrusted { return substitute(for: home, of: button) ?? home }
            // Its home has just returned. A radio that has not heard the button may be out of its reach. If one hears the button later, the
            // home has heard the same advertisement and may be connecting, so it goes on.
            if button?.told == home || !trusted.contains(where: { signal($0) != nil }) { return home }
        }
        // `max` returns the first of equal elements: the first in the configuration.
        return (trusted.isEmpty ? ready : trusted).max {
            (strength($0), self[$0].connectsByItself ? 1 : 0) < (strength($1), self[$1].connectsByItself ? 1 : 0)
        }
    }

    /// The radio that looks for a button in place of its home, which is full; `nil` if the home has room, or if no other radio with room
    /// heard the button well when it was heard last. If the home looked for it, it would end the link of a quiet button to make room,
    /// and it would do so for days if the button is away, though the other radio has room for it. Shared radios are left out: they
    /// rarely hear a button, and one that stops looking for a button ends a link that is coming up.
    private func substitute(for home: RadioID, of button: Button?) -> RadioID? {
        guard self[home].isFull, !self[home].isShared, let signals = button?.signals,
            let last = signals.values.map(\.heardAt).max()
        else { return nil }
        return signals.filter { id, signal in
            id != home && self[id].isReady && self[id].isTrusted && !self[id].isShared && hasRoom(id)
                && last - signal.heardAt < Self.signalAge && signal.strength >= Self.weakestSignal
        }
        .max { ($0.value.strength, $1.key) < ($1.value.strength, $0.key) }?.key
    }

    /// The strengths that the radios have heard of a button lately, the radio's number, strength and age.
    func signals(of address: BluetoothAddress, at now: Instant) -> [(radio: RadioID, rssi: Int, age: Duration)] {
        (buttons[address]?.signals ?? [:]).filter { now - $0.value.heardAt < Self.signalAge }
            .sorted { $0.key < $1.key }
            .map { ($0.key, Int($0.value.strength.rounded()), now - $0.value.heardAt) }
    }

    private mutating func decide(_ address: BluetoothAddress, at now: Instant) {
        guard let button = buttons[address] else { return }
        let all = button.signals.filter {
            now - $0.value.heardAt <= Self.attemptAge && $0.value.strength >= Self.weakestSignal && self[$0.key].isReady
                && (button.pinned == nil || button.pinned == $0.key)
        }
        func without(failuresOf time: Duration) -> [RadioID: Signal] {
            all.filter { signal in button.failures[signal.key].map { now - $0.at >= time } ?? true }
        }
        var hearing = without(failuresOf: Self.failureTime)
        if hearing.isEmpty { hearing = without(failuresOf: Self.shortFailureTime) }
        guard !hearing.isEmpty else {
            if button.state != .away {
                rest(address)
                effects.append(.assignmentChanged)
            }
            return
        }
        let strengths = hearing.values.map(\.strength).sorted(by: >)
        let distance = max(1, strengths.count > 1 ? strengths[0] - strengths[1] : 1)
        func score(_ id: RadioID) -> Double {
            var score = (hearing[id]?.strength ?? 0)
            score -= 0.51 * distance * Double(failureCount(of: id, with: button, at: now))
            if let limit = self[id].limit, linkCount(of: id) + 1 == limit { score -= 0.76 * distance }
            // An adapter has a link in 20 ms, and a proxy in 200 ms.
            if self[id].connectsByItself { score += 10 }
            // A proxy does not hear while it connects.
            score -= 1.01 * distance * Double(self[id].attempts.subtracting([address]).count)
            return score
        }
        // `max` returns the first of equal elements: the first in the configuration.
        func best(_ ids: [RadioID]) -> RadioID? { ids.sorted().max { score($0) < score($1) } }
        defer { checkAssignment(of: address, at: now) }
        if let id = best(hearing.keys.filter { !self[$0].isFull }) {
            buttons[address]?.state = .trying(id)
            deadlines.set(.button(address), at: now + Self.attemptLimit)
            guard !self[id].connectsByItself else { return }
            self[id].attempts.insert(address)
            effects.append(.attempt(id, address))
        } else if case .waiting(let id) = button.state, hearing[id] != nil {
            // That radio is already ending a link to make room for this button.
        } else if let id = best(Array(hearing.keys)) {
            buttons[address]?.state = .waiting(id)
            deadlines.set(.button(address), at: now + Self.waitingLimit)
            effects.append(.assignmentChanged)
        }
    }

    /// An advertisement can change which radio looks for a button without a home, such as after a start of the program.
    private mutating func checkAssignment(of address: BluetoothAddress, at now: Instant) {
        guard let button = buttons[address], button.isExpected, radio(for: address, at: now) != button.told else {
            return
        }
        effects.append(.assignmentChanged)
    }

    /// The radio was told to look for the button.
    mutating func told(_ address: BluetoothAddress, to id: RadioID?) { buttons[address]?.told = id }

    private func linkCount(of id: RadioID) -> Int { buttons.values.count { $0.state == .linked(id) } }

    /// A button without a link is missing if no radio hears it soon.
    private mutating func awaitSign(of address: BluetoothAddress, at now: Instant) {
        guard let button = buttons[address], button.isExpected, !button.isMissing,
            ids.contains(where: { self[$0].isShared })
        else { return }
        if case .linked = button.state { return }
        deadlines.set(.missing(address), at: now + Self.missingTime)
    }

    /// A button was heard. If it is missing, a link of the shared radio may be coming up, so that radio looks on.
    private mutating func notice(_ address: BluetoothAddress, at now: Instant) {
        if deadlines.deadline(of: .missing(address)) != nil { awaitSign(of: address, at: now) }
    }

    private mutating func notMissing(_ address: BluetoothAddress) {
        buttons[address]?.isMissing = false
        deadlines.cancel(.missing(address))
    }

    private mutating func rest(_ address: BluetoothAddress) {
        buttons[address]?.state = .away
        deadlines.cancel(.button(address))
    }

    private mutating func noteFailure(_ address: BluetoothAddress, of id: RadioID, at now: Instant) {
        guard let button = buttons[address] else { return }
        let count = failureCount(of: id, with: button, at: now) + 1
        buttons[address]?.failures[id] = (count, now)
    }

    private func failureCount(of id: RadioID, with button: Button, at now: Instant) -> Int {
        button.failures[id].flatMap { now - $0.at < Self.signalAge ? $0.count : nil } ?? 0
    }

    #if DEBUG
        /// The invariants that the state violates between two inputs; empty unless this type has a bug.
        func problems(linked: [BluetoothAddress: RadioID]) -> [String] {
            var problems = deadlines.problems()
            func expect(_ holds: Bool, _ problem: @autoclosure () -> String) {
                if !holds { problems.append("choice of a radio: " + problem()) }
            }
            expect(effects.isEmpty, "an effect was not returned")
            for radio in radios where !radio.attempts.isEmpty {
                expect(radio.isReady && !radio.connectsByItself, "an attempt of a radio that makes none")
            }
            for (address, button) in buttons {
                if button.isForgotten { expect(button.home == nil, "\(address) is forgotten and has a home") }
                let hasDeadline = deadlines.deadline(of: .button(address)) != nil
                let isAwaited = deadlines.deadline(of: .missing(address)) != nil
                expect(!isAwaited || !button.isMissing, "\(address) is missing, and its sign is awaited")
                expect(
                    !isAwaited && !button.isMissing || button.isExpected, "\(address) is missing and not expected")
                switch button.state {
                case .away: expect(!hasDeadline, "\(address) is away and has a deadline")
                case .considered: expect(hasDeadline, "\(address) is considered without a deadline")
                case .trying(let id), .waiting(let id):
                    expect(hasDeadline, "\(address) waits for a radio without a deadline")
                    expect(self[id].isReady, "\(address) waits for a radio that is lost")
                case .linked(let id):
                    expect(!hasDeadline && !isAwaited, "\(address) has a link and a deadline")
                    expect(!button.isAttached || !button.isMissing, "\(address) has a link and is missing")
                    expect(linked[address] == id, "\(address) has no link to its radio")
                }
            }
            return problems
        }
    #endif
}
