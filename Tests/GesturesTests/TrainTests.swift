import ButtonModel
import Gestures
import TestSupport
import Testing

/// The vocabulary, the presses (from and to, in milliseconds), and which gestures are reported at which time.
struct TrainCase: Sendable, CustomTestStringConvertible {
    var vocabulary: Vocabulary
    var presses: String
    var told: [String]

    init(_ vocabulary: Vocabulary, _ presses: String, _ told: String...) {
        self.vocabulary = vocabulary
        self.presses = presses
        self.told = told
    }

    var testDescription: String { "\(presses) → \(told.joined(separator: " "))" }
}

extension Vocabulary {
    fileprivate static let click = Vocabulary(patterns: [.click])
    fileprivate static let hold = Vocabulary(patterns: [.click], holdStages: [.seconds(1)])
    fileprivate static let double = Vocabulary(patterns: [.click, .doubleClick])
    fileprivate static let all = Vocabulary(patterns: [.click, .doubleClick], holdStages: [.seconds(1)])
    fileprivate static let triple = Vocabulary(patterns: [.click, .doubleClick, [.short, .short, .short]])
    fileprivate static let onlyTriple = Vocabulary(patterns: [[.short, .short, .short]])
    fileprivate static let clickThenLong = Vocabulary(patterns: [.click, [.short, .long]])
    fileprivate static let longs = Vocabulary(patterns: [.click, [.long], [.long, .short]])
    fileprivate static let garage = Vocabulary(
        patterns: [.click, [.short, .short, .long], [.short, .short, .short, .short]], holdStages: [.seconds(1)])
    fileprivate static let stages = Vocabulary(
        patterns: [.click], holdStages: [.milliseconds(500), .seconds(1), .seconds(3)])
    fileprivate static let lateStage = Vocabulary(patterns: [.click], holdStages: [.seconds(3)], usesHoldRelease: true)

    fileprivate func with(_ change: (inout Vocabulary) -> Void) -> Vocabulary {
        var other = self
        change(&other)
        return other
    }
}

@Suite("Trains")
struct TrainTests {
    static let cases: [TrainCase] = [
        // A click that is the only gesture of its button does not wait; beside others it waits no longer than they
        // need.
        TrainCase(.click, "0-80 100-180", "click@0", "click@100"),
        TrainCase(.hold, "0-80", "click@80"),
        TrainCase(.double, "0-80", "click@500"),
        TrainCase(.double, "0-700", "click@700"),
        TrainCase(.double, "0-2000", "click@2000"),
        TrainCase(.triple, "0-80", "click@500"),
        TrainCase(.triple, "0-700", "click@700"),
        TrainCase(.onlyTriple, "0-80 200-280 400-480", "sss@480"),

        // The gap counts from down to down. A down at exactly its end still belongs to the train.
        TrainCase(.double, "0-80 500-580", "double_click@580"),
        TrainCase(.double, "0-80 501-581", "click@500", "click@1001"),
        TrainCase(.triple, "0-80 500-580 1000-1080", "sss@1080"),
        TrainCase(
            .triple.with { $0.clickGap = .seconds(1) }, "0-80 900-980 1900-1980", "sss@1980"),
        TrainCase(.double.with { $0.clickGap = .milliseconds(200) }, "0-80 300-380", "click@200", "click@500"),

        // The longest pattern wins. The presses that are left make a train of their own, with their own times.
        TrainCase(.double, "0-80 200-280 400-480", "double_click@280", "click@900"),
        TrainCase(.triple, "0-80 200-280", "double_click@700"),
        TrainCase(.triple, "0-80 200-280 400-480 600-680", "sss@480", "click@1100"),
        TrainCase(.onlyTriple, "0-80 200-280"),
        TrainCase(.garage, "0-80 200-280 400-480", "click@900", "click@900", "click@900"),
        TrainCase(.garage, "0-80 200-280 400-480 600-680", "ssss@680"),
        TrainCase(.clickThenLong, "0-80 200-280", "click@280", "click@700"),
        TrainCase(.clickThenLong, "0-80 200-280 400-1500", "click@280", "sl@1400"),

        // A hold fires while the button is down, and only on the first press of a train.
        TrainCase(.all, "0-1500", "hold@1000", "hold_release@1500"),
        TrainCase(.all, "0-1000", "hold@1000", "hold_release@1000"),
        TrainCase(.all, "0-999", "click@999"),
        TrainCase(.all, "0-80 200-1500", "double_click@1500"),
        TrainCase(.hold, "0-80 200-1500", "click@80", "hold@1200", "hold_release@1500"),
        TrainCase(
            .all.with {
                $0.holdAfter = .milliseconds(300); $0.holdStages = [.milliseconds(300)]
            }, "0-400", "hold 300@300", "hold_release@400"),
        TrainCase(.all, "0-1500 1600-1680", "hold@1000", "hold_release@1500", "click@2100"),

        // Each stage of a hold fires at its time. A long press that is released before the first stage makes no
        // gesture.
        TrainCase(.stages, "0-4000", "hold 500@500", "hold@1000", "hold 3000@3000", "hold_release@4000"),
        TrainCase(.stages, "0-700", "hold 500@500", "hold_release@700"),
        TrainCase(.stages, "0-400", "click@400"),
        TrainCase(.lateStage, "0-2000"),
        TrainCase(.lateStage, "0-900", "click@900"),
        TrainCase(.lateStage, "0-3000", "hold 3000@3000", "hold_release@3000"),

        // A pattern that ends with `long` is reported when its last press becomes long, unless a longer pattern is
        // possible.
        TrainCase(.clickThenLong, "0-80 300-1500", "sl@1300"),
        TrainCase(.longs, "0-1500", "l@2000"),
        TrainCase(.longs, "0-1500 1900-1980", "ls@1980"),
        TrainCase(.longs, "0-1500 2001-2081", "l@2000", "click@2081"),
        TrainCase(.clickThenLong, "0-1500"),
        TrainCase(.garage, "0-80 200-280 400-1600", "ssl@1400"),
        TrainCase(.garage, "0-80 200-1500 1600-1680", "click@1500", "click@1500", "click@2100"),

        // A fixed mode with times other than the hardware's is recognised here instead of in the button.
        TrainCase(
            .click.with {
                $0.fixedMode = .clickAndHold; $0.holdAfter = .milliseconds(400)
            }, "0-600", "hold 400@400", "hold_release@600"),
        TrainCase(
            .hold.with {
                $0.fixedMode = .click; $0.clickGap = .seconds(1)
            }, "0-1500", "click@0"),
        TrainCase(Vocabulary(), "0-80 200-280 1000-2500", "double_click@280", "hold@2000", "hold_release@2500"),
        TrainCase(Vocabulary(clickGap: .seconds(1)), "0-80 900-980", "double_click@980"),
    ]

