import ButtonModel
import FlicdProtocol
import TestSupport
import Testing

@Suite("Slow, demanding and broken clients of flicd")
struct FlicdStrainTests {
    @Test("an unknown or short command is skipped, counted and logged once, and the next command is executed")
    func garbage() {
        var talk = FlicdTalk()
        for _ in 0..<3 {
            talk.when(1, .other(opcode: 200), expect: .nothing)
            talk.when(.received(id(1), [2, 0, 7, 1, 0, 0]), expect: .nothing)
        }
        talk.when(1, .ping(id: 9), expect: .told(1, .pingResponse(id: 9)))
        #expect(talk.server.ignoredFrameCount == 6)
        #expect(talk.logged.count { $0.contains("200") } == 1)
        #expect(talk.logged.count { $0.contains("command 7") } == 1)
        // The command has more octets than it needs.
        talk.when(.received(id(1), [7, 0, 7, 1, 2, 3, 4, 5, 6]), expect: .told(1, .pingResponse(id: 0x0403_0201)))
    }

    @Test("a frame above 4096 octets closes the connection, and a frame of 4096 octets does not")
    func longFrame() {
        var talk = FlicdTalk()
        talk.given(1, .createConnectionChannel(id: 7, hall, FlicdChannelMode()))
        talk.wait(FlicdServer.minimumModeInterval)
        talk.when(
            .received(id(1), [0x01, 0x10, 71]),
            expect: .closed(1, isWritten: false), .wants(ButtonID(hall), nil))
        talk.when(.received(id(1), [1, 0, 0]), expect: .nothing)
        #expect(talk.server.clientCount == 0)
        var other = FlicdTalk()
        other.when(.received(id(1), [0x00, 0x10] + [UInt8](repeating: 255, count: 4096)), expect: .nothing)
        other.when(1, .ping(id: 9), expect: .told(1, .pingResponse(id: 9)))
    }

    @Test("a hundred thousand commands are executed in many short turns, and all are answered")
    func flood() {
        var talk = FlicdTalk()
        let ping = FlicdCommand.ping(id: 5).encoded()
        let piece = [UInt8]((0..<2340).flatMap { _ in ping })
        var (answered, turns, isPaused) = (0, 0, false)
        func count(_ said: [FlicdTalk.Said]) {
            var inTurn = 0
            for word in said {
                switch word {
                case .told(1, .pingResponse(id: 5)): inTurn += 1
                case .paused: isPaused = true
                case .resumed: isPaused = false
                default: Issue.record("\(word)")
                }
            }
            #expect(inTurn <= FlicdServer.commandsPerTurn)
            answered += inTurn
            turns += 1
        }
        var sent = 0
        while sent < 100_000 {
            count(talk.handle(.received(id(1), piece)))
            sent += 2340
            while isPaused {
                #expect(talk.timer == talk.now)
                count(talk.handle(.timerFired))
            }
        }
        #expect(answered == sent)
        #expect(turns == sent / 2340 * 37)
    }

    @Test("a turn ends after a bound of octets in answers, before its bound of commands")
    func longAnswers() {
        let buttons = (0..<1000).map { BluetoothAddress(rawValue: UInt64($0)) }
        var talk = FlicdTalk(buttons: buttons)
        let commands = [UInt8]((0..<100).flatMap { _ in FlicdCommand.getInfo.encoded() })
        var most = 0
        var answers = 0
        var said = talk.handle(.received(id(1), commands))
        while !said.isEmpty {
            let count = said.count { if case .told = $0 { true } else { false } }
            most = max(most, count)
            answers += count
            said = talk.handle(.timerFired)
        }
        #expect(most == 11)
        #expect(answers == 100)
    }

    @Test("a client with many commands does not delay the commands of another client")
    func fairness() {
        var talk = FlicdTalk(clients: 2)
        let many = [UInt8]((0..<200).flatMap { _ in FlicdCommand.ping(id: 1).encoded() })
        talk.given(.received(id(1), many))
        talk.when(2, .ping(id: 2), expect: .told(2, .pingResponse(id: 2)))
    }

