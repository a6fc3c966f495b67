import ButtonModel
import Buttons
import Rules

// What the journal of the store decides, carried out.
extension Hub {
    mutating func carryOut(_ journalEffects: [StoreJournal.Effect], at now: Instant) {
        for effect in journalEffects { carryOut(effect, at: now) }
    }

    mutating func carryOut(_ effect: StoreJournal.Effect, at now: Instant) {
        switch effect {
        case .record(let token, let changes): effects.append(.record(token, changes))
        case .sync(let token): effects.append(.sync(token))
        case .acknowledge(let acknowledgement):
            advanceButtons(.synced(acknowledgement.button, acknowledgement.cursor), at: now)
        case .faulted(let sentence): log(.error, sentence)
        case .mended: log(.info, "what could not be kept is on the disk now")
        case .reserveMade: log(.info, "the reserve for presses on a full disk is there now")
        case .canRecord(let canRecord):
            // The fault of the store may be another one.
            metrics.isOutdated = true
            if canRecord { allowOpening() } else { holdRadioClosed(at: now) }
        case .setTimer(let deadline): deadlines.set(.store, at: deadline)
        case .cancelTimer: deadlines.cancel(.store)
        }
    }

    private mutating func allowOpening() {
        guard radio.allowOpening() else { return }
        // Before `start` it was not opened yet.
        if configuration.hasTransport, startedAt != nil, !isFinished { effects.append(.openTransport) }
    }

    /// Ends all links. A press that is not delivered stays in its button, and is judged by its age when it comes.
    private mutating func holdRadioClosed(at now: Instant) {
        let wasOpen = radio.isOpen
        guard radio.holdClosed() else { return }
        guard wasOpen else { return deadlines.cancel(.transport) }
        effects.append(.closeTransport)
        transportClosed("The adapter is closed until presses can be recorded.", .absent, at: now)
    }

    /// The record of everything of the button that was handled so far.
    mutating func progress(of button: ButtonID) -> StoreChange? {
        buttons.takeProgress(
            of: button, recogniser: engine.savedTrain(of: button), wallClock: believableClock)
    }

    /// Records when buttons were last heard of that were only connected: when their links end, and at the end.
    mutating func recordSightings(of seen: [ButtonID]) {
        let changes = sightings(of: seen)
        if !changes.isEmpty { record(changes) }
    }

    mutating func sightings(of seen: [ButtonID]) -> [StoreChange] {
        let wallClock = believableClock
        return seen.compactMap { button in
            buttons.takeSighting(of: button, wallClock: wallClock).map { StoreChange.seen(button, $0) }
        }
    }

    /// The wall time of an instant; `nil` as long as the clock is not set, and for a time before the build.
    private var believableClock: (Instant) -> UTCTime? {
        let (clock, builtAt) = (clock, configuration.builtAt)
        return { instant in
            guard let clock else { return nil }
            let time = clock.utc + (instant - clock.at)
            return time >= builtAt ? time : nil
        }
    }
}
