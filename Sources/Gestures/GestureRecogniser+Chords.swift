package import ButtonModel

/// A chord whose members are all down. A `hold` chord fires if they stay down.
struct FormedChord: Hashable, Sendable {
    /// An index in the list of chords.
    var chord: Int
    var firesAt: Instant
    /// The press that began last.
    var last: Press
    /// The button of that press, as an index in `rows`.
    var lastRow: Int
    var lastPart: ButtonPart?
}

// Chords: buttons that are pressed together.
//
// | live press of a member     | and                                         | then                                           |
// |----------------------------|---------------------------------------------|------------------------------------------------|
// | begins                     | another member is not down, or for too long | is held back for the longest `within`          |
// | begins                     | all are down, each for at most `within`     | the chord with the most members forms          |
// | is in a `down` chord       |                                             | is used up: the chord fires                    |
// | is in a `hold` chord       |                                             | stays held back until the chord fires or fails |
// | ends, or its link is lost  | in a `hold` chord that has not fired        | the chord fails; the others are held back      |
// | stays down                 | `holdAfter` after the last press began      | is used up: the chord fires                    |
// | is held back               | `within` is over, and no chord has formed   | is free: its gestures until now are reported   |
//
// A press is in one chord, except that a `down` and a `hold` chord of the same buttons share their presses.
extension GestureRecogniser {
    mutating func setChords(_ chords: [Chord], at now: Instant) {
        self.chords = chords
        formedChords = []
        chordMembers = chords.map { chord in Set(chord.members).map { rowIndex(of: $0) }.sorted() }
        var chordsOfRows: [Int: [Int]] = [:]
        for (chord, members) in chordMembers.enumerated() where members.count > 1 {
            for row in members { chordsOfRows[row, default: []].append(chord) }
        }
        for index in rows.indices {
            let own = chordsOfRows[index] ?? []
            guard !own.isEmpty || !rows[index].chords.isEmpty else { continue }
            rows[index].configure(chords: own, within: own.map { chords[$0].within }.max() ?? .zero, at: now)
        }
    }

    /// The other buttons whose presses a chord has taken together with a press of this button, if all are still down.
    package func partners(of button: ButtonID) -> [ButtonID] {
        guard let row = existingRowIndex(of: button) else { return [] }
        let fired = rows[row].chords.filter { chordMembers[$0].allSatisfy { rows[$0].member?.hasFired == true } }
        return Set(fired.flatMap { chordMembers[$0] }).subtracting([row]).map { rows[$0].button }.sorted()
    }

    mutating func handleMember(
        _ event: ButtonEvent, _ row: Int, at now: Instant, into output: inout [RecognisedEvent]
    ) {
        let machine = rows[row].machineIndex(of: event.part)
        let isMember = rows[row].member?.machine == machine
        switch event.step {
        case .down:
            if isMember { endMembership(of: row, at: now, into: &output) }
            let joins = !event.wasQueued && rows[row].member == nil
            rows[row].machines[machine].handle(event, at: now, holdsBack: joins, into: &output)
            guard joins else { return }
            rows[row].member = ButtonRecogniser.ChordPress(
                since: now, machine: machine, holdsBackUntil: now + rows[row].within)
            formChords(by: row, at: now, into: &output)
        case .up:
            rows[row].machines[machine].handle(event, at: now, into: &output)
            if isMember { endMembership(of: row, at: now, into: &output) }
        case .hold, .clickTimeout:
            rows[row].machines[machine].handle(event, at: now, into: &output)
        }
    }

    /// Forms the chords with the most members among those that are complete with this press.
    private mutating func formChords(by row: Int, at now: Instant, into output: inout [RecognisedEvent]) {
        guard let member = rows[row].member, let press = rows[row].machines[member.machine].openPress else { return }
        let complete = rows[row].chords.filter { chord in
            chordMembers[chord].allSatisfy { isFree($0, within: chords[chord].within, at: now) }
        }
        guard let largest = complete.max(by: { chordMembers[$0].count < chordMembers[$1].count }) else { return }
        let members = chordMembers[largest]
        for chord in complete where chordMembers[chord] == members {
            let formed = FormedChord(
                chord: chord, firesAt: now + chords[chord].holdAfter, last: press, lastRow: row,
                lastPart: rows[row].machines[member.machine].part)
            switch chords[chord].event {
            case .down:
                fire(formed, at: now, into: &output)
            case .hold:
                formedChords.append(formed)
                for other in members { rows[other].member?.holdsBackUntil = nil }
            }
        }
        for other in members { rearm(other) }
    }

    private func isFree(_ row: Int, within: Duration, at now: Instant) -> Bool {
        guard let member = rows[row].member, !member.hasFired, now - member.since <= within,
            rows[row].machines[member.machine].isReservedForChord
        else { return false }
        return !formedChords.contains { chordMembers[$0.chord].contains(row) }
    }

    mutating func fire(_ formed: FormedChord, at now: Instant, into output: inout [RecognisedEvent]) {
        let chord = chords[formed.chord]
        for row in chordMembers[formed.chord] {
            guard let member = rows[row].member else { continue }
            rows[row].machines[member.machine].givePressToChord(into: &output)
            rows[row].member?.hasFired = true
            rows[row].member?.holdsBackUntil = nil
            rearm(row)
        }
        output.append(
            RecognisedEvent(
                button: rows[formed.lastRow].button, part: formed.lastPart, kind: .chord(formed.chord),
                presses: formed.last.number...formed.last.number, at: formed.last.at,
                heldFor: chord.event == .hold ? chord.holdAfter : .zero))
    }

    /// Ends the membership of a button's press in chords. Chords that need the press to stay down fail.
    mutating func endMembership(of row: Int, at now: Instant, into output: inout [RecognisedEvent]) {
        guard rows[row].member != nil else { return }
        rows[row].liftHoldBack(at: now, into: &output)
        rows[row].member = nil
        for formed in formedChords where chordMembers[formed.chord].contains(row) {
            for other in chordMembers[formed.chord] where other != row {
                rows[other].resumeHoldBack(at: now, into: &output)
                rearm(other)
            }
        }
        formedChords.removeAll { chordMembers[$0.chord].contains(row) }
    }
}
