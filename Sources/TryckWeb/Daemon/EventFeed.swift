import ButtonModel
import Bytes
import ControlClient
import Edges
import JSON
import Platform
import Reactor
import WebService

/// Carries out what `ReaderFeed` decides: the streams of the readers, the connection to the daemon, and the watch of its sockets.
@ReactorActor
final class EventFeed {
    private let loop: EventLoop
    private let candidates: [String]
    private var feed: ReaderFeed
    /// Inputs that wait until the effects of the first one are carried out.
    private var inputs: [ReaderFeed.Input] = []
    private var streams: [ReaderFeed.ReaderID: EventStream] = [:]
    private var lastID = 0
    private var connection: ControlConnection?
    private var watch: FileWatch?
    private lazy var timer = loop.timer { [unowned self] in give(.timerFired) }

    init(_ loop: EventLoop, candidates: [String]) {
        self.loop = loop
        self.candidates = candidates
        feed = ReaderFeed(hasAbstractSocket: !candidates.allSatisfy(Self.isFile))
    }

    /// True if the socket has a path in the file system. False for an abstract socket, whose name begins with `@`.
    private nonisolated static func isFile(_ candidate: String) -> Bool { candidate.hasPrefix("/") }

    /// - Parameters:
    ///   - id: the id of the last event that the reader has.
    ///   - cut: closes the connection of the reader.
    /// - Returns: `nil` if there are too many readers.
    func open(after id: String?, session: SessionTable.ID?, cut: @escaping @Sendable () -> Void) -> EventStream? {
        guard feed.hasRoom else { return nil }
        lastID += 1
        let stream = EventStream(ReaderFeed.ReaderID(rawValue: lastID), cut: cut)
        streams[stream.id] = stream
        give(.opened(stream.id, session: session, after: id))
        return stream
    }

    /// Removes a reader. A second call has no effect.
    func close(_ stream: EventStream) {
        stream.finish()
        streams[stream.id] = nil
        give(.closed(stream.id))
    }

    /// Ends the streams of a session that has signed out.
    func end(_ session: SessionTable.ID) { give(.signedOut(session)) }

    private func give(_ input: ReaderFeed.Input) {
        inputs.append(input)
        guard inputs.count == 1 else { return }
        while let input = inputs.first {
            for effect in feed.handle(input, at: Instant(nanoseconds: loop.nanosecondsSinceBoot)) { carryOut(effect) }
            inputs.removeFirst()
        }
    }

    private func carryOut(_ effect: ReaderFeed.Effect) {
        switch effect {
        case .write(let reader, let octets): streams[reader]?.offer(octets)
        case .end(let reader): streams[reader]?.finish()
        case .connect: connect()
        case .disconnect:
            connection?.close()
            connection = nil
        case .request(let name): connection?.send(["request": .string(name), "transaction": .string(name)])
        case .watchSockets:
            let watch = FileWatch(loop: loop, suffixes: []) { [unowned self] in give(.socketChanged) }
            watch.watch(files: Set(candidates.filter(Self.isFile)))
            self.watch = watch
        case .stopWatching:
            watch?.stop()
            watch = nil
        case .setTimer(let deadline): timer.set(at: deadline.nanoseconds)
        case .cancelTimer: timer.cancel()
        }
    }

    private func connect() {
        do throws(ControlClientFailure) {
            connection = try ControlConnection(
                loop, candidates: candidates, connectingWithin: DaemonRequests.connectionLimit
            ) { [unowned self] event in
                switch event {
                case .received(let line): give(.received(line))
                case .closed(let sentence):
                    connection = nil
                    give(.disconnected(sentence))
                }
            }
            give(.connected(life: SystemEnvironment.randomOctets(6).hex))
        } catch {
            give(.notConnected("\(error)"))
        }
    }
}
