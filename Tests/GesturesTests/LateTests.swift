import ButtonModel
import Gestures
import TestSupport
import Testing

@Suite("Stored presses and lost links")
struct LateTests {
    private static let triple = Vocabulary(patterns: [.click, .doubleClick, [.short, .short, .short]])
    private static let tripleAndHold = Vocabulary(
        patterns: [.click, .doubleClick, [.short, .short, .short]], holdStages: [.seconds(1)])

    @Test("stored presses are decided by their time stamps, and each gesture has its own age")
    func storedAtOnce() {
        var room = Room(Self.triple)
        room.now = .start + .seconds(10)
        for event in Button().storedEvents(of: Room.presses("0-80 200-280 3000-3080"), connectedAt: 327_680) {
            room.hear(event)
        }
        #expect(room.timed == ["double_click@10000", "click@10000"])
        #expect(room.gestures.map { $0.age.milliseconds } == [9799, 7000])
        #expect(room.gestures.map { $0.at.millisecondsSinceStart } == [200, 3000])
        #expect(room.gestures.map(\.wasQueued) == [true, true])
        #expect(room.gestures.map(\.wasQueuedLast) == [false, true])
    }

    @Test("a stored click before a stored press whose release is missing is reported after the wait for it")
    func silence() {
        var room = Room(Self.triple)
        room.now = .start + .seconds(10)
        for event in Button().storedEvents(of: Room.presses("0-80 200-280"), connectedAt: 327_680).prefix(2) {
            room.hear(event)
        }
        room.wait(until: room.now + .milliseconds(499), isInclusive: true)
        #expect(room.gestures == [])
        room.rest()
        #expect(room.timed == ["click@10500"])
    }

    @Test("a train that begins stored and ends live is marked as queued, and its age is that of its last press")
    func wakingPress() {
        var room = Room(Self.triple)
        room.now = .start + .milliseconds(150)
        let events = Button().events(of: Room.presses("0-80 200-280"))
        for var event in events.prefix(2) {
            event.wasQueued = true
            event.wasQueuedLast = event.ticks == events[1].ticks
            event.age = .milliseconds(150) - .nanoseconds(Int64(event.ticks - (1 << 30)) * 1_953_125 / 64)
            room.hear(event)
        }
        for event in events.dropFirst(2) {
            room.wait(until: Instant(ticks: Button().ticks(of: event)))
            room.hear(event)
        }
        room.rest()
        #expect(room.timed == ["double_click@700"])
        #expect(room.gestures.first?.wasQueued == true)
        #expect(room.gestures.first?.wasQueuedLast == true)
        #expect(room.gestures.first?.age == .zero)
    }

    @Test("a stored hold is reported together with its release")
    func storedHold() {
        var room = Room(Self.tripleAndHold)
        room.now = .start + .seconds(10)
        for event in Button().storedEvents(of: Room.presses("0-1500"), connectedAt: 327_680) { room.hear(event) }
        #expect(room.timed == ["hold@10000", "hold_release@10000"])
        #expect(room.gestures.last?.heldFor == .milliseconds(1500))
    }

    @Test("a train that a lost link interrupts continues with the events the button stored")
    func goesOn() {
        var room = Room(Self.triple)
        let presses = Room.presses("0-80 200-280 400-480")
        let live = Button().events(of: presses)
        for event in live.prefix(2) {
            room.wait(until: Instant(ticks: Button().ticks(of: event)))
            room.hear(event)
        }
        room.handle(.linkLost(.kitchen))
        room.wait(until: .start + .seconds(2))
        for event in Button().storedEvents(of: presses, connectedAt: 65_536).dropFirst(2) { room.hear(event) }
        #expect(room.timed == ["sss@2000"])
    }

    @Test("a live click that waits for a lost link is decided three seconds after it began, before it is late")
    func inTime() {
        var room = Room(Self.triple)
        for event in Button().events(of: Room.presses("0-80")).prefix(2) {
            room.wait(until: Instant(ticks: Button().ticks(of: event)))
            room.hear(event)
        }
        room.wait(until: .start + .milliseconds(380))
        room.handle(.linkLost(.kitchen))
        room.rest()
        #expect(room.timed == ["click@3000"])
        #expect(room.gestures.map(\.facts.wasQueued) == [false])
    }

    @Test("after a lost link a train waits no longer than three seconds for the button to come back")
    func givesUp() {
        var room = Room(Self.triple)
        for event in Button().events(of: Room.presses("0-80 200-280")).prefix(3) {
            room.wait(until: Instant(ticks: Button().ticks(of: event)))
            room.hear(event)
        }
        room.handle(.linkLost(.kitchen))
        room.rest()
        #expect(room.timed == ["click@3200"])

        // The second press has no release yet, so it may still become a click.
        room.now = .start + .seconds(60)
        for event in Button().storedEvents(of: Room.presses("0-80 200-280"), connectedAt: 60 * 32_768).dropFirst(3) {
            room.hear(event)
        }
        #expect(room.timed == ["click@3200", "click@60000"])
        #expect(room.gestures.last?.age.milliseconds == 59_720)
    }

