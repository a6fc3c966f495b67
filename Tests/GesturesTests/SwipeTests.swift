import ButtonModel
import Gestures
import TestSupport
import Testing

@Suite("Presses that are swipes")
struct SwipeTests {
    static let all = Vocabulary(
        patterns: [.click, .doubleClick], holdStages: [.seconds(1)], usesHoldRelease: true, canSwipeOrTurn: true)

    /// Presses of which the last one ends as a swipe to the left.
    private func swiped(_ presses: String, _ vocabulary: Vocabulary = all, takesVerdicts: Bool = true) -> Room {
        var room = Room(vocabulary, usesButtonVerdicts: takesVerdicts)
        let button = Button()
        var events = button.events(of: Room.presses(presses))
        // A button sends a click timeout for a swipe, too, so the events after the swipe stay in the list.
        let last = events.lastIndex { if case .up = $0.step { true } else { false } } ?? 0
        events[last].swipe = .left
        for event in events {
            room.wait(until: Instant(ticks: button.ticks(of: event)))
            room.hear(event)
        }
        room.rest()
        return room
    }

    @Test("a swipe is reported with its up, and is no click", arguments: [true, false])
    func alone(takesVerdicts: Bool) {
        let room = swiped("0-200", takesVerdicts: takesVerdicts)
        #expect(room.told.summary == ["down 1", "up 1", "swipe_left 1"])
        #expect(room.timed == ["swipe_left@200"])
        #expect(room.told.map(\.at) == [.start, .start, .start])
    }

    @Test("a click before a swipe is reported at once, before the swipe's up", arguments: [true, false])
    func afterClick(takesVerdicts: Bool) {
        let room = swiped("0-80 200-400", takesVerdicts: takesVerdicts)
        #expect(room.told.summary == ["down 1", "up 1", "down 2", "click 1", "up 2", "swipe_left 2"])
    }

    @Test("three clicks before a swipe are a triple click")
    func afterTrain() {
        let vocabulary = Vocabulary(
            patterns: [.click, [.short, .short, .short], [.short, .short, .short, .short]], canSwipeOrTurn: true)
        let room = swiped("0-80 200-280 400-480 600-800", vocabulary)
        #expect(room.gestures.summary == ["sss 1-3", "swipe_left 4"])
    }

    @Test("a press a second after a swipe is a click of its own", arguments: [true, false])
    func before(takesVerdicts: Bool) {
        var room = swiped("0-200", takesVerdicts: takesVerdicts)
        room.log(from: Room.presses("0-80"), after: .seconds(1))
        #expect(room.gestures.summary == ["swipe_left 1", "click 2"])
    }

    @Test("a press soon after a swipe is a click, though the button reports a double click", arguments: [true, false])
    func soonAfter(takesVerdicts: Bool) {
        var room = Room(Self.all, usesButtonVerdicts: takesVerdicts)
        let button = Button()
        var events = button.events(of: Room.presses("0-200 400-480"))
        #expect(events.last?.step == .up(.doubleClick))
        events[1].swipe = .left
        for event in events {
            room.wait(until: Instant(ticks: button.ticks(of: event)))
            room.hear(event)
        }
        room.rest()
        #expect(room.gestures.summary == ["swipe_left 1", "click 2"])
    }

    @Test("a press long after a swipe is decided by the button again")
    func longAfter() {
        var room = swiped("0-200", takesVerdicts: true)
        let button = Button()
        for event in button.events(of: Room.presses("2000-2080")) {
            room.wait(until: room.now + .seconds(10))
            #expect(room.gestures.summary == ["swipe_left 1"])
            room.hear(event)
        }
        #expect(room.gestures.summary == ["swipe_left 1", "click 2"])
    }

    @Test("a press that was reported as a hold is no swipe", arguments: [true, false])
    func held(takesVerdicts: Bool) {
        let room = swiped("0-1500", takesVerdicts: takesVerdicts)
        #expect(room.gestures.summary == ["hold 1", "hold_release 1"])
    }

    @Test("a click that could be reported on the down waits for the up if the button can be swiped")
    func clickAlone() {
        let vocabulary = Vocabulary(patterns: [.click], canSwipeOrTurn: true)
        #expect(swiped("0-200", vocabulary).gestures.summary == ["swipe_left 1"])
        #expect(vocabulary.clickWait == nil)
        var room = Room(vocabulary)
        room.press(Room.presses("0-200"))
        #expect(room.timed == ["click@200"])
    }

