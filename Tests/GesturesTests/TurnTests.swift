import ButtonModel
import Gestures
import TestSupport
import Testing

@Suite("Presses that are turned")
struct TurnTests {
    static let all = Vocabulary(
        patterns: [.click, .doubleClick], holdStages: [.seconds(1)], usesHoldRelease: true, canBeMoved: true)

    /// Each turn at a time in milliseconds, of the button's only part.
    private func turned(
        _ presses: String, _ turns: [(at: Int, steps: Int)], _ vocabulary: Vocabulary = all, takesVerdicts: Bool = true
    ) -> Room {
        var room = Room(vocabulary, takesVerdicts: takesVerdicts)
        let button = Button()
        var turns = turns
        func isDue(before moment: Instant) -> Bool {
            turns.first.map { .start + .milliseconds($0.at) < moment } ?? false
        }
        for event in button.events(of: Room.presses(presses)) {
            let moment = Instant(ticks: button.ticks(of: event))
            while isDue(before: moment) {
                let turn = turns.removeFirst()
                room.wait(until: .start + .milliseconds(turn.at))
                room.handle(
                    .moved(
                        ButtonMovement(button: .kitchen, part: .push, kind: .rotation(steps: turn.steps), position: 0)))
            }
            room.wait(until: moment)
            room.hear(event)
        }
        room.rest()
        return room
    }

    @Test("a press that is turned is no click", arguments: [true, false])
    func click(takesVerdicts: Bool) {
        let room = turned("0-400", [(300, 7)], takesVerdicts: takesVerdicts)
        #expect(room.told.summary.filter { !$0.hasPrefix("turn") } == ["down 1", "up 1"])
    }

    @Test("it is no hold either, however long it goes on", arguments: [true, false])
    func hold(takesVerdicts: Bool) {
        let room = turned("0-3000", [(300, -2), (600, -3)], takesVerdicts: takesVerdicts)
        #expect(room.told.summary.filter { !$0.hasPrefix("turn") } == ["down 1", "up 1"])
    }

    @Test("a hold that has been told stays one", arguments: [true, false])
    func held(takesVerdicts: Bool) {
        let room = turned("0-3000", [(1500, 20)], takesVerdicts: takesVerdicts)
        #expect(room.gestures.summary.filter { !$0.hasPrefix("turn") } == ["hold 1", "hold_release 1"])
    }

    @Test("a hand that is not quite still clicks and holds", arguments: [("0-400", "click 1"), ("0-1500", "hold 1")])
    func still(presses: String, gesture: String) {
        let room = turned(presses, [(260, 4), (300, -3), (350, 2)])
        #expect(room.gestures.summary.contains(gesture))
    }

    @Test("each press is turned from its own beginning")
    func apart() {
        let room = turned("0-400 2000-2400", [(300, 4), (2300, 4)])
        #expect(room.gestures.summary.filter { !$0.hasPrefix("turn") } == ["click 1", "click 2"])
    }

    @Test("a click before it is decided, one soon after it is a click of its own", arguments: [true, false])
    func neighbours(takesVerdicts: Bool) {
        let before = turned("0-80 200-700", [(500, 10)], takesVerdicts: takesVerdicts)
        #expect(before.gestures.summary.filter { !$0.hasPrefix("turn") } == ["click 1"])
        let after = turned("0-350 400-480", [(300, 10)], takesVerdicts: takesVerdicts)
        #expect(after.gestures.summary.filter { !$0.hasPrefix("turn") } == ["click 2"])
    }

    @Test("a dial that is turned beside it takes nothing from it")
    func dial() {
        var room = Room(Self.all, takesVerdicts: false)
        room.hear(Button().event(.down, at: 0))
        room.handle(.moved(ButtonMovement(button: .kitchen, part: .dial, kind: .rotation(steps: 50), position: 0)))
        room.now = Instant(ticks: 3000)
        room.hear(Button().event(.up(.open), at: 3000))
        room.rest()
        #expect(room.gestures.map(\.word).contains("click"))
    }

    @Test("turns beyond all numbers are turns")
    func endless() {
        var room = Room(Self.all)
        room.hear(Button().event(.down, at: 0))
        for steps in [3, Int.max, .max] {
            room.handle(
                .moved(ButtonMovement(button: .kitchen, part: .push, kind: .rotation(steps: steps), position: 0)))
        }
        room.hear(Button().event(.up(.open), at: 3000))
        room.rest()
        #expect(!room.gestures.map(\.word).contains("click"))
    }
}
