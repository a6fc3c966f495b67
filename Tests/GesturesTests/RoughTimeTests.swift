import ButtonModel
import Gestures
import TestSupport
import Testing

/// Of a button that another program hears: what it stored has whole seconds for times.
@Suite("Presses whose times nobody knows")
struct RoughTimeTests {
    private static let triple = Vocabulary(
        patterns: [.click, .doubleClick, [.short, .short, .short]], holdStages: [.milliseconds(400)])

    private static func rough(_ steps: [PressStep]) -> [ButtonEvent] {
        steps.map {
            var event = Button().event($0, at: 0)
            (event.wasQueued, event.age, event.isTimeRough) = (true, .seconds(2), true)
            return event
        }
    }

    @Test("they are what the button made of them, though rules want what no button knows")
    func verdicts() {
        var room = Room(Self.triple)
        let steps: [PressStep] = [
            .down, .up(.open), .clickTimeout, .down, .up(.open), .down, .up(.doubleClick), .down,
            .hold(ofSecondPress: false), .up(.afterHoldClick),
        ]
        for event in Self.rough(steps) { room.hear(event) }
        room.rest()
        #expect(room.gestures.summary == ["click 1", "double_click 2-3", "hold 4", "hold_release 4"])
        #expect(room.gestures.allSatisfy { $0.wasQueued && $0.age == .seconds(2) })
    }

    @Test("the end of one, though it comes as it happens, is left to the button, too; the next is ours again")
    func mixed() {
        var room = Room(Self.triple)
        for event in Self.rough([.down]) { room.hear(event) }
        room.hear(Button().event(.up(.click), at: 20_000))
        #expect(room.gestures.summary == ["click 1"])
        let live = [(100, 200), (300, 400), (500, 600)].map { FingerPress(down: $0.0 * 1000, up: $0.1 * 1000) }
        for press in live {
            for (step, ticks) in [(.down, press.down), (.up(.open), press.up)] as [(PressStep, Int)] {
                room.hear(Button().event(step, at: ticks / 20))
            }
        }
        room.rest()
        #expect(room.gestures.map(\.word) == ["click", "sss"])
    }

    @Test("a press whose end is stored is what the button says, unless it is decided already")
    func cut() {
        var room = Room(Self.triple)
        room.hear(Button().event(.down, at: 0))
        room.handle(.linkLost(.kitchen))
        for event in Self.rough([.up(.click)]) { room.hear(event) }
        room.rest()
        #expect(room.gestures.map(\.word) == ["click"])

        var decided = Room(Vocabulary(patterns: [.click]))
        decided.hear(Button().event(.down, at: 0))
        decided.handle(.linkLost(.kitchen))
        for event in Self.rough([.up(.open), .clickTimeout]) { decided.hear(event) }
        #expect(decided.gestures.map(\.word) == ["click"])
    }

    @Test("they are in no chord")
    func chord() {
        let chord = Chord(members: [.kitchen, .hall])
        var room = Room(Vocabulary(patterns: [.click]), chords: [chord])
        for id in [ButtonID.kitchen, .hall] {
            for var event in Self.rough([.down, .up(.open)]) {
                event.button = id
                room.hear(event)
            }
        }
        room.rest()
        #expect(room.gestures.map(\.word) == ["click", "click"])
    }
}