    @Test("a client that does not read gets its answers later, and is disconnected if they exceed the limit")
    func slowReader() {
        var talk = FlicdTalk(clients: 2)
        talk.given(1, .createConnectionChannel(id: 7, hall, FlicdChannelMode()))
        talk.given(.clientBlocked(id(1)))
        talk.when(1, .ping(id: 1), .createConnectionChannel(id: 8, hall, FlicdChannelMode()), expect: .nothing)
        talk.when(
            .status(ButtonID(hall), .ready), expect: .nothing)
        talk.when(
            .clientDrained(id(1)),
            expect: .told(1, .pingResponse(id: 1)),
            .told(1, .createConnectionChannelResponse(id: 8, error: .noError, .disconnected)),
            .told(1, .connectionStatusChanged(id: 7, .connected, reason: .unspecified)),
            .told(1, .connectionStatusChanged(id: 8, .connected, reason: .unspecified)),
            .told(1, .connectionStatusChanged(id: 7, .ready, reason: .unspecified)),
            .told(1, .connectionStatusChanged(id: 8, .ready, reason: .unspecified)))

        talk.wait(FlicdServer.minimumModeInterval)
        talk.given(.clientBlocked(id(1)))
        var presses = 0
        var said: [FlicdTalk.Said] = []
        // Each press makes two packets of 13 octets, one for each channel.
        while said.isEmpty, presses < 20_000 {
            said = talk.handle(.events(ButtonID(hall), [event(.down)]))
            presses += 1
        }
        #expect(presses == FlicdServer.maximumUnsentCount / 26 + 1)
        #expect(said == [.closed(1, isWritten: false), .wants(ButtonID(hall), nil)])
        talk.when(2, .ping(id: 2), expect: .told(2, .pingResponse(id: 2)))
    }

    @Test("for a client that does not read, only the newest advertisement of each button is kept")
    func slowScanner() {
        var talk = FlicdTalk()
        talk.given(1, .createScanner(id: 5))
        talk.given(.clientBlocked(id(1)))
        var advertisement = FlicdAdvertisement(
            address: attic, name: "", rssi: 0, isPrivate: true, isAlreadyVerified: false)
        for rssi in 1...100 {
            advertisement.rssi = Int8(-rssi)
            talk.when(.advertised(advertisement), expect: .nothing)
        }
        talk.given(1, .ping(id: 1))
        talk.when(
            .clientDrained(id(1)),
            expect: .told(1, .pingResponse(id: 1)), .told(1, .advertisementPacket(scanID: 5, advertisement)))
        talk.given(.clientBlocked(id(1)))
        for address in 0..<10_000 {
            advertisement.address = BluetoothAddress(rawValue: UInt64(address))
            talk.given(.advertised(advertisement))
        }
        #expect(talk.handle(.clientDrained(id(1))).count == 256)
    }

    @Test("a client that stops writing gets its answers, is closed, and no longer asks for connections")
    func halfClosed() {
        var talk = FlicdTalk()
        talk.given(1, .createConnectionChannel(id: 7, hall, FlicdChannelMode()))
        talk.wait(FlicdServer.minimumModeInterval)
        talk.when(.clientFinished(id(1)), expect: .wants(ButtonID(hall), nil), .closed(1, isWritten: true))

        var busy = FlicdTalk()
        let many = [UInt8]((0..<100).flatMap { _ in FlicdCommand.ping(id: 1).encoded() })
        busy.given(.received(id(1), many))
        busy.when(.clientFinished(id(1)), expect: .nothing)
        #expect(busy.handle(.timerFired).count == 37)

        var blocked = FlicdTalk()
        blocked.given(.clientBlocked(id(1)))
        blocked.given(1, .ping(id: 4))
        blocked.when(.clientFinished(id(1)), expect: .nothing)
        blocked.when(.events(ButtonID(hall), [event(.down)]), expect: .nothing)
        blocked.when(
            .clientDrained(id(1)), expect: .told(1, .pingResponse(id: 4)), .closed(1, isWritten: true))
    }

    @Test("one client more than the server takes is closed at once")
    func bound() {
        var talk = FlicdTalk(clients: FlicdServer.maximumClients)
        for client in 1...FlicdServer.maximumClients { talk.given(client, .ping(id: 0)) }
        talk.when(.clientConnected(id(65), peer: "127.0.0.1:65"), expect: .closed(65, isWritten: false))
        talk.given(.clientGone(id(1)))
        talk.when(.clientConnected(id(66), peer: "127.0.0.1:66"), expect: .nothing)
        #expect(talk.server.clientCount == 64)
    }

