import ButtonModel
import Gestures
import TestSupport
import Testing

/// Events that flicd forwards from a button's memory have ages in whole seconds, too rough to decide gestures by.
@Suite("Presses with rough times")
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

    @Test("presses with rough times are classified by the button, even if rules need other patterns")
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

    @Test("the button decides a press with a rough down even if its up is live; the host decides the next live train")
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

    @Test("the button decides a press whose up has a rough time, unless the press was already decided")
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

    @Test("presses with rough times form no chord")
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
