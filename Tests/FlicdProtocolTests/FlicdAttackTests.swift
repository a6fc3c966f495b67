import ButtonModel
import FlicdProtocol
import TestSupport
import Testing

@Suite("Abusive clients of flicd")
struct FlicdAttackTests {
    /// The effects while a client repeats the same requests a thousand times a second.
    private func said(
        _ talk: inout FlicdTalk, turns: Int = 3000, _ commands: (UInt32) -> [FlicdCommand]
    ) -> [FlicdTalk.Said] {
        var said: [FlicdTalk.Said] = []
        for turn in 0..<UInt32(turns) {
            for command in commands(turn) { said += talk.handle(.received(id(1), command.encoded())) }
            said += talk.pass(.milliseconds(1))
        }
        return said
    }

    private func listens(_ said: [FlicdTalk.Said]) -> [FlicdListening] {
        said.compactMap { if case .listens(let listening) = $0 { listening } else { nil } }
    }

    @Test("a scanner that is created and removed without pause starts scanning at most once a second")
    func scanner() {
        var talk = FlicdTalk()
        let told = listens(said(&talk) { [.createScanner(id: $0), .removeScanner(id: $0)] })
        #expect(told.count == 6)
        #expect(told.suffix(2) == [FlicdListening(reportsAll: true), FlicdListening()])
    }

    @Test("wizards that are created and cancelled without pause start a search at most once a second, and all complete")
    func wizard() {
        var talk = FlicdTalk()
        let said = said(&talk) { [.createScanWizard(id: $0), .cancelScanWizard(id: $0)] }
        #expect(listens(said).count == 6)
        #expect(said.count { if case .told = $0 { true } else { false } } == 3000)
    }

    @Test("overlapping wizards restart the search at most once a second")
    func wizardsInARow() {
        var talk = FlicdTalk()
        let told = listens(said(&talk, turns: 2999) { [.createScanWizard(id: $0 + 1), .cancelScanWizard(id: $0)] })
        #expect(told == [FlicdListening](repeating: FlicdListening(pairsAny: true), count: 3))
    }

    @Test("channels to unknown buttons that are created and removed without pause start a search at most once a second")
    func strangers() {
        var talk = FlicdTalk()
        let told = listens(
            said(&talk) {
                [
                    .createConnectionChannel(id: 1, BluetoothAddress(rawValue: UInt64($0)), FlicdChannelMode()),
                    .removeConnectionChannel(id: 1),
                ]
            })
        #expect(told.count == 6)
    }

    @Test("a request within the minimum interval is passed on at its end, once, unless it was withdrawn")
    func delayed() {
        var talk = FlicdTalk()
        talk.given(1, .createScanner(id: 1))
        talk.when(1, .createScanWizard(id: 1), expect: .nothing)
        talk.wait(.milliseconds(999))
        talk.wait(.milliseconds(1), expect: .listens(FlicdListening(reportsAll: true, pairsAny: true)))
        talk.given(1, .cancelScanWizard(id: 1))
        talk.when(1, .createConnectionChannel(id: 1, attic, FlicdChannelMode()), expect: told(.disconnected))
        talk.given(1, .removeConnectionChannel(id: 1))
        talk.wait(.seconds(5))
        talk.given(1, .createScanWizard(id: 2), .createScanWizard(id: 3))
        talk.when(1, .createScanWizard(id: 4), expect: .nothing)
        let cancelled = (UInt32(2)...4).map { FlicdTalk.Said.told(1, .scanWizardCompleted(id: $0, .cancelledByUser)) }
        talk.when(
            1, .cancelScanWizard(id: 2), .cancelScanWizard(id: 3), .cancelScanWizard(id: 4),
            expect: .listens(FlicdListening(reportsAll: true)), cancelled[0], cancelled[1], cancelled[2])
        talk.wait(.seconds(5))
    }

    @Test("a mode that changes without pause is sent to the button every five seconds, and the last one in any case")
    func modes() {
        var talk = FlicdTalk(buttons: [hall, attic], clients: 2)
        talk.given(1, .createConnectionChannel(id: 1, hall, FlicdChannelMode(latencyMode: .high)))
        let said = said(&talk, turns: 20_001) {
            let mode = FlicdChannelMode(latencyMode: .low, autoDisconnectTime: UInt16($0 % 487))
            return [.changeModeParameters(id: 1, mode)]
        }
        let times = said.compactMap { if case .wants(_, let mode?) = $0 { mode.autoDisconnectTime } else { nil } }
        #expect(said.count == times.count)
        #expect(times == [129, 259, 389, 32])
        // The limit applies to each button separately.
        talk.when(
            2, .createConnectionChannel(id: 1, attic, FlicdChannelMode()),
            expect: .wants(ButtonID(attic), FlicdChannelMode()), told(.disconnected, client: 2))
        talk.wait(
            .seconds(5), expect: .wants(ButtonID(hall), FlicdChannelMode(latencyMode: .low, autoDisconnectTime: 33)))
        talk.wait(.seconds(20))
    }

