import ButtonModel
import Gestures
import Testing

@Suite("Ends of holds")
struct HoldEndTests {
    /// A vocabulary that the host recognises, and one that uses the button's verdicts.
    private static let vocabularies = [
        Vocabulary(holdStages: [.seconds(1)], usesHoldRelease: true, holdAfter: .milliseconds(900)),
        Vocabulary(patterns: [.click], holdStages: [.seconds(1)]),
    ]

    private static let events = Button().events(of: Room.presses("0-4000"))

    /// `down`, and `hold` after a second.
    private static func held(_ room: Room) -> Room {
        var room = room
        room.hear(events[0])
        room.wait(until: .start + .seconds(1))
        room.hear(events[1])
        room.wait(until: .start + .milliseconds(1500))
        return room
    }

    private static func late(_ event: ButtonEvent, age: Duration) -> ButtonEvent {
        var event = event
        event.wasQueued = true
        event.wasQueuedLast = true
        event.age = age
        return event
    }

    @Test(
        "a hold ends once, eight seconds after its link was lost, with the age of the loss, and not again with the late up",
        arguments: vocabularies)
    func lost(vocabulary: Vocabulary) {
        var room = Self.held(Room(vocabulary))
        room.handle(.linkLost(.kitchen))
        room.wait(until: .start + .milliseconds(9499), isInclusive: true)
        #expect(room.gestures.map(\.word) == ["hold"])
        room.rest()
        let end = room.gestures.last
        #expect(room.timed == ["hold@1000", "hold_release@9500"])
        #expect(end?.isLinkLost == true && end?.wasQueued == true && end?.age == .seconds(8))
        #expect(end?.heldFor == .milliseconds(1500))
        #expect(end?.hold == RecognisedEvent.Lateness(wasQueued: false, age: .zero))
        room.now = .start + .seconds(20)
        room.handle(.linkReturned(.kitchen))
        room.hear(Self.late(Self.events[2], age: .seconds(16)))
        room.rest()
        #expect(room.told.map(\.word) == ["down", "hold", "hold_release", "up"])
        #expect(room.told.last?.presses == 1...1)
    }

    @Test("a hold ends with its late up if that arrives within the eight seconds", arguments: vocabularies)
    func lateUp(vocabulary: Vocabulary) {
        var room = Self.held(Room(vocabulary))
        room.handle(.linkLost(.kitchen))
        room.wait(until: .start + .seconds(9))
        room.hear(Self.late(Self.events[2], age: .seconds(5)))
        room.rest()
        let end = room.gestures.last
        #expect(room.gestures.map(\.word) == ["hold", "hold_release"])
        #expect(end?.isLinkLost == false && end?.wasQueued == true && end?.age == .seconds(5))
        #expect(end?.heldFor == .seconds(4))
    }

    @Test("a hold does not end if its link returns and no up arrives", arguments: vocabularies)
    func returned(vocabulary: Vocabulary) {
        var room = Self.held(Room(vocabulary))
        room.handle(.linkLost(.kitchen))
        room.wait(until: .start + .seconds(3))
        room.handle(.linkReturned(.kitchen))
        room.rest()
        #expect(room.gestures.map(\.word) == ["hold"])
    }

    @Test(
        "a hold ends at once after a supervision timeout or a reboot of the button", arguments: vocabularies)
    func silent(vocabulary: Vocabulary) {
        for (unheard, age) in [(Duration.seconds(8), Duration.milliseconds(500)), (.zero, .zero)] {
            var room = Self.held(Room(vocabulary))
            if unheard > .zero { room.handle(.linkLost(.kitchen)) }
            room.handle(.holdEndMissed(.kitchen, silentFor: unheard))
            #expect(room.gestures.map(\.word) == ["hold", "hold_release"])
            // The button was held at least until its hold was reported.
            #expect(room.gestures.last?.age == age)
            room.handle(.holdEndMissed(.kitchen, silentFor: unheard))
            room.rest()
            #expect(room.gestures.count == 2)
        }
    }

