import ButtonModel
import JSON
import TestSupport
import Testing

@testable import WebService

extension ReaderFeed: StateMachine {}

@Suite("Readers of the live stream")
struct ReaderFeedTests {
    typealias ReaderID = ReaderFeed.ReaderID

    private static let (first, second) = (ReaderID(rawValue: 1), ReaderID(rawValue: 2))
    private static let comment = ServerSentEvent.comment
    private static let requests = ReaderFeed.snapshotRequests.map { ReaderFeed.Effect.request($0) }
    private static let refused = "the daemon is not running"

    private static func answer(_ name: String, _ data: JSONValue = "well") -> ReaderFeed.Input {
        .received(["status": "ok", "transaction": .string(name), "data": data])
    }

    private static func line(_ number: Int) -> JSONValue { ["kind": "press", "number": .integer(Int64(number))] }

    /// A line as readers get it.
    private static func written(_ number: Int, as place: Int, _ life: String = "a") -> [UInt8] {
        Array("id: \(life)-\(place)\ndata: ".utf8) + line(number).encoded() + Array("\n\n".utf8)
    }

    /// A snapshot whose answers are all `well`.
    private static func snapshot(after place: Int, _ life: String = "a") -> [UInt8] {
        let data = #"{"status":"well","buttons":"well","rules":"well"}"#
        return Array("event: snapshot\nid: \(life)-\(place)\ndata: \(data)\n\n".utf8)
    }

    private static func gone(_ sentence: String) -> [UInt8] {
        Array("event: gone\ndata: {\"error\":\"\(sentence)\"}\n\n".utf8)
    }

    private static func talk(hasAbstractSocket: Bool = false) -> Transcript<ReaderFeed> {
        Transcript(ReaderFeed(hasAbstractSocket: hasAbstractSocket), at: Instant(sinceBoot: .seconds(100)))
    }

    private static func open(
        _ id: ReaderID, session: SessionTable.ID? = nil, after: String? = nil
    ) -> ReaderFeed.Input {
        .opened(id, session: session, after: after)
    }

    private static func sessions() throws -> [SessionTable.ID] {
        var table = SessionTable()
        let now = UTCTime(milliseconds: 0)
        return try [UInt8(1), 2].map { octet in
            let cookie = table.begin([UInt8](repeating: octet, count: SessionTable.tokenLength), at: now)
            return try #require(table.session(of: cookie, at: now))
        }
    }

    /// The daemon is connected, and the first reader has its snapshot.
    private static func connected() -> Transcript<ReaderFeed> {
        var talk = talk()
        talk.given(open(first))
        talk.given(.connected(life: "a"))
        for name in ReaderFeed.snapshotRequests { talk.given(answer(name)) }
        return talk
    }

    @Test("a new reader gets the answers to three requests, and then the lines that came after these were sent")
    func snapshot() {
        var talk = Self.talk()
        talk.when(
            Self.open(Self.first), expect: .write(Self.first, Self.comment), .connect,
            .setTimer(talk.now + ReaderFeed.beatInterval))
        let effects = talk.given(.connected(life: "a"))
        #expect(effects == [.request("watch")] + Self.requests)
        talk.when(Self.answer("status"), expect: .nothing)
        talk.when(.received(Self.line(1)), expect: .nothing)
        // A second reader shares the snapshot that is under way.
        talk.when(Self.open(Self.second), expect: .write(Self.second, Self.comment))
        talk.when(Self.answer("rules"), expect: .nothing)
        talk.when(Self.answer("watch"), expect: .nothing)
        talk.when(
            Self.answer("buttons"), expect: .write(Self.first, Self.snapshot(after: 0)),
            .write(Self.first, Self.written(1, as: 1)), .write(Self.second, Self.snapshot(after: 0)),
            .write(Self.second, Self.written(1, as: 1)))
        talk.when(
            .received(Self.line(2)), expect: .write(Self.first, Self.written(2, as: 2)),
            .write(Self.second, Self.written(2, as: 2)))
    }

    @Test("a reader that comes back in time gets the lines that it missed, and no snapshot")
    func missed() {
        var talk = Self.connected()
        for number in 1...3 { talk.given(.received(Self.line(number))) }
        talk.when(
            Self.open(Self.second, after: "a-1"), expect: .write(Self.second, Self.comment),
            .write(Self.second, Self.written(2, as: 2)), .write(Self.second, Self.written(3, as: 3)))
    }

