import ButtonModel
import FlicdProtocol
import TestSupport
import Testing

@Suite("Requests of flicd's clients, and events for all of them")
struct FlicdServerTests {
    private static let button = ButtonID(hall)

    private static func info(
        _ state: FlicdControllerState = .attached, address: UInt64 = 0x001A_7DDA_7113, pending: UInt8 = 25,
        maximum: Int16? = nil, hasNoSpace: Bool = false, buttons: [BluetoothAddress] = [hall, attic]
    ) -> FlicdEvent {
        .getInfoResponse(
            FlicdInfo(
                controllerState: state, address: BluetoothAddress(rawValue: address), maxPendingConnections: pending,
                maxConcurrentlyConnectedButtons: maximum, currentPendingConnections: UInt8(buttons.count),
                hasNoSpace: hasNoSpace, verifiedButtons: buttons))
    }

    @Test("GetInfo lists all pairings, with and without an adapter")
    func info() {
        var talk = FlicdTalk(buttons: [attic, hall])
        talk.given(.acceptListSize(25))
        talk.when(1, .getInfo, expect: .told(1, Self.info()))
        talk.given(.linkLimit(5))
        talk.when(1, .getInfo, expect: .told(1, Self.info(maximum: 5, hasNoSpace: true)))
        talk.given(.linkLimit(nil))
        talk.given(.controller(.detached, address: nil))
        talk.when(1, .getInfo, expect: .told(1, Self.info(.detached, maximum: 5)))
        var configured = FlicdTalk(server: FlicdServer(maximumLinks: 3))
        configured.when(1, .getInfo, expect: .told(1, Self.info(pending: 0, maximum: 3, buttons: [hall])))
        var fresh = FlicdTalk(buttons: [], isAttached: false)
        fresh.when(1, .getInfo, expect: .told(1, Self.info(.detached, address: 0, pending: 0, buttons: [])))
    }

    @Test("commands are answered in their order, each once, in whatever pieces they come")
    func order() {
        let commands: [FlicdCommand] = [
            .getButtonInfo(attic), .ping(id: 1), .getButtonInfo(hall), .getInfo, .ping(id: 2), .getButtonInfo(hall),
        ]
        let known = FlicdButtonInfo(
            address: hall, uuid: "000102030405060708090a0b0c0d0e0f", serial: "BA12-C34567", flicVersion: 2,
            firmwareVersion: 11)
        let answers: [FlicdTalk.Said] = [
            .told(1, .getButtonInfoResponse(FlicdButtonInfo(address: attic))), .told(1, .pingResponse(id: 1)),
            .told(1, .getButtonInfoResponse(known)), .told(1, Self.info(pending: 0, buttons: [hall])),
            .told(1, .pingResponse(id: 2)), .told(1, .getButtonInfoResponse(known)),
        ]
        let stream = commands.flatMap { $0.encoded() }
        for length in 1...stream.count {
            var talk = FlicdTalk()
            var said: [FlicdTalk.Said] = []
            for start in stride(from: 0, to: stream.count, by: length) {
                said += talk.handle(.received(id(1), Array(stream[start..<min(start + length, stream.count)])))
            }
            #expect(said == answers, "in pieces of \(length)")
        }
    }

    @Test("a battery listener receives the percentage at once, known or not, and after every reading")
    func battery() {
        var talk = FlicdTalk()
        talk.wait(.milliseconds(1))
        talk.when(
            1, .createBatteryStatusListener(id: 4, hall),
            expect: .told(1, .batteryStatus(id: 4, percentage: nil, timestamp: 1_700_000_001)))
        talk.when(
            .battery(Self.button, percentage: 80, at: UTCTime(milliseconds: 5_999)),
            expect: .told(1, .batteryStatus(id: 4, percentage: 80, timestamp: 5)))
        talk.when(1, .createBatteryStatusListener(id: 4, attic), expect: .nothing)
        talk.when(
            1, .createBatteryStatusListener(id: 5, hall), .createBatteryStatusListener(id: 6, attic),
            expect: .told(1, .batteryStatus(id: 5, percentage: 80, timestamp: 5)),
            .told(1, .batteryStatus(id: 6, percentage: nil, timestamp: 1_700_000_001)))
        talk.given(1, .removeBatteryStatusListener(id: 4))
        talk.when(
            .battery(Self.button, percentage: 79, at: UTCTime(milliseconds: -1)),
            expect: .told(1, .batteryStatus(id: 5, percentage: 79, timestamp: -1)))
    }

