import ButtonModel
import FlicdProtocol
import TestSupport
import Testing

/// How `FlicdSource` puts presses together from the packets of the four event families.
@Suite("Presses from a flicd")
struct FlicdPressesTests {
    /// Presses from their first down on, and the steps that `FlicdSource` makes of them.
    static let presses: [(name: String, said: [PressStep], told: [PressStep])] = [
        ("a click", [.down, .up(.open), .clickTimeout], [.down, .up(.open), .clickTimeout]),
        ("a slow click", [.down, .up(.click)], [.down, .up(.open), .clickTimeout]),
        (
            "a double click", [.down, .up(.open), .down, .up(.doubleClick)],
            [.down, .up(.open), .down, .up(.doubleClick)]
        ),
        (
            "three clicks", [.down, .up(.open), .down, .up(.doubleClick), .down, .up(.open), .clickTimeout],
            [.down, .up(.open), .down, .up(.doubleClick), .down, .up(.open), .clickTimeout]
        ),
        (
            "a hold", [.down, .hold(ofSecondPress: false), .up(.afterHoldClick)],
            [.down, .hold(ofSecondPress: false), .up(.afterHoldClick)]
        ),
        (
            "a hold of the second press",
            [.down, .up(.open), .down, .hold(ofSecondPress: true), .up(.afterHoldDoubleClick)],
            [.down, .up(.open), .down, .hold(ofSecondPress: true), .up(.afterHoldDoubleClick)]
        ),
        (
            "a click whose verdict comes when the next has begun",
            [.down, .up(.open), .down, .clickTimeout, .up(.open), .clickTimeout],
            [.down, .up(.open), .down, .clickTimeout, .up(.open), .clickTimeout]
        ),
    ]

    private static func octets(_ steps: [PressStep], queued age: UInt32? = nil) -> [UInt8] {
        steps.flatMap { step in
            (Packets.steps.first { $0.step == step }?.words ?? []).flatMap { octets($0.0, $0.1, queued: age) }
        }
    }

    private static func octets(_ family: FlicdFamily, _ type: FlicdClickType, queued age: UInt32? = nil) -> [UInt8] {
        FlicdEvent.button(id: 1, family, type, wasQueued: age != nil, timeDifference: age ?? 0).encoded()
    }

    private static func events(_ effects: [FlicdSource.Effect]) -> [ButtonEvent] {
        effects.flatMap { effect in
            if case .pressed(let events) = effect { events } else { [ButtonEvent]() }
        }
    }

    /// Lets time pass and answers the pings of the source.
    private static func wait(_ duration: Duration, in talk: inout SourceTalk) -> [ButtonEvent] {
        talk.wait(duration)
        let effects = talk.given(.timerFired)
        for case .send(let octets) in effects {
            guard case .ping(let id) = try? FlicdCommand(decoding: Array(octets.dropFirst(2))) else { continue }
            talk.given(.received(FlicdEvent.pingResponse(id: id).encoded()))
        }
        return events(effects)
    }

