import ButtonModel

/// A vocabulary made ready for walking: its patterns as a prefix tree, its times in a button's ticks.
///
/// A class, since all the buttons of a house share a few of them and every event comes by.
final class Grammar: Sendable {
    struct Node: Sendable {
        var short: Int?
        var long: Int?
        /// What the presses that lead here are, if they are something.
        var pattern: [PressLength]?

        func next(_ length: PressLength) -> Int? {
            switch length {
            case .short: short
            case .long: long
            }
        }
    }

    /// The root is the first.
    let nodes: [Node]
    /// Ascending; empty: a first press is never a hold.
    let holdStages: [Ticks]
    /// The first press of a train becomes a hold after this long, though no stage may be reached yet.
    let holdThreshold: Ticks?
    let holdAfter: Ticks
    let clickGap: Ticks
    /// Somebody cares how long a press is.
    let tellsLongFromShort: Bool
    /// A click is all that is wanted, and nothing else can become of a press.
    let firesOnDown: Bool
    /// The button's own verdict in this mode gives the same.
    let verdictMode: TriggerMode?
    /// The mode whose gestures are most like those wanted, for presses that only the button can judge.
    let nearestMode: TriggerMode
    /// By place in `holdStages`, as the vocabulary says them.
    let stageDurations: [Duration]

    init(_ vocabulary: Vocabulary, takesVerdicts: Bool = true) {
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
        tellsLongFromShort = hasHold || patterns.contains { $0.contains(.long) }
        let isClickAlone = patterns == [.click] && !hasHold
        firesOnDown = isClickAlone && !vocabulary.canBeMoved
        // The button's own click would fire on the `down` of a swipe or a turn, too.
        verdictMode = takesVerdicts && firesOnDown == isClickAlone ? vocabulary.mode : nil

        var nodes = [Node()]
        for pattern in patterns where (1...Vocabulary.maximumPresses).contains(pattern.count) {
            // A first press that is long is the hold.
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

    /// No longer pattern goes through here.
    func isLeaf(_ node: Int) -> Bool { nodes[node].short == nil && nodes[node].long == nil }
}
