import ButtonModel

/// A vocabulary prepared for recognition: patterns as a prefix tree, times in a button's ticks.
///
/// It is a class because all buttons share a few instances, and every event uses one.
final class Grammar: Sendable {
    struct Node: Sendable {
        var short: Int?
        var long: Int?
        /// The pattern that consists of the presses up to this node, if the vocabulary has it.
        var pattern: [PressLength]?

        func next(_ length: PressLength) -> Int? {
            switch length {
            case .short: short
            case .long: long
            }
        }
    }

    /// The first node is the root.
    let nodes: [Node]
    /// In ascending order; empty if a first press is never a hold.
    let holdStages: [Ticks]
    /// How long a first press must be to become a hold, even if it reaches no stage yet.
    let holdThreshold: Ticks?
    let holdAfter: Ticks
    let clickGap: Ticks
    /// True if the length of a press matters.
    let distinguishesLength: Bool
    /// True if `click` is the only gesture, so that it is recognised on `down`.
    let firesOnDown: Bool
    /// The trigger mode in which the button's own classification has the same result; `nil` if there is none.
    let verdictMode: TriggerMode?
    /// The most similar trigger mode, for presses of which only the button's classification is available.
    let nearestMode: TriggerMode
    /// The durations of the vocabulary for the elements of `holdStages`.
    let stageDurations: [Duration]

    init(_ vocabulary: Vocabulary, usesButtonVerdicts: Bool = true) {
        let mode = vocabulary.gestureMode
        let hasHold = mode?.hasHold ?? vocabulary.usesHold
        var patterns = vocabulary.patterns
        if let mode { patterns = mode.hasDoubleClick ? [.click, .doubleClick] : [.click] }

        let stages = vocabulary.holdStages.isEmpty ? [vocabulary.holdAfter] : vocabulary.holdStages.sorted()
        stageDurations = hasHold ? stages : []
        holdStages = stageDurations.map { Ticks($0, roundedUp: true) }
        holdAfter = Ticks(vocabulary.holdAfter, roundedUp: true)
        holdThreshold = holdStages.first.map { min($0, Ticks(vocabulary.holdAfter, roundedUp: true)) }
        clickGap = Ticks(vocabulary.clickGap)
        nearestMode = vocabulary.nearestMode
        distinguishesLength = hasHold || patterns.contains { $0.contains(.long) }
        let isClickAlone = patterns == [.click] && !hasHold
        firesOnDown = isClickAlone && !vocabulary.canSwipeOrTurn
        // The button would report its click on the `down` of a swipe or a turn, too.
        verdictMode = usesButtonVerdicts && firesOnDown == isClickAlone ? vocabulary.mode : nil

        var nodes = [Node()]
        for pattern in patterns where (1...Vocabulary.maximumPresses).contains(pattern.count) {
            // A first long press is recognised as a hold, not as a pattern.
            if hasHold && pattern.first == .long { continue }
            Grammar.add(pattern, to: &nodes)
        }
        self.nodes = nodes
    }

    private static func add(_ pattern: [PressLength], to nodes: inout [Node]) {
        var node = 0
        for length in pattern {
            if let next = nodes[node].next(length) {
                node = next
                continue
            }
            switch length {
            case .short: nodes[node].short = nodes.count
            case .long: nodes[node].long = nodes.count
            }
            node = nodes.count
            nodes.append(Node())
        }
        nodes[node].pattern = pattern
    }

    func step(from node: Int, by length: PressLength) -> Int? { nodes[node].next(length) }

    /// True if no longer pattern contains this one as a prefix.
    func isLeaf(_ node: Int) -> Bool { nodes[node].short == nil && nodes[node].long == nil }
}
