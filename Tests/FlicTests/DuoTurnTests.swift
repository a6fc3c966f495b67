import ButtonModel
import TestSupport
import Testing

@testable import Flic

/// Tests a host's session with a Duo packet by packet, with the test as the Duo.
@Suite("Turns and acknowledgements of a Duo")
struct DuoTurnTests {
    private static let button = ButtonID(TestButton.address)

    private struct Talk {
        var established: EstablishedTalk
        private var stream: DuoEventStream

        /// A session past init.
        init(
            dials: [Dial: Int] = [:], hasQueuedEvents: Bool = false,
            cursor: EventCursor = EventCursor(bootID: TestButton.bootID, eventCount: 8, smallEventCount: 4)
        ) throws {
            established = try #require(EstablishedTalk(cursor: cursor, isDuo: true, dials: dials))
            let response = ButtonPacket.InitButtonEventsDuoResponse(
                hasQueuedEvents: hasQueuedEvents, milliseconds: 100_000, eventCount: 8, smallEventCount: 4, bootID: nil)
            stream = DuoEventStream(response)
            let effects = established.receive(.initButtonEventsDuoResponse(response))
            if !hasQueuedEvents {
                let packets = established.sent(effects)
                #expect(packets.contains(.enablePushTwist([.big, .small])))
            }
        }

        mutating func turn(
            _ angle: Int32, _ pressed: ButtonPacket.PushTwistNotification.Parts = .big,
            isFirst: ButtonPacket.PushTwistNotification.Parts = [],
            isLong: ButtonPacket.PushTwistNotification.Parts = []
        ) -> [ButtonMovement] {
            allTurns(angle, pressed, isFirst: isFirst, isLong: isLong).filter { $0.steps != 0 }
        }

        /// Like `turn`, but with turns of less than a step.
        mutating func allTurns(
            _ angle: Int32, _ pressed: ButtonPacket.PushTwistNotification.Parts = .big,
            isFirst: ButtonPacket.PushTwistNotification.Parts = [],
            isLong: ButtonPacket.PushTwistNotification.Parts = []
        ) -> [ButtonMovement] {
            let effects = established.receive(
                .pushTwistNotification(.init(pressed: pressed, isFirst: isFirst, isPressedLong: isLong, angle: angle)))
            return effects.flatMap { effect -> [ButtonMovement] in
                if case .moved(let movements) = effect { movements } else { [] }
            }
        }

        /// Receives the events in one notification.
        mutating func tell(_ events: DuoEvent...) -> [ButtonSession.Effect] {
            established.receive(.buttonEventDuoNotification(stream.encode(events, room: .max).octets))
        }

        func event(_ part: ButtonPart, _ counter: UInt32, _ kind: UInt8, _ gesture: DuoEvent.Gesture = .none)
            -> DuoEvent
        {
            DuoEvent(
                part: part, counter: counter,
                milliseconds: 100_000 + UInt64(established.talk.now.nanoseconds / 1_000_000),
                kind: .init(rawValue: kind), gesture: gesture)
        }
    }

    private static func steps(_ movements: [ButtonMovement]) -> [Int] {
        movements.map(\.steps)
    }

    @Test("65536 units are a turn; less than a hundredth of a turn is carried over, for each button separately")
    func remainders() throws {
        var talk = try Talk()
        #expect(Self.steps(talk.turn(65_536)) == [100])
        #expect(talk.turn(655).isEmpty)
        #expect(talk.turn(-655).isEmpty)
        #expect(talk.turn(655).isEmpty)
        #expect(talk.turn(655, .small).isEmpty)
        #expect(Self.steps(talk.turn(1)) == [1])
        #expect(Self.steps(talk.turn(1, .small)) == [1])
        #expect(Self.steps(talk.turn(-1312)) == [-2])
        #expect(Self.steps(talk.turn(.max)) == [3_276_799] && Self.steps(talk.turn(.min)) == [-3_276_799])
    }

