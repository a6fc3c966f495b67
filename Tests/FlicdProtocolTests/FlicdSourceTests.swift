import ButtonModel
import FlicdProtocol
import TestSupport
import Testing

extension FlicdSource: StateMachine {}

typealias SourceTalk = Transcript<FlicdSource>

@Suite("A flicd as a source")
struct FlicdSourceTests {
    static let bootID: UInt32 = 0xB007

    /// A source that has listed one button, whose channel is open.
    static func ready(_ wish: FlicdButtonRequest = FlicdButtonRequest()) -> SourceTalk {
        var talk = listening([hall: wish])
        talk.given(.received(FlicdEvent.getButtonInfoResponse(description(of: hall)).encoded()))
        talk.given(
            .received(FlicdEvent.createConnectionChannelResponse(id: 1, error: .noError, .ready).encoded()))
        return talk
    }

    static func listening(_ wishes: [BluetoothAddress: FlicdButtonRequest] = [:]) -> SourceTalk {
        var talk = SourceTalk(FlicdSource(), at: Instant(nanoseconds: 7_000_000_000))
        talk.given(.start(wishes))
        talk.given(.connected(bootID: bootID))
        talk.given(.received(list([hall])))
        return talk
    }

    static func list(_ buttons: [BluetoothAddress]) -> [UInt8] {
        FlicdEvent.getInfoResponse(Packets.info(buttons: buttons)).encoded()
    }

    static func description(of address: BluetoothAddress, version: UInt8 = 1) -> FlicdButtonInfo {
        FlicdButtonInfo(address: address, uuid: "", serial: "AA12-C34567", flicVersion: version)
    }

    private static func identity(of address: BluetoothAddress, model: FlicModel = .flic1) -> ButtonIdentity {
        ButtonIdentity(
            address: address, uuid: "", serial: "AA12-C34567", nickname: "", firmwareVersion: 0, model: model)
    }

    @Test("a source asks for the list of buttons, then for the description, channel and battery of each")
    func start() {
        var talk = SourceTalk(FlicdSource())
        talk.when(.start([hall: FlicdButtonRequest(mode: FlicdChannelMode(latencyMode: .low))]), expect: .connect)
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
        talk.when(.received(FlicdEvent.batteryStatus(id: 2, percentage: nil, timestamp: 0).encoded()), expect: .nothing)
    }

    @Test("a button that is verified later is asked for once, and not again if it was listed")
    func newButton() {
        var talk = Self.listening()
        talk.when(.received(FlicdEvent.newVerifiedButton(hall).encoded()), expect: .nothing)
        talk.when(
            .received(FlicdEvent.newVerifiedButton(attic).encoded()),
            expect: .send(FlicdCommand.getButtonInfo(attic).encoded()),
            .send(FlicdCommand.createConnectionChannel(id: 3, attic, FlicdChannelMode()).encoded()),
            .send(FlicdCommand.createBatteryStatusListener(id: 4, attic).encoded()))
    }

    // MARK: The connection

    @Test("a flicd that cannot be reached is tried again without end, after waits that double up to a minute")
    func retry() {
        var talk = SourceTalk(FlicdSource())
        talk.given(.start([:]))
        for seconds in [1, 2, 4, 8, 16, 32, 60, 60, 60] {
            talk.when(
                .closed("refused"), expect: .lost("refused", retryAfter: .seconds(seconds)),
                .setTimer(talk.now + .seconds(seconds)))
            // Inputs about a connection that has ended are ignored.
            talk.when(.closed("again"), expect: .nothing)
            talk.when(.received([1, 0, 9]), expect: .nothing)
            talk.wait(.seconds(seconds))
            talk.when(.timerFired, expect: .connect)
        }
    }

