import ButtonModel

// Matching of a train with the patterns of the grammar's prefix tree.
extension PressMachine {
    /// Reports a click on `down`, if no other gesture is possible.
    mutating func fireOnDown(into output: inout [RecognisedEvent]) {
        guard grammar.firesOnDown, !isReservedForChord, state == .undecided, train.count == 1,
            let press = train.popLast()
        else {
            return
        }
        state = .spent(press)
        report(.pattern(.click), press, into: &output)
    }

    /// Reports the gestures of the train by longest match, and keeps presses that may still become a longer pattern.
    ///
    /// - Parameter isOver: whether no press will be added to the train.
    mutating func settle(isOver: Bool, into output: inout [RecognisedEvent]) {
        while !train.isEmpty {
            let decided = state == .undecided ? train.count - 1 : train.count
            let (node, steps, match) = walk(decided)
            if steps == decided {
                let mayGrow = decided == 0 || !grammar.isLeaf(node)
                if mayGrow && (state == .undecided || !isOver) { return }
            }
            if let (count, pattern) = match {
                report(.pattern(pattern), train[count - 1], from: train[0].number, queuedOf: count, into: &output)
                let last = train[count - 1]
                train.removeFirst(count)
                if train.isEmpty, state == .long { state = .spent(last) }
            } else {
                dropFirst(into: &output)
            }
        }
    }

    /// Removes the first press of the train, because no pattern begins with it. If it is a hold, reports the hold.
    mutating func dropFirst(into output: inout [RecognisedEvent]) {
        var press = train.removeFirst()
        let isHold = press.length == .long && grammar.holdThreshold != nil
        if train.isEmpty, state == .long {
            state = isHold ? .holding(press, fired: -1) : .spent(press)
        } else if isHold, let up = press.up {
            let fired = reportStages(of: &press, after: -1, upTo: up, into: &output)
            if fired >= 0 {
                report(.holdRelease, press, heldFor: press.heldFor(at: up).duration, into: &output)
            }
        }
    }

    /// Follows the first `count` presses in the tree: the last node, its depth, and the longest pattern on the way.
    func walk(_ count: Int) -> (node: Int, steps: Int, match: (count: Int, pattern: [PressLength])?) {
        var node = 0
        var steps = 0
        var match: (Int, [PressLength])?
        while steps < count, let length = train[steps].length, let next = grammar.step(from: node, by: length) {
            node = next
            steps += 1
            if let pattern = grammar.nodes[next].pattern { match = (steps, pattern) }
        }
        return (node, steps, match)
    }

    /// Reports the hold stages that are reached at `moment`, and returns the latest reported stage, or else `after`.
    @discardableResult
    mutating func reportStages(
        of press: inout Press, after: Ticks, upTo moment: Ticks, into output: inout [RecognisedEvent]
    ) -> Ticks {
        var fired = after
        for (stage, duration) in zip(grammar.holdStages, grammar.stageDurations)
        where stage > fired && press.down.addingSaturating(stage) <= moment {
            if press.hold == nil { press.hold = RecognisedEvent.Lateness(wasQueued: press.wasQueued, age: press.age) }
            report(.hold(after: duration), press, heldFor: duration, isFurtherStage: fired >= 0, into: &output)
            fired = stage
        }
        return fired
    }

    /// Appends a gesture to the output. It is `mutating` because the machine would be copied for a call of another function.
    ///
    /// - Parameters:
    ///   - press: the last press of the gesture.
    ///   - first: the number of its first press; `nil` if it has only one.
    ///   - count: how many presses at the start of the train it consists of. If one is queued, the gesture is.
    mutating func report(
        _ what: RecognisedEvent.Kind, _ press: Press, from first: UInt64? = nil, queuedOf count: Int = 0,
        heldFor: Duration = .zero, isFurtherStage: Bool = false, isLinkLost: Bool = false,
        into output: inout [RecognisedEvent]
    ) {
        var recognised = RecognisedEvent(
            button: button, part: part, kind: what, presses: min(first ?? press.number, press.number)...press.number,
            wasQueued: press.wasQueued, wasQueuedLast: press.wasQueuedLast, age: max(.zero, press.age), at: press.at,
            heldFor: heldFor, isFurtherStage: isFurtherStage, hold: what == .holdRelease ? press.hold : nil,
            isLinkLost: isLinkLost)
        for other in train.prefix(count) {
            recognised.wasQueued = recognised.wasQueued || other.wasQueued
            recognised.wasQueuedLast = recognised.wasQueuedLast || other.wasQueuedLast
        }
        output.append(recognised)
    }
}