    @Test("a button that is paired again gets the mode of its channels at once")
    func pairedAnew() {
        var talk = FlicdTalk()
        talk.given(1, .createConnectionChannel(id: 1, hall, FlicdChannelMode(latencyMode: .low)))
        talk.given(.unpaired(ButtonID(hall)))
        talk.given(.paired(identity(hall)))
        talk.when(
            1, .createConnectionChannel(id: 1, hall, FlicdChannelMode(latencyMode: .low)),
            expect: .wants(ButtonID(hall), FlicdChannelMode(latencyMode: .low)), told(.disconnected))
    }

    @Test("if the server is full, the oldest client that has sent no command is disconnected")
    func silent() {
        var talk = FlicdTalk(clients: FlicdServer.maximumClients)
        talk.given(1, .ping(id: 0))
        // The beginning of a packet is not a command.
        talk.given(.received(id(2), [5, 0, 7, 1]))
        talk.when(.clientConnected(id(65), peer: "127.0.0.1:65"), expect: .closed(2, isWritten: false))
        talk.when(.clientConnected(id(66), peer: "127.0.0.2:66"), expect: .closed(3, isWritten: false))
        talk.when(65, .ping(id: 5), expect: .told(65, .pingResponse(id: 5)))
        #expect(talk.server.clientCount == FlicdServer.maximumClients)
    }

    @Test("the clients of one address cannot use all connections")
    func share() {
        var talk = FlicdTalk(clients: 0)
        for client in 1...32 {
            talk.given(.clientConnected(id(client), peer: "10.0.0.9:\(client)"))
            talk.given(client, .ping(id: 0))
        }
        talk.when(.clientConnected(id(33), peer: "10.0.0.9:33"), expect: .closed(33, isWritten: false))
        #expect(talk.logged.last == "flicd: 10.0.0.9:33 was refused: 32 clients of this address are connected")
        talk.when(.clientConnected(id(34), peer: "10.0.0.8:1"), expect: .nothing)
        // A client without commands is disconnected when another client of its address connects.
        talk.given(.clientGone(id(1)))
        talk.given(.clientConnected(id(35), peer: "10.0.0.9:35"))
        talk.when(.clientConnected(id(36), peer: "10.0.0.9:36"), expect: .closed(35, isWritten: false))
    }

    @Test("refused clients, invalid frames and failing wizards cause at most one log line a minute")
    func lines() {
        var talk = FlicdTalk(clients: FlicdServer.maximumClients)
        for client in 1...FlicdServer.maximumClients { talk.given(client, .ping(id: 0)) }
        for client in 100..<10_100 {
            talk.given(.clientConnected(id(client), peer: "127.0.0.1:\(client)"))
            _ = talk.pass(.milliseconds(1))
        }
        #expect(talk.logged.filter { $0.contains("refused") }.count == 1)
        _ = talk.pass(.seconds(60))
        talk.given(.clientConnected(id(10_101), peer: "127.0.0.1:10101"))
        let text = "flicd: 127.0.0.1:10101 was refused: 64 clients are connected"
        #expect(talk.logged.last == "\(text) (9999 more like this since the last line of it)")
        for client in 20_000..<30_000 {
            talk.given(.clientGone(id(client - 1)))
            talk.given(.clientGone(id(1)))
            talk.given(.clientConnected(id(client), peer: "127.0.0.1:\(client)"))
            talk.given(.received(id(client), Array("GET / HTTP/1.1".utf8)))
        }
        #expect(talk.logged.filter { $0.contains("not a flicd client") }.count == 1)
        var house = FlicdTalk(isAttached: false)
        for turn in 0..<100 {
            house.given(.clientConnected(id(turn + 1), peer: "127.0.0.1:1"))
            for wizard in 0..<UInt32(16) { house.given(turn + 1, .createScanWizard(id: wizard)) }
            _ = house.pass(.seconds(2))
            house.given(.clientGone(id(turn + 1)))
        }
        // The clients came and went for 200 s, and the line is logged at most once a minute.
        #expect(house.logged.filter { $0.contains("no Bluetooth adapter") }.count == 4)
    }

