package import ButtonModel

/// Presses, turns and swipes of all buttons to gestures: one gesture for each press train, by longest match.
///
/// Each button has a row here, each of its parts a `PressMachine`. What is left to this type are the timers of all of
/// them and the chords (`GestureRecogniser+Chords.swift`), the only thing in which buttons meet.
package struct GestureRecogniser: Sendable {
    package enum Input: Hashable, Sendable {
        case event(ButtonEvent)
        case moved(ButtonMovement)
        /// What the button has not told by now it tells as stored, or never.
        case linkLost(ButtonID)
        case linkReturned(ButtonID)
        /// The button was not heard of for at least so long, and no hold of it goes on.
        case holdLost(ButtonID, unheardFor: Duration)
        case timerFired
    }

    /// After this long without a word from a button its link is lost.
    package static let supervisionTimeout = PressMachine.supervisionTimeout

    var rows: [ButtonRow] = []
    private var places: [ButtonID: Int] = [:]
    private var others = Vocabulary()
    private var otherGrammar: Grammar
    private let takesVerdicts: Bool
    var deadlines = DeadlineHeap()
    var chords: [Chord] = []
    /// Places in `rows`.
    var chordMembers: [[Int]] = []
    var formedChords: [FormedChord] = []

    /// - Parameter takesVerdicts: false where no button judges its presses and `down` and `up` are all that is told, as in
    ///   tests of rules. The gestures are the same.
    package init(takesVerdicts: Bool = true) {
        self.takesVerdicts = takesVerdicts
        otherGrammar = Grammar(others, takesVerdicts: takesVerdicts)
    }

    /// When `timerFired` is wanted next. Of an event and a timer at the same instant the caller hands the event in first.
    package var deadline: Instant? {
        formedChords.reduce(deadlines.earliest?.instant) { min($0 ?? $1.firesAt, $1.firesAt) }
    }

    /// What is wanted from now on. Trains under way go on under the new vocabulary; none is lost.
    ///
    /// - Parameters:
    ///   - others: of buttons that have no entry.
    ///   - chords: one that names fewer than two buttons never forms.
    package mutating func configure(
        _ vocabularies: [ButtonID: Vocabulary], others: Vocabulary, chords: [Chord], at now: Instant
    ) {
        var grammars: [Vocabulary: Grammar] = [:]
        func grammar(of vocabulary: Vocabulary) -> Grammar {
            if let known = grammars[vocabulary] { return known }
            let grammar = Grammar(vocabulary, takesVerdicts: takesVerdicts)
            grammars[vocabulary] = grammar
            return grammar
        }
        self.others = others
        otherGrammar = grammar(of: others)
        for row in rows.indices {
            let vocabulary = vocabularies[rows[row].button] ?? others
            rows[row].configure(vocabulary, grammar(of: vocabulary), at: now)
        }
        for (button, vocabulary) in vocabularies where places[button] == nil {
            add(ButtonRow(button, vocabulary, grammar(of: vocabulary)))
        }
        if chords != self.chords { setChords(chords, at: now) }
        for row in rows.indices { rearm(row) }
    }

    /// What this completes, in order.
    package mutating func handle(_ input: Input, at now: Instant) -> [Recognised] {
        var output: [Recognised] = []
        switch input {
        case .event(let event):
            let row = row(of: event.button)
            if rows[row].chords.isEmpty {
                rows[row].handle(event, at: now, into: &output)
            } else {
                handleMember(event, row, at: now, into: &output)
            }
            rearm(row)
        case .moved(let movement):
            let row = row(of: movement.button)
            rows[row].moved(movement, at: now, into: &output)
            rearm(row)
        case .linkLost(let button):
            guard let row = places[button] else { return [] }
            for machine in rows[row].machines.indices {
                rows[row].machines[machine].linkLost(at: now, into: &output)
            }
            endMembership(of: row, at: now, into: &output)
            rearm(row)
        case .linkReturned(let button):
            guard let row = places[button] else { return [] }
            for machine in rows[row].machines.indices { rows[row].machines[machine].linkReturned() }
            rearm(row)
        case .holdLost(let button, let duration):
            guard let row = places[button] else { return [] }
            for machine in rows[row].machines.indices {
                rows[row].machines[machine].endHold(unheardFor: duration, at: now, into: &output)
            }
            rearm(row)
        case .timerFired:
            timePassed(at: now, into: &output)
        }
        return output
    }

    /// One deadline after the other, so that what was due earlier comes first, however late the timer is.
    private mutating func timePassed(at now: Instant, into output: inout [Recognised]) {
        while let due = deadline, due <= now {
            if let chord = formedChords.firstIndex(where: { $0.firesAt <= due }) {
                fire(formedChords.remove(at: chord), at: due, into: &output)
            } else if let row = deadlines.earliest?.row {
                rows[row].timePassed(at: due, into: &output)
                rearm(row)
            }
        }
    }

    mutating func rearm(_ row: Int) { deadlines.set(row, to: rows[row].deadline) }

    func knownRow(of button: ButtonID) -> Int? { places[button] }

    mutating func row(of button: ButtonID) -> Int {
        places[button] ?? add(ButtonRow(button, others, otherGrammar))
    }

    @discardableResult
    private mutating func add(_ row: ButtonRow) -> Int {
        rows.append(row)
        places[row.button] = rows.count - 1
        return rows.count - 1
    }
}