    @Test("positions stop at both ends of their range, and continue from the stored or set position")
    func positions() throws {
        var talk = try Talk(dials: [.part(.big): 40_000, .part(.small): 3, .slot(1): 7])
        #expect(talk.turn(-656).map(\.units) == [39_508])
        #expect(talk.turn(65_536).map(\.units) == [Dial.unitsPerTurn])
        let movement = try #require(talk.turn(-32_768).first)
        #expect(movement.units == Dial.unitsPerTurn / 2 && movement.position == 50)
        #expect(movement.dial == .part(.big) && movement.part == .big && movement.button == Self.button)
        #expect(talk.turn(-2000, .small).map(\.units) == [0])
        talk.established.talk.given(.perform(.setDial(.part(.small), units: 20_000)))
        talk.established.talk.given(.perform(.setDial(.slot(3), units: 1)))
        #expect(talk.turn(4000, .small).map(\.units) == [23_000])
        #expect(talk.turn(4000).map(\.units) == [Dial.unitsPerTurn / 2 + 3000])
    }

    @Test("a turn of less than a step moves the dial, and a turn that leaves it in place is not reported")
    func smallTurns() throws {
        var talk = try Talk()
        #expect(talk.allTurns(100).map(\.units) == [75])
        #expect(talk.allTurns(1).isEmpty)
        #expect(talk.allTurns(100, [.big, .small]).map(\.units) == [150, 75])
        #expect(talk.allTurns(-4000).map(\.steps) == [-5])
        #expect(talk.allTurns(-50).isEmpty)
    }

    @Test("a turn counts for every button that is down, and for none if none is down")
    func parts() throws {
        var talk = try Talk()
        #expect(talk.turn(6554, [.big, .small]).map(\.part) == [.big, .small])
        #expect(talk.turn(6554, []).isEmpty)
    }

    @Test("in the first quarter of a second of a press, turns do not count for the pressed button")
    func quietAfterDown() throws {
        var talk = try Talk()
        _ = talk.tell(talk.event(.big, 9, 5))
        talk.established.talk.wait(.milliseconds(249))
        #expect(talk.turn(6554).isEmpty)
        #expect(talk.turn(6554, .small).count == 1)
        talk.established.talk.wait(.milliseconds(1))
        #expect(Self.steps(talk.turn(6554)) == [10])
        _ = talk.tell(talk.event(.big, 11, 0))
        // The notification of a turn may announce a new press before the press itself comes.
        #expect(talk.turn(6554, isFirst: .big).isEmpty)
        talk.established.talk.wait(.milliseconds(250))
        #expect(Self.steps(talk.turn(6554)) == [10])
    }

    @Test("turns count at once for a press that the Duo reports as long")
    func late() throws {
        var talk = try Talk()
        _ = talk.tell(talk.event(.small, 5, 5))
        #expect(talk.turn(6554, .small, isLong: .small).count == 1)
    }

    @Test("turns do not count for 300 ms after a swipe")
    func quietAfterSwipe() throws {
        var talk = try Talk()
        _ = talk.tell(talk.event(.small, 5, 5))
        talk.established.talk.wait(.milliseconds(400))
        let effects = talk.tell(talk.event(.small, 7, 0, .swipe(.down)))
        guard case .events(let events, _, false)? = effects.first else {
            Issue.record("no event")
            return
        }
        #expect(events.map(\.swipe) == [.down])
        talk.established.talk.wait(.milliseconds(299))
        #expect(talk.turn(6554).isEmpty)
        talk.established.talk.wait(.milliseconds(1))
        #expect(talk.turn(6554).count == 1)
    }