    @Test("buttons that channels wait for are counted as pending connections, up to 255")
    func pending() {
        var talk = FlicdTalk()
        func pending() -> UInt8? {
            guard case .told(1, .getInfoResponse(let info)) = talk.given(1, .getInfo).first else { return nil }
            return info.currentPendingConnections
        }
        #expect(pending() == 1)
        talk.given(1, .createConnectionChannel(id: 1, hall, FlicdChannelMode()))
        talk.given(1, .createConnectionChannel(id: 2, attic, FlicdChannelMode()))
        talk.given(1, .createConnectionChannel(id: 3, attic, FlicdChannelMode()))
        #expect(pending() == 2)
        talk.given(1, .removeConnectionChannel(id: 2))
        #expect(pending() == 2)
        talk.given(.paired(identity(attic)))
        #expect(pending() == 2)
        talk.given(.deleted(ButtonID(attic)))
        #expect(pending() == 1)
        for id in 10..<UInt32(250) {
            talk.given(1, .createConnectionChannel(id: id, BluetoothAddress(rawValue: UInt64(id)), FlicdChannelMode()))
        }
        #expect(pending() == 241)
        talk.given(.clientConnected(id(2), peer: "127.0.0.1:2"))
        for id in 300..<UInt32(400) {
            talk.given(2, .createConnectionChannel(id: id, BluetoothAddress(rawValue: UInt64(id)), FlicdChannelMode()))
        }
        #expect(pending() == 255)
        talk.given(.clientGone(id(2)))
        #expect(pending() == 241)
    }

    @Test("repeated ForceDisconnect commands end each channel once, and channels can be created again")
    func forced() {
        var talk = FlicdTalk(clients: 2)
        talk.given(2, .createConnectionChannel(id: 0, hall, FlicdChannelMode()))
        talk.given(.status(ButtonID(hall), .ready))
        talk.wait(FlicdServer.minimumModeInterval)
        let removed = FlicdEvent.connectionChannelRemoved(id: 0, .forceDisconnectedByOtherClient)
        let said = said(&talk, turns: 1000) { _ in [.forceDisconnect(hall), .forceDisconnect(attic)] }
        #expect(said == [.wants(ButtonID(hall), nil), .told(2, removed)])
        talk.when(
            2, .createConnectionChannel(id: 0, hall, FlicdChannelMode()), expect: told(.ready, client: 2, id: 0))
        talk.wait(FlicdServer.minimumModeInterval, expect: .wants(ButtonID(hall), FlicdChannelMode()))
    }

    @Test(
        "objects of different kinds and clients can have the same id, also the smallest and the largest",
        arguments: [0, .max])
    func ids(number: UInt32) {
        var talk = FlicdTalk(clients: 2)
        for client in 1...2 {
            talk.given(
                client, .createConnectionChannel(id: number, hall, FlicdChannelMode()), .createScanner(id: number),
                .createScanWizard(id: number), .createBatteryStatusListener(id: number, hall))
        }
        talk.given(.status(ButtonID(hall), .ready))
        let advertisement = FlicdAdvertisement(
            address: attic, name: "", rssi: -60, isPrivate: true, isAlreadyVerified: false)
        let down = FlicdEvent.button(
            id: number, .upOrDown, .buttonDown, wasQueued: false, timeDifference: 0)
        let battery = FlicdEvent.batteryStatus(id: number, percentage: 80, timestamp: 5)
        talk.given(2, .removeConnectionChannel(id: number))
        talk.when(.events(ButtonID(hall), [event(.down)]), expect: .told(1, down))
        talk.given(1, .removeScanner(id: number))
        talk.when(
            .advertised(advertisement),
            expect: .told(1, .scanWizardFoundPrivateButton(id: number)),
            .told(2, .advertisementPacket(scanID: number, advertisement)),
            .told(2, .scanWizardFoundPrivateButton(id: number)))
        talk.given(1, .removeBatteryStatusListener(id: number))
        talk.when(
            .battery(ButtonID(hall), percentage: 80, at: UTCTime(milliseconds: 5000)), expect: .told(2, battery))
        talk.when(
            1, .cancelScanWizard(id: number),
            expect: .told(1, .scanWizardCompleted(id: number, .cancelledByUser)))
    }

    private func told(
        _ status: FlicdConnectionStatus, client: Int = 1, id: UInt32 = 1
    ) -> FlicdTalk.Said {
        .told(client, .createConnectionChannelResponse(id: id, error: .noError, status))
    }
}
