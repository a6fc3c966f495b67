import ButtonModel
import FlicdProtocol
import TestSupport
import Testing

/// What becomes of the packets of presses.
@Suite("Presses of a flicd")
struct FlicdPressesTests {
    /// Presses from their downs on, and the steps that a client makes of them.
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

    /// Pings are answered while time goes by.
    private static func wait(_ duration: Duration, in talk: inout SourceTalk) -> [ButtonEvent] {
        talk.wait(duration)
        let effects = talk.given(.timerFired)
        for case .send(let octets) in effects {
            guard case .ping(let id) = try? FlicdCommand(decoding: Array(octets.dropFirst(2))) else { continue }
            talk.given(.received(FlicdEvent.pingResponse(id: id).encoded()))
        }
        return events(effects)
    }

    @Test("the packets of a step are put together, in one segment or in several", arguments: Packets.steps.indices)
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

    @Test("wherever a network cuts, and however long it keeps the rest, a press is what it was", arguments: presses)
    func cutAnywhere(name: String, said: [PressStep], told: [PressStep]) {
        // Of an up after a hold nobody knows whether something follows.
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

    @Test("a step that nothing is missing of waits for nothing", arguments: presses)
    func atOnce(name: String, said: [PressStep], told: [PressStep]) {
        var talk = FlicdSourceTests.ready()
        #expect(Self.events(talk.given(.received(Self.octets(said)))).map(\.step) == told, "\(name)")
        #expect(Self.wait(.seconds(5), in: &talk).isEmpty)
    }

    @Test("of what comes at once a hold still has its second, a click its half one, and what follows its own time")
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
        // Stored ones are older than that, and no time of theirs is to be believed.
        let stored = Self.events(talk.given(.received(Self.octets([.up(.open), .down], queued: 2))))
        #expect(stored.map { $0.ticks - later[0].ticks } == [0, 0] && stored.allSatisfy(\.isTimeRough))
    }

    @Test("an up after a hold waits half a second for what may follow, another as long as the network may stall")
    func waits() {
        var talk = FlicdSourceTests.ready()
        talk.given(.received(Self.octets([.down, .hold(ofSecondPress: false)])))
        talk.when(.received(Self.octets(.upOrDown, .buttonUp)), expect: .setTimer(talk.now + .milliseconds(500)))
        #expect(Self.wait(.milliseconds(500), in: &talk).map(\.step) == [.up(.afterHold)])
        // What is later than that is no second click of those who count holds.
        let late = Self.events(talk.given(.received(Self.octets(.singleOrDoubleClick, .buttonSingleClick))))
        #expect(late.isEmpty)
        #expect(Self.wait(.seconds(5), in: &talk).map(\.step) == [.up(.afterHoldClick)])

        talk.given(.received(Self.octets([.down])))
        talk.given(.received(Self.octets(.upOrDown, .buttonUp)))
        #expect(Self.wait(.milliseconds(4999), in: &talk).isEmpty)
        #expect(Self.wait(.milliseconds(1), in: &talk).map(\.step) == [.up(.afterHold)])
        // What no step begins with.
        talk.given(.received(Self.octets(.clickOrHold, .buttonClick)))
        #expect(Self.wait(.seconds(5), in: &talk).isEmpty)
    }

    @Test("a step that begins again is another one")
    func again() {
        var talk = FlicdSourceTests.ready()
        let up = Self.octets(.upOrDown, .buttonUp)
        #expect(Self.events(talk.given(.received(up + up))).map(\.step) == [.up(.afterHold)])
        #expect(Self.wait(.milliseconds(500), in: &talk).map(\.step) == [.up(.afterHold)])
    }

    @Test("of a press that began over another channel nobody knows what it is before flicd says so")
    func otherChannel() {
        var talk = FlicdSourceTests.ready()
        talk.given(.received(Self.octets([.down])))
        talk.given(.wish(hall, FlicdWish(isConnectionWanted: false)))
        talk.given(.wish(hall, FlicdWish()))
        let words = Packets.steps.first { $0.step == .up(.doubleClick) }?.words ?? []
        let octets = words.flatMap {
            FlicdEvent.button(id: 3, $0.0, $0.1, wasQueued: false, timeDifference: 0).encoded()
        }
        #expect(Self.events(talk.given(.received(octets))).map(\.step) == [.up(.doubleClick)])
    }

    // MARK: The rest is never told

    /// What ends what we hear of a button, and what of the press under way is told then.
    private static let ends: [FlicdSource.Input] = [
        .closed("reset"), .wish(hall, FlicdWish(isConnectionWanted: false)),
        .received(FlicdEvent.connectionChannelRemoved(id: 1, .forceDisconnectedByOtherClient).encoded()),
        .received(FlicdEvent.connectionChannelRemoved(id: 1, .deletedFromButton).encoded()),
    ]

    @Test("a press that is cut off is let go, and is the click it was", arguments: ends)
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
        // Half a step, and what follows from it.
        var talk = FlicdSourceTests.ready()
        talk.given(.received(Self.octets([.down]) + Self.octets(.upOrDown, .buttonUp)))
        #expect(Self.events(talk.given(end)).map(\.step) == [.up(.afterHold)])
    }

    @Test("a click that was told when the connection ended is not told again, but the next one is")
    func toldOnce() {
        var talk = FlicdSourceTests.ready()
        talk.given(.received(Self.octets([.down, .up(.open)])))
        talk.given(.closed("reset"))
        // Nor does one forget it that comes to nothing.
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
            talk.given(.wish(hall, FlicdWish(isConnectionWanted: false)))
            + talk.given(.wish(hall, FlicdWish()))
        #expect(
            created.contains(.send(FlicdCommand.createConnectionChannel(id: 3, hall, FlicdChannelMode()).encoded())))
        let next = FlicdEvent.button(id: 3, .upOrDown, .buttonDown, wasQueued: false, timeDifference: 0).encoded()
        #expect(Self.events(talk.given(.received(next))).map(\.step) == [.down])
        let timeout = [FlicdFamily.singleOrDoubleClick, .singleOrDoubleClickOrHold].flatMap {
            FlicdEvent.button(id: 3, $0, .buttonSingleClick, wasQueued: false, timeDifference: 0).encoded()
        }
        #expect(Self.events(talk.given(.received(timeout))).map(\.step) == [.clickTimeout])
    }

    @Test("while the button alone is away its flicd tells the rest later")
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