    @Test("random octets never trap, and events for a client come in the order of the protocol", arguments: 0..<60)
    func random(seed: UInt64) {
        var generator = SeededGenerator(seed: seed)
        var talk = FlicdTalk(buttons: [hall], clients: 3)
        var watch = LifeWatch()
        for _ in 0..<400 {
            let client = Int.random(in: 1...4, using: &generator)
            let said: [FlicdTalk.Said]
            switch Int.random(in: 0..<24, using: &generator) {
            case 0:
                said = talk.handle(.received(id(client), generator.bytes(Int.random(in: 0...40, using: &generator))))
            case 1:
                said = talk.handle(.clientGone(id(client)))
                watch.gone(client)
            case 2: said = talk.handle(.clientConnected(id(client), peer: "127.0.0.1:1"))
            case 3: said = talk.handle(.clientBlocked(id(client)))
            case 4: said = talk.handle(.clientDrained(id(client)))
            case 5: said = talk.handle(.unpaired(ButtonID(hall)))
            case 6: said = talk.handle(.paired(identity(Bool.random(using: &generator) ? hall : attic)))
            case 7: said = talk.handle(.pairing(.found(attic)))
            case 8: said = talk.handle(.pairing(.connected(attic)))
            case 9: said = talk.handle(.pairing(.failed(attic, .invalidData, .invalidData)))
            case 10: said = talk.handle(.controller(.attached, address: nil))
            case 11: said = talk.handle(.controller(.resetting, address: nil))
            case 12...14:
                let status = FlicdConnectionStatus.allCases.randomElement(using: &generator) ?? .ready
                said = talk.handle(.status(ButtonID(hall), status))
            case 15, 16: said = talk.handle(.events(ButtonID(hall), [event(.up(.doubleClick))]))
            case 17: said = talk.pass(.seconds(Int.random(in: 0...15, using: &generator)))
            default:
                var octets: [UInt8] = []
                for _ in 0..<Int.random(in: 1...4, using: &generator) {
                    octets += command(&generator).encoded()
                }
                said = talk.handle(.received(id(client), octets))
            }
            for word in said { watch.hears(word) }
        }
    }

    private func command(_ generator: inout SeededGenerator) -> FlicdCommand {
        let number = UInt32.random(in: 0...2, using: &generator)
        let address = Bool.random(using: &generator) ? hall : attic
        return switch Int.random(in: 0..<12, using: &generator) {
        case 0: .getInfo
        case 1: .createScanner(id: number)
        case 2: .removeConnectionChannel(id: number)
        case 3: .forceDisconnect(address)
        case 4: .changeModeParameters(id: number, FlicdChannelMode(latencyMode: .low))
        case 5: .createScanWizard(id: number)
        case 6: .cancelScanWizard(id: number)
        case 7: .deleteButton(address)
        case 8: .createBatteryStatusListener(id: number, address)
        default: .createConnectionChannel(id: number, address, FlicdChannelMode())
        }
    }
}

/// Checks the order of the events for a client: a channel is created, changes and is removed; presses come only while
/// it is ready; no event about a wizard follows its completion.
private struct LifeWatch {
    private struct Key: Hashable {
        var client: Int
        var id: UInt32
    }

    private var channels: [Key: FlicdConnectionStatus] = [:]

    mutating func gone(_ client: Int) { channels = channels.filter { $0.key.client != client } }

    mutating func hears(_ word: FlicdTalk.Said) {
        switch word {
        case .closed(let client, _): gone(client)
        case .told(let client, let event): hears(event, client)
        case .paused, .resumed, .wants, .listens, .deletes: break
        }
    }

    private mutating func hears(_ event: FlicdEvent, _ client: Int) {
        switch event {
        case .createConnectionChannelResponse(let id, .noError, let status):
            #expect(channels[Key(client: client, id: id)] == nil, "made twice")
            channels[Key(client: client, id: id)] = status
        case .connectionStatusChanged(let id, let status, _):
            let before = channels[Key(client: client, id: id)]
            #expect(before != nil && before != status, "\(String(describing: before)) to \(status)")
            channels[Key(client: client, id: id)] = status
        case .connectionChannelRemoved(let id, _):
            #expect(channels.removeValue(forKey: Key(client: client, id: id)) != nil, "removed twice")
        case .button(let id, _, _, _, _):
            #expect(channels[Key(client: client, id: id)] == .ready)
        default: break
        }
    }
}
