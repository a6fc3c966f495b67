import ButtonModel
import Gestures
import TestSupport
import Testing

@Suite("Presses that are swipes")
struct SwipeTests {
    static let all = Vocabulary(
        patterns: [.click, .doubleClick], holdStages: [.seconds(1)], usesHoldRelease: true, canBeMoved: true)

    /// The last press is a swipe to the left.
    private func swiped(_ presses: String, _ vocabulary: Vocabulary = all, takesVerdicts: Bool = true) -> Room {
        var room = Room(vocabulary, takesVerdicts: takesVerdicts)
        let button = Button()
        var events = button.events(of: Room.presses(presses))
        // A button may say of a swipe that its click is over, too.
        let last = events.lastIndex { if case .up = $0.step { true } else { false } } ?? 0
        events[last].swipe = .left
        for event in events {
            room.wait(until: Instant(ticks: button.ticks(of: event)))
            room.hear(event)
        }
        room.rest()
        return room
    }

    @Test("a swipe is told with its up, and no click", arguments: [true, false])
    func alone(takesVerdicts: Bool) {
        let room = swiped("0-200", takesVerdicts: takesVerdicts)
        #expect(room.told.summary == ["down 1", "up 1", "swipe_left 1"])
        #expect(room.timed == ["swipe_left@200"])
        #expect(room.told.map(\.at) == [.start, .start, .start])
    }

    @Test("a click before it is decided at once, as if nothing followed", arguments: [true, false])
    func afterClick(takesVerdicts: Bool) {
        let room = swiped("0-80 200-400", takesVerdicts: takesVerdicts)
        #expect(room.told.summary == ["down 1", "up 1", "down 2", "click 1", "up 2", "swipe_left 2"])
    }

    @Test("three clicks before it are a train of three")
    func afterTrain() {
        let vocabulary = Vocabulary(
            patterns: [.click, [.short, .short, .short], [.short, .short, .short, .short]], canBeMoved: true)
        let room = swiped("0-80 200-280 400-480 600-800", vocabulary)
        #expect(room.gestures.summary == ["sss 1-3", "swipe_left 4"])
    }

    @Test("what a press after it becomes has nothing to do with it", arguments: [true, false])
    func before(takesVerdicts: Bool) {
        var room = swiped("0-200", takesVerdicts: takesVerdicts)
        room.log(from: Room.presses("0-80"), after: .seconds(1))
        #expect(room.gestures.summary == ["swipe_left 1", "click 2"])
    }

    @Test("a press soon after it is a click, though the button counts two", arguments: [true, false])
    func soonAfter(takesVerdicts: Bool) {
        var room = Room(Self.all, takesVerdicts: takesVerdicts)
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

    @Test("what was told as a hold stays one", arguments: [true, false])
    func held(takesVerdicts: Bool) {
        let room = swiped("0-1500", takesVerdicts: takesVerdicts)
        #expect(room.gestures.summary == ["hold 1", "hold_release 1"])
    }

    @Test("where a click is all that is wanted it waits for the up, for the press may be a swipe")
    func clickAlone() {
        let vocabulary = Vocabulary(patterns: [.click], canBeMoved: true)
        #expect(swiped("0-200", vocabulary).gestures.summary == ["swipe_left 1"])
        #expect(vocabulary.clickWait == nil)
        var room = Room(vocabulary)
        room.press(Room.presses("0-200"))
        #expect(room.timed == ["click@200"])
    }

    @Test("one that the button had stored keeps its age")
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

    @Test("one whose down was never told is one all the same")
    func stray() {
        var room = Room(Self.all)
        var event = Button().event(.up(.open), at: 0)
        event.swipe = .up
        room.hear(event)
        room.hear(Button().event(.clickTimeout, at: 9000))
        room.rest()
        #expect(room.told.map(\.word) == ["up", "swipe_up"])
    }

    @Test("its part is told, and the other button goes its own way")
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

    @Test("a press that ends as a swipe forms no chord, and what it held back goes on")
    func chord() {
        var room = Room(
            Vocabulary(patterns: [.click], canBeMoved: true), chords: [Chord(members: [.kitchen, .hall])])
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

    @Test("a press that a chord took is no swipe")
    func taken() {
        var room = Room(
            Vocabulary(patterns: [.click], canBeMoved: true), chords: [Chord(members: [.kitchen, .hall])])
        room.hear(Button().event(.down, at: 0))
        room.hear(Button(id: .hall).event(.down, at: 0))
        var up = Button().event(.up(.open), at: 3000)
        up.swipe = .left
        room.hear(up)
        #expect(room.told.map(\.word) == ["down", "down", "chord 0", "up"])
    }

    @Test("after a restart in its middle it is a swipe, and what follows of it is nothing new")
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
    /// Presses some time after what was so far.
    fileprivate mutating func log(from presses: [FingerPress], after pause: Duration) {
        wait(until: now + pause)
        let start = Int((now - .start).milliseconds) * 32_768 / 1000
        press(presses.map { FingerPress(down: $0.down + start, up: $0.up + start) })
        rest()
    }
}
