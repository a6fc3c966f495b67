import ButtonModel
import FlicdProtocol
import TestSupport
import Testing

extension FlicdSource: StateMachine {}

private typealias Talk = Transcript<FlicdSource>

@Suite("A flicd as a source")
struct FlicdSourceTests {
    private static let bootID: UInt32 = 0xB007

    /// The list has come, with this button in it, and its channel is open.
    private static func ready(_ wish: FlicdWish = FlicdWish()) -> Talk {
        var talk = listening([hall: wish])
        talk.given(.received(FlicdEvent.getButtonInfoResponse(description(of: hall)).encoded()))
        talk.given(
            .received(FlicdEvent.createConnectionChannelResponse(id: 1, error: .noError, .ready).encoded()))
        return talk
    }

    private static func listening(_ wishes: [BluetoothAddress: FlicdWish] = [:]) -> Talk {
        var talk = Talk(FlicdSource(), at: Instant(nanoseconds: 7_000_000_000))
        talk.given(.start(wishes))
        talk.given(.connected(bootID: bootID))
        talk.given(.received(list([hall])))
        return talk
    }

    private static func list(_ buttons: [BluetoothAddress]) -> [UInt8] {
        FlicdEvent.getInfoResponse(Packets.info(buttons: buttons)).encoded()
    }

    private static func description(of address: BluetoothAddress, version: UInt8 = 1) -> FlicdButtonInfo {
        FlicdButtonInfo(address: address, uuid: "", serial: "AA12-C34567", flicVersion: version)
    }

    private static func identity(of address: BluetoothAddress, model: FlicModel = .flic1) -> ButtonIdentity {
        ButtonIdentity(
            address: address, uuid: "", serial: "AA12-C34567", nickname: "", firmwareVersion: 0, model: model)
    }

    @Test("connected, it asks what there is, then for each button in turn")
    func start() {
        var talk = Talk(FlicdSource())
        talk.when(.start([hall: FlicdWish(mode: FlicdChannelMode(latencyMode: .low))]), expect: .connect)
        talk.wait(.milliseconds(3))
        talk.when(
            .connected(bootID: 1), expect: .send(FlicdCommand.getInfo.encoded()),
            .setTimer(talk.now + FlicdSource.answerLimit))
        talk.when(
            .received(Self.list([hall, attic])), expect: .controller(.attached),
            .send(FlicdCommand.getButtonInfo(hall).encoded()),
            .send(FlicdCommand.createConnectionChannel(id: 1, hall, FlicdChannelMode(latencyMode: .low)).encoded()),
            .send(FlicdCommand.createBatteryStatusListener(id: 2, hall).encoded()),
            .send(FlicdCommand.getButtonInfo(attic).encoded()),
            .send(FlicdCommand.createConnectionChannel(id: 3, attic, FlicdChannelMode()).encoded()),
            .send(FlicdCommand.createBatteryStatusListener(id: 4, attic).encoded()),
            .setTimer(talk.now + FlicdSource.pingInterval))
        talk.when(
            .received(FlicdEvent.getButtonInfoResponse(Self.description(of: hall)).encoded()),
            expect: .known(Self.identity(of: hall)))
        talk.when(
            .received(FlicdEvent.getButtonInfoResponse(Self.description(of: attic, version: 2)).encoded()),
            expect: .known(Self.identity(of: attic, model: .flic2)))
        talk.when(
            .received(FlicdEvent.createConnectionChannelResponse(id: 3, error: .noError, .connected).encoded()),
            expect: .state(attic, .connected))
        talk.when(
            .received(FlicdEvent.connectionStatusChanged(id: 3, .ready, reason: .unspecified).encoded()),
            expect: .state(attic, .ready))
        talk.when(
            .received(FlicdEvent.batteryStatus(id: 4, percentage: 87, timestamp: 1_700_000_000).encoded()),
            expect: .battery(attic, percentage: 87, measuredAt: UTCTime(milliseconds: 1_700_000_000_000)))
        talk.when(.received(FlicdEvent.batteryStatus(id: 2, percentage: nil, timestamp: 0).encoded()))
    }