    @Test(
        "the packets of a step make one step, whether they come in one segment or in several",
        arguments: Packets.steps.indices)
    func step(place: Int) {
        let (step, words) = Packets.steps[place]
        for cuts in [false, true] {
            for age in [nil, UInt32(4196)] {
                var talk = FlicdSourceTests.ready()
                talk.wait(.seconds(2))
                let began = talk.now
                let octets = words.map { Self.octets($0.0, $0.1, queued: age) }
                var events: [ButtonEvent] = []
                for part in cuts ? octets : [octets.flatMap(\.self)] {
                    events += Self.events(talk.given(.received(part)))
                    talk.wait(.milliseconds(5))
                }
                events += Self.wait(.milliseconds(500), in: &talk)
                #expect(
                    events == [
                        ButtonEvent(
                            button: ButtonID(hall), bootID: FlicdSourceTests.bootID, counter: 1, step: step,
                            ticks: 1 << 48 + UInt64((began - Instant(nanoseconds: 7_000_000_000)).milliseconds)
                                << 15 / 1000
                                - UInt64(age ?? 0) << 15,
                            wasQueued: age != nil, age: .seconds(Int64(age ?? 0)), isTimeRough: age != nil)
                    ])
            }
        }
    }

    @Test(
        "a stream that is cut at any octet and continues within five seconds gives the same press",
        arguments: presses)
    func cutAnywhere(name: String, said: [PressStep], told: [PressStep]) {
        // An up after a hold may be followed by a click packet or not, so the source waits only half a second for it.
        let stall = said.contains(.up(.afterHoldClick)) ? Duration.milliseconds(450) : .milliseconds(4900)
        for age in [nil, UInt32(3)] {
            let octets = Self.octets(said, queued: age)
            for cut in 0...octets.count {
                var talk = FlicdSourceTests.ready()
                var events = Self.events(talk.given(.received(Array(octets.prefix(cut)))))
                events += Self.wait(stall, in: &talk)
                events += Self.events(talk.given(.received(Array(octets.dropFirst(cut)))))
                events += Self.wait(.seconds(5), in: &talk)
                #expect(events.map(\.step) == told, "\(name), cut at \(cut)")
                #expect(events.map(\.counter) == Array(1...UInt32(told.count)))
                #expect(zip(events, events.dropFirst()).allSatisfy { $0.ticks <= $1.ticks })
            }
        }
    }

    @Test("a press whose packets are complete is reported at once", arguments: presses)
    func atOnce(name: String, said: [PressStep], told: [PressStep]) {
        var talk = FlicdSourceTests.ready()
        #expect(Self.events(talk.given(.received(Self.octets(said)))).map(\.step) == told, "\(name)")
        #expect(Self.wait(.seconds(5), in: &talk).isEmpty)
    }

    @Test("in packets that come together a hold lasts a second and a click half a second")
    func heldUp() {
        var talk = FlicdSourceTests.ready()
        let hold = Self.events(
            talk.given(.received(Self.octets([.down, .hold(ofSecondPress: false), .up(.afterHoldClick)]))))
        #expect(hold.map { $0.ticks - hold[0].ticks } == [0, 32_768, 32_768])
        let clicks = Self.events(
            talk.given(.received(Self.octets([.down, .up(.open), .clickTimeout, .down, .up(.open), .clickTimeout]))))
        #expect(clicks.map { $0.ticks - hold[0].ticks } == [32_768, 32_768, 49_152, 49_152, 49_152, 65_536])
        talk.wait(.milliseconds(250))
        let later = Self.events(talk.given(.received(Self.octets([.down]))))
        #expect(later.map { $0.ticks - hold[0].ticks } == [65_536 + 8192])
        // The time of a stored press is rough, but not before the steps that were reported earlier.
        let stored = Self.events(talk.given(.received(Self.octets([.up(.open), .down], queued: 2))))
        #expect(stored.map { $0.ticks - later[0].ticks } == [0, 0] && stored.allSatisfy(\.isTimeRough))
    }

    @Test("an up after a hold waits half a second for a click packet; other incomplete steps wait five seconds")
    func waits() {
        var talk = FlicdSourceTests.ready()
        talk.given(.received(Self.octets([.down, .hold(ofSecondPress: false)])))
        talk.when(.received(Self.octets(.upOrDown, .buttonUp)), expect: .setTimer(talk.now + .milliseconds(500)))
        #expect(Self.wait(.milliseconds(500), in: &talk).map(\.step) == [.up(.afterHold)])
        // A single-click packet after that wait is a step of its own, and not a click of the hold that ended.
        let late = Self.events(talk.given(.received(Self.octets(.singleOrDoubleClick, .buttonSingleClick))))
        #expect(late.isEmpty)
        #expect(Self.wait(.seconds(5), in: &talk).map(\.step) == [.up(.afterHoldClick)])

        talk.given(.received(Self.octets([.down])))
        talk.given(.received(Self.octets(.upOrDown, .buttonUp)))
        #expect(Self.wait(.milliseconds(4999), in: &talk).isEmpty)
        #expect(Self.wait(.milliseconds(1), in: &talk).map(\.step) == [.up(.afterHold)])
        // No step begins with this packet.
        talk.given(.received(Self.octets(.clickOrHold, .buttonClick)))
        #expect(Self.wait(.seconds(5), in: &talk).isEmpty)
    }

    @Test("a second up begins another step and completes the first")
    func again() {
        var talk = FlicdSourceTests.ready()
        let up = Self.octets(.upOrDown, .buttonUp)
        #expect(Self.events(talk.given(.received(up + up))).map(\.step) == [.up(.afterHold)])
        #expect(Self.wait(.milliseconds(500), in: &talk).map(\.step) == [.up(.afterHold)])
    }

    @Test("a press whose down came over another channel is what its up's packets say")
    func otherChannel() {
        var talk = FlicdSourceTests.ready()
        talk.given(.received(Self.octets([.down])))
        talk.given(.request(hall, FlicdButtonRequest(isConnectionWanted: false)))
        talk.given(.request(hall, FlicdButtonRequest()))
        let words = Packets.steps.first { $0.step == .up(.doubleClick) }?.words ?? []
        let octets = words.flatMap {
            FlicdEvent.button(id: 3, $0.0, $0.1, wasQueued: false, timeDifference: 0).encoded()
        }
        #expect(Self.events(talk.given(.received(octets))).map(\.step) == [.up(.doubleClick)])
    }

    // MARK: Presses that are cut off

    /// Inputs that end the presses of a button, so that the rest of a press in progress never comes.
    private static let ends: [FlicdSource.Input] = [
        .closed("reset"), .request(hall, FlicdButtonRequest(isConnectionWanted: false)),
        .received(FlicdEvent.connectionChannelRemoved(id: 1, .forceDisconnectedByOtherClient).encoded()),
        .received(FlicdEvent.connectionChannelRemoved(id: 1, .deletedFromButton).encoded()),
    ]

    @Test("a press in progress at the end of a channel is released, and a finished click is reported", arguments: ends)
    func cutOff(end: FlicdSource.Input) {
        let cases: [(said: [PressStep], told: [PressStep])] = [
            ([.down, .up(.open)], [.clickTimeout]),
            ([.down, .up(.open), .down], []),
            ([.down, .hold(ofSecondPress: false)], [.up(.afterHold)]),
            ([.down, .up(.open), .down, .hold(ofSecondPress: true)], [.up(.afterHold)]),
            ([.down], []), ([.down, .up(.open), .clickTimeout], []),
            ([.down, .up(.open), .down, .up(.doubleClick)], []),
        ]
        for (said, told) in cases {
            var talk = FlicdSourceTests.ready()
            talk.given(.received(Self.octets(said)))
            #expect(Self.events(talk.given(end)).map(\.step) == told, "\(said)")
        }
        // Half of a step is completed in the same way.
        var talk = FlicdSourceTests.ready()
        talk.given(.received(Self.octets([.down]) + Self.octets(.upOrDown, .buttonUp)))
        #expect(Self.events(talk.given(end)).map(\.step) == [.up(.afterHold)])
    }

    @Test("a click that was reported at the end of a connection is not repeated, and the next click is reported")
    func toldOnce() {
        var talk = FlicdSourceTests.ready()
        talk.given(.received(Self.octets([.down, .up(.open)])))
        talk.given(.closed("reset"))
        // A connection that ends before it lists its buttons does not make the source forget the click.
        for seconds in [1, 2] {
            talk.wait(.seconds(seconds))
            talk.given(.timerFired)
            talk.given(.connected(bootID: 2))
            if seconds == 1 { talk.given(.closed("reset")) }
        }
        talk.given(.received(FlicdSourceTests.list([hall])))
        #expect(Self.events(talk.given(.received(Self.octets([.clickTimeout], queued: 3)))).isEmpty)
        #expect(Self.events(talk.given(.received(Self.octets([.clickTimeout])))).map(\.step) == [.clickTimeout])

        talk.given(.received(Self.octets([.down, .up(.open)])))
        talk.given(.received(FlicdEvent.connectionChannelRemoved(id: 1, .forceDisconnectedByOtherClient).encoded()))
        let created =
            talk.given(.request(hall, FlicdButtonRequest(isConnectionWanted: false)))
            + talk.given(.request(hall, FlicdButtonRequest()))
        #expect(
            created.contains(.send(FlicdCommand.createConnectionChannel(id: 3, hall, FlicdChannelMode()).encoded())))
        let next = FlicdEvent.button(id: 3, .upOrDown, .buttonDown, wasQueued: false, timeDifference: 0).encoded()
        #expect(Self.events(talk.given(.received(next))).map(\.step) == [.down])
        let timeout = [FlicdFamily.singleOrDoubleClick, .singleOrDoubleClickOrHold].flatMap {
            FlicdEvent.button(id: 3, $0, .buttonSingleClick, wasQueued: false, timeDifference: 0).encoded()
        }
        #expect(Self.events(talk.given(.received(timeout))).map(\.step) == [.clickTimeout])
    }

    @Test("a press of a button that loses its link to flicd is completed when flicd sends the stored rest")
    func buttonAway() {
        var talk = FlicdSourceTests.ready()
        talk.given(.received(Self.octets([.down, .up(.open)])))
        talk.when(
            .received(FlicdEvent.connectionStatusChanged(id: 1, .disconnected, reason: .timedOut).encoded()),
            expect: .state(hall, .disconnected))
        let rest = Self.events(talk.given(.received(Self.octets([.clickTimeout], queued: 7))))
        #expect(rest.map(\.step) == [.clickTimeout] && rest.map(\.age) == [.seconds(7)])
        talk.given(.received(Self.octets([.down]) + Self.octets(.upOrDown, .buttonUp)))
        let cut = talk.given(
            .received(FlicdEvent.connectionStatusChanged(id: 1, .disconnected, reason: .timedOut).encoded()))
        #expect(Self.events(cut).map(\.step) == [.up(.afterHold)])
    }
}
