package import ButtonModel

/// All radios of the program, which look to their owner like one.
///
/// The owner says which buttons it expects, and `RadioChoice` decides which radio looks for each of them. With one adapter there is
/// nothing to choose, and everything is passed on.
///
/// A button has one link. When a second radio reports a link to it, either the first link is dead and its end has not been reported,
/// or one of the two is a *phantom*: two radios have answered the same advertisement, the button has heard one of them, and the other
/// one believes in a link until it has received nothing for some connection events. A radio finds the button's service only on a real
/// link. So a second link, the *rival*, is not reported at first:
///
/// | on                                                          | the rival                       |
/// |-------------------------------------------------------------|---------------------------------|
/// | the service was found on the rival                          | takes the reported link's place |
/// | the reported link ends, or the service was not found on it  | takes the reported link's place |
/// | the service was not found on the rival                      | is ended                        |
/// | the button is not expected any more                         | is ended                        |
/// | the rival ends, or its radio is lost                        | is forgotten                    |
package struct RadioFleet: Sendable {
    /// An effect of one radio. The fleet has one timer for all radios, whose effects name the first.
    package struct Output: Hashable, Sendable, TimerEffect {
        package var radio: RadioID
        package var effect: RadioEffect

        package static func setTimer(_ deadline: Instant) -> Self { Self(radio: .first, effect: .setTimer(deadline)) }
        package static var cancelTimer: Self { Self(radio: .first, effect: .cancelTimer) }
    }

    private enum TimerKey: Hashable, Sendable {
        case radio(RadioID)
        case choice
    }

    private struct FleetLink: Sendable {
        enum State: Hashable, Sendable {
            /// The owner knows it.
            case reported
            /// The owner does not know it, because it may be a phantom.
            case rival
            /// It is being ended, and the owner does not know it or knows that it has ended.
            case over
        }

        var id: LinkID
        var address: BluetoothAddress
        var state: State
        var isAttached = false
        /// When the button was heard advertising though it has this link.
        var heardAt: Instant?
    }

    /// An attempt of a radio to connect a button.
    private struct Attempt: Hashable, Sendable {
        var radio: RadioID
        var address: BluetoothAddress
    }

    private struct Told: Hashable, Sendable {
        var expected: [ExpectedButton] = []
        var unwanted: [BluetoothAddress] = []
        var elsewhere: [BluetoothAddress] = []
        var listening = RadioListening.off
    }

    /// The first radio is not in an array, because a press would copy all of it there, which takes 1,500 instructions.
    private var first: RadioMachine
    private var others: [RadioMachine]
    private var choice: RadioChoice
    private var links: [FleetLink] = []
    /// The unfinished attempts of radios that do not connect by themselves, with the times at which they were told to.
    private var attempts: [Attempt: Instant] = [:]
    private var expected: [ExpectedButton] = []
    private var unwanted: [BluetoothAddress] = []
    private var listening = RadioListening.off
    /// The latest commands to each radio.
    private var told: [Told]
    private var isReady: [Bool]
    /// True if a button has answered on its link since `tell`, so that other radios stop looking for it.
    private var isTellingDue = false
    /// How often each radio heard buttons.
    private var heardCounts: [MinuteCounter]
    /// The radio that is being closed.
    private var closing: RadioID?
    private var takingTurns: [[BluetoothAddress]]
    /// Dead links, which are ended when all effects of the present input are carried out: the octets of a proxy are encrypted with
    /// a counter, so they must be sent in the order in which the radio has made them.
    private var deadLinks: [LinkID] = []
    private var deadlines = Deadlines<TimerKey>()
    private var outputs: [Output] = []

    package static let maximumCount = 16
    /// The time between two advertisements that together show that the link of a button is dead (`noticeDeadLink`).
    private static let doubtTime = Duration.seconds(1)...Duration.seconds(10)

    /// - Parameter kinds: of each radio; at least one, and at most `maximumCount`.
    package init(_ kinds: [RadioKind]) {
        let radios = kinds.enumerated().map { RadioMachine(RadioID(rawValue: UInt8($0)), $1) }
        first = radios[0]
        others = Array(radios.dropFirst())
        choice = RadioChoice(limits: kinds.map(\.maximumLinks))
        told = Array(repeating: Told(), count: radios.count)
        isReady = Array(repeating: false, count: radios.count)
        heardCounts = Array(repeating: MinuteCounter(), count: radios.count)
        takingTurns = Array(repeating: [], count: radios.count)
    }

    /// True if no choice is to be made.
    package var isAlone: Bool { others.isEmpty && first.connectsByItself }

    /// True if the radio needs random octets when it is opened.
    package func needsEntropy(_ id: RadioID) -> Bool { !self[id].connectsByItself }

    /// True if a notification of a button may be lost on its way through the radio.
    package func mayLoseNotifications(_ id: RadioID) -> Bool { self[id].mayLoseNotifications }

    /// True if a radio is ready.
    package var isAnyReady: Bool { isReady.contains(true) }

    /// The radio that looks for a button, or has it; `nil` while none is ready.
    package func radio(for address: BluetoothAddress, at now: Instant) -> RadioID? {
        isAlone ? .first : choice.radio(for: address, at: now)
    }

    /// The strengths that the radios have heard of a button within 15 min, in dBm.
    package func signals(of address: BluetoothAddress, at now: Instant) -> [(radio: RadioID, rssi: Int, age: Duration)]
    {
        choice.signals(of: address, at: now)
    }

    /// The number of advertisements of buttons that the radio received in the last full minute; `nil` if an adapter is the only
    /// radio, or is shared: it connects to expected buttons by itself and does not report their advertisements.
    package func heardPerMinute(_ id: RadioID, at now: Instant) -> Int? {
        isAlone || self[id].isShared ? nil : heardCounts[Int(id.rawValue)].perMinute(at: now)
    }

    /// Removes and returns the time at which a radio was told to connect to a button; `nil` for a radio that connects by
    /// itself.
    package mutating func takeAttempt(at address: BluetoothAddress, by id: RadioID) -> Instant? {
        attempts.removeValue(forKey: Attempt(radio: id, address: address))
    }

    package func holdsBackData(for id: LinkID) -> Bool { self[id.radio].holdsBackData(for: id) }

    /// The notification that `handle` will report for an input, without changing the radio; `nil` if only `handle` knows it.
    package mutating func preview(_ input: RadioInput, of id: RadioID) -> (link: LinkID, value: ArraySlice<UInt8>)? {
        id == .first ? first.preview(input) : others[Int(id.rawValue) - 1].preview(input)
    }

    /// - Parameter id: the radio that reports the input. A command is for all; the timer is that of the fleet.
    package mutating func handle(_ input: RadioInput, of id: RadioID, at now: Instant) -> [Output] {
        if isAlone {
            if input == .closed { isReady[0] = false }
            let effects = first.handle(input, at: now)
            for case .event(.ready) in effects { isReady[0] = true }
            return effects.map { Output(radio: .first, effect: $0) }
        }
        switch input {
        case .transportOpened, .received, .busOpened, .bus: advance(id, input, at: now)
        case .closed:
            closing = id
            advance(id, .closed, at: now)
            closing = nil
            lost(id, at: now)
        case .timerFired:
            for key in deadlines.takeDue(at: now) {
                switch key {
                case .radio(let id): advance(id, .timerFired, at: now)
                case .choice: choice.timerFired(at: now)
                }
            }
        case .perform(let command): perform(command, at: now)
        }
        settle(at: now)
        deadlines.appendChange(to: &outputs)
        defer { outputs = [] }
        return outputs
    }

    private mutating func perform(_ command: RadioCommand, at now: Instant) {
        switch command {
        case .listen(let listening): self.listening = listening
        case .expect(let expected, let unwanted, _):
            self.expected = expected
            self.unwanted = unwanted
            let addresses = Set(expected.map(\.address))
            choice.expect(addresses, at: now)
            for place in links.indices where links[place].state == .rival && !addresses.contains(links[place].address) {
                endRival(place, at: now)
            }
            tell(at: now)
        case .write(let id, _), .disconnect(let id), .update(let id, _), .measureSignal(let id),
            .keepDiscovery(let id):
            advance(id.radio, .perform(command), at: now)
        case .discardDiscovery, .goodbye: for id in ids { advance(id, .perform(command), at: now) }
        case .forget(let address, _):
            choice.forget(address)
            for id in ids { advance(id, .perform(command), at: now) }
        case .pin(let address, let radio): choice.pin(address, to: radio)
        case .restoreHome(let address, let radio): choice.restore(home: radio, of: address)
        case .attempt: break
        }
    }

    /// Carries out what the choice has decided, until it decides nothing more.
    private mutating func settle(at now: Instant) {
        while true {
            while let link = deadLinks.popLast() { advance(link.radio, .perform(.disconnect(link)), at: now) }
            let effects = choice.takeEffects()
            guard !effects.isEmpty || !deadLinks.isEmpty || isTellingDue else { break }
            let isAssignmentChanged = effects.contains(.assignmentChanged)
            if isAssignmentChanged || isTellingDue {
                isTellingDue = false
                tell(at: now)
            }
            if isAssignmentChanged {
                outputs.append(Output(radio: .first, effect: .event(.assignmentChanged)))
            }
            for effect in effects {
                switch effect {
                case .assignmentChanged: break
                case .attempt(let id, let address):
                    attempts[Attempt(radio: id, address: address)] = now
                    advance(id, .perform(.attempt(address)), at: now)
                case .homeChanged(let address, let id): report(.homeChanged(address), id)
                }
            }
        }
        tellListening(at: now)
        deadlines.set(.choice, at: choice.deadlines.earliest)
    }

    /// Tells each radio which buttons it is to look for, if that has changed.
    private mutating func tell(at now: Instant) {
        let assigned = expected.map { choice.radio(for: $0.address, at: now) }
        for (button, radio) in zip(expected, assigned) { choice.told(button.address, to: radio) }
        for id in ids {
            let place = Int(id.rawValue)
            var next = told[place]
            next.expected = []
            next.elsewhere = []
            for (button, radio) in zip(expected, assigned) {
                if radio == id || choice.looksToo(id, for: button.address, at: now)
                    || mayBeConnecting(id, to: button)
                {
                    next.expected.append(button)
                }
                if let radio, radio != id { next.elsewhere.append(button.address) }
            }
            next.unwanted = unwanted
            guard next != told[place] else { continue }
            told[place] = next
            advance(
                id, .perform(.expect(next.expected, unwanted: unwanted, elsewhere: next.elsewhere)), at: now)
        }
    }

    /// True if bluetoothd may be connecting to a button that has just got a link through another radio. The button may have heard only
    /// bluetoothd, and bluetoothd would end its link if it were told to stop. So that happens when the button has answered on the
    /// other link.
    private func mayBeConnecting(_ id: RadioID, to button: ExpectedButton) -> Bool {
        self[id].isShared && told[Int(id.rawValue)].expected.contains(button)
            && links.contains {
                $0.address == button.address && $0.id.radio != id && $0.state == .reported && !$0.isAttached
            }
    }

    /// Makes the radios listen in the background while an expected button has no link, so that a radio that is not the home of the
    /// button can take it over. A shared radio listens only when the owner says so: BlueZ would scan actively, which costs other
    /// programs radio time for as long as a button is away, and would not report a paired button, which advertises no service.
    private mutating func tellListening(at now: Instant) {
        let isMissing = expected.contains { button in
            !links.contains { $0.address == button.address && $0.state != .over }
        }
        let background = listening == .off && isMissing ? RadioListening.background : listening
        for id in ids {
            let wanted = self[id].isShared ? listening : background
            guard told[Int(id.rawValue)].listening != wanted else { continue }
            told[Int(id.rawValue)].listening = wanted
            advance(id, .perform(.listen(wanted)), at: now)
        }
    }

    private var ids: [RadioID] { (0...others.count).map { RadioID(rawValue: UInt8($0)) } }

    private subscript(id: RadioID) -> RadioMachine {
        _read { if id == .first { yield first } else { yield others[Int(id.rawValue) - 1] } }
        _modify { if id == .first { yield &first } else { yield &others[Int(id.rawValue) - 1] } }
    }

    // MARK: The events of a radio

    private mutating func advance(_ id: RadioID, _ input: RadioInput, at now: Instant) {
        for effect in self[id].handle(input, at: now) {
            switch effect {
            case .send, .bus: outputs.append(Output(radio: id, effect: effect))
            case .setTimer(let deadline): deadlines.set(.radio(id), at: deadline)
            case .cancelTimer: deadlines.cancel(.radio(id))
            case .event(let event): happened(event, id, at: now)
            }
        }
    }

    private mutating func happened(_ event: RadioEvent, _ id: RadioID, at now: Instant) {
        switch event {
        case .ready(let info):
            isReady[Int(id.rawValue)] = true
            choice.ready(id, info, at: now)
        case .heard(let heard):
            guard heard.kind != .other else { break }
            heardCounts[Int(id.rawValue)].count(at: now)
            noticeDeadLink(heard, at: now)
            choice.heard(heard.address, by: id, heard.rssi, isNew: heard.service != nil, at: now)
        case .connected(let link, let address):
            guard reportedPlace(address) == nil else {
                return links.append(FleetLink(id: link, address: address, state: .rival))
            }
            links.append(FleetLink(id: link, address: address, state: .reported))
            choice.connected(address, by: id)
        case .attached(let link, _, _):
            guard let place = place(of: link), links[place].state != .over else { return }
            if links[place].state == .rival {
                endReported(links[place].address)
                promote(place)
            }
            links[place].isAttached = true
            isTellingDue = true
            choice.attached(links[place].address, to: id)
        case .notified(let link, _), .signal(let link, _):
            guard let place = place(of: link), links[place].state == .reported else { return }
        case .attachFailed(let link):
            guard let place = place(of: link), links[place].state != .over else { return }
            if links[place].state == .rival { return endRival(place, at: now) }
            let address = links[place].address
            if hasRival(address) {
                endReported(address)
                return promoteRival(of: address)
            }
        case .disconnected(let link, let reason):
            guard let place = place(of: link) else { return }
            let ended = links.remove(at: place)
            choice.roomChanged(id, isFull: false)
            guard ended.state == .reported else {
                if ended.state == .rival { forgetAttempt(of: ended.address, by: id, at: now) }
                // The owner does not learn of the end.
                return report(.linkFreed, id)
            }
            choice.disconnected(
                ended.address, from: id, wasAttached: ended.isAttached, isLost: reason.mayBeTimeout, at: now)
            if hasRival(ended.address) {
                report(.disconnected(link, .superseded), id)
                return promoteRival(of: ended.address)
            }
            // The button was not silent, so its link has not timed out as long as there is another radio.
            if closing == id, isOtherReady(than: id) { return report(.disconnected(link, .radioLost), id) }
        case .attemptFailed(let address):
            attempts[Attempt(radio: id, address: address)] = nil
            choice.attemptFailed(address, by: id, at: now)
        case .linkLimitReached: choice.roomChanged(id, isFull: true)
        case .linkFreed: choice.roomChanged(id, isFull: false)
        case .linkLimit(let limit): choice.limitChanged(id, to: limit)
        case .takingTurns(let addresses):
            takingTurns[Int(id.rawValue)] = addresses
            return report(.takingTurns(takingTurns.flatMap(\.self)), id)
        // The owner closes a radio that has failed.
        case .failed, .unusable, .assignmentChanged, .homeChanged, .anomaly: break
        }
        report(event, id)
    }

    private mutating func report(_ event: RadioEvent, _ id: RadioID) {
        outputs.append(Output(radio: id, effect: .event(event)))
    }

    /// Ends the reported link of a button, because another link is real. A button has one link at a time, so this one is dead although
    /// its end has not been reported.
    private mutating func endReported(_ address: BluetoothAddress) {
        guard let place = reportedPlace(address) else { return }
        links[place].state = .over
        let link = links[place].id
        report(.disconnected(link, .superseded), link.radio)
        deadLinks.append(link)
    }

    private mutating func endRival(_ place: Int, at now: Instant) {
        links[place].state = .over
        let link = links[place]
        forgetAttempt(of: link.address, by: link.id.radio, at: now)
        deadLinks.append(link.id)
    }

    /// The attempt has led to a link that the owner will never know, so the owner will not call `takeAttempt`.
    private mutating func forgetAttempt(of address: BluetoothAddress, by id: RadioID, at now: Instant) {
        attempts[Attempt(radio: id, address: address)] = nil
        choice.attemptFailed(address, by: id, at: now)
    }

    private func hasRival(_ address: BluetoothAddress) -> Bool {
        links.contains { $0.address == address && $0.state == .rival }
    }

    /// The first rival takes the place of the reported link, which has ended. The owner was told that it was superseded, so it knows
    /// that another link follows at once.
    private mutating func promoteRival(of address: BluetoothAddress) {
        guard let place = links.firstIndex(where: { $0.address == address && $0.state == .rival }) else { return }
        promote(place)
    }

    private mutating func promote(_ place: Int) {
        links[place].state = .reported
        choice.connected(links[place].address, by: links[place].id.radio)
        report(.connected(links[place].id, links[place].address), links[place].id.radio)
    }

    /// Ends the link that a button has through a proxy if the button advertises: a button with a link does not advertise, except in
    /// public mode, so the link has ended and the proxy has lost the report. An adapter always reports the end, after the
    /// supervision timeout at the latest. One advertisement may have been delayed, so a second one must follow.
    private mutating func noticeDeadLink(_ heard: HeardAdvertisement, at now: Instant) {
        guard heard.kind == .connectable, heard.service == nil, let place = reportedPlace(heard.address),
            !self[links[place].id.radio].connectsByItself
        else { return }
        guard let first = links[place].heardAt, now - first <= Self.doubtTime.upperBound else {
            return links[place].heardAt = now
        }
        guard now - first >= Self.doubtTime.lowerBound else { return }
        let link = links[place]
        links[place].state = .over
        report(.anomaly("\(link.address) advertises, so its link has ended without a report"), link.id.radio)
        report(.disconnected(link.id, hasRival(link.address) ? .superseded : .unknown), link.id.radio)
        choice.disconnected(
            link.address, from: link.id.radio, wasAttached: link.isAttached, isLost: true, at: now)
        deadLinks.append(link.id)
        promoteRival(of: link.address)
    }

    private func isOtherReady(than id: RadioID) -> Bool { ids.contains { $0 != id && isReady[Int($0.rawValue)] } }

    /// The owner ends the links of a radio that is lost, if the radio has not reported their ends.
    private mutating func lost(_ id: RadioID, at now: Instant) {
        isReady[Int(id.rawValue)] = false
        attempts = attempts.filter { $0.key.radio != id }
        let ended = links.filter { $0.id.radio == id && $0.state == .reported }
        links.removeAll { $0.id.radio == id }
        for link in ended {
            choice.disconnected(link.address, from: id, wasAttached: link.isAttached, isLost: true, at: now)
        }
        if !takingTurns[Int(id.rawValue)].isEmpty {
            takingTurns[Int(id.rawValue)] = []
            report(.takingTurns(takingTurns.flatMap(\.self)), id)
        }
        choice.lost(id)
        for link in ended where hasRival(link.address) {
            report(.disconnected(link.id, .superseded), id)
            promoteRival(of: link.address)
        }
    }

    private func place(of id: LinkID) -> Int? { links.firstIndex { $0.id == id } }

    private func reportedPlace(_ address: BluetoothAddress) -> Int? {
        links.firstIndex { $0.address == address && $0.state == .reported }
    }

    #if DEBUG
        /// The invariants that the state violates between two inputs; empty unless this type has a bug.
        package func problems() -> [String] {
            let radios = [first] + others
            var problems = radios.flatMap { $0.problems() } + deadlines.problems()
            guard !isAlone else { return problems }
            func expect(_ holds: Bool, _ problem: @autoclosure () -> String) {
                if !holds { problems.append("radios: " + problem()) }
            }
            expect(outputs.isEmpty && deadLinks.isEmpty, "an output was not returned")
            let current = links.filter { $0.state == .reported }
            for link in links where link.state == .rival {
                expect(
                    current.contains { $0.address == link.address }, "\(link.address) has a rival of no link")
            }
            expect(Set(current.map(\.address)).count == current.count, "a button has two links")
            expect(
                Set(links.map(\.id)) == Set(radios.flatMap(\.reportedLinks)), "the links are not those of the radios")
            expect(links.allSatisfy { isReady[Int($0.id.radio.rawValue)] }, "a link of a radio that is not ready")
            var linked: [BluetoothAddress: RadioID] = [:]
            for link in current { linked[link.address] = link.id.radio }
            problems += choice.problems(linked: linked)
            return problems
        }

        /// The links that were reported as connected and not yet as disconnected.
        package var reportedLinks: Set<LinkID> {
            isAlone ? first.reportedLinks : Set(links.filter { $0.state == .reported }.map(\.id))
        }
    #endif
}