    @Test("a button verified later is asked for once, also when the list has it, too")
    func newButton() {
        var talk = Self.listening()
        talk.when(.received(FlicdEvent.newVerifiedButton(hall).encoded()))
        talk.when(
            .received(FlicdEvent.newVerifiedButton(attic).encoded()),
            expect: .send(FlicdCommand.getButtonInfo(attic).encoded()),
            .send(FlicdCommand.createConnectionChannel(id: 3, attic, FlicdChannelMode()).encoded()),
            .send(FlicdCommand.createBatteryStatusListener(id: 4, attic).encoded()))
    }

    // MARK: The connection

    @Test("a flicd that cannot be reached is tried again, later each time, for ever")
    func retry() {
        var talk = Talk(FlicdSource())
        talk.given(.start([:]))
        for seconds in [1, 2, 4, 8, 16, 32, 60, 60, 60] {
            talk.when(
                .closed("refused"), expect: .lost("refused", retryAfter: .seconds(seconds)),
                .setTimer(talk.now + .seconds(seconds)))
            // What else is said of a connection that is gone is old.
            talk.when(.closed("again"))
            talk.when(.received([1, 0, 9]))
            talk.wait(.seconds(seconds))
            talk.when(.timerFired, expect: .connect)
        }
    }

    @Test("it pings, and gives up a flicd that does not answer")
    func ping() {
        var talk = Self.listening()
        talk.wait(.seconds(30))
        talk.when(
            .timerFired, expect: .send(FlicdCommand.ping(id: 3).encoded()), .setTimer(talk.now + .seconds(10)))
        talk.wait(.seconds(9))
        talk.when(.received(FlicdEvent.pingResponse(id: 3).encoded()), expect: .setTimer(talk.now + .seconds(30)))
        talk.wait(.seconds(30))
        talk.given(.timerFired)
        talk.wait(.seconds(10))
        talk.when(
            .timerFired, expect: .close, .state(hall, nil), .controller(nil),
            .lost("it has not answered for 10 seconds", retryAfter: .seconds(1)),
            .setTimer(talk.now + .seconds(1)))
    }

    @Test("one that takes the connection and says nothing is given up, too")
    func silence() {
        var talk = Talk(FlicdSource())
        talk.given(.start([:]))
        talk.given(.connected(bootID: 1))
        talk.wait(.seconds(10))
        talk.when(
            .timerFired, expect: .close, .lost("it has not answered for 10 seconds", retryAfter: .seconds(1)),
            .setTimer(talk.now + .seconds(1)))
    }

    @Test("one that closes at once each time is tried later each time, though it answers")
    func closesAtOnce() {
        var talk = Talk(FlicdSource())
        talk.given(.start([:]))
        for seconds in [1, 2, 4] {
            talk.given(.connected(bootID: 1))
            talk.given(.received(Self.list([])))
            talk.when(
                .closed("reset"), expect: .controller(nil), .lost("reset", retryAfter: .seconds(seconds)),
                .setTimer(talk.now + .seconds(seconds)))
            talk.wait(.seconds(seconds))
            talk.given(.timerFired)
        }
    }

    @Test("a new connection starts anew: ids, buttons, half a packet")
    func reconnect() {
        var talk = Self.ready()
        talk.given(.received([40, 0, 1]))
        talk.given(.closed("reset"))
        talk.wait(.seconds(1))
        talk.when(.timerFired, expect: .connect)
        talk.when(
            .connected(bootID: 2), expect: .send(FlicdCommand.getInfo.encoded()), .setTimer(talk.now + .seconds(10)))
        talk.when(
            .received(Self.list([hall])), expect: .controller(.attached),
            .send(FlicdCommand.getButtonInfo(hall).encoded()),
            .send(FlicdCommand.createConnectionChannel(id: 1, hall, FlicdChannelMode()).encoded()),
            .send(FlicdCommand.createBatteryStatusListener(id: 2, hall).encoded()),
            .setTimer(talk.now + .seconds(30)))
    }