    @Test("presses become the gestures of the vocabulary, each at its time", arguments: cases)
    func train(_ expected: TrainCase) {
        var room = Room(expected.vocabulary)
        room.press(Room.presses(expected.presses))
        room.rest()
        #expect(room.timed == expected.told)
    }

    @Test("down and up are reported at once, whatever gesture the press becomes")
    func rawEvents() {
        var room = Room(.garage)
        room.press(Room.presses("0-80 200-280"))
        #expect(
            room.log.map { "\($0.1.word)@\($0.at.millisecondsSinceStart)" } == [
                "down@0", "up@80", "down@200", "up@280",
            ])
        #expect(room.told.map(\.presses) == [1...1, 1...1, 2...2, 2...2])
    }

    @Test("a gesture has the times of its last press")
    func times() throws {
        var room = Room(.all)
        room.press(Room.presses("0-80 200-280 1000-3000"))
        room.rest()
        let double = try #require(room.gestures.first)
        #expect(double.at == Instant(ticks: 6554))
        #expect(double.presses == 1...2)
        let hold = try #require(room.gestures.first { $0.word == "hold" })
        #expect(hold.heldFor == .seconds(1))
        let release = try #require(room.gestures.last)
        #expect(release.at == hold.at)
        #expect(release.presses == 3...3)
        #expect(release.heldFor == .seconds(2))
        #expect(room.told.last { $0.kind == .up }?.heldFor == .seconds(2))
    }

    @Test("a radio delay shorter than the time that is left does not split a train")
    func delayedRadio() {
        var room = Room(.triple)
        var generator = SeededGenerator(seed: 1)
        var latest = Int64(0)
        room.delay = {
            // The radio delivers events in order: an event that overtakes an earlier one does not occur.
            latest = Int64.random(in: 0...90_000_000, using: &generator)
            return latest
        }
        for start in stride(from: 0, to: 100_000, by: 2000) {
            room.press(
                Room.presses("\(start)-\(start + 150) \(start + 400)-\(start + 550) \(start + 800)-\(start + 950)"))
        }
        room.rest()
        #expect(room.gestures.map(\.word) == Array(repeating: "sss", count: 50))
    }

    @Test("the time of a delayed down is corrected by the events after it")
    func mendedTime() {
        var room = Room(.hold)
        let events = Button().events(of: Room.presses("0-1500"))
        room.now = .start + .milliseconds(300)
        room.hear(events[0])
        room.wait(until: Instant(ticks: 49_152))
        room.hear(events[1])
        room.hear(events[2])
        #expect(room.told.first?.at == .start + .milliseconds(300))
        #expect(room.told.last?.at == .start)
    }

    @Test("each part of a button has trains of its own")
    func parts() {
        var room = Room(.double)
        for (step, ticks, part) in [
            (.down, 0, .big), (.down, 3000, .small), (.up(.open), 6000, .big), (.up(.open), 9000, .small),
            (.clickTimeout, 16_384, .big), (.clickTimeout, 19_384, .small),
        ] as [(PressStep, Int, ButtonPart)] {
            var event = Button().event(step, at: ticks)
            event.part = part
            room.now = Instant(ticks: ticks)
            room.hear(event)
        }
        #expect(room.gestures.map(\.word) == ["click", "click"])
        #expect(room.gestures.map(\.part) == [.big, .small])
        #expect(room.gestures.map(\.presses) == [1...1, 1...1])
    }
}
