import ButtonModel

@testable import FlicdProtocol

extension FuzzTarget {
    /// Clients of flicd and a house with arbitrary input: each question is answered once, to the client that asked, and
    /// in order; a channel follows the protocol and receives each press once; what waits for a client is bounded.
    static let flicdServer = FuzzTarget(name: "flicd-server") { octets throws(BrokenPromise) in
        var input = FuzzInput(octets)
        var bench = FlicdServerBench(isLarge: input.octet() & 1 != 0)
        while let step = input.step() { try bench.take(step, &input) }
        try bench.end()
    }
}

private struct FlicdServerBench: TimedBench {
    static let addresses = [0x80E4_DA12_3456, 0x9088_A9AB_CDEF, 0x80E4_DA00_0001].map { BluetoothAddress(rawValue: $0) }
    /// A house with so many buttons that the answer to a question of three octets has thousands.
    private static let small = server(buttons: 1)
    private static let large = server(buttons: 500)

    private static func server(buttons: Int) -> FlicdServer {
        var server = FlicdServer()
        _ = server.handle(.button(identity(addresses[0])), at: Instant(sinceBoot: .seconds(90)))
        for number in 1..<UInt64(buttons) {
            _ = server.handle(.button(identity(.init(rawValue: number))), at: Instant(sinceBoot: .seconds(90)))
        }
        return server
    }

    private static func identity(_ address: BluetoothAddress) -> ButtonIdentity {
        ButtonIdentity(
            address: address, uuid: "000102030405060708090a0b0c0d0e0f", serial: "BA12-C34567", nickname: "Küche",
            firmwareVersion: 11)
    }

    private var server: FlicdServer
    var now = Instant(sinceBoot: .seconds(100))
    var timer: Instant?
    private var listeners: [FlicdServer.ClientID: Ear] = [:]
    private var latestMode: [ButtonID: Instant] = [:]
    /// The number of presses so far. Each event has this number as its age.
    private var presses: UInt32 = 0

    init(isLarge: Bool) { server = isLarge ? Self.large : Self.small }

    mutating func take(_ step: UInt8, _ input: inout FuzzInput) throws(BrokenPromise) {
        let client = FlicdServer.ClientID(rawValue: UInt64(step >> 4 & 3))
        switch step & 0xF {
        case 0: try send(input.chunk(), from: client)
        case 1, 2, 3: try send(command(&input).encoded(), from: client)
        case 4:
            let packet = input.chunk()
            for _ in 0..<min(input.octet(), 16) { try send(packet, from: client) }
        case 5:
            guard listeners[client] == nil else { break }
            listeners[client] = Ear()
            try give(.clientConnected(client, peer: "127.0.0.1:\(client.rawValue)"))
        case 6:
            listeners[client] = nil
            try give(.clientGone(client))
        case 7:
            guard listeners[client]?.isBlocked == (step & 0x40 != 0) else { break }
            listeners[client]?.isBlocked.toggle()
            try give(step & 0x40 != 0 ? .clientDrained(client) : .clientBlocked(client))
        case 8: try pass(input.pause())
        case 9:
            guard listeners[client]?.isPaused == false, listeners[client]?.hasFinished == false else { break }
            listeners[client]?.hasFinished = true
            try give(.clientFinished(client))
        case 10: try press(step, input.octet())
        default: try give(houseInput(step, &input))
        }
    }

    /// Completes all outstanding work, after which no client waits for an answer.
    mutating func end() throws(BrokenPromise) {
        for client in listeners.keys.sorted() where listeners[client]?.isBlocked == true {
            listeners[client]?.isBlocked = false
            try give(.clientDrained(client))
        }
        try pass(.seconds(200))
        try promise("every question is answered", listeners.values.allSatisfy { $0.questions.isEmpty })
        try promise("no client stays paused", listeners.values.allSatisfy { !$0.isPaused })
    }

    private mutating func send(_ octets: [UInt8], from client: FlicdServer.ClientID) throws(BrokenPromise) {
        // A paused client is not read.
        while listeners[client]?.isPaused == true {
            try promise("a paused client has a turn scheduled", timer.map { $0 <= now } ?? false)
            try pass(.zero)
        }
        guard listeners[client]?.hasFinished == false else { return }
        listeners[client]?.ask(octets)
        try give(.received(client, octets))
    }