    @Test("what nobody asked for and what is no packet changes nothing, and is said a few times")
    func nonsense() {
        var talk = Self.ready()
        let nonsense: [[UInt8]] = [
            Self.list([attic]),
            FlicdEvent.getButtonInfoResponse(Self.description(of: attic)).encoded(),
            FlicdEvent.pingResponse(id: 9).encoded(),
            FlicdEvent.createConnectionChannelResponse(id: 9, error: .noError, .ready).encoded(),
            FlicdEvent.scanWizardCompleted(id: 9, .success).encoded(),
            FlicdEvent.button(id: 1, .upOrDown, .buttonHold, wasQueued: false, timeDifference: 0).encoded(),
            [2, 0, 4, 1], [1, 0, 77], [11, 0, 4, 1, 0, 0, 0, 99, 0, 0, 0, 0, 0],
        ]
        var anomalies = 0
        for _ in 0..<5 {
            for octets in nonsense {
                for effect in talk.given(.received(octets)) {
                    guard case .anomaly = effect else {
                        Issue.record("\(effect)")
                        continue
                    }
                    anomalies += 1
                }
            }
        }
        #expect(anomalies == FlicdSource.maximumAnomalies)
        // Ids of old are said nothing of: a removal crosses with what it ends.
        talk.when(.received(FlicdEvent.connectionChannelRemoved(id: 9, .removedByThisClient).encoded()))
        talk.when(
            .received(FlicdEvent.button(id: 9, .upOrDown, .buttonDown, wasQueued: false, timeDifference: 0).encoded()))
        #expect(talk.machine.isConnected)
    }

    @Test("random octets end nothing but the connection", arguments: 0..<200)
    func random(seed: UInt64) {
        var generator = SeededGenerator(seed: seed)
        var talk = Self.ready()
        for _ in 0..<40 {
            let octets = generator.bytes(Int.random(in: 0...30, using: &generator))
            let opcode = UInt8.random(in: 0...22, using: &generator)
            talk.given(.received([UInt8(octets.count + 1), 0, opcode] + octets))
        }
        #expect(talk.machine.isConnected)
    }

    @Test("of more buttons than it takes the rest is passed over")
    func manyButtons() {
        var talk = Talk(FlicdSource())
        talk.given(.start([:]))
        talk.given(.connected(bootID: 1))
        let buttons = (1...(FlicdSource.maximumButtons + 3)).map { BluetoothAddress(rawValue: UInt64($0)) }
        let sent = talk.given(.received(Self.list(buttons))).count {
            if case .send = $0 { true } else { false }
        }
        #expect(sent == 3 * FlicdSource.maximumButtons)
    }

    // MARK: Channels

    @Test("a channel that somebody else removed is created again, later each time, until it was of use")
    func channelRetry() {
        var talk = Self.ready()
        var id: UInt32 = 1
        for seconds in [10, 20, 40, 80, 160, 300, 300] {
            talk.given(
                .received(FlicdEvent.connectionChannelRemoved(id: id, .forceDisconnectedByOtherClient).encoded()))
            #expect(Self.channelsCreated(in: &talk, seconds: seconds - 1) == [])
            let created = Self.channelsCreated(in: &talk, seconds: 1)
            #expect(created.count == 1)
            id = created.first ?? 0
        }
        talk.given(.received(FlicdEvent.connectionStatusChanged(id: id, .ready, reason: .unspecified).encoded()))
        talk.given(.received(FlicdEvent.connectionChannelRemoved(id: id, .forceDisconnectedByOtherClient).encoded()))
        #expect(Self.channelsCreated(in: &talk, seconds: 9) == [])
        #expect(Self.channelsCreated(in: &talk, seconds: 1).count == 1)
    }

