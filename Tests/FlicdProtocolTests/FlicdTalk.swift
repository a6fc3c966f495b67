import ButtonModel
import FlicdProtocol
import TestSupport
import Testing

/// A conversation of Tryck and some clients with the server.
///
/// The octets of `send` effects are decoded to events. Timers and log lines are kept apart from the other effects.
struct FlicdTalk {
    enum Said: Hashable {
        case told(Int, FlicdEvent)
        case paused(Int)
        case resumed(Int)
        case closed(Int, isWritten: Bool)
        case wants(ButtonID, FlicdChannelMode?)
        case listens(FlicdListening)
        case deletes(ButtonID)
    }

    var server: FlicdServer
    private(set) var now = Instant(sinceBoot: .seconds(100))
    private(set) var timer: Instant?
    private(set) var logged: [String] = []

    /// A server with an adapter, buttons, and clients that have sent no command yet.
    init(
        buttons: [BluetoothAddress] = [hall], clients: Int = 1, isAttached: Bool = true,
        server: FlicdServer = FlicdServer()
    ) {
        self.server = server
        _ = handle(.wallClock(UTCTime(milliseconds: 1_700_000_000_999)))
        for address in buttons { _ = handle(.button(identity(address))) }
        if isAttached { _ = handle(.controller(.attached, address: BluetoothAddress(rawValue: 0x001A_7DDA_7113))) }
        for client in 0..<clients { _ = handle(.clientConnected(id(client + 1), peer: "10.0.0.\(client + 1):1")) }
    }

    mutating func handle(_ input: FlicdServer.Input) -> [Said] {
        var said: [Said] = []
        for effect in server.handle(input, at: now) {
            switch effect {
            case .send(let client, let octets): said += told(Int(client.rawValue), octets)
            case .pause(let client): said.append(.paused(Int(client.rawValue)))
            case .resume(let client): said.append(.resumed(Int(client.rawValue)))
            case .close(let client, let isWritten): said.append(.closed(Int(client.rawValue), isWritten: isWritten))
            case .requestMode(let button, let mode): said.append(.wants(button, mode))
            case .listen(let listening): said.append(.listens(listening))
            case .delete(let button): said.append(.deletes(button))
            case .setTimer(let deadline): timer = deadline
            case .cancelTimer: timer = nil
            case .log(_, let text): logged.append(text)
            }
        }
        return said
    }

    /// Decodes the octets of a `send`, which must be complete packets.
    private func told(_ client: Int, _ octets: [UInt8]) -> [Said] {
        var framer = FlicdFramer(maximumLength: FlicdFramer.maximumEventLength)
        framer.append(octets)
        var events: [Said] = []
        var count = 0
        while let packet = try? framer.next() {
            count += 2 + packet.count
            guard let event = try? FlicdEvent(decoding: packet) else {
                Issue.record("client \(client) was sent \(packet)")
                continue
            }
            events.append(.told(client, event))
        }
        #expect(count == octets.count, "client \(client) was sent half a packet")
        return events
    }

    mutating func when(
        _ input: FlicdServer.Input, expect said: Said, _ others: Said...,
        sourceLocation: SourceLocation = #_sourceLocation
    ) {
        let answers = handle(input)
        #expect(answers == [said] + others, sourceLocation: sourceLocation)
    }

    mutating func when(
        _ input: FlicdServer.Input, expect nothing: NoEffect, sourceLocation: SourceLocation = #_sourceLocation
    ) {
        let answers = handle(input)
        #expect(answers == [], sourceLocation: sourceLocation)
    }

    /// Sends commands of a client, and expects these effects.
    mutating func when(
        _ client: Int, _ commands: FlicdCommand..., expect said: Said, _ others: Said...,
        sourceLocation: SourceLocation = #_sourceLocation
    ) {
        let answers = handle(.received(id(client), commands.flatMap { $0.encoded() }))
        #expect(answers == [said] + others, sourceLocation: sourceLocation)
    }

    /// Sends commands of a client, and expects that no effect follows.
    mutating func when(
        _ client: Int, _ commands: FlicdCommand..., expect nothing: NoEffect,
        sourceLocation: SourceLocation = #_sourceLocation
    ) {
        let answers = handle(.received(id(client), commands.flatMap { $0.encoded() }))
        #expect(answers == [], sourceLocation: sourceLocation)
    }

    /// Sends commands of a client without expectations, to prepare a test.
    @discardableResult
    mutating func given(_ client: Int, _ commands: FlicdCommand...) -> [Said] {
        handle(.received(id(client), commands.flatMap { $0.encoded() }))
    }

    @discardableResult
    mutating func given(_ input: FlicdServer.Input) -> [Said] { handle(input) }

    /// Lets time pass, and fires the timer as often as it is due.
    mutating func wait(
        _ duration: Duration, expect said: Said..., sourceLocation: SourceLocation = #_sourceLocation
    ) {
        let answers = pass(duration)
        #expect(answers == said, sourceLocation: sourceLocation)
    }

    mutating func pass(_ duration: Duration) -> [Said] {
        let end = now + duration
        var answers: [Said] = []
        while let deadline = timer, deadline <= end {
            now = max(now, deadline)
            timer = nil
            answers += handle(.timerFired)
        }
        now = end
        return answers
    }
}

func id(_ client: Int) -> FlicdServer.ClientID { FlicdServer.ClientID(rawValue: UInt64(client)) }

func identity(_ address: BluetoothAddress) -> ButtonIdentity {
    ButtonIdentity(
        address: address, uuid: "000102030405060708090a0b0c0d0e0f", serial: "BA12-C34567", nickname: "Küche",
        firmwareVersion: 11)
}

func event(
    _ step: PressStep, queued age: Duration? = nil, part: ButtonPart? = nil, swipe: SwipeDirection? = nil
) -> ButtonEvent {
    ButtonEvent(
        button: ButtonID(hall), bootID: 1, counter: 1, step: step, ticks: 0, wasQueued: age != nil, age: age ?? .zero,
        part: part, swipe: swipe)
}
