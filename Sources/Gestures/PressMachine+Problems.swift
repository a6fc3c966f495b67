#if DEBUG
    import ButtonModel

    extension PressMachine {
        /// The invariants that are violated, as sentences; empty unless this type has a fault.
        func problems() -> [String] {
            let isOpen = state == .undecided || state == .long
            let closed = isOpen ? train.dropLast() : train[...]
            var problems: [String] = []
            func expect(_ holds: Bool, _ problem: @autoclosure () -> String) {
                if !holds { problems.append("presses of \(button) \(part?.rawValue ?? ""): \(problem())") }
            }
            expect(isOpen == (train.last.map { $0.up == nil } ?? false), "a press is open in state \(state)")
            expect(closed.allSatisfy { $0.up != nil }, "a press before the last one has no up")
            expect(closed.allSatisfy { $0.length != nil }, "a press that has ended has no length")
            expect(state != .long || train.last?.length == .long, "the open press is not long in the state long")
            expect(train.count <= Vocabulary.maximumPresses + 1, "the train has \(train.count) presses")
            expect(
                zip(train, train.dropFirst()).allSatisfy { $0.number < $1.number },
                "the presses of the train are not in their order")
            expect((train.last?.number ?? 0) <= pressCount, "a press has a number that was not given out")
            expect(!isReservedForChord || state == .undecided, "a press is held back in state \(state)")
            expect(!lostLinkDuringPress || state != .released, "the link was lost during a press, but no press is down")
            expect(deadline == nextDeadline, "the deadline differs from the one that the state requires")
            expect(
                !usesButtonVerdicts || deadline == holdEndsAt,
                "a deadline other than the end of a hold is set, although the button decides the gesture")
            switch state {
            case .released, .undecided, .long:
                expect(holdEndsAt == nil, "the end of a hold is scheduled, but there is no hold")
            case .holding(let press, let fired):
                expect(train.isEmpty, "the train is not empty during a hold")
                expect(press.up == nil, "the press of a hold has ended")
                expect(
                    (fired >= 0) == (press.hold != nil),
                    "a hold was reported and its lateness was not recorded, or the reverse")
                expect(
                    holdEndsAt == nil || fired >= 0,
                    "the end of a hold is scheduled, but the hold was never reported")
            case .spent(let press):
                expect(train.isEmpty, "the train is not empty in state `spent`")
                expect(press.up == nil, "state `spent` has a press with an up")
                expect(holdEndsAt == nil, "the end of a hold is scheduled, but there is no hold")
            }
            return problems
        }
    }

    extension ButtonRecogniser {
        func problems() -> [String] {
            var problems = machines.flatMap { $0.problems() }
            if Set(machines.map(\.part)).count != machines.count {
                problems.append("\(button): a part has two machines")
            }
            if let member, !machines.indices.contains(member.machine) {
                problems.append("\(button): a chord's press is on a part that was never pressed")
            }
            for index in machines.indices where machines[index].isReservedForChord && member?.machine != index {
                problems.append("\(button): a press is held back for no chord")
            }
            if member != nil, chords.isEmpty {
                problems.append("\(button): a press belongs to a chord, and there is none")
            }
            if member?.hasFired == true, member?.holdsBackUntil != nil {
                problems.append("\(button): a press is held back that a chord has taken")
            }
            return problems
        }
    }

    extension GestureRecogniser {
        /// The invariants that are violated, as sentences; empty unless this type has a fault.
        package func problems() -> [String] {
            var problems = rows.flatMap { $0.problems() } + deadlines.problems()
            for index in rows.indices {
                if existingRowIndex(of: rows[index].button) != index {
                    problems.append("\(rows[index].button): two rows")
                }
                if deadlines[index] != rows[index].deadline {
                    problems.append("\(rows[index].button): the deadline is not that of its presses and turns")
                }
            }
            for formed in formedChords {
                guard chords.indices.contains(formed.chord) else {
                    problems.append("chord \(formed.chord) has formed, and there is none")
                    continue
                }
                for row in chordMembers[formed.chord] {
                    guard let member = rows[row].member else {
                        problems.append("\(rows[row].button): is in a chord that has formed, and is not down")
                        continue
                    }
                    // A `down` and a `hold` chord of the same buttons share their presses.
                    let isShared = chords.indices.contains {
                        chords[$0].event == .down && chordMembers[$0] == chordMembers[formed.chord]
                    }
                    if member.hasFired, !isShared { problems.append("\(rows[row].button): a press is in two chords") }
                    if member.holdsBackUntil != nil {
                        problems.append(
                            "\(rows[row].button): a chord has formed, and a member's press is still held back")
                    }
                }
            }
            return problems
        }
    }
#endif
