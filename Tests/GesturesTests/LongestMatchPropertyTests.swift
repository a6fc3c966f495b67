import ButtonModel
import Gestures
import TestSupport
import Testing

/// The gestures of a complete list of presses, found without a tree and without timers: the reference for the
/// recogniser.
struct Oracle {
    var patterns: Set<[PressLength]>
    var stages: [Duration]
    var holdAfter: Int
    var clickGap: Int

    init(_ vocabulary: Vocabulary) {
        let usesHold = !vocabulary.holdStages.isEmpty || vocabulary.usesHoldRelease
        var hasHold = usesHold
        patterns = vocabulary.patterns
        let asMode: TriggerMode? =
            vocabulary.fixedMode
            ?? (patterns.isEmpty && !usesHold
                ? .clickAndDoubleClickAndHold
                : !patterns.isSubset(of: [[.short], [.short, .short]])
                    ? nil
                    : patterns.contains([.short, .short])
                        ? (usesHold ? .clickAndDoubleClickAndHold : .clickAndDoubleClick)
                        : (usesHold ? .clickAndHold : .click))
        switch asMode {
        case nil: break
        case .click: (patterns, hasHold) = ([[.short]], false)
        case .clickAndHold: (patterns, hasHold) = ([[.short]], true)
        case .clickAndDoubleClick: (patterns, hasHold) = ([[.short], [.short, .short]], false)
        case .clickAndDoubleClickAndHold: (patterns, hasHold) = ([[.short], [.short, .short]], true)
        }
        if hasHold { patterns = patterns.filter { $0.first != .long } }
        stages =
            hasHold ? (vocabulary.holdStages.isEmpty ? [vocabulary.holdAfter] : vocabulary.holdStages.sorted()) : []
        holdAfter = Oracle.ticks(vocabulary.holdAfter)
        clickGap = Oracle.ticks(vocabulary.clickGap)
    }

    static func ticks(_ duration: Duration) -> Int { Int((duration.milliseconds * 32_768 + 999) / 1000) }

    private func continues(_ path: [PressLength]) -> Bool {
        patterns.contains { $0.count >= path.count && $0.prefix(path.count) == path[...] }
    }

    func gestures(of presses: [FingerPress]) -> [String] {
        var result: [String] = []
        var counted = [PressLength?](repeating: nil, count: presses.count)
        var first = 0
        func tell(_ word: String, _ last: Int) {
            result.append(word + (first == last ? " \(first + 1)" : " \(first + 1)-\(last + 1)"))
        }
        while first < presses.count {
            let length = presses[first].length
            let isHold =
                !stages.isEmpty && counted[first] != .short
                && (counted[first] == .long || length >= min(holdAfter, Oracle.ticks(stages[0])))
            if isHold {
                let fired = stages.filter { Oracle.ticks($0) <= length }
                for stage in fired {
                    tell(stage == .seconds(1) ? "hold" : "hold \(stage.milliseconds)", first)
                }
                if !fired.isEmpty { tell("hold_release", first) }
                first += 1
                continue
            }
            let tellsLong = !stages.isEmpty || patterns.contains { $0.contains(.long) }
            var path: [PressLength] = []
            var best: Int?
            for place in first..<presses.count {
                if place > first {
                    let before = presses[place - 1]
                    let from = counted[place - 1] == .long ? before.up : before.down
                    guard presses[place].down - from <= clickGap else { break }
                }
                let isLong =
                    tellsLong && presses[place].length >= holdAfter && (path.isEmpty || continues(path + [.long]))
                let length = counted[place] ?? (isLong ? .long : .short)
                counted[place] = length
                path.append(length)
                guard continues(path) else { break }
                if patterns.contains(path) { best = place }
                guard continues(path + [.short]) || continues(path + [.long]) else { break }
            }
            if let best {
                let pattern = path.prefix(best - first + 1)
                let word =
                    pattern == [.short]
                    ? "click"
                    : pattern == [.short, .short]
                        ? "double_click" : pattern.map { $0 == .short ? "s" : "l" }.joined()
                tell(word, best)
                first = best + 1
            } else {
                first += 1
            }
        }
        return result
    }
}

@Suite("Longest match")
struct LongestMatchPropertyTests {
    @Test(
        "live presses give the gestures that the reference finds in the whole list",
        arguments: 0..<300 as Range<UInt64>)
    func liveIsBatch(_ seed: UInt64) {
        var generator = SeededGenerator(seed: seed)
        for _ in 0..<20 {
            let vocabulary = generator.vocabulary()
            let presses = generator.presses(upTo: 12)
            var room = Room(vocabulary)
            room.press(presses)
            room.rest()
            #expect(room.gestures.summary == Oracle(vocabulary).gestures(of: presses), "\(vocabulary) \(presses)")
            #expect(room.told.filter { $0.kind == .down }.count == presses.count)
            #expect(room.told.filter { $0.kind == .up }.count == presses.count)
        }
    }

    @Test(
        "stored presses give the reference's gestures, however they are cut into notifications",
        arguments: 0..<200 as Range<UInt64>)
    func storedIsBatch(_ seed: UInt64) {
        var generator = SeededGenerator(seed: seed)
        for _ in 0..<20 {
            let vocabulary = generator.vocabulary()
            let presses = generator.presses(upTo: 12)
            let end = presses[presses.count - 1].up
            var room = Room(vocabulary)
            room.now = Instant(ticks: end + 1_000_000)
            for event in Button().storedEvents(of: presses, connectedAt: end + 1_000_000) {
                room.hear(event)
                let pause = Duration.milliseconds(Int.random(in: 0...499, using: &generator))
                if Bool.random(using: &generator) { room.wait(until: room.now + pause, isInclusive: true) }
            }
            // Stored presses are so old that no timer may be left running.
            #expect(room.recogniser.deadline.map { $0 <= room.now } ?? true)
            room.rest()
            #expect(room.gestures.summary == Oracle(vocabulary).gestures(of: presses), "\(vocabulary) \(presses)")
            #expect(room.gestures.allSatisfy { $0.wasQueued })
        }
    }

    /// States "no press is lost and none is used twice" exactly: where a click is in the vocabulary and every longer
    /// press is a hold, each press is in exactly one gesture.
    @Test(
        "each press is in exactly one gesture if the vocabulary has a click and a hold",
        arguments: 0..<200 as Range<UInt64>)
    func nothingIsLost(_ seed: UInt64) {
        var generator = SeededGenerator(seed: seed)
        for _ in 0..<20 {
            var vocabulary = generator.vocabulary()
            vocabulary.fixedMode = nil
            vocabulary.patterns.insert([.short])
            vocabulary.holdStages.insert(vocabulary.holdAfter)
            let presses = generator.presses(upTo: 12)
            var room = Room(vocabulary)
            room.press(presses)
            room.rest()
            var uses = [Int](repeating: 0, count: presses.count)
            for gesture in room.gestures {
                switch gesture.kind {
                case .hold(let after) where after != (vocabulary.holdStages.min() ?? after): continue
                case .holdRelease: continue
                default: for press in gesture.presses ?? 1...1 { uses[Int(press) - 1] += 1 }
                }
            }
            #expect(uses.allSatisfy { $0 == 1 }, "\(vocabulary) \(presses) \(room.gestures.summary)")
        }
    }
}
