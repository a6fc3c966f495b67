import ButtonModel
import Gestures
import TestSupport
import Testing

@Suite("Reloads and restarts")
struct ChangeTests {
    private static let click = Vocabulary(patterns: [.click])
    private static let all = Vocabulary(patterns: [.click, .doubleClick], holdStages: [.seconds(1)])
    private static let triple = Vocabulary(patterns: [.click, [.short, .short, .short]], holdStages: [.seconds(1)])

    /// The reported gestures if the vocabulary changes from `from` to `to` before the event at index `count`.
    private func told(_ presses: String, _ from: Vocabulary, _ to: Vocabulary, behind count: Int) -> [String] {
        var room = Room(from)
        for (place, event) in Button().events(of: Room.presses(presses)).enumerated() {
            if place == count { room.recogniser.configure([:], others: to, chords: [], at: room.now) }
            room.wait(until: Instant(ticks: Button().ticks(of: event)))
            room.hear(event)
        }
        room.rest()
        return room.timed
    }

    @Test("a train in progress continues under the new vocabulary")
    func goesOn() {
        #expect(told("0-80 200-280 400-480", Self.all, Self.triple, behind: 3) == ["sss@480"])
        #expect(told("0-80 200-280", Self.triple, Self.all, behind: 3) == ["double_click@280"])
        #expect(told("0-1500", Self.all, Self.click, behind: 2) == ["hold@1000", "hold_release@1500"])
    }

    @Test("a train that no longer pattern of the new vocabulary can continue is reported at once")
    func atOnce() {
        #expect(told("0-80", Self.triple, Self.click, behind: 2) == ["click@80"])
        #expect(told("0-800", Self.triple, Self.click, behind: 1) == ["click@0"])
    }

    @Test("a train that waited for a long press before the reload is reported as queued, with its age")
    func late() throws {
        for (presses, count, reload) in [("0-80 200-9000", 3, Duration.seconds(6)), ("0-9000", 1, .seconds(5))] {
            for wait in [reload, .seconds(2)] {
                var room = Room(Vocabulary(patterns: [.click, [.short, .short, .short]]))
                for event in Button().events(of: Room.presses(presses)).prefix(count) {
                    room.wait(until: Instant(ticks: Button().ticks(of: event)))
                    room.hear(event)
                }
                room.wait(until: .start + wait)
                room.recogniser.configure([:], others: Self.click, chords: [], at: room.now)
                room.rest()
                let click = try #require(room.gestures.first)
                #expect(click.wasQueued == (wait == reload))
                #expect(click.age == (wait == reload ? reload : .zero))
            }
        }
    }

    @Test("a reload with the same vocabulary does not interrupt a train")
    func unchanged() {
        #expect(told("0-80 200-280", Self.all, Self.all, behind: 3) == ["double_click@280"])
    }

    @Test("a reload from any vocabulary to any other loses no press", arguments: 0..<500 as Range<UInt64>)
    func reloadsLoseNothing(_ seed: UInt64) {
        var generator = SeededGenerator(seed: seed)
        func vocabulary() -> Vocabulary {
            var vocabulary = generator.vocabulary()
            vocabulary.fixedMode = nil
            vocabulary.patterns.insert(.click)
            vocabulary.holdStages.insert(vocabulary.holdAfter)
            return vocabulary
        }
        for _ in 0..<10 {
            var room = Room(vocabulary())
            let presses = generator.presses(upTo: 12)
            for event in Button().events(of: presses) {
                if Int.random(in: 0..<4, using: &generator) == 0 {
                    let chords = Bool.random(using: &generator) ? [Chord(members: [.kitchen, .hall])] : []
                    room.recogniser.configure(
                        [.kitchen: vocabulary()], others: Self.click, chords: chords, at: room.now)
                }
                room.wait(until: Instant(ticks: Button().ticks(of: event)))
                room.hear(event)
            }
            room.rest()
            var covered: Set<UInt64> = []
            for gesture in room.gestures { covered.formUnion(gesture.presses ?? 1...1) }
            #expect(covered.count == presses.count, "\(presses) \(room.gestures.summary)")
        }
    }

