import ButtonModel
import Gestures
import TestSupport
import Testing

@Suite("Presses that are turned")
struct TurnTests {
    static let all = Vocabulary(
        patterns: [.click, .doubleClick], holdStages: [.seconds(1)], usesHoldRelease: true, canSwipeOrTurn: true)

    /// Presses of a Twist with turns: for each turn, its time in milliseconds and its steps.
    private func turned(
        _ presses: String, _ turns: [(at: Int, steps: Int)], _ vocabulary: Vocabulary = all, takesVerdicts: Bool = true
    ) -> Room {
        var room = Room(vocabulary, usesButtonVerdicts: takesVerdicts)
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
                        ButtonMovement(button: .kitchen, part: .push, steps: turn.steps, position: 0)))
            }
            room.wait(until: moment)
            room.hear(event)
        }
        room.rest()
        return room
    }

    @Test("a press during which the Twist is turned is no click", arguments: [true, false])
    func click(takesVerdicts: Bool) {
        let room = turned("0-400", [(300, 7)], takesVerdicts: takesVerdicts)
        #expect(room.told.summary.filter { !$0.hasPrefix("turn") } == ["down 1", "up 1"])
    }

    @Test("a press during which the Twist is turned is no hold, however long it lasts", arguments: [true, false])
    func hold(takesVerdicts: Bool) {
        let room = turned("0-3000", [(300, -2), (600, -3)], takesVerdicts: takesVerdicts)
        #expect(room.told.summary.filter { !$0.hasPrefix("turn") } == ["down 1", "up 1"])
    }

    @Test("a hold that was reported before the turn gets its release", arguments: [true, false])
    func held(takesVerdicts: Bool) {
        let room = turned("0-3000", [(1500, 20)], takesVerdicts: takesVerdicts)
        #expect(room.gestures.summary.filter { !$0.hasPrefix("turn") } == ["hold 1", "hold_release 1"])
    }

    @Test(
        "a press with small turns of both directions is still a click or a hold",
        arguments: [("0-400", "click 1"), ("0-1500", "hold 1")])
    func still(presses: String, gesture: String) {
        let room = turned(presses, [(260, 4), (300, -3), (350, 2)])
        #expect(room.gestures.summary.contains(gesture))
    }

    @Test("turns of one press do not count for the next one")
    func apart() {
        let room = turned("0-400 2000-2400", [(300, 4), (2300, 4)])
        #expect(room.gestures.summary.filter { !$0.hasPrefix("turn") } == ["click 1", "click 2"])
    }

    @Test("a click before a turned press is reported, and a press soon after one is a click", arguments: [true, false])
    func neighbours(takesVerdicts: Bool) {
        let before = turned("0-80 200-700", [(500, 10)], takesVerdicts: takesVerdicts)
        #expect(before.gestures.summary.filter { !$0.hasPrefix("turn") } == ["click 1"])
        let after = turned("0-350 400-480", [(300, 10)], takesVerdicts: takesVerdicts)
        #expect(after.gestures.summary.filter { !$0.hasPrefix("turn") } == ["click 2"])
    }

    @Test("a turn of the unpressed dial during a press does not cancel the click")
    func dial() {
        var room = Room(Self.all, usesButtonVerdicts: false)
        room.hear(Button().event(.down, at: 0))
        room.handle(.moved(ButtonMovement(button: .kitchen, part: .dial, steps: 50, position: 0)))
        room.now = Instant(ticks: 3000)
        room.hear(Button().event(.up(.open), at: 3000))
        room.rest()
        #expect(room.gestures.map(\.word).contains("click"))
    }

    @Test("a sum of turns beyond the largest integer cancels the click and does not trap")
    func endless() {
        var room = Room(Self.all)
        room.hear(Button().event(.down, at: 0))
        for steps in [3, Int.max, .max] {
            room.handle(
                .moved(ButtonMovement(button: .kitchen, part: .push, steps: steps, position: 0)))
        }
        room.hear(Button().event(.up(.open), at: 3000))
        room.rest()
        #expect(!room.gestures.map(\.word).contains("click"))
    }
}