    @Test("a stored swipe has its age")
    func queued() {
        var room = Room(Self.all)
        let button = Button()
        var events = button.storedEvents(of: Room.presses("0-200"), connectedAt: 65_536)
        events.removeLast()
        events[1].swipe = .down
        events[1].wasQueuedLast = true
        room.now = Instant(ticks: 65_536)
        for event in events { room.hear(event) }
        #expect(room.gestures.summary == ["swipe_down 1"])
        #expect(room.told.last?.wasQueued == true)
        #expect(room.told.last?.wasQueuedLast == true)
        #expect(room.told.last?.age == .seconds(2))
        #expect(room.told.last?.at == .start)
    }

    @Test("a swipe whose down was never received is reported")
    func stray() {
        var room = Room(Self.all)
        var event = Button().event(.up(.open), at: 0)
        event.swipe = .up
        room.hear(event)
        room.hear(Button().event(.clickTimeout, at: 9000))
        room.rest()
        #expect(room.told.map(\.word) == ["up", "swipe_up"])
    }

    @Test("a swipe belongs to its part, and a click on the other part goes on")
    func parts() {
        var room = Room(Self.all)
        var events = Button().events(of: Room.presses("0-80"))
        for place in events.indices { events[place].part = .big }
        room.hear(events[0])
        var small = events
        for place in small.indices { small[place].part = .small }
        small[1].swipe = .right
        room.hear(small[0])
        room.now = Instant(ticks: 2621)
        room.hear(small[1])
        room.hear(events[1])
        room.wait(until: Instant(ticks: 16_384))
        room.hear(events[2])
        #expect(room.gestures.map(\.word) == ["swipe_right", "click"])
        #expect(room.gestures.map(\.part) == [.small, .big])
    }

    @Test("a press that ends as a swipe forms no chord, and a press held back for the chord is a click")
    func chord() {
        var room = Room(
            Vocabulary(patterns: [.click], canSwipeOrTurn: true), chords: [Chord(members: [.kitchen, .hall])])
        let (kitchen, hall) = (Button(), Button(id: .hall))
        room.hear(kitchen.event(.down, at: 0))
        room.now = Instant(ticks: 3000)
        var up = kitchen.event(.up(.open), at: 3000)
        up.swipe = .left
        room.hear(up)
        room.hear(hall.event(.down, at: 3000))
        room.now = Instant(ticks: 6000)
        room.hear(hall.event(.up(.open), at: 6000))
        room.rest()
        #expect(room.gestures.map(\.word) == ["swipe_left", "click"])
    }

    @Test("a press that a chord has used is no swipe")
    func taken() {
        var room = Room(
            Vocabulary(patterns: [.click], canSwipeOrTurn: true), chords: [Chord(members: [.kitchen, .hall])])
        room.hear(Button().event(.down, at: 0))
        room.hear(Button(id: .hall).event(.down, at: 0))
        var up = Button().event(.up(.open), at: 3000)
        up.swipe = .left
        room.hear(up)
        #expect(room.told.map(\.word) == ["down", "down", "chord 0", "up"])
    }

    @Test("a press that began before a restart may end as a swipe, and its click timeout reports nothing")
    func restart() {
        let button = Button()
        var before = Room(Self.all)
        before.hear(button.event(.down, at: 0))
        var after = Room(Self.all)
        after.recogniser.restore(.kitchen, before.recogniser.saved(.kitchen), at: after.now)
        var up = button.event(.up(.open), at: 6554)
        up.swipe = .right
        after.hear(up)
        let saved = after.recogniser.saved(.kitchen)
        #expect(after.told.map(\.word) == ["up", "swipe_right"])
        var third = Room(Self.all)
        third.recogniser.restore(.kitchen, saved, at: third.now)
        third.hear(button.event(.clickTimeout, at: 16_384))
        third.rest()
        #expect(third.told == [])
    }
}

extension Room {
    /// Adds presses `pause` after the last event, and waits until every timer has fired.
    fileprivate mutating func log(from presses: [FingerPress], after pause: Duration) {
        wait(until: now + pause)
        let start = Int((now - .start).milliseconds) * 32_768 / 1000
        press(presses.map { FingerPress(down: $0.down + start, up: $0.up + start) })
        rest()
    }
}