    @Test(
        "a train in progress at a restart, cut at any event, gives the same gestures, marked as queued",
        arguments: 0..<200 as Range<UInt64>)
    func restarts(_ seed: UInt64) {
        var generator = SeededGenerator(seed: seed)
        for _ in 0..<10 {
            let vocabulary = generator.vocabulary()
            let presses = generator.presses(upTo: 6)
            let end = presses[presses.count - 1].up + 65_536
            let stored = Button().storedEvents(of: presses, connectedAt: end)

            var whole = Room(vocabulary)
            whole.now = Instant(ticks: end)
            for event in stored { whole.hear(event) }
            whole.rest()

            var room = Room(vocabulary)
            room.now = Instant(ticks: end)
            let cut = Int.random(in: 0...stored.count, using: &generator)
            for event in stored.prefix(cut) { room.hear(event) }
            let saved = room.recogniser.saved(.kitchen)
            room.recogniser = GestureRecogniser()
            room.recogniser.restore(.kitchen, saved, at: room.now)
            #expect(room.recogniser.saved(.kitchen) == saved)
            room.recogniser.configure([:], others: vocabulary, chords: [], at: room.now)
            room.wait(until: room.now + .seconds(1))
            for event in stored.dropFirst(cut) { room.hear(event) }
            room.rest()
            #expect(room.gestures.map(\.word) == whole.gestures.map(\.word), "\(vocabulary) \(presses) \(cut) \(saved)")
            #expect(room.gestures.allSatisfy { $0.wasQueued })
        }
    }

    @Test("a click that was waiting when the program stopped is reported after the restart, with an age")
    func nothingFollows() throws {
        var room = Room(Self.triple)
        for event in Button().events(of: Room.presses("0-80")).dropLast() {
            room.wait(until: Instant(ticks: Button().ticks(of: event)))
            room.hear(event)
        }
        let saved = room.recogniser.saved(.kitchen)
        #expect(saved == "- 7 1073744445 r s2621-0")

        var later = Room(Self.triple)
        later.now = .start + .seconds(60)
        later.recogniser.restore(.kitchen, saved, at: later.now)
        later.rest()
        #expect(later.timed == ["click@70000"])
        let click = try #require(later.gestures.first)
        #expect(click.wasQueued)
        #expect(click.age >= .seconds(10))
        #expect(later.recogniser.saved(.kitchen) == "")
    }

    @Test(
        "after a restart a late press is no part of a click that was reported, though the button reports a double click"
    )
    func lateSecondPress() {
        let button = Button()
        let events = button.events(of: Room.presses("0-80 200-280"))
        #expect(events.last?.step == .up(.doubleClick))
        var room = Room(Self.all)
        for event in events.prefix(2) {
            room.wait(until: Instant(ticks: button.ticks(of: event)))
            room.hear(event)
        }
        var later = Room(Self.all)
        later.now = .start + .seconds(1)
        later.recogniser.restore(.kitchen, room.recogniser.saved(.kitchen), at: later.now)
        later.wait(until: later.now + .seconds(11))
        #expect(later.gestures.map(\.word) == ["click"])
        for var event in events.dropFirst(2) {
            event.wasQueued = true
            event.age = later.now - Instant(ticks: button.ticks(of: event))
            later.hear(event)
        }
        later.rest()
        #expect(later.gestures.map(\.word) == ["click", "click"])
    }