    @Test("the source pings every 30 seconds and closes a connection whose ping has no answer for 10 seconds")
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
            .lost(
                "it has not answered for 10 seconds; a flicd without a Bluetooth adapter does not answer",
                retryAfter: .seconds(1)),
            .setTimer(talk.now + .seconds(1)))
    }

    @Test("a flicd that accepts the connection and never answers is closed after 10 seconds")
    func silence() {
        var talk = SourceTalk(FlicdSource())
        talk.given(.start([:]))
        talk.given(.connected(bootID: 1))
        talk.wait(.seconds(10))
        talk.when(
            .timerFired, expect: .close,
            .lost(
                "it has not answered for 10 seconds; a flicd without a Bluetooth adapter does not answer",
                retryAfter: .seconds(1)),
            .setTimer(talk.now + .seconds(1)))
    }

    @Test("a flicd that answers and then closes is tried again after waits that double")
    func closesAtOnce() {
        var talk = SourceTalk(FlicdSource())
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

    @Test("only an answered ping resets the wait between connections")
    func goodForSomething() {
        var talk = SourceTalk(FlicdSource())
        talk.given(.start([:]))
        for seconds in [1, 2, 4] {
            talk.given(.closed("refused"))
            talk.wait(.seconds(seconds))
            talk.given(.timerFired)
        }
        talk.given(.connected(bootID: 1))
        talk.given(.received(Self.list([hall])))
        talk.given(.received(FlicdEvent.pingResponse(id: 3).encoded()))
        talk.when(
            .closed("reset"), expect: .state(hall, nil), .controller(nil), .lost("reset", retryAfter: .seconds(8)),
            .setTimer(talk.now + .seconds(8)))
        talk.wait(.seconds(8))
        talk.given(.timerFired)
        talk.given(.connected(bootID: 2))
        talk.given(.received(Self.list([hall])))
        talk.wait(.seconds(30))
        talk.given(.timerFired)
        talk.given(.received(FlicdEvent.pingResponse(id: 3).encoded()))
        talk.when(
            .closed("reset"), expect: .state(hall, nil), .controller(nil), .lost("reset", retryAfter: .seconds(1)),
            .setTimer(talk.now + .seconds(1)))
    }

    @Test("a flicd that reports new and deleted buttons without end is closed, and tried after longer waits")
    func endlessChanges() {
        var talk = Self.listening()
        let again: [FlicdEvent] = [
            .newVerifiedButton(attic), .getButtonInfoResponse(Self.description(of: attic)),
            .buttonDeleted(attic, byThisClient: false),
        ]
        talk.given(.received(FlicdEvent.getButtonInfoResponse(Self.description(of: hall)).encoded()))
        for seconds in [1, 2] {
            var gone = 0
            var effects: [FlicdSource.Effect] = []
            while !effects.contains(.close), gone < 10_000 {
                effects = talk.given(.received(again.flatMap { $0.encoded() }))
                gone += effects.count { $0 == .gone(attic, hasForgotten: false) }
            }
            #expect((400...600).contains(gone))
            #expect(effects.contains(.lost("it reports too many changes", retryAfter: .seconds(seconds))))
            // Packets of the closed connection are ignored.
            talk.when(.received(again.flatMap { $0.encoded() }), expect: .nothing)
            talk.wait(.seconds(seconds))
            talk.given(.timerFired)
            talk.given(.connected(bootID: 2))
            talk.given(.received(Self.list([])))
        }
    }

    @Test("neither a flicd with the most buttons after a long absence nor one with many battery reports is closed")
    func manyChanges() {
        var talk = SourceTalk(FlicdSource())
        talk.given(.start([:]))
        talk.given(.connected(bootID: 1))
        let buttons = (1...FlicdSource.maximumButtons).map { BluetoothAddress(rawValue: UInt64($0)) }
        talk.given(.received(Self.list(buttons)))
        for (place, address) in buttons.enumerated() {
            let id = UInt32(2 * place + 1)
            let events: [FlicdEvent] = [
                .getButtonInfoResponse(Self.description(of: address)),
                .createConnectionChannelResponse(id: id, error: .noError, .disconnected),
                .batteryStatus(id: id + 1, percentage: 80, timestamp: 1_700_000_000),
                .connectionStatusChanged(id: id, .connected, reason: .unspecified),
                .connectionStatusChanged(id: id, .ready, reason: .unspecified),
            ]
            talk.given(.received(events.flatMap { $0.encoded() }))
        }
        #expect(talk.machine.isConnected)
        for round in 0..<20 {
            talk.wait(.seconds(30))
            guard case .send(let octets) = talk.given(.timerFired).first,
                case .ping(let id) = try? FlicdCommand(decoding: Array(octets.dropFirst(2)))
            else {
                Issue.record("no ping in round \(round)")
                return
            }
            talk.given(.received(FlicdEvent.pingResponse(id: id).encoded()))
            for _ in 0..<400 {
                talk.given(.received(FlicdEvent.batteryStatus(id: 2, percentage: 79, timestamp: 1).encoded()))
            }
        }
        #expect(talk.machine.isConnected)
    }

    @Test("a battery report with an impossible percentage or time is ignored")
    func battery() {
        var talk = Self.ready()
        for (percentage, time) in [(UInt8(101), Int64(1)), (0xFF, 1), (50, -1), (50, 253_402_300_800), (50, .max)] {
            var octets = FlicdEvent.batteryStatus(id: 2, percentage: 50, timestamp: time).encoded()
            octets[7] = percentage
            talk.when(.received(octets), expect: .nothing)
        }
        talk.when(.received(FlicdEvent.batteryStatus(id: 9, percentage: 50, timestamp: 1).encoded()), expect: .nothing)
        talk.when(
            .received(FlicdEvent.batteryStatus(id: 2, percentage: 0, timestamp: 253_402_300_799).encoded()),
            expect: .battery(hall, percentage: 0, measuredAt: UTCTime(milliseconds: 253_402_300_799_000)))
    }

    @Test("timers of a channel or a wizard do not outlive their connection")
    func oldDeadlines() {
        var talk = Self.ready()
        talk.given(.search)
        talk.given(.received(FlicdEvent.scanWizardCompleted(id: 3, .bluetoothUnavailable).encoded()))
        talk.given(.received(FlicdEvent.connectionChannelRemoved(id: 1, .forceDisconnectedByOtherClient).encoded()))
        talk.given(.stopSearch)
        talk.given(.search)
        talk.given(.received(FlicdEvent.scanWizardCompleted(id: 4, .bluetoothUnavailable).encoded()))
        Self.reconnect(&talk)
        talk.when(
            .received(Self.list([])), expect: .controller(.attached),
            .send(FlicdCommand.createScanWizard(id: 1).encoded()), .setTimer(talk.now + .seconds(30)))
    }

    @Test("a button that is verified before the list has come is asked for once")
    func verifiedEarly() {
        var talk = SourceTalk(FlicdSource())
        talk.given(.start([:]))
        talk.given(.connected(bootID: 1))
        talk.when(.received(FlicdEvent.newVerifiedButton(attic).encoded()), expect: .nothing)
        let effects = talk.given(.received(Self.list([hall, attic])))
        for address in [hall, attic] {
            #expect(effects.count { $0 == .send(FlicdCommand.getButtonInfo(address).encoded()) } == 1)
        }
    }

    @Test(
        "a description of another button than the one asked for is an anomaly, and one of a deleted button is ignored")
    func descriptions() {
        var talk = SourceTalk(FlicdSource())
        talk.given(.start([:]))
        talk.given(.connected(bootID: 1))
        talk.given(.received(Self.list([hall, attic])))
        let description = FlicdEvent.getButtonInfoResponse(Self.description(of: attic)).encoded()
        talk.when(.received(description), expect: .anomaly("a description of \(attic) instead of \(hall)"))
        talk.given(.received(FlicdEvent.buttonDeleted(attic, byThisClient: false).encoded()))
        talk.when(.received(description), expect: .nothing)
    }

    /// Ends the connection and makes a new one.
    private static func reconnect(_ talk: inout SourceTalk) {
        talk.given(.closed("reset"))
        talk.wait(.seconds(1))
        talk.when(.timerFired, expect: .connect)
        talk.when(
            .connected(bootID: 2), expect: .send(FlicdCommand.getInfo.encoded()), .setTimer(talk.now + .seconds(10)))
    }

    @Test("a new connection begins with the first ids and the listed buttons, without the rest of an old packet")
    func startsAnew() {
        var talk = Self.ready()
        talk.given(.received([40, 0, 1]))
        Self.reconnect(&talk)
        talk.when(
            .received(Self.list([hall])), expect: .controller(.attached),
            .send(FlicdCommand.getButtonInfo(hall).encoded()),
            .send(FlicdCommand.createConnectionChannel(id: 1, hall, FlicdChannelMode()).encoded()),
            .send(FlicdCommand.createBatteryStatusListener(id: 2, hall).encoded()),
            .setTimer(talk.now + .seconds(30)))
    }

    @Test("unexpected answers and invalid packets change nothing, and only the first are logged")
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
        // Packets about unknown ids are not logged: a removal may cross packets of the channel it removes.
        talk.when(
            .received(FlicdEvent.connectionChannelRemoved(id: 9, .removedByThisClient).encoded()), expect: .nothing)
        talk.when(
            .received(FlicdEvent.button(id: 9, .upOrDown, .buttonDown, wasQueued: false, timeDifference: 0).encoded()),
            expect: .nothing)
        #expect(talk.machine.isConnected)
    }

    @Test("random packets never trap, and do not end the connection", arguments: 0..<200)
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

    @Test("buttons beyond the maximum are ignored")
    func manyButtons() {
        var talk = SourceTalk(FlicdSource())
        talk.given(.start([:]))
        talk.given(.connected(bootID: 1))
        let buttons = (1...(FlicdSource.maximumButtons + 3)).map { BluetoothAddress(rawValue: UInt64($0)) }
        let sent = talk.given(.received(Self.list(buttons))).count {
            if case .send = $0 { true } else { false }
        }
        #expect(sent == 3 * FlicdSource.maximumButtons)
    }

    // MARK: Channels

    @Test("a channel that another client removed is created again after waits that double, until it was ready once")
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

    /// The ids of the channels that are created within `seconds`, in which pings are answered.
    private static func channelsCreated(in talk: inout SourceTalk, seconds: Int) -> [UInt32] {
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

    @Test("a channel that is refused is created again after the wait of one that was removed")
    func refused() {
        var talk = Self.listening()
        talk.when(
            .received(
                FlicdEvent.createConnectionChannelResponse(id: 1, error: .maxPendingConnectionsReached, .disconnected)
                    .encoded()),
            expect: .anomaly("\(hall) must wait: the flicd monitors the maximum number of buttons"), .state(hall, nil),
            .setTimer(talk.now + .seconds(10)))
    }

    @Test(
        "a channel gets each changed mode, is removed when unwanted, and created again when wanted")
    func wishes() {
        var talk = Self.ready()
        let low = FlicdChannelMode(latencyMode: .low, autoDisconnectTime: 60)
        talk.when(
            .request(hall, FlicdButtonRequest(mode: low)),
            expect: .send(FlicdCommand.changeModeParameters(id: 1, low).encoded()))
        talk.when(.request(hall, FlicdButtonRequest(mode: low)), expect: .nothing)
        talk.when(
            .request(hall, FlicdButtonRequest(mode: low, isConnectionWanted: false)),
            expect: .send(FlicdCommand.removeConnectionChannel(id: 1).encoded()), .state(hall, nil))
        talk.when(
            .received(FlicdEvent.connectionChannelRemoved(id: 1, .removedByThisClient).encoded()), expect: .nothing)
        talk.when(
            .request(hall, FlicdButtonRequest(mode: low)),
            expect: .send(FlicdCommand.createConnectionChannel(id: 3, hall, low).encoded()))
    }

    @Test(
        "a button that is deleted for any reason is reported as gone once",
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
        talk.when(.received(FlicdEvent.buttonDeleted(hall, byThisClient: true).encoded()), expect: .nothing)
    }

    // MARK: Pairing

    @Test("a search creates one scan wizard after another until it is stopped")
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
        talk.when(.received(FlicdEvent.scanWizardCompleted(id: 5, .cancelledByUser).encoded()), expect: .nothing)
    }

    /// Ends a wizard and returns the first effect one second later.
    private static func next(
        _ result: FlicdScanWizardResult, of id: UInt32, in talk: inout SourceTalk
    ) -> FlicdSource.Effect? {
        let effects = talk.given(.received(FlicdEvent.scanWizardCompleted(id: id, result).encoded()))
        #expect(effects == [.setTimer(talk.now + .seconds(1))])
        talk.wait(.seconds(1))
        return talk.given(.timerFired).first
    }

    @Test("a flicd that verifies and deletes buttons without end and describes none is asked for a bounded number")
    func endlessButtons() {
        var talk = Self.ready()
        talk.given(.search)
        var asked = 0
        for number in 0..<2000 {
            if number % 100 == 99 {
                // Pings are answered, so the connection stays.
                talk.wait(.seconds(30))
                talk.given(.timerFired)
                talk.given(.received(FlicdEvent.pingResponse(id: 0).encoded()))
            }
            let address = BluetoothAddress(rawValue: UInt64(0x1000 + number))
            for event in [FlicdEvent.newVerifiedButton(address), .buttonDeleted(address, byThisClient: false)] {
                asked += talk.given(.received(event.encoded())).count {
                    $0 == .send(FlicdCommand.getButtonInfo(address).encoded())
                }
            }
        }
        #expect(asked == FlicdSource.maximumAwaited && talk.machine.newlyPaired.isEmpty)
    }

    @Test("a failed wizard is reported, and the next one is created five seconds later")
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

    @Test("a search continues over the next connection")
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
