package import ButtonModel

extension GestureRecogniser {
    /// The result that `handle(.event(event))` will have, and that `saved` will have after it, without changing
    /// anything.
    ///
    /// - Parameter clock: an instant and its wall clock time; `nil` if the wall clock is implausible.
    /// - Returns: `nil` for a button in a chord, or with several parts.
    package func preview(
        _ event: ButtonEvent, at now: Instant, by clock: (instant: Instant, time: UTCTime)?
    ) -> (recognised: [RecognisedEvent], saved: String)? {
        guard let row = existingRowIndex(of: event.button) else { return nil }
        // The properties are read one by one, because a method of the row would get a copy of all of it.
        guard rows[row].chords.isEmpty, rows[row].machines.count <= 1 else { return nil }
        var machine =
            rows[row].machines.first
            ?? PressMachine(button: event.button, part: event.part, grammar: rows[row].grammar)
        guard machine.part == event.part else { return nil }
        var recognised: [RecognisedEvent] = []
        recognised.reserveCapacity(2)
        machine.handle(event, at: now, into: &recognised)
        return (recognised, machine.saved(by: clock) ?? "")
    }
}
