package import ButtonModel
package import JSON
import MQTTTopics

/// Decides what each reader of the live stream gets, and when the daemon is watched for them.
///
/// A new reader gets a snapshot first: the answers to `status`, `buttons` and `rules`. Lines that arrived after the snapshot was
/// requested follow it. A reader that comes back in time gets the lines that it missed instead.
///
/// | link to the daemon | on                                      | does                                                       |
/// |--------------------|-----------------------------------------|------------------------------------------------------------|
/// | `none`             | a reader, a changed socket, 2 s, a beat | connects, if there is a reader                             |
/// | `connecting`       | `connected`                             | watches, and requests a snapshot for all readers           |
/// | `connecting`       | `notConnected`                          | tells the readers why, and waits for the socket            |
/// | `connected`        | `disconnected`                          | tells the readers why, and waits for the socket            |
/// | `connected`        | 10 s without an answer                  | tells the readers so, and waits for the next line          |
/// | any                | 60 s without a reader                   | disconnects                                                |
package struct ReaderFeed: Sendable {
    package struct ReaderID: Hashable, Sendable {
        package var rawValue: Int

        package init(rawValue: Int) { self.rawValue = rawValue }
    }

    package enum Input: Hashable, Sendable {
        /// A reader has connected.
        ///
        /// - Parameter after: the id of the last event that the reader has.
        case opened(ReaderID, session: SessionTable.ID?, after: String?)
        /// The connection of a reader has ended. It may be one that is not known any more.
        case closed(ReaderID)
        case signedOut(SessionTable.ID)
        /// An answer to `connect`.
        ///
        /// - Parameter life: a text that differs for each connection. The ids of events begin with it.
        case connected(life: String)
        /// An answer to `connect`: a sentence for users.
        case notConnected(String)
        /// The daemon has sent a line.
        case received(JSONValue)
        /// The daemon has closed the connection: a sentence for users.
        case disconnected(String)
        /// The file of one of the daemon's sockets has changed.
        case socketChanged
        case timerFired
    }

    package enum Effect: Hashable, Sendable, TimerEffect {
        case write(ReaderID, [UInt8])
        /// End the stream of a reader when everything is written to it. Answered with `closed`.
        case end(ReaderID)
        /// Connect to the daemon. Answered with `connected` or `notConnected`.
        case connect
        case disconnect
        /// Send the daemon a request without data, with its name as the transaction.
        case request(String)
        /// Watch the files of the daemon's sockets until `stopWatching`. Each change is a `socketChanged`.
        case watchSockets
        case stopWatching
        case setTimer(Instant)
        case cancelTimer
    }

    package static let maximumReaders = 32
    /// The interval between two events `beat`. They tell the page that the connection is alive, which a comment cannot, and keep
    /// proxies from closing a quiet stream.
    package static let beatInterval = Duration.seconds(5)
    /// The number of intervals for which a request may stay without an answer before the readers are told.
    package static let patience = 2
    /// What readers are told while the daemon keeps its connection, and does not answer.
    package static let silence = "tryckd does not answer. If that lasts, restart it: sudo systemctl restart tryck"
    /// The time for which the daemon is watched after the last reader has gone.
    package static let linger = Duration.seconds(60)
    /// The time before another attempt to connect, if no file tells when.
    package static let retryInterval = Duration.seconds(2)
    /// The requests whose answers are a snapshot.
    package static let snapshotRequests = [
        ControlRequestName.status.rawValue, ControlRequestName.buttons.rawValue, RuleRequestName.rules.rawValue,
    ]

    private struct Reader: Sendable {
        var id: ReaderID
        var session: SessionTable.ID?
        /// True if the reader gets lines; false while it waits for a snapshot.
        var isCurrent = false
        /// True if the reader was told why there is no daemon.
        var knowsFault = false
    }

    private enum Link: Sendable {
        case none, connecting, connected
    }

    private enum TimerKey: Hashable, Comparable, Sendable {
        case beat, linger, retry
    }

    /// True if one of the daemon's sockets has no file that tells when the daemon listens on it.
    private let hasAbstractSocket: Bool
    /// In the order of their arrival.
    private var readers: [Reader] = []
    private var link = Link.none
    private var ring = EventRing(life: "")
    /// The answers for a snapshot, and the number of the last line before it was requested; `nil` if none is under way.
    private var snapshot: (number: Int, answers: [String: JSONValue])?
    private var isWatchingSockets = false
    /// The number of beats since the daemon has sent its last line.
    private var quietBeats = 0
    private var deadlines = Deadlines<TimerKey>()
    private var effects: [Effect] = []

    package init(hasAbstractSocket: Bool) { self.hasAbstractSocket = hasAbstractSocket }

    /// True if there is room for another reader.
    package var hasRoom: Bool { readers.count < Self.maximumReaders }

    package mutating func handle(_ input: Input, at now: Instant) -> [Effect] {
        switch input {
        case .opened(let id, let session, let after): opened(Reader(id: id, session: session), after: after, at: now)
        case .closed(let id): closed(id, at: now)
        case .signedOut(let session): for reader in readers where reader.session == session { emit(.end(reader.id)) }
        case .connected(let life): connected(life)
        case .notConnected(let fault): notConnected(fault, at: now)
        case .received(let line): if link == .connected { received(line) }
        case .disconnected(let fault): disconnected(fault, at: now)
        case .socketChanged: connect()
        case .timerFired: for key in deadlines.takeDue(at: now).sorted() { expire(key, at: now) }
        }
        deadlines.appendChange(to: &effects)
        defer { effects = [] }
        return effects
    }

    private mutating func emit(_ effect: Effect) { effects.append(effect) }

    private mutating func expire(_ key: TimerKey, at now: Instant) {
        switch key {
        case .beat:
            for reader in readers { emit(.write(reader.id, ServerSentEvent.beat)) }
            deadlines.set(.beat, at: now + Self.beatInterval)
            // A daemon that hangs takes no connection, and does not touch its socket when it goes on.
            if link == .none { connect() } else { examine() }
        case .linger: disconnect()
        case .retry: connect()
        }
    }

    // MARK: Readers

    private mutating func opened(_ reader: Reader, after id: String?, at now: Instant) {
        guard hasRoom else { return emit(.end(reader.id)) }
        deadlines.cancel(.linger)
        if readers.isEmpty { deadlines.set(.beat, at: now + Self.beatInterval) }
        readers.append(reader)
        // The reader then knows at once that it is connected.
        emit(.write(reader.id, ServerSentEvent.comment))
        if link == .connected, let id, case .lines(let missed) = ring.lines(afterID: id) {
            readers[readers.count - 1].isCurrent = true
            for line in missed { emit(.write(reader.id, octets(of: line))) }
        } else if link == .connected {
            requestSnapshot()
        } else {
            connect()
        }
        if isSilent { tell(Self.silence) }
    }

    private mutating func closed(_ id: ReaderID, at now: Instant) {
        guard let index = readers.firstIndex(where: { $0.id == id }) else { return }
        readers.remove(at: index)
        guard readers.isEmpty else { return }
        deadlines.cancel(.beat)
        deadlines.cancel(.retry)
        deadlines.set(.linger, at: now + Self.linger)
    }

    /// Tells the readers that do not know it yet why there is no daemon.
    private mutating func tell(_ fault: String) {
        let octets = ServerSentEvent.named("gone", ["error": .string(fault)])
        for index in readers.indices where !readers[index].knowsFault {
            readers[index].knowsFault = true
            emit(.write(readers[index].id, octets))
        }
    }

    // MARK: The daemon

    private mutating func connect() {
        guard link == .none, !readers.isEmpty else { return }
        link = .connecting
        emit(.connect)
    }

    private mutating func connected(_ life: String) {
        guard link == .connecting else { return }
        link = .connected
        quietBeats = 0
        stopWatching()
        deadlines.cancel(.retry)
        ring = EventRing(life: life)
        for index in readers.indices { readers[index].knowsFault = false }
        emit(.request(ControlRequestName.watch.rawValue))
        requestSnapshot()
    }

    private mutating func notConnected(_ fault: String, at now: Instant) {
        guard link == .connecting else { return }
        link = .none
        tell(fault)
        awaitDaemon()
        if hasAbstractSocket { retryLater(at: now) }
    }

    private mutating func disconnected(_ fault: String, at now: Instant) {
        guard link == .connected else { return }
        link = .none
        snapshot = nil
        for index in readers.indices { readers[index].isCurrent = false }
        tell(fault)
        awaitDaemon()
        // The daemon may listen again before its socket is watched.
        retryLater(at: now)
    }

    /// True if the daemon is connected and has not answered in time, because it is stopped or hangs.
    private var isSilent: Bool { link == .connected && quietBeats > Self.patience }

    /// Asks a daemon that has sent nothing since the last beat whether it is alive, once until it answers. There are beats only while
    /// there are readers.
    private mutating func examine() {
        guard link == .connected else { return }
        quietBeats += 1
        if quietBeats == 1 { emit(.request(BridgeRequestName.healthCheck.rawValue)) }
        if isSilent { tell(Self.silence) }
    }

    /// The daemon has sent a line. If it was silent, the readers get a snapshot before that line, so that they know that it is back.
    private mutating func heard() {
        let wasSilent = isSilent
        quietBeats = 0
        guard wasSilent else { return }
        for index in readers.indices {
            readers[index].isCurrent = false
            readers[index].knowsFault = false
        }
        requestSnapshot()
    }

    private mutating func retryLater(at now: Instant) {
        if !readers.isEmpty { deadlines.set(.retry, at: now + Self.retryInterval) }
    }

    private mutating func awaitDaemon() {
        guard !readers.isEmpty, !isWatchingSockets else { return }
        isWatchingSockets = true
        emit(.watchSockets)
    }

    private mutating func stopWatching() {
        guard isWatchingSockets else { return }
        isWatchingSockets = false
        emit(.stopWatching)
    }

    private mutating func disconnect() {
        stopWatching()
        guard link != .none else { return }
        link = .none
        snapshot = nil
        emit(.disconnect)
    }

    // MARK: Lines and snapshots

    private func octets(of line: EventRing.Line) -> [UInt8] {
        ServerSentEvent.line(line.octets, id: ring.id(of: line.number))
    }

    private mutating func received(_ line: JSONValue) {
        heard()
        guard line["kind"] != nil else { return answered(line) }
        let line = ring.append(line.withoutPasswords.encoded())
        guard readers.contains(where: \.isCurrent) else { return }
        let octets = octets(of: line)
        for reader in readers where reader.isCurrent { emit(.write(reader.id, octets)) }
    }

    private mutating func requestSnapshot() {
        guard snapshot == nil else { return }
        snapshot = (ring.last, [:])
        for name in Self.snapshotRequests { emit(.request(name)) }
    }

    private mutating func answered(_ line: JSONValue) {
        guard let name = line["transaction"]?.stringValue, Self.snapshotRequests.contains(name) else { return }
        snapshot?.answers[name] = line["data"]?.withoutPasswords ?? .null
        guard let snapshot, snapshot.answers.count == Self.snapshotRequests.count else { return }
        self.snapshot = nil
        // So many lines arrived meanwhile that the first of them are dropped.
        guard case .lines(let since) = ring.lines(after: snapshot.number) else { return requestSnapshot() }
        let data = JSONValue.object(Self.snapshotRequests.map { .init($0, snapshot.answers[$0] ?? .null) })
        let octets = ServerSentEvent.named("snapshot", data, id: ring.id(of: snapshot.number))
        for index in readers.indices where !readers[index].isCurrent {
            readers[index].isCurrent = true
            emit(.write(readers[index].id, octets))
            for line in since { emit(.write(readers[index].id, self.octets(of: line))) }
        }
    }

    #if DEBUG
        /// A sentence for each invariant that is violated between two inputs.
        package func problems() -> [String] {
            var problems = deadlines.problems()
            func expect(_ holds: Bool, _ problem: String) { if !holds { problems.append(problem) } }
            expect(readers.count <= Self.maximumReaders, "\(readers.count) readers are too many")
            expect(Set(readers.map(\.id)).count == readers.count, "two readers have one id")
            expect(
                (deadlines.deadline(of: .beat) != nil) == !readers.isEmpty,
                "beats are written to \(readers.count) readers, or the reverse")
            expect(
                deadlines.deadline(of: .linger) == nil || readers.isEmpty,
                "the daemon is left although there are readers")
            expect(
                deadlines.deadline(of: .linger) != nil || !readers.isEmpty || link == .none,
                "the daemon is watched for nobody")
            expect(deadlines.deadline(of: .retry) == nil || link != .connected, "another connection is to be made")
            expect(snapshot == nil || link == .connected, "a snapshot is awaited without a connection")
            expect(link == .connected || !readers.contains(where: \.isCurrent), "a reader gets lines of no daemon")
            expect(
                link != .connected || snapshot != nil || readers.allSatisfy(\.isCurrent), "a reader waits for ever")
            expect(!isWatchingSockets || link != .connected, "sockets are watched although the daemon is connected")
            return problems
        }
    #endif
}
