import ButtonModel
import Gestures
import Testing

/// A button whose last presses another program has handled. The ends of their holds are in `HoldEndTests`.
@Suite("Inherited buttons")
struct InheritedTests {
    private static let double = Vocabulary(patterns: [.click, .doubleClick], holdStages: [.seconds(1)])

    @Test(
        "the press after an inherited one is recognised with its own times",
        arguments: [
            Vocabulary(holdStages: [.seconds(1)], usesHoldRelease: true, holdAfter: .milliseconds(900)),
            Vocabulary(patterns: [.click], holdStages: [.seconds(1)]),
        ])
    func next(vocabulary: Vocabulary) {
        var room = Room(vocabulary)
        room.handle(.inherited(.kitchen, mayBeDown: true))
        let inherited = Button().events(of: Room.presses("0-4000"))
        room.now = .start + .seconds(4)
        room.hear(inherited[2])
        room.press(Room.presses("6000-8000"))
        room.rest()
        #expect(room.told.map(\.word) == ["up", "hold_release", "down", "hold", "up", "hold_release"])
        #expect(room.told.last?.heldFor == .seconds(2))
    }

    @Test("a press that the button counts together with an inherited one is decided by its times")
    func verdict() {
        var room = Room(Self.double)
        room.handle(.inherited(.kitchen, mayBeDown: true))
        for event in Button().events(of: Room.presses("0-100 300-400")).dropFirst() {
            room.wait(until: Instant(ticks: Button().ticks(of: event)))
            room.hear(event)
        }
        room.rest()
        #expect(room.gestures.map(\.word) == ["click"])
    }

    @Test(
        "presses and turns before the inheritance are in no gesture, and time decides nothing",
        arguments: [true, false])
    func forgets(mayBeDown: Bool) {
        var room = Room(Self.double, usesButtonVerdicts: false)
        room.handle(.moved(ButtonMovement(button: .kitchen, part: .dial, steps: 3, position: 0)))
        for event in Button().events(of: Room.presses("0-50")).prefix(2) { room.hear(event) }
        #expect(room.recogniser.hasUndecided(of: .kitchen))
        room.handle(.inherited(.kitchen, mayBeDown: mayBeDown))
        #expect(room.recogniser.deadline == nil && !room.recogniser.hasUndecided(of: .kitchen))
        room.rest()
        #expect(room.gestures.isEmpty)
    }

    @Test("if the press of one part was begun elsewhere, the other part and the turns go on")
    func part() {
        var room = Room(Self.double)
        func hear(_ step: PressStep, _ part: ButtonPart) {
            var event = Button().event(step, at: 0)
            event.part = part
            room.hear(event)
        }
        room.handle(.moved(ButtonMovement(button: .kitchen, part: .dial, steps: 3, position: 0)))
        hear(.down, .small)
        room.handle(.begunElsewhere(.kitchen, .big))
        hear(.up(.click), .big)
        hear(.up(.click), .small)
        room.rest()
        #expect(room.gestures.map(\.part).sorted { ($0?.rawValue ?? "") < ($1?.rawValue ?? "") } == [.dial, .small])
    }

    @Test("the end of a hold whose link was lost is not awaited after the inheritance")
    func lostLink() {
        var room = Room(Self.double, usesButtonVerdicts: false)
        room.hear(Button().event(.down, at: 0))
        room.wait(until: .start + .seconds(2))
        room.handle(.linkLost(.kitchen))
        room.handle(.inherited(.kitchen, mayBeDown: true))
        #expect(room.gestures.map(\.word) == ["hold"] && room.recogniser.deadline == nil)
    }

    @Test("if a button of a chord is inherited, the press of the other one waits no longer than a chord can form")
    func chord() {
        var room = Room(Vocabulary(patterns: [.click]), chords: [Chord(members: [.kitchen, .hall], event: .hold)])
        room.hear(Button(id: .hall).event(.down, at: 0))
        room.hear(Button(id: .kitchen).event(.down, at: 0))
        room.now = room.now + .milliseconds(100)
        room.handle(.inherited(.hall, mayBeDown: false))
        room.rest()
        #expect(room.timed == ["click@300"] && room.gestures.map(\.button) == [.kitchen])
    }
}