    @Test("a stored click that waits for a lost link has its age at the moment of the report")
    func agesWithoutLink() {
        var room = Room(Self.triple)
        room.now = .start + .seconds(1)
        // The last event is omitted: the button's verdict at the end of the click gap.
        for event in Button().storedEvents(of: Room.presses("0-80"), connectedAt: 32_768).prefix(2) {
            room.hear(event)
        }
        room.handle(.linkLost(.kitchen))
        room.rest()
        #expect(room.timed == ["click@3000"])
        #expect(room.gestures.map { $0.age.milliseconds } == [3000])
        #expect(room.gestures.map(\.wasQueued) == [true])
    }

    @Test("in a fixed mode the button's own verdict decides a train, however late it arrives")
    func lateVerdict() {
        var room = Room(Vocabulary())
        let presses = Room.presses("0-80 200-280")
        for event in Button().events(of: presses).prefix(3) {
            room.wait(until: Instant(ticks: Button().ticks(of: event)))
            room.hear(event)
        }
        room.handle(.linkLost(.kitchen))
        // Other events of the same button do not end the wait for the verdict.
        room.handle(.moved(ButtonMovement(button: .kitchen, part: .dial, steps: 1)))
        room.wait(until: .start + .seconds(19))
        room.handle(.moved(ButtonMovement(button: .kitchen, part: .dial, steps: 1)))
        room.wait(until: .start + .seconds(20))
        for event in Button().storedEvents(of: presses, connectedAt: 655_360).dropFirst(3) { room.hear(event) }
        #expect(room.gestures.summary == ["turn 1", "turn 1", "double_click 1-2"])
    }

    @Test("a press does not become a hold while its link is lost, because it may have ended unseen")
    func noHoldAlone() {
        var room = Room(Vocabulary(patterns: [.click], holdStages: [.milliseconds(700)]))
        room.hear(Button().event(.down, at: 0))
        room.now = room.now + .milliseconds(100)
        room.handle(.linkLost(.kitchen))
        room.rest()
        #expect(room.recogniser.deadline == nil)
        #expect(room.gestures == [])
        room.now = .start + .seconds(20)
        room.hear(Button().event(.hold(ofSecondPress: false), at: 32_768))
        #expect(room.gestures.map(\.word) == ["hold 700"])
    }

    @Test("a press whose release was never received makes no gesture, and the press before it is a click")
    func unseenEnd() {
        var room = Room(Self.triple)
        for (step, ticks) in [(.down, 0), (.up(.open), 3000), (.down, 6000), (.down, 90_000), (.up(.open), 93_000)]
            as [(PressStep, Int)]
        {
            room.now = Instant(ticks: ticks)
            room.hear(Button().event(step, at: ticks))
        }
        room.rest()
        #expect(room.gestures.summary == ["click 1", "click 3"])
    }

    @Test("a click that waited for a long press before the link was lost is marked as queued, with its age")
    func heldBeforeLoss() throws {
        for (loss, age) in [(Duration.milliseconds(1200), Duration.zero), (.milliseconds(1201), .milliseconds(4201))] {
            var room = Room(Self.triple)
            for event in Button().events(of: Room.presses("0-80 200-9000")).prefix(3) {
                room.wait(until: Instant(ticks: Button().ticks(of: event)))
                room.hear(event)
            }
            room.wait(until: .start + loss)
            room.handle(.linkLost(.kitchen))
            room.rest()
            #expect(room.timed == ["click@\((loss + .seconds(3)).milliseconds)"])
            let click = try #require(room.gestures.first)
            #expect(click.wasQueued == (age > .zero) && click.age.milliseconds == age.milliseconds)
        }
    }

    @Test("a click that waited for a press whose release was never received is marked as queued, with its age")
    func heldBeforeUnseenEnd() throws {
        for (next, isLate) in [(4200, false), (4300, true)] {
            var room = Room(Self.triple)
            for event in Button().events(of: Room.presses("0-80 200-280")).prefix(3) {
                room.wait(until: Instant(ticks: Button().ticks(of: event)))
                room.hear(event)
            }
            room.wait(until: .start + .milliseconds(Int64(next)))
            room.hear(Button().event(.down, at: next * 32_768 / 1000))
            let click = try #require(room.gestures.first)
            #expect(click.word == "click" && click.wasQueued == isLate)
            #expect(click.age.milliseconds == (isLate ? Int64(next) : 0))
            room.hear(Button().event(.up(.open), at: next * 32_768 / 1000 + 2000))
            room.rest()
            #expect(room.gestures.count == 2 && room.gestures.last?.wasQueued == false)
        }
    }

    @Test("after a reboot of the button, times come from the host's clock")
    func reboot() {
        var room = Room(Self.triple)
        for event in Button().events(of: Room.presses("0-80")).dropLast() {
            room.wait(until: Instant(ticks: Button().ticks(of: event)))
            room.hear(event)
        }
        room.wait(until: .start + .milliseconds(300))
        var rebooted = Button(bootID: 8, firstReading: 0)
        room.hear(rebooted.event(.down, at: 10))
        rebooted.firstReading = 3000
        room.hear(rebooted.event(.up(.open), at: 10))
        room.rest()
        #expect(room.gestures.map(\.word) == ["double_click"])
    }
}
