import ButtonModel

/// The state of the gesture recognition of one button.
struct ButtonRecogniser: Sendable {
    /// A live press that is down on a button with chords.
    struct ChordPress: Sendable {
        var since: Instant
        /// An index in `machines`.
        var machine: Int
        /// The end of the time for which the press is held back because a chord may form; `nil` if it is not held back.
        var holdsBackUntil: Instant?
        /// True if the press is part of a chord that was recognised.
        var hasFired = false
    }

    let button: ButtonID
    private(set) var vocabulary: Vocabulary
    private(set) var grammar: Grammar
    /// A machine for each part that was ever pressed.
    var machines: [PressMachine] = []
    /// Indices in the recogniser's list of chords.
    private(set) var chords: [Int] = []
    /// The longest `within` of these chords.
    private(set) var within = Duration.zero
    var member: ChordPress?
    /// In ascending order.
    private var rotationDurations: [Duration]
    private var windows: [RotationWindow] = []
    /// True if a press of a part that was never pressed here may be down, and only another program knows it.
    private var mayBeDown = false

    init(_ button: ButtonID, _ vocabulary: Vocabulary, _ grammar: Grammar) {
        self.button = button
        self.vocabulary = vocabulary
        self.grammar = grammar
        rotationDurations = vocabulary.rotationDurations.sorted()
    }

    mutating func configure(_ vocabulary: Vocabulary, _ grammar: Grammar, at now: Instant) {
        guard vocabulary != self.vocabulary else { return }
        self.vocabulary = vocabulary
        self.grammar = grammar
        rotationDurations = vocabulary.rotationDurations.sorted()
        for index in machines.indices { machines[index].configure(grammar, at: now) }
    }

    /// Sets the chords of the button. A press that was held back because of earlier chords is released.
    mutating func configure(chords: [Int], within: Duration, at now: Instant) {
        let isNew = chords.isEmpty != self.chords.isEmpty
        self.chords = chords
        self.within = within
        member = nil
        for index in machines.indices {
            let isReservedForChord = machines[index].isReservedForChord
            machines[index].isInChord = !chords.isEmpty
            machines[index].isReservedForChord = false
            if isNew || isReservedForChord { machines[index].configure(grammar, at: now) }
        }
    }

    mutating func machineIndex(of part: ButtonPart?) -> Int {
        for index in machines.indices where machines[index].part == part { return index }
        var machine = PressMachine(button: button, part: part, grammar: grammar)
        machine.isInChord = !chords.isEmpty
        if mayBeDown { machine.inherit(mayBeDown: true) }
        machines.append(machine)
        return machines.count - 1
    }

    mutating func handle(_ event: ButtonEvent, at now: Instant, into output: inout [RecognisedEvent]) {
        let index = machineIndex(of: event.part)
        machines[index].handle(event, at: now, into: &output)
    }

    mutating func moved(_ movement: ButtonMovement, at now: Instant, into output: inout [RecognisedEvent]) {
        guard movement.steps != 0 else { return }
        if let index = pressedMachine(turning: movement.part) {
            machines[index].turn(by: movement.steps, into: &output)
        }
        for collect in rotationDurations {
            if let index = windows.firstIndex(where: {
                $0.collect == collect && $0.latest.isOfSameDial(as: movement) && now < $0.endsAt
            }) {
                windows[index].add(movement, at: now)
            } else {
                windows.append(RotationWindow(movement, collect: collect, at: now))
            }
        }
        closeWindows(at: now, into: &output)
    }

    /// Recognises nothing in the presses and rotations so far. Only a hold that was reported still ends.
    mutating func abandon() {
        for index in machines.indices { machines[index].abandon() }
        windows = []
    }

    /// Forgets the presses and rotations so far, because another program has handled them.
    mutating func inherit(mayBeDown: Bool) {
        self.mayBeDown = mayBeDown
        for index in machines.indices { machines[index].inherit(mayBeDown: mayBeDown) }
        windows = []
    }

    var hasUndecided: Bool { !windows.isEmpty || machines.contains { !$0.isIdle } }

    /// The machine whose press is down while this part is turned.
    private func pressedMachine(turning part: ButtonPart?) -> Int? {
        switch part {
        case .big, .small: machines.firstIndex { $0.part == part }
        case .push: machines.firstIndex { $0.part == nil }
        case .dial, nil: nil
        }
    }

    private mutating func closeWindows(at now: Instant, into output: inout [RecognisedEvent]) {
        guard windows.contains(where: { $0.endsAt <= now }) else { return }
        for window in windows where window.endsAt <= now {
            if let recognised = window.recognised { output.append(recognised) }
        }
        windows.removeAll { $0.endsAt <= now }
    }

    var deadline: Instant? {
        var earliest = member?.holdsBackUntil
        // Iterates over indices, because an element would be copied.
        for index in machines.indices {
            if let due = machines[index].deadline { earliest = min(earliest ?? due, due) }
        }
        for window in windows { earliest = min(earliest ?? window.endsAt, window.endsAt) }
        return earliest
    }

    mutating func timePassed(at now: Instant, into output: inout [RecognisedEvent]) {
        if let end = member?.holdsBackUntil, end <= now { liftHoldBack(at: now, into: &output) }
        for index in machines.indices { machines[index].timePassed(at: now, into: &output) }
        closeWindows(at: now, into: &output)
    }

    /// Sets the time for which the press is held back again, after a chord that extended it has failed.
    mutating func resumeHoldBack(at now: Instant, into output: inout [RecognisedEvent]) {
        guard let member, !member.hasFired else { return }
        self.member?.holdsBackUntil = member.since + within
        if member.since + within <= now { liftHoldBack(at: now, into: &output) }
    }

    mutating func liftHoldBack(at now: Instant, into output: inout [RecognisedEvent]) {
        guard let member else { return }
        self.member?.holdsBackUntil = nil
        machines[member.machine].liftHoldBack(at: now, into: &output)
    }
}