    /// The ids of the channels that are created while time goes by and pings are answered.
    private static func channelsCreated(in talk: inout Talk, seconds: Int) -> [UInt32] {
        var created: [UInt32] = []
        for _ in 0..<seconds {
            talk.wait(.seconds(1))
            for case .send(let octets) in talk.given(.timerFired) {
                switch try? FlicdCommand(decoding: Array(octets.dropFirst(2))) {
                case .ping(let id): talk.given(.received(FlicdEvent.pingResponse(id: id).encoded()))
                case .createConnectionChannel(let id, _, _): created.append(id)
                default: Issue.record("\(octets)")
                }
            }
        }
        return created
    }

    @Test("a channel that is refused waits like one that was removed")
    func refused() {
        var talk = Self.listening()
        talk.when(
            .received(
                FlicdEvent.createConnectionChannelResponse(id: 1, error: .maxPendingConnectionsReached, .disconnected)
                    .encoded()),
            expect: .anomaly("\(hall) has to wait: there are as many buttons as it can wait for"), .state(hall, nil),
            .setTimer(talk.now + .seconds(10)))
    }

    @Test("wishes go to the channel; without one wanted it is removed, and made again when it is")
    func wishes() {
        var talk = Self.ready()
        let low = FlicdChannelMode(latencyMode: .low, autoDisconnectTime: 60)
        talk.when(
            .wish(hall, FlicdWish(mode: low)), expect: .send(FlicdCommand.changeModeParameters(id: 1, low).encoded()))
        talk.when(.wish(hall, FlicdWish(mode: low)))
        talk.when(
            .wish(hall, FlicdWish(mode: low, isConnectionWanted: false)),
            expect: .send(FlicdCommand.removeConnectionChannel(id: 1).encoded()), .state(hall, nil))
        talk.when(.received(FlicdEvent.connectionChannelRemoved(id: 1, .removedByThisClient).encoded()))
        talk.when(
            .wish(hall, FlicdWish(mode: low)),
            expect: .send(FlicdCommand.createConnectionChannel(id: 3, hall, low).encoded()))
    }

    @Test(
        "a button deleted by whomever is gone, once",
        arguments: [
            (FlicdRemovedReason.deletedByThisClient, false), (.deletedByOtherClient, false), (.deletedFromButton, true),
        ])
    func deleted(reason: FlicdRemovedReason, hasForgotten: Bool) {
        var talk = Self.ready()
        talk.when(.forget(hall), expect: .send(FlicdCommand.deleteButton(hall).encoded()))
        talk.when(
            .received(FlicdEvent.connectionChannelRemoved(id: 1, reason).encoded()),
            expect: .send(FlicdCommand.removeBatteryStatusListener(id: 2).encoded()),
            .gone(hall, hasForgotten: hasForgotten))
        talk.when(.received(FlicdEvent.buttonDeleted(hall, byThisClient: true).encoded()))
    }

    // MARK: Presses