    private mutating func press(_ step: UInt8, _ kind: UInt8) throws(BrokenPromise) {
        let button = ButtonID(Self.addresses[Int(kind & 3) % 3])
        let steps: [PressStep] = [.down, .up(.click), .up(.doubleClick), .hold(ofSecondPress: false), .clickTimeout]
        presses += 1
        let event = ButtonEvent(
            button: button, bootID: 1, counter: presses, step: steps[Int(kind >> 2) % steps.count], ticks: 0,
            wasQueued: true, age: .seconds(Int64(presses)), part: kind & 0x80 != 0 ? .small : nil, swipe: nil)
        let isTold = server.buttons[button]?.status == .ready && event.part == nil
        for (client, listener) in listeners {
            let channels = (server.channels[button] ?? []).filter { $0.client == client }.map(\.id)
            let isListening = isTold && server.clients[client]?.isEnding == false
            listeners[client]?.expect(presses, isListening ? channels : [])
            try promise(
                "a client knows the channels that it has created", listener.isBlocked || listener.knows(channels))
        }
        try give(.events(button, [event]))
        try promise(
            "a press is sent to every channel at once",
            listeners.values.allSatisfy { $0.isBlocked || $0.awaited.isEmpty })
    }

    private func command(_ input: inout FuzzInput) -> FlicdCommand {
        let kind = input.octet()
        let number = UInt32(kind >> 4 & 3)
        let address = Self.addresses[Int(kind >> 6) % 3]
        return switch kind & 0xF {
        case 0: .getInfo
        case 1: .createScanner(id: number)
        case 2: .removeScanner(id: number)
        case 3: .removeConnectionChannel(id: number)
        case 4: .forceDisconnect(address)
        case 5:
            .changeModeParameters(
                id: number, FlicdChannelMode(latencyMode: .low, autoDisconnectTime: UInt16(input.octet())))
        case 6: .ping(id: number)
        case 7: .getButtonInfo(address)
        case 8: .createScanWizard(id: number)
        case 9: .cancelScanWizard(id: number)
        case 10: .deleteButton(address)
        case 11: .createBatteryStatusListener(id: number, address)
        case 12: .removeBatteryStatusListener(id: number)
        default: .createConnectionChannel(id: number, address, FlicdChannelMode())
        }
    }

    private func houseInput(_ step: UInt8, _ input: inout FuzzInput) -> FlicdServer.Input {
        let kind = input.octet()
        let address = Self.addresses[Int(kind & 3) % 3]
        let button = ButtonID(address)
        switch (step & 0xF, kind >> 2 & 7) {
        case (11, 0...2): return .status(button, .ready)
        case (11, 3...4): return .status(button, .connected)
        case (11, 5): return .linkFailed(button, .timedOut)
        case (11, _): return .status(button, .disconnected)
        case (12, 0): return .deleted(button)
        case (12, 1): return .unpaired(button)
        case (12, 2): return .button(Self.identity(address))
        case (12, _): return .paired(Self.identity(address))
        case (13, 0...2): return .pairing(.found(address))
        case (13, 3...4): return .pairing(.connected(address))
        case (13, 5): return .pairing(.failed(address, .failedTimeout, nil))
        case (13, _): return .pairing(.failed(address, .invalidData, .invalidData))
        case (14, 0): return .controller(.detached, address: nil)
        case (14, 1): return .controller(.resetting, address: nil)
        case (14, 2...5): return .controller(.attached, address: address)
        case (14, 6): return .linkLimit(kind & 0x80 != 0 ? nil : Int(kind))
        case (14, _): return .acceptListSize(Int(kind) * 8)
        case (_, 0...1): return .battery(button, percentage: Int8(kind >> 5), at: UTCTime(milliseconds: 5000))
        default:
            return .advertised(
                FlicdAdvertisement(
                    address: address, name: String(decoding: input.chunk(), as: UTF8.self), rssi: -60,
                    isPrivate: kind & 0x80 != 0, isAlreadyVerified: false))
        }
    }

    mutating func fireTimer() throws(BrokenPromise) { try give(.timerFired) }

    private mutating func give(_ input: FlicdServer.Input) throws(BrokenPromise) {
        for effect in server.handle(input, at: now) { try take(effect) }
        latestMode = latestMode.filter { server.buttons[$0.key] != nil }
        for (client, listener) in listeners {
            let waiting = server.clients[client]?.outgoing.count ?? 0
            let bound = listener.isBlocked ? FlicdServer.maximumUnsentCount : 0
            try promise("unsent data of a client is bounded", waiting <= bound)
        }
        try promise("disconnected clients are forgotten", server.clientCount <= listeners.count)
    }

    private mutating func take(_ effect: FlicdServer.Effect) throws(BrokenPromise) {
        switch effect {
        case .send(let client, let octets):
            try promise("data is sent to connected clients only", listeners[client] != nil)
            try listeners[client]?.hear(octets)
        case .pause(let client), .resume(let client):
            let isPaused = effect == .pause(client)
            try promise("a pause is followed by its end", listeners[client]?.isPaused == !isPaused)
            listeners[client]?.isPaused = isPaused
        case .close(let client, _):
            try promise("a connection is closed once", listeners.removeValue(forKey: client) != nil)
        case .requestMode(let button, let mode):
            try promise("only paired buttons are requested", mode == nil || server.buttons[button] != nil)
            let earliest = latestMode[button].map { $0 + FlicdServer.minimumModeInterval } ?? now
            try promise("changes of a button's mode have a minimum interval", now >= earliest)
            latestMode[button] = now
        case .listen, .delete, .log: break
        case .setTimer(let deadline): timer = deadline
        case .cancelTimer: timer = nil
        }
    }
}