    @Test(
        "a reader whose last line is of another connection, too old, or no line gets a snapshot, and others do not",
        arguments: ["b-1", "a-1", "a-2000", ""])
    func unknown(id: String) {
        var talk = Self.connected()
        for number in 1...EventRing.maximumLines + 2 { talk.given(.received(Self.line(number))) }
        let opened = talk.given(Self.open(Self.second, after: id))
        #expect(opened == [.write(Self.second, Self.comment)] + Self.requests)
        for name in ReaderFeed.snapshotRequests.dropLast() { talk.given(Self.answer(name)) }
        talk.when(
            Self.answer("rules"),
            expect: .write(Self.second, Self.snapshot(after: EventRing.maximumLines + 2)))
    }

    @Test("a snapshot after which lines were dropped is requested again")
    func outdatedSnapshot() {
        var talk = Self.connected()
        talk.given(Self.open(Self.second))
        for number in 1...EventRing.maximumLines + 1 { talk.given(.received(Self.line(number))) }
        for name in ReaderFeed.snapshotRequests.dropLast() { talk.given(Self.answer(name)) }
        let again = talk.given(Self.answer("rules"))
        #expect(again == Self.requests)
    }

    @Test("no password of the daemon's lines and answers reaches a reader")
    func passwords() {
        var talk = Self.connected()
        let secret: JSONValue = ["kind": "log", "text": "GET http://me:geheim@lamp/on failed"]
        talk.given(Self.open(Self.second))
        var effects = talk.given(.received(secret))
        for name in ReaderFeed.snapshotRequests { effects += talk.given(Self.answer(name, secret)) }
        let texts = effects.compactMap { effect in
            if case .write(_, let octets) = effect { String(decoding: octets, as: UTF8.self) } else { nil }
        }
        #expect(texts.count == 3 && texts.allSatisfy { $0.contains("***") && !$0.contains("geheim") })
    }

    @Test("each time the daemon is gone, each reader is told why once, and a changed socket makes a connection")
    func noDaemon() {
        var talk = Self.talk()
        talk.given(Self.open(Self.first))
        talk.when(
            .notConnected(Self.refused), expect: .write(Self.first, Self.gone(Self.refused)), .watchSockets)
        talk.when(Self.open(Self.second), expect: .write(Self.second, Self.comment), .connect)
        talk.when(.notConnected(Self.refused), expect: .write(Self.second, Self.gone(Self.refused)))
        talk.when(.socketChanged, expect: .connect)
        let effects = talk.given(.connected(life: "a"))
        #expect(effects == [.stopWatching, .request("watch")] + Self.requests)
        // They have seen the daemon since, so they are told again.
        let later = talk.given(.disconnected("it has ended"))
        for reader in [Self.first, Self.second] {
            #expect(later.contains(.write(reader, Self.gone("it has ended"))))
        }
    }

    @Test("the connection to an abstract socket, which has no file, is tried every two seconds while there are readers")
    func abstractSocket() {
        var talk = Self.talk(hasAbstractSocket: true)
        talk.given(Self.open(Self.first))
        for _ in 0..<2 {
            let effects = talk.given(.notConnected(Self.refused))
            #expect(effects.last == .setTimer(talk.now + ReaderFeed.retryInterval))
            talk.wait(ReaderFeed.retryInterval)
            let tries = talk.given(.timerFired)
            #expect(tries.first == .connect)
        }
        talk.given(.notConnected(Self.refused))
        let effects = talk.given(.closed(Self.first))
        #expect(effects == [.setTimer(talk.now + ReaderFeed.linger)])
    }

    @Test("when the daemon goes, all readers are told, and get a snapshot of the next one with ids of its own")
    func daemonGone() {
        var talk = Self.connected()
        talk.given(.received(Self.line(1)))
        talk.when(
            .disconnected("it has ended"), expect: .write(Self.first, Self.gone("it has ended")), .watchSockets,
            .setTimer(talk.now + ReaderFeed.retryInterval))
        talk.when(.received(Self.line(2)), expect: .nothing)
        // A reader that comes back now knows a line of the connection before.
        talk.when(
            Self.open(Self.second, after: "a-1"), expect: .write(Self.second, Self.comment), .connect)
        talk.given(.connected(life: "b"))
        for name in ReaderFeed.snapshotRequests.dropLast() { talk.given(Self.answer(name)) }
        talk.when(
            Self.answer("rules"), expect: .write(Self.first, Self.snapshot(after: 0, "b")),
            .write(Self.second, Self.snapshot(after: 0, "b")))
        talk.when(
            .received(Self.line(1)), expect: .write(Self.first, Self.written(1, as: 1, "b")),
            .write(Self.second, Self.written(1, as: 1, "b")))
    }

