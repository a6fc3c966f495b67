import ControlClient
import Edges
import JSON
import MQTTTopics
import Platform
import Reactor
import WebService

/// Watches the daemon for all readers of the live stream, while there are any.
///
/// A new reader gets a snapshot first: the answers to `status`, `buttons` and `rules`. Lines that arrived after the snapshot was
/// requested follow it. A reader that comes back in time gets the lines that it missed instead.
@ReactorActor
final class EventFeed {
    nonisolated static let maximumStreams = 32

    /// Nanoseconds between two comments, which keep proxies from closing a quiet stream.
    private static let commentInterval: Int64 = 15_000_000_000
    /// Nanoseconds for which the daemon is watched after the last reader has gone.
    private static let linger: Int64 = 60_000_000_000
    /// Nanoseconds before another attempt to connect, if the file of the socket does not tell when.
    private static let retryInterval: Int64 = 2_000_000_000
    private static let requests = [
        ControlRequestName.status.rawValue, ControlRequestName.buttons.rawValue, RuleRequestName.rules.rawValue,
    ]

    private let loop: EventLoop
    private let candidates: [String]
    private var connection: ControlConnection?
    private var ring = EventRing(life: "0")
    /// The readers, and whether each waits for a snapshot.
    private var streams: [(stream: EventStream, isWaiting: Bool)] = []
    /// The answers for a snapshot, and the number of the last line before it was requested.
    private var snapshot: (number: Int, answers: [String: JSONValue])?
    /// Why there is no daemon.
    private var fault: String?

    private var watch: FileWatch?
    private lazy var commentTimer = loop.timer { [unowned self] in comment() }
    private lazy var lingerTimer = loop.timer { [unowned self] in if streams.isEmpty { disconnect() } }
    private lazy var retryTimer = loop.timer { [unowned self] in connect() }

    init(_ loop: EventLoop, candidates: [String]) {
        self.loop = loop
        self.candidates = candidates
    }

    // MARK: Readers

    /// - Parameters:
    ///   - id: the id of the last event that the reader has.
    ///   - cut: closes the connection of the reader.
    /// - Returns: `nil` if there are too many readers.
    func open(after id: String?, session: SessionTable.ID?, cut: @escaping @Sendable () -> Void) -> EventStream? {
        guard streams.count < Self.maximumStreams else { return nil }
        let stream = EventStream(session: session, cut: cut)
        lingerTimer.cancel()
        if streams.isEmpty { commentTimer.set(at: loop.nanosecondsSinceBoot + Self.commentInterval) }
        stream.offer(ServerSentEvent.comment)
        if connection != nil, let id, case .lines(let missed) = ring.lines(afterID: id) {
            for line in missed { stream.offer(ServerSentEvent.line(line.octets, id: ring.id(of: line.number))) }
            streams.append((stream, false))
            return stream
        }
        streams.append((stream, true))
        if connection == nil { connect() } else { requestSnapshot() }
        if connection == nil, let fault { stream.offer(Self.gone(fault)) }
        return stream
    }

    /// Removes a reader. A second call has no effect.
    func close(_ stream: EventStream) {
        stream.finish()
        guard streams.contains(where: { $0.stream === stream }) else { return }
        streams.removeAll { $0.stream === stream }
        guard streams.isEmpty else { return }
        commentTimer.cancel()
        retryTimer.cancel()
        lingerTimer.set(at: loop.nanosecondsSinceBoot + Self.linger)
    }

    /// Ends the streams of a session that has signed out.
    func end(_ session: SessionTable.ID) {
        for entry in streams where entry.stream.session == session { entry.stream.finish() }
    }

    private func comment() {
        for entry in streams { entry.stream.offer(ServerSentEvent.comment) }
        commentTimer.set(at: loop.nanosecondsSinceBoot + Self.commentInterval)
    }

    // MARK: The daemon

    private func connect() {
        guard connection == nil, !streams.isEmpty else { return }
        do throws(ControlClientFailure) {
            connection = try ControlConnection(loop, candidates: candidates) { [unowned self] event in
                switch event {
                case .received(let line): received(line)
                case .closed(let sentence): closed(sentence)
                }
            }
        } catch {
            fault = "\(error)"
            awaitDaemon()
            return
        }
        watch?.stop()
        watch = nil
        fault = nil
        snapshot = nil
        ring = EventRing(life: (WebCrypto.randomOctets(6) ?? []).hexText)
        send(ControlRequestName.watch.rawValue)
        requestSnapshot()
    }

    /// Connects when the file of a socket changes. An abstract socket has no file, so it is tried now and then.
    private func awaitDaemon() {
        let files = Set(candidates.filter { $0.hasPrefix("/") })
        if watch == nil {
            let watch = FileWatch(loop: loop, suffixes: []) { [unowned self] in connect() }
            watch.watch(files: files)
            self.watch = watch
        }
        if files.count < candidates.count { retryTimer.set(at: loop.nanosecondsSinceBoot + Self.retryInterval) }
    }

    private func closed(_ sentence: String) {
        connection = nil
        snapshot = nil
        fault = sentence
        for index in streams.indices {
            streams[index].isWaiting = true
            streams[index].stream.offer(Self.gone(sentence))
        }
        awaitDaemon()
        // The daemon may listen again before its socket was watched.
        if !streams.isEmpty { retryTimer.set(at: loop.nanosecondsSinceBoot + Self.retryInterval) }
    }

    private func disconnect() {
        connection?.close()
        connection = nil
        snapshot = nil
        watch?.stop()
        watch = nil
    }

    private func received(_ line: JSONValue) {
        guard line["kind"] != nil else { return answered(line) }
        let line = ring.append(line.withoutPasswords.encoded())
        guard streams.contains(where: { !$0.isWaiting }) else { return }
        let octets = ServerSentEvent.line(line.octets, id: ring.id(of: line.number))
        for entry in streams where !entry.isWaiting { entry.stream.offer(octets) }
    }

    // MARK: Snapshots

    private func send(_ name: String) {
        connection?.send(["request": .string(name), "transaction": .string(name)])
    }

    private func requestSnapshot() {
        guard snapshot == nil, connection != nil else { return }
        snapshot = (ring.last, [:])
        for name in Self.requests { send(name) }
    }

    private func answered(_ line: JSONValue) {
        guard var snapshot, let name = line["transaction"]?.stringValue, Self.requests.contains(name) else { return }
        snapshot.answers[name] = line["data"]?.withoutPasswords ?? .null
        self.snapshot = snapshot
        guard snapshot.answers.count == Self.requests.count else { return }
        self.snapshot = nil
        guard case .lines(let since) = ring.lines(after: snapshot.number) else { return requestSnapshot() }
        let data = JSONValue.object(Self.requests.map { .init($0, snapshot.answers[$0] ?? .null) })
        let octets = ServerSentEvent.named("snapshot", data, id: ring.id(of: snapshot.number))
        for index in streams.indices where streams[index].isWaiting {
            streams[index].isWaiting = false
            streams[index].stream.offer(octets)
            for line in since {
                streams[index].stream.offer(ServerSentEvent.line(line.octets, id: ring.id(of: line.number)))
            }
        }
    }

    private static func gone(_ sentence: String) -> [UInt8] {
        ServerSentEvent.named("gone", ["error": .string(sentence)])
    }
}