    /// A step, the packets of it in their families, and the step a client makes of them.
    static let steps: [(step: PressStep, said: [(FlicdFamily, FlicdClickType)])] = [
        (.down, [(.upOrDown, .buttonDown)]),
        (.up(.open), [(.upOrDown, .buttonUp), (.clickOrHold, .buttonClick)]),
        (
            .up(.click),
            [
                (.upOrDown, .buttonUp), (.clickOrHold, .buttonClick), (.singleOrDoubleClick, .buttonSingleClick),
                (.singleOrDoubleClickOrHold, .buttonSingleClick),
            ]
        ),
        (
            .up(.doubleClick),
            [
                (.upOrDown, .buttonUp), (.clickOrHold, .buttonClick), (.singleOrDoubleClick, .buttonDoubleClick),
                (.singleOrDoubleClickOrHold, .buttonDoubleClick),
            ]
        ),
        (.up(.afterHold), [(.upOrDown, .buttonUp)]),
        (.up(.afterHoldClick), [(.upOrDown, .buttonUp), (.singleOrDoubleClick, .buttonSingleClick)]),
        (
            .up(.afterHoldDoubleClick),
            [
                (.upOrDown, .buttonUp), (.singleOrDoubleClick, .buttonDoubleClick),
                (.singleOrDoubleClickOrHold, .buttonDoubleClick),
            ]
        ),
        (
            .clickTimeout,
            [(.singleOrDoubleClick, .buttonSingleClick), (.singleOrDoubleClickOrHold, .buttonSingleClick)]
        ),
        (.hold(ofSecondPress: false), [(.clickOrHold, .buttonHold), (.singleOrDoubleClickOrHold, .buttonHold)]),
        (.hold(ofSecondPress: true), [(.clickOrHold, .buttonHold)]),
    ]

