package import ButtonModel

extension GestureRecogniser {
    /// What `handle(.event(event))` will return, and what `saved` will return after it, without changing anything.
    ///
    /// - Parameter clock: an instant and its wall clock time; `nil` if the wall clock is implausible.
    /// - Returns: `nil` for a button in a chord, or with several parts.
    package func preview(
        _ event: ButtonEvent, at now: Instant, by clock: (instant: Instant, time: UTCTime)?
    ) -> (recognised: [RecognisedEvent], saved: String)? {
        guard let row = existingRowIndex(of: event.button) else { return nil }
        return rows[row].preview(event, at: now, by: clock)
    }
}

extension ButtonRecogniser {
    fileprivate func preview(
        _ event: ButtonEvent, at now: Instant, by clock: (instant: Instant, time: UTCTime)?
    ) -> (recognised: [RecognisedEvent], saved: String)? {
        guard chords.isEmpty, machines.count <= 1 else { return nil }
        var machine = machines.first ?? PressMachine(button: button, part: event.part, grammar: grammar)
        guard machine.part == event.part else { return nil }
        var recognised: [RecognisedEvent] = []
        machine.handle(event, at: now, into: &recognised)
        return (recognised, machine.saved(by: clock) ?? "")
    }
}