    @Test("both counters are acknowledged together, and only after both are synced to disk")
    func acknowledgement() throws {
        var talk = try Talk()
        let effects = talk.tell(
            talk.event(.small, 5, 5), talk.event(.small, 7, 1), talk.event(.big, 9, 5), talk.event(.big, 11, 3))
        let cursor = EventCursor(bootID: TestButton.bootID, eventCount: 11, smallEventCount: 7)
        guard case .events(let events, cursor, true)? = effects.first else {
            Issue.record("no events")
            return
        }
        #expect(events.map(\.counter) == [5, 7, 9, 11])
        for early in [
            EventCursor(bootID: TestButton.bootID, eventCount: 11, smallEventCount: 5),
            EventCursor(bootID: TestButton.bootID, eventCount: 9, smallEventCount: 7),
            EventCursor(bootID: 1, eventCount: 11, smallEventCount: 7),
        ] {
            #expect(talk.established.sent(talk.established.talk.given(.synced(early))).isEmpty)
        }
        #expect(
            talk.established.sent(talk.established.talk.given(.synced(cursor)))
                == [.acknowledgeDuoEvents(eventCount: 11, smallEventCount: 7)])
    }

    @Test("a cursor below the Duo's small counter does not prevent an acknowledgement")
    func foreignCount() throws {
        var talk = try Talk(cursor: EventCursor(bootID: TestButton.bootID, eventCount: 8, smallEventCount: 1))
        _ = talk.tell(talk.event(.big, 9, 5), talk.event(.big, 11, 1))
        let cursor = EventCursor(bootID: TestButton.bootID, eventCount: 11, smallEventCount: 1)
        #expect(
            talk.established.sent(talk.established.talk.given(.synced(cursor)))
                == [.acknowledgeDuoEvents(eventCount: 11, smallEventCount: 1)])
    }

    @Test("a live event ends the queue of stored events if the last stored event did not")
    func discardedEnd() throws {
        var talk = try Talk(hasQueuedEvents: true)
        _ = talk.tell(
            DuoEvent(part: .big, counter: 9, milliseconds: 90_000, kind: .init(rawValue: 5), storage: .queued))
        #expect(talk.established.talk.machine.hasStoredEvents)
        let effects = talk.tell(talk.event(.small, 5, 5))
        guard case .events(let events, _, _)? = effects.first else {
            Issue.record("no event")
            return
        }
        #expect(events.map(\.wasQueued) == [false] && !talk.established.talk.machine.hasStoredEvents)
        #expect(talk.established.sent(effects).contains(.enablePushTwist([.big, .small])))
    }

    @Test("packets that a Duo never sends are ignored")
    func nonsense() throws {
        var talk = try Talk()
        #expect(
            talk.established.receive(.buttonEventDuoNotification([]))
                == [.ignored(reason: "truncated events")])
        let response = ButtonPacket.InitButtonEventsDuoResponse(
            hasQueuedEvents: false, milliseconds: 1, eventCount: 1, smallEventCount: 1, bootID: 5)
        #expect(
            talk.established.receive(.initButtonEventsDuoResponse(response))
                == [.ignored(reason: "a second init response")])
        #expect(talk.established.initialise() == [.ignored(reason: "packet 11 in a session")])
        var flic2 = try #require(EstablishedTalk())
        #expect(
            flic2.receive(.initButtonEventsDuoResponse(response)) == [.ignored(reason: "packet 30 in a session")])
        #expect(
            flic2.receive(.buttonEventDuoNotification([0]))
                == [.ignored(reason: "events before the init response")])
        #expect(
            flic2.receive(.pushTwistNotification(.init(pressed: .big, isFirst: [], isPressedLong: [], angle: 9000)))
                == [.ignored(reason: "a rotation before the init response")])
    }

    @Test(
        "random packets with a right signature never trap, and the cursor never goes back",
        arguments: 0..<40 as Range<UInt64>)
    func hostile(seed: UInt64) throws {
        var generator = SeededGenerator(seed: seed)
        var talk = try Talk(hasQueuedEvents: seed % 2 == 0)
        var last = EventCursor(bootID: TestButton.bootID, eventCount: 8, smallEventCount: 4)
        for _ in 0..<60 {
            let octets = [UInt8(30 + generator.next() % 4)] + generator.bytes(Int(generator.next() % 121))
            let value = talk.established.button.value(octets: octets)
            for effect in talk.established.talk.given(.received(value)) {
                switch effect {
                case .events(let events, let cursor, _):
                    #expect(events.count <= 24)
                    #expect(cursor.covers(last))
                    last = cursor
                    talk.established.talk.given(.synced(cursor))
                case .moved(let movements):
                    #expect(movements.allSatisfy { 0...Dial.unitsPerTurn ~= $0.units && 0...100 ~= $0.position })
                default: break
                }
            }
            talk.established.talk.wait(.milliseconds(Int(generator.next() % 500)))
        }
    }
}