    private static let beat = Array("event: beat\ndata: {}\n\n".utf8)
    private static let probe = ReaderFeed.Effect.request("health_check")

    @Test("a stream gets an event every 5 seconds, which a page sees, and a quiet daemon is asked whether it is alive")
    func beats() {
        var talk = Self.connected()
        for _ in 0..<3 {
            talk.wait(ReaderFeed.beatInterval)
            talk.when(
                .timerFired, expect: .write(Self.first, Self.beat), Self.probe,
                .setTimer(talk.now + ReaderFeed.beatInterval))
            talk.when(Self.answer("health_check"), expect: .nothing)
        }
    }

    @Test("a daemon that takes no connection, because it hangs, is tried again at each beat")
    func hangingAtFirst() {
        var talk = Self.talk()
        talk.given(Self.open(Self.first))
        talk.given(.notConnected(Self.refused))
        talk.wait(ReaderFeed.beatInterval)
        talk.when(
            .timerFired, expect: .write(Self.first, Self.beat), .connect,
            .setTimer(talk.now + ReaderFeed.beatInterval))
        // The readers know already.
        talk.when(.notConnected(Self.refused), expect: .nothing)
    }

    @Test("readers are told once of a daemon that does not answer, and get a snapshot and its next line when it does")
    func silentDaemon() {
        var talk = Self.connected()
        var told: [ReaderFeed.Effect] = []
        var probes = 0
        for _ in 0..<6 {
            talk.wait(ReaderFeed.beatInterval)
            let effects = talk.given(.timerFired)
            told += effects.filter { $0 == .write(Self.first, Self.gone(ReaderFeed.silence)) }
            probes += effects.count { $0 == Self.probe }
            if talk.now == Instant(sinceBoot: .seconds(100)) + .seconds(15) { #expect(told.count == 1) }
        }
        #expect(told.count == 1 && probes == 1)
        talk.when(
            Self.open(Self.second, after: "a-0"), expect: .write(Self.second, Self.comment),
            .write(Self.second, Self.gone(ReaderFeed.silence)))
        let woken = talk.given(.received(Self.line(1)))
        #expect(woken == Self.requests)
        for name in ReaderFeed.snapshotRequests.dropLast() { talk.given(Self.answer(name)) }
        talk.when(
            Self.answer("rules"), expect: .write(Self.first, Self.snapshot(after: 0)),
            .write(Self.first, Self.written(1, as: 1)), .write(Self.second, Self.snapshot(after: 0)),
            .write(Self.second, Self.written(1, as: 1)))
        // It can be silent again.
        for _ in 0..<ReaderFeed.patience {
            talk.wait(ReaderFeed.beatInterval)
            talk.given(.timerFired)
        }
        talk.wait(ReaderFeed.beatInterval)
        let again = talk.given(.timerFired)
        #expect(again.contains(.write(Self.second, Self.gone(ReaderFeed.silence))))
    }

    @Test("a daemon that ended without an answer has time again when it is connected, and is told of again")
    func silentDaemonRestarts() {
        var talk = Self.connected()
        for _ in 0...ReaderFeed.patience {
            talk.wait(ReaderFeed.beatInterval)
            talk.given(.timerFired)
        }
        talk.given(.disconnected(Self.refused))
        talk.given(.socketChanged)
        talk.given(.connected(life: "b"))
        talk.when(Self.open(Self.second), expect: .write(Self.second, Self.comment))
        var told: [[ReaderFeed.Effect]] = []
        for _ in 0...ReaderFeed.patience {
            talk.wait(ReaderFeed.beatInterval)
            told.append(talk.given(.timerFired).filter { $0 == .write(Self.second, Self.gone(ReaderFeed.silence)) })
        }
        #expect(told.map(\.count) == [0, 0, 1])
    }

    @Test("the daemon is left a minute after the last reader, unless another comes")
    func linger() {
        var talk = Self.connected()
        talk.when(.closed(Self.first), expect: .setTimer(talk.now + ReaderFeed.linger))
        talk.when(.closed(Self.first), expect: .nothing)
        talk.wait(.seconds(59))
        let opened = talk.given(Self.open(Self.second, after: "a-0"))
        #expect(opened.first == .write(Self.second, Self.comment) && !opened.contains(.connect))
        talk.given(.closed(Self.second))
        talk.wait(ReaderFeed.linger)
        talk.when(.timerFired, expect: .disconnect)
        let next = talk.given(Self.open(Self.first))
        #expect(next.contains(.connect))
    }

    @Test("a reader that is one too many is ended")
    func tooMany() {
        var talk = Self.talk()
        for number in 1...ReaderFeed.maximumReaders {
            #expect(talk.machine.hasRoom)
            talk.given(Self.open(ReaderID(rawValue: number)))
        }
        #expect(!talk.machine.hasRoom)
        let last = ReaderID(rawValue: ReaderFeed.maximumReaders + 1)
        talk.when(Self.open(last), expect: .end(last))
        talk.given(.closed(Self.first))
        #expect(talk.machine.hasRoom)
    }

    @Test("the streams of a session end when it is signed out, and no others")
    func signedOut() throws {
        let sessions = try Self.sessions()
        var talk = Self.talk()
        talk.given(Self.open(Self.first, session: sessions[0]))
        talk.given(Self.open(Self.second, session: sessions[1]))
        talk.given(Self.open(ReaderID(rawValue: 3)))
        talk.when(.signedOut(sessions[1]), expect: .end(Self.second))
    }

    @Test("whatever happens in whatever order, no reader waits for ever", arguments: 0..<100 as Range<UInt64>)
    func anyOrder(seed: UInt64) throws {
        let sessions = try Self.sessions()
        var random = SeededGenerator(seed: seed)
        var talk = Self.talk(hasAbstractSocket: seed % 2 == 0)
        var next = 0
        for _ in 0..<300 {
            let input: ReaderFeed.Input
            switch Int.random(in: 0..<12, using: &random) {
            case 0, 1:
                next += 1
                input = Self.open(
                    ReaderID(rawValue: next), session: [sessions[0], sessions[1], nil].randomElement(using: &random)!,
                    after: ["a-1", "b-0", nil].randomElement(using: &random)!)
            case 2, 3: input = .closed(ReaderID(rawValue: Int.random(in: 0...next, using: &random)))
            case 4: input = .connected(life: ["a", "b"].randomElement(using: &random)!)
            case 5: input = .notConnected(Self.refused)
            case 6: input = .disconnected("it has ended")
            case 7: input = .received(Self.line(1))
            case 8: input = Self.answer(ReaderFeed.snapshotRequests.randomElement(using: &random)!)
            case 9: input = .signedOut(sessions.randomElement(using: &random)!)
            case 10: input = .socketChanged
            default:
                talk.wait(.seconds(Int.random(in: 0...70, using: &random)))
                input = .timerFired
            }
            talk.given(input)
        }
    }
}

@Suite("Limits of the page's readers and requests")
struct ReaderLimitTests {
    @Test("a reader that has more than a megabyte unwritten is cut off at the next octets, and stays so")
    func backlog() {
        var backlog = ReaderBacklog()
        var taken = [backlog.add(ReaderBacklog.maximumLength), backlog.add(1)]
        backlog.written(1)
        taken.append(backlog.add(1))
        #expect(taken == [true, true, true])
        let isTaken = backlog.add(1)
        #expect(!isTaken && backlog.length == ReaderBacklog.maximumLength + 1)
        backlog.written(ReaderBacklog.maximumLength)
        let isTakenLater = backlog.add(1)
        #expect(!isTakenLater)
    }

    @Test(
        "work under way is limited, further work waits its turn, and work beyond the limit is refused",
        arguments: [(WorkSlots.requests, 8), (WorkSlots.heavyWork, 2)])
    func slots(_ idle: WorkSlots, running: Int) {
        #expect(idle.maximumRunning == running && idle.isIdle)
        var slots = idle
        var admissions: [WorkSlots.Admission] = []
        for _ in 0..<idle.maximumRunning + idle.maximumWaiting + 1 { admissions.append(slots.began()) }
        #expect(admissions.count { $0 == .now } == idle.maximumRunning)
        #expect(admissions.count { $0 == .later } == idle.maximumWaiting)
        #expect(admissions.last == .refused)
        var begun = 0
        for _ in 0..<idle.maximumWaiting { begun += slots.ended() ? 1 : 0 }
        #expect(begun == idle.maximumWaiting && !slots.isIdle)
        for _ in 0..<idle.maximumRunning { begun += slots.ended() ? 1 : 0 }
        #expect(begun == idle.maximumWaiting && slots == idle)
    }
}