    @Test("after a restart the time the program was away counts as age, and a clock set back makes no gesture younger")
    func timeAway() throws {
        var room = Room(Self.triple)
        for event in Button().events(of: Room.presses("0-80")).dropLast() {
            room.wait(until: Instant(ticks: Button().ticks(of: event)))
            room.hear(event)
        }
        let noon = UTCTime(milliseconds: 1_795_000_000_000)
        let saved = room.recogniser.saved(.kitchen, by: (room.now + .milliseconds(20), noon))
        #expect(saved == "- 7 1073744445 r s2621-0 @1794999999980")
        for (time, age) in [(noon + .seconds(3600), Duration.seconds(3610)), (noon - .seconds(60), .seconds(10))] {
            var later = Room(Self.triple)
            later.now = .start + .seconds(60)
            later.recogniser.restore(.kitchen, saved, at: later.now, time: time)
            later.rest()
            #expect(later.timed == ["click@70000"])
            let click = try #require(later.gestures.first)
            #expect(click.age >= age && click.age < age + .seconds(1))
        }
    }

    @Test("the age of the next stored event dates a click from before the restart")
    func agedByTheNext() throws {
        var room = Room(Self.triple)
        let events = Button().storedEvents(of: Room.presses("0-80 5000-5080"), connectedAt: 327_680)
        for event in events.prefix(2) { room.hear(event) }
        var later = Room(Self.triple)
        later.recogniser.restore(.kitchen, room.recogniser.saved(.kitchen), at: later.now)
        later.now = .start + .seconds(9)
        for event in events.dropFirst(3) { later.hear(event) }
        let click = try #require(later.gestures.first)
        #expect(click.age == .seconds(10))
        #expect(click.at == .start - .seconds(1))
    }

    @Test("a hold from before a restart gets its release, and a live release is marked as the last queued one")
    func heldOver() {
        var room = Room(Self.all)
        room.press(Room.presses("0-1500 3000-6000").dropLast())
        room.hear(Button().event(.down, at: 100_000))
        room.now = room.now + .seconds(1)
        room.hear(Button().event(.hold(ofSecondPress: false), at: 132_768))
        var later = Room(Self.all)
        later.recogniser.restore(.kitchen, room.recogniser.saved(.kitchen), at: later.now)
        later.hear(Button().event(.up(.afterHoldClick), at: 165_536))
        #expect(later.gestures.map(\.word) == ["hold_release"])
        #expect(later.gestures.first?.heldFor == .seconds(2))
        #expect(later.gestures.first?.wasQueued == true && later.gestures.first?.wasQueuedLast == true)
    }

    @Test(
        "saved text in another format is ignored",
        arguments: [
            "", "hoq", "- 1 2 r", "- 1 2 r s5", "- 1 2 d s5-3", "- 1 2 r s3-5", "- 1 2 r s-5", "wide 1 2 r s5-3",
            "- 1 2 q s5-3", "- 1 2 h-2 ?5", "- 1 2 h ?5", "- 1 2 s ?5 ?3", "- -1 2 r s5-3", "- 1 -2 r s5-3",
            "- 1 2 r s99999999999999999999-3", "- 1 2 r s9223372036854775807-3", "- 1 2 r s5-3-1", "- 1 2 r x5-3",
            "- 1 2 r s5-3 @", "- 1 2 r s5-3 @-1", "- 1 2 r @5", "@5", "- 1 2 r @5 s5-3", "- 1 2 r s5-3 @5 @5",
            "- 1 2 r s9-9 s9-9 s9-9 s9-9 s9-9 s9-9 s9-9 s9-9 s9-9",
        ])
    func foreignText(_ text: String) {
        var recogniser = GestureRecogniser()
        recogniser.restore(.kitchen, text, at: .start)
        #expect(recogniser.saved(.kitchen) == "")
        #expect(recogniser.deadline == nil)
    }

    @Test("parts whose saved text is valid are restored, and the others are skipped")
    func parts() {
        var recogniser = GestureRecogniser()
        recogniser.restore(.kitchen, "big 1 2 r s5-3;nonsense;small 1 2 h32768 ?40000", at: .start)
        #expect(recogniser.saved(.kitchen) == "big 1 2 r s5-3;small 1 2 h32768 ?40000")
    }
}