/// A client, and what it expects.
private struct Ear {
    private struct Told: Hashable {
        var channel: UInt32
        var family: FlicdFamily
        var clickType: FlicdClickType
        var press: UInt32
    }

    enum Question: Hashable {
        case ping(UInt32)
        case info
        case button(BluetoothAddress)
    }

    var isBlocked = false
    var isPaused = false
    var hasFinished = false
    private var framer = FlicdFramer(maximumLength: FlicdFramer.maximumCommandLength)
    private(set) var questions: [Question] = []
    private var channels: [UInt32: FlicdConnectionStatus] = [:]
    /// The number of wizards with an id that were requested and have not completed.
    private var wizards: [UInt32: Int] = [:]
    private var told: Set<Told> = []
    /// The channels that must receive the latest press.
    private(set) var awaited: Set<UInt32> = []
    private var latestPress: UInt32 = 0

    mutating func ask(_ octets: [UInt8]) {
        framer.append(octets)
        while let packet = try? framer.next() {
            switch try? FlicdCommand(decoding: packet) {
            case .ping(let id): questions.append(.ping(id))
            case .getInfo: questions.append(.info)
            case .getButtonInfo(let address): questions.append(.button(address))
            case .createScanWizard(let id): wizards[id, default: 0] += 1
            default: break
            }
        }
    }

    mutating func expect(_ press: UInt32, _ channels: [UInt32]) {
        latestPress = press
        awaited = Set(channels)
    }

    func knows(_ ids: [UInt32]) -> Bool { Set(ids).isSubset(of: channels.keys) }

    mutating func hear(_ octets: [UInt8]) throws(BrokenPromise) {
        try promise("a blocked client is sent nothing", !isBlocked)
        var framer = FlicdFramer(maximumLength: FlicdFramer.maximumEventLength)
        framer.append(octets)
        var count = 0
        while let packet = try? framer.next() {
            count += 2 + packet.count
            guard let event = try? FlicdEvent(decoding: packet) else {
                return try promise("a packet can be decoded", false)
            }
            try promise("a packet has no unknown part", event.encoded().dropFirst(2) == packet[...])
            try hear(event)
        }
        try promise("packets are whole", count == octets.count)
    }

    private mutating func hear(_ event: FlicdEvent) throws(BrokenPromise) {
        switch event {
        case .pingResponse(let id): try answer(.ping(id))
        case .getInfoResponse: try answer(.info)
        case .getButtonInfoResponse(let info): try answer(.button(info.address))
        case .createConnectionChannelResponse(let id, .noError, let status):
            try promise("a channel is made once", channels.updateValue(status, forKey: id) == nil)
        case .createConnectionChannelResponse(let id, .maxPendingConnectionsReached, _):
            try promise("a refused channel does not exist", channels[id] == nil)
        case .connectionStatusChanged(let id, let status, _):
            let before = channels.updateValue(status, forKey: id)
            try promise("only an existing channel changes", before != nil && before != status)
        case .connectionChannelRemoved(let id, _):
            try promise("only an existing channel ends", channels.removeValue(forKey: id) != nil)
        case .button(let id, let family, let clickType, _, let press):
            try promise("a press is reported while the button is ready", channels[id] == .ready)
            let new = Told(channel: id, family: family, clickType: clickType, press: press)
            try promise("a press is reported once", told.insert(new).inserted)
            if press == latestPress { awaited.remove(id) }
        case .scanWizardFoundPrivateButton(let id), .scanWizardFoundPublicButton(let id, _, _),
            .scanWizardButtonConnected(let id):
            try promise("only an existing wizard reports", wizards[id, default: 0] > 0)
        case .scanWizardCompleted(let id, _):
            try promise("only an existing wizard completes", wizards[id, default: 0] > 0)
            wizards[id, default: 0] -= 1
        case .advertisementPacket, .newVerifiedButton, .noSpaceForNewConnection, .gotSpaceForNewConnection,
            .bluetoothControllerStateChange, .buttonDeleted, .batteryStatus:
            break
        case .other: try promise("only known packets are sent", false)
        }
    }

    private mutating func answer(_ question: Question) throws(BrokenPromise) {
        try promise("answers are in the order of the questions", questions.first == question)
        questions.removeFirst()
    }
}
