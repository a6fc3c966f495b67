package import ButtonModel

/// Recognises gestures in the presses, turns and swipes of all buttons.
///
/// Each button has a `ButtonRecogniser`, and each of its parts a `PressMachine`, which matches patterns of presses. This type
/// owns their deadlines, and the chords (`GestureRecogniser+Chords.swift`), which involve several buttons.
package struct GestureRecogniser: Sendable {
    package enum Input: Hashable, Sendable {
        case event(ButtonEvent)
        case moved(ButtonMovement)
        /// Events that have not arrived by now arrive later as stored events, or never.
        case linkLost(ButtonID)
        case linkReturned(ButtonID)
        /// A hold in progress ends without its `up`, because the link timed out, or the button rebooted or was removed.
        /// `silentFor` is the minimum time since the last packet of the button.
        case holdEndMissed(ButtonID, silentFor: Duration)
        /// Nothing is recognised in the presses of the buttons so far. Only a hold that was reported still ends.
        case abandoned([ButtonID])
        /// Another program has handled the events of the button until now. Nothing is recognised in the presses so far, and no hold
        /// ends.
        ///
        /// - Parameter mayBeDown: whether a press may be down that only the other program knows. It is in no gesture, but if its `up`
        ///   shows that it was a hold, the end of that hold is reported.
        case inherited(ButtonID, mayBeDown: Bool)
        /// Another program has handled the beginning of the press of this part of the button. The rest of it is as in `inherited`, and the
        /// other parts and the rotations of the button go on.
        case begunElsewhere(ButtonID, ButtonPart?)
        case timerFired
    }

    /// The maximum time between two stored events while a button sends them. After this time without one it has sent all
    /// its stored events.
    package static let storedEventGap = Duration.milliseconds(500)

    /// The connection supervision timeout: a link is lost after this time without a packet.
    package static let supervisionTimeout = PressMachine.supervisionTimeout

    var rows: [ButtonRecogniser] = []
    private var rowIndices: [ButtonID: Int] = [:]
    private var others = Vocabulary()
    private var otherGrammar: Grammar
    private let usesButtonVerdicts: Bool
    var deadlines = DeadlineHeap()
    var chords: [Chord] = []
    /// The members of each chord, as indices in `rows`.
    var chordMembers: [[Int]] = []
    var formedChords: [FormedChord] = []

    /// - Parameter usesButtonVerdicts: whether the button's own verdicts are used. Pass `false` if the events are only
    ///   `down` and `up`, as in tests of rules; the gestures are the same.
    package init(usesButtonVerdicts: Bool = true) {
        self.usesButtonVerdicts = usesButtonVerdicts
        otherGrammar = Grammar(others, usesButtonVerdicts: usesButtonVerdicts)
    }

    /// When `timerFired` is due. An event at the same instant must be passed before it.
    package var deadline: Instant? {
        formedChords.reduce(deadlines.earliest?.instant) { min($0 ?? $1.firesAt, $1.firesAt) }
    }

    /// Replaces the vocabularies and chords. Trains in progress continue with the new vocabularies.
    ///
    /// - Parameters:
    ///   - others: the vocabulary of buttons that are not in `vocabularies`.
    ///   - chords: all chords. A chord of fewer than two different buttons never forms.
    package mutating func configure(
        _ vocabularies: [ButtonID: Vocabulary], others: Vocabulary, chords: [Chord], at now: Instant
    ) {
        var grammars: [Vocabulary: Grammar] = [:]
        func grammar(of vocabulary: Vocabulary) -> Grammar {
            if let known = grammars[vocabulary] { return known }
            let grammar = Grammar(vocabulary, usesButtonVerdicts: usesButtonVerdicts)
            grammars[vocabulary] = grammar
            return grammar
        }
        self.others = others
        otherGrammar = grammar(of: others)
        for row in rows.indices {
            let vocabulary = vocabularies[rows[row].button] ?? others
            // A lookup of the grammar takes several times as long as this comparison.
            guard vocabulary != rows[row].vocabulary else { continue }
            rows[row].configure(vocabulary, grammar(of: vocabulary), at: now)
        }
        for (button, vocabulary) in vocabularies where rowIndices[button] == nil {
            add(ButtonRecogniser(button, vocabulary, grammar(of: vocabulary)))
        }
        if chords != self.chords { setChords(chords, at: now) }
        for row in rows.indices { rearm(row) }
    }

    /// Adds the vocabularies of buttons that `configure` did not name, and replaces the chords. The result is that of
    /// `configure` with all vocabularies, and the time does not depend on their number.
    package mutating func configure(
        adding vocabularies: [(button: ButtonID, vocabulary: Vocabulary)], chords: [Chord], at now: Instant
    ) {
        var grammars = [others: otherGrammar]
        for (button, vocabulary) in vocabularies {
            let grammar = grammars[vocabulary] ?? Grammar(vocabulary, usesButtonVerdicts: usesButtonVerdicts)
            grammars[vocabulary] = grammar
            if let row = rowIndices[button] {
                rows[row].configure(vocabulary, grammar, at: now)
                rearm(row)
            } else {
                add(ButtonRecogniser(button, vocabulary, grammar))
            }
        }
        guard chords != self.chords else { return }
        setChords(chords, at: now)
        for row in rows.indices { rearm(row) }
    }

    /// True if a press of the button is down or may become part of a gesture, or if a rotation is being collected.
    package func hasUndecided(of button: ButtonID) -> Bool { rowIndices[button].map { rows[$0].hasUndecided } ?? false }

    /// Handles an input, and returns the gestures and movements that it completes, in order.
    package mutating func handle(_ input: Input, at now: Instant) -> [RecognisedEvent] {
        var output: [RecognisedEvent] = []
        switch input {
        case .event(let event):
            let row = rowIndex(of: event.button)
            if rows[row].chords.isEmpty {
                rows[row].handle(event, at: now, into: &output)
            } else {
                handleMember(event, row, at: now, into: &output)
            }
            rearm(row)
        case .moved(let movement):
            let row = rowIndex(of: movement.button)
            rows[row].moved(movement, at: now, into: &output)
            rearm(row)
        case .linkLost(let button):
            guard let row = rowIndices[button] else { return [] }
            for machine in rows[row].machines.indices {
                rows[row].machines[machine].linkLost(at: now, into: &output)
            }
            endMembership(of: row, at: now, into: &output)
            rearm(row)
        case .linkReturned(let button):
            guard let row = rowIndices[button] else { return [] }
            for machine in rows[row].machines.indices { rows[row].machines[machine].linkReturned() }
            rearm(row)
        case .holdEndMissed(let button, let duration):
            guard let row = rowIndices[button] else { return [] }
            for machine in rows[row].machines.indices {
                rows[row].machines[machine].endHold(silentFor: duration, at: now, into: &output)
            }
            rearm(row)
        case .abandoned(let buttons):
            let abandoned = buttons.compactMap { rowIndices[$0] }
            // All presses are abandoned before `endMembership`, which may end a chord. The chord then releases none of them.
            for row in abandoned { rows[row].abandon() }
            for row in abandoned {
                endMembership(of: row, at: now, into: &output)
                rearm(row)
            }
        case .inherited(let button, let mayBeDown):
            guard mayBeDown || rowIndices[button] != nil else { return [] }
            let row = rowIndex(of: button)
            rows[row].inherit(mayBeDown: mayBeDown)
            endMembership(of: row, at: now, into: &output)
            rearm(row)
        case .begunElsewhere(let button, let part):
            let row = rowIndex(of: button)
            let machine = rows[row].machineIndex(of: part)
            rows[row].machines[machine].inherit(mayBeDown: true)
            if rows[row].member?.machine == machine { endMembership(of: row, at: now, into: &output) }
            rearm(row)
        case .timerFired:
            timePassed(at: now, into: &output)
        }
        return output
    }

    /// Handles the deadlines that have passed in their order, even if the timer fired late.
    private mutating func timePassed(at now: Instant, into output: inout [RecognisedEvent]) {
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

    func existingRowIndex(of button: ButtonID) -> Int? { rowIndices[button] }

    mutating func rowIndex(of button: ButtonID) -> Int {
        rowIndices[button] ?? add(ButtonRecogniser(button, others, otherGrammar))
    }

    @discardableResult
    private mutating func add(_ row: ButtonRecogniser) -> Int {
        rows.append(row)
        rowIndices[row.button] = rows.count - 1
        return rows.count - 1
    }
}