    @Test("one battery listener more than the server takes is answered once and not kept")
    func listenerBound() {
        var talk = FlicdTalk()
        for id in 0..<UInt32(FlicdServer.maximumListeners) {
            talk.given(1, .createBatteryStatusListener(id: id, attic))
        }
        talk.when(
            1, .createBatteryStatusListener(id: .max, hall),
            expect: .told(1, .batteryStatus(id: .max, percentage: nil, timestamp: 1_700_000_000)))
        talk.when(.battery(Self.button, percentage: 79, at: UTCTime(milliseconds: 0)), expect: .nothing)
    }

    @Test("a deleted button's channels end, then all clients are informed, then the button is not listed")
    func delete() {
        var talk = FlicdTalk(clients: 2)
        talk.given(1, .createConnectionChannel(id: 7, hall, FlicdChannelMode()))
        talk.given(2, .createConnectionChannel(id: 8, hall, FlicdChannelMode()))
        talk.when(
            2, .deleteButton(hall), .getInfo,
            expect: .deletes(Self.button),
            .told(1, .connectionChannelRemoved(id: 7, .deletedByOtherClient)),
            .told(1, .buttonDeleted(hall, byThisClient: false)),
            .told(2, .connectionChannelRemoved(id: 8, .deletedByThisClient)),
            .told(2, .buttonDeleted(hall, byThisClient: true)), .told(2, Self.info(pending: 0, buttons: [])))
        talk.when(.deleted(Self.button), expect: .nothing)
        talk.when(1, .deleteButton(hall), expect: .told(1, .buttonDeleted(hall, byThisClient: true)))
    }

    @Test("a button deleted elsewhere or that has lost its pairing is reported as deleted, with the reason")
    func departures() {
        var talk = FlicdTalk(buttons: [hall, attic])
        talk.given(1, .createConnectionChannel(id: 7, hall, FlicdChannelMode()))
        talk.given(1, .createConnectionChannel(id: 8, attic, FlicdChannelMode()))
        talk.when(
            .deleted(Self.button),
            expect: .told(1, .connectionChannelRemoved(id: 7, .deletedByOtherClient)),
            .told(1, .buttonDeleted(hall, byThisClient: false)))
        talk.when(
            .unpaired(ButtonID(attic)),
            expect: .told(1, .connectionChannelRemoved(id: 8, .deletedFromButton)),
            .told(1, .buttonDeleted(attic, byThisClient: false)))
    }

    @Test("when the controller goes, every connection is reported as ended first")
    func controller() {
        var talk = FlicdTalk(buttons: [hall, attic])
        talk.given(1, .createConnectionChannel(id: 7, hall, FlicdChannelMode()))
        talk.given(1, .createConnectionChannel(id: 8, attic, FlicdChannelMode()))
        talk.given(.status(Self.button, .ready))
        talk.when(
            .controller(.resetting, address: nil),
            expect: .told(1, .connectionStatusChanged(id: 7, .disconnected, reason: .unspecified)),
            .told(1, .bluetoothControllerStateChange(.resetting)))
        talk.when(.status(Self.button, .disconnected), expect: .nothing)
        talk.when(.controller(.resetting, address: nil), expect: .nothing)
        talk.when(
            .controller(.attached, address: hall), expect: .told(1, .bluetoothControllerStateChange(.attached)))
    }

    @Test("clients are informed when the links run out and when one is free again")
    func space() {
        var talk = FlicdTalk()
        talk.when(.linkLimit(nil), expect: .nothing)
        talk.when(.linkLimit(300), expect: .told(1, .noSpaceForNewConnection(maximum: 255)))
        talk.when(.linkLimit(300), expect: .nothing)
        talk.when(.linkLimit(nil), expect: .told(1, .gotSpaceForNewConnection(maximum: 255)))
    }

    @Test("a new firmware version is in the next GetButtonInfo answer, and reports no new button")
    func update() {
        var talk = FlicdTalk()
        var newer = identity(hall)
        newer.firmwareVersion = .max
        newer.model = .flic1
        talk.when(.button(newer), expect: .nothing)
        talk.when(
            1, .getButtonInfo(hall),
            expect: .told(
                1,
                .getButtonInfoResponse(
                    FlicdButtonInfo(
                        address: hall, uuid: newer.uuid, serial: newer.serial, flicVersion: 1,
                        firmwareVersion: 0x7FFF_FFFF))))
    }
}