    @Test("a hold whose up was never reported ends before the next press", arguments: vocabularies)
    func unseenUp(vocabulary: Vocabulary) {
        var room = Self.held(Room(vocabulary))
        room.wait(until: .start + .seconds(6))
        room.press([FingerPress(down: 6 * 32_768, up: 6 * 32_768 + 3000)])
        room.rest()
        #expect(room.told.map(\.word).prefix(4) == ["down", "hold", "hold_release", "down"])
        #expect(room.gestures.dropFirst().first?.isLinkLost == true)
    }

    @Test("a hold from before a restart ends after it, also if the hold was reported late", arguments: vocabularies)
    func restored(vocabulary: Vocabulary) {
        for isLate in [false, true] {
            var before = Self.held(Room(vocabulary))
            if isLate {
                before = Room(vocabulary)
                before.now = .start + .seconds(3)
                before.hear(Self.late(Self.events[0], age: .seconds(3)))
                before.hear(Self.late(Self.events[1], age: .seconds(2)))
            }
            let saved = before.recogniser.saved(.kitchen)
            var after = Room(vocabulary)
            after.now = .start + .seconds(100)
            after.recogniser.restore(.kitchen, saved, at: after.now)
            #expect(after.recogniser.saved(.kitchen).split(separator: " ")[3] == saved.split(separator: " ")[3])
            after.rest()
            #expect(after.timed == ["hold_release@110000"])
            let hold = after.gestures.first?.hold
            #expect(hold == RecognisedEvent.Lateness(wasQueued: isLate, age: isLate ? .seconds(3) : .zero))
            after.recogniser.restore(.kitchen, saved, at: after.now)
        }
    }

    @Test(
        "the end of a late hold that was not received is at least as old as its press was on arrival",
        arguments: vocabularies)
    func lateHold(vocabulary: Vocabulary) {
        var room = Room(vocabulary)
        room.now = .start + .seconds(3)
        room.hear(Self.late(Self.events[0], age: .seconds(3)))
        room.hear(Self.late(Self.events[1], age: .seconds(2)))
        room.handle(.holdEndMissed(.kitchen, silentFor: .zero))
        #expect(room.gestures.map(\.word) == ["hold", "hold_release"])
        #expect(room.gestures.last?.age == .seconds(3))
    }

    @Test("a press that was not reported as a hold has no end", arguments: vocabularies)
    func noHold(vocabulary: Vocabulary) {
        var room = Room(vocabulary)
        room.hear(Self.events[0])
        room.handle(.linkLost(.kitchen))
        room.handle(.holdEndMissed(.kitchen, silentFor: .zero))
        room.rest()
        #expect(room.gestures.isEmpty)
    }

    @Test(
        "an up whose down another program has handled ends the hold that it may have told, and is in no other gesture",
        arguments: vocabularies)
    func inherited(vocabulary: Vocabulary) {
        var room = Room(vocabulary)
        room.handle(.inherited(.kitchen, mayBeDown: true))
        room.now = .start + .seconds(4)
        room.hear(Self.events[2])
        room.rest()
        #expect(room.told.map(\.word) == ["up", "hold_release"])
        #expect(room.told.last?.hold == RecognisedEvent.Lateness(wasQueued: false, age: .zero))
        #expect(room.told.last?.heldFor == .seconds(1))
    }

    @Test(
        "an inherited button ends no hold with an up that came before a hold, and no hold that was told before",
        arguments: vocabularies)
    func inheritedClick(vocabulary: Vocabulary) {
        for (mayBeDown, press) in [(true, "4000-4200"), (true, "4000-4700"), (false, "4000-4200")] {
            var room = Self.held(Room(vocabulary))
            room.handle(.inherited(.kitchen, mayBeDown: mayBeDown))
            let click = Button().events(of: Room.presses(press))
            if !mayBeDown { room.hear(click[0]) }
            room.hear(click[1])
            room.rest()
            #expect(!room.told.contains { $0.kind == .holdRelease })
        }
    }
}
