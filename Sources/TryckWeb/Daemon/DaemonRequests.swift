import ControlClient
import JSON
import Reactor
import WebService

/// Asks the daemon, with a connection for each request, so that a slow answer delays no other.
@ReactorActor
final class DaemonRequests {
    enum Outcome: Sendable {
        case answer(JSONValue)
        /// The reason, as a sentence.
        case noDaemon(String)
        case tooLate
        /// Too many requests wait already.
        case tooMany
    }

    /// Nanoseconds that an answer may take.
    private static let timeLimit: Int64 = 10_000_000_000
    /// How long a daemon that hangs, and has too many connections waiting, may hold up everything else.
    nonisolated static let connectionLimit = Duration.milliseconds(100)

    private final class Pending {
        var connection: ControlConnection?
        var timer: Reactor.Timer?
        var continuation: CheckedContinuation<Outcome, Never>?
    }

    private let loop: EventLoop
    private let candidates: [String]
    private var slots = WorkSlots.requests
    /// The requests that wait for a slot, in the order of their arrival.
    private var waiting: [CheckedContinuation<Void, Never>] = []

    init(_ loop: EventLoop, candidates: [String]) {
        self.loop = loop
        self.candidates = candidates
    }

    func ask(_ line: JSONValue) async -> Outcome {
        switch slots.began() {
        case .now: break
        case .later: await withCheckedContinuation { waiting.append($0) }
        case .refused: return .tooMany
        }
        defer {
            if slots.ended() { waiting.removeFirst().resume() }
        }
        let pending = Pending()
        return await withCheckedContinuation { continuation in
            pending.continuation = continuation
            send(line, pending)
        }
    }

    private func send(_ line: JSONValue, _ pending: Pending) {
        do throws(ControlClientFailure) {
            pending.connection = try ControlConnection(
                loop, candidates: candidates, connectingWithin: Self.connectionLimit
            ) { event in
                switch event {
                case .received(let line): Self.end(pending, .answer(line))
                case .closed(let sentence): Self.end(pending, .noDaemon(sentence))
                }
            }
        } catch {
            return Self.end(pending, .noDaemon("\(error)"))
        }
        let timer = loop.timer { Self.end(pending, .tooLate) }
        timer.set(at: loop.nanosecondsSinceBoot + Self.timeLimit)
        pending.timer = timer
        pending.connection?.send(line)
    }

    private static func end(_ pending: Pending, _ outcome: Outcome) {
        pending.timer?.cancel()
        pending.connection?.close()
        pending.connection = nil
        pending.continuation?.resume(returning: outcome)
        pending.continuation = nil
    }
}