    @Test("the packets of a step are put together, in one segment or in several", arguments: steps.indices)
    func step(place: Int) {
        let (step, said) = Self.steps[place]
        for cuts in [false, true] {
            for (wasQueued, age) in [(false, UInt32(0)), (true, 4196)] {
                var talk = Self.ready()
                talk.wait(.seconds(2))
                let began = talk.now
                let octets = said.map {
                    FlicdEvent.button(id: 1, $0.0, $0.1, wasQueued: wasQueued, timeDifference: age).encoded()
                }
                var effects: [FlicdSource.Effect] = []
                for part in cuts ? octets : [octets.flatMap(\.self)] {
                    effects += talk.given(.received(part))
                    talk.wait(.milliseconds(5))
                }
                talk.wait(.milliseconds(100))
                effects += talk.given(.timerFired)
                let events = effects.compactMap { if case .pressed(let events) = $0 { events } else { nil } }
                #expect(
                    events == [
                        [
                            ButtonEvent(
                                button: ButtonID(hall), bootID: Self.bootID, counter: 1, step: step,
                                ticks: 1 << 48 + UInt64((began - Instant(nanoseconds: 7_000_000_000)).milliseconds)
                                    << 15 / 1000
                                    - UInt64(age) << 15,
                                wasQueued: wasQueued, age: .seconds(Int64(age)), isTimeRough: wasQueued)
                        ]
                    ])
            }
        }
    }

    @Test("a down waits for nothing, and what belongs to another step ends the one before")
    func order() {
        var talk = Self.ready()
        let packets: [(FlicdFamily, FlicdClickType)] = [
            (.upOrDown, .buttonDown), (.upOrDown, .buttonUp), (.clickOrHold, .buttonClick), (.upOrDown, .buttonDown),
            (.upOrDown, .buttonUp), (.clickOrHold, .buttonClick), (.singleOrDoubleClick, .buttonDoubleClick),
            (.singleOrDoubleClickOrHold, .buttonDoubleClick),
        ]
        let octets = packets.flatMap {
            FlicdEvent.button(id: 1, $0.0, $0.1, wasQueued: true, timeDifference: 2).encoded()
        }
        let events = talk.given(.received(octets)).flatMap { effect in
            if case .pressed(let events) = effect { events } else { [ButtonEvent]() }
        }
        #expect(events.map(\.step) == [.down, .up(.open), .down, .up(.doubleClick)])
        #expect(events.map(\.counter) == [1, 2, 3, 4])
    }

    @Test("a step that is open when the button or the connection goes is told first")
    func cutStep() {
        var talk = Self.ready()
        let up = FlicdEvent.button(id: 1, .upOrDown, .buttonUp, wasQueued: false, timeDifference: 0).encoded()
        talk.given(.received(up))
        let effects = talk.given(.closed("reset"))
        guard case .pressed(let events) = effects.first else {
            Issue.record("\(effects)")
            return
        }
        #expect(events.map(\.step) == [.up(.afterHold)])
    }

    // MARK: Pairing

    @Test("a search is one wizard after the other, and ends with a cancelled one")
    func search() {
        var talk = Self.ready()
        talk.when(.search, expect: .send(FlicdCommand.createScanWizard(id: 3).encoded()))
        talk.when(.received(FlicdEvent.scanWizardFoundPrivateButton(id: 3).encoded()), expect: .pairing(.foundPrivate))
        #expect(Self.next(.failedTimeout, of: 3, in: &talk) == .send(FlicdCommand.createScanWizard(id: 4).encoded()))
        talk.when(
            .received(FlicdEvent.scanWizardFoundPublicButton(id: 4, attic, name: "F2").encoded()),
            expect: .pairing(.foundPublic(attic)))
        talk.when(
            .received(FlicdEvent.scanWizardButtonConnected(id: 4).encoded()), expect: .pairing(.connected(attic)))
        #expect(Self.next(.success, of: 4, in: &talk) == .send(FlicdCommand.createScanWizard(id: 5).encoded()))
        talk.given(.received(FlicdEvent.newVerifiedButton(attic).encoded()))
        talk.when(
            .received(FlicdEvent.getButtonInfoResponse(Self.description(of: attic)).encoded()),
            expect: .known(Self.identity(of: attic)), .pairing(.paired(Self.identity(of: attic))))
        talk.when(.stopSearch, expect: .send(FlicdCommand.cancelScanWizard(id: 5).encoded()))
        talk.when(.received(FlicdEvent.scanWizardCompleted(id: 5, .cancelledByUser).encoded()))
    }

    /// A second after the end of a wizard.
    private static func next(
        _ result: FlicdScanWizardResult, of id: UInt32, in talk: inout Transcript<FlicdSource>
    ) -> FlicdSource.Effect? {
        let effects = talk.given(.received(FlicdEvent.scanWizardCompleted(id: id, result).encoded()))
        #expect(effects == [.setTimer(talk.now + .seconds(1))])
        talk.wait(.seconds(1))
        return talk.given(.timerFired).first
    }

    @Test("a flicd that pairs and deletes without end, and describes nothing, is held to its bounds")
    func endlessButtons() {
        var talk = Self.ready()
        talk.given(.search)
        var asked = 0
        for number in 0..<2000 {
            let address = BluetoothAddress(rawValue: UInt64(0x1000 + number))
            for event in [FlicdEvent.newVerifiedButton(address), .buttonDeleted(address, byThisClient: false)] {
                asked += talk.given(.received(event.encoded())).count {
                    $0 == .send(FlicdCommand.getButtonInfo(address).encoded())
                }
            }
        }
        #expect(asked == FlicdSource.maximumAwaited && talk.machine.newlyPaired.isEmpty)
    }

    @Test("a wizard that fails is told, and the next one waits a little")
    func failedWizard() {
        var talk = Self.ready()
        talk.given(.search)
        talk.when(
            .received(FlicdEvent.scanWizardCompleted(id: 3, .bluetoothUnavailable).encoded()),
            expect: .pairing(.failed(.bluetoothUnavailable, nil)), .setTimer(talk.now + .seconds(5)))
        talk.wait(.seconds(5))
        let effects = talk.given(.timerFired)
        #expect(effects.first == .send(FlicdCommand.createScanWizard(id: 4).encoded()))
    }

    @Test("a search goes on with the next connection")
    func searchOverConnections() {
        var talk = Self.ready()
        talk.given(.search)
        talk.given(.closed("reset"))
        talk.wait(.seconds(1))
        talk.given(.timerFired)
        talk.given(.connected(bootID: 2))
        let effects = talk.given(.received(Self.list([])))
        #expect(effects.contains(.send(FlicdCommand.createScanWizard(id: 1).encoded())))
    }
}
