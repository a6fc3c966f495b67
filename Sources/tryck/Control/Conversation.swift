import Daemon
import Glibc
import JSON
import Reactor
import Synchronization

/// The run of a command on the event loop, from its first request to its result.
@ReactorActor
final class Conversation<Value: Sendable> {
    private nonisolated let outcome = Mutex<Result<Value, Failure>?>(nil)
    private var connection: ControlConnection?

    private nonisolated init() {}

    /// Runs the loop until somebody calls `end`.
    nonisolated static func run(_ start: @escaping @ReactorActor (Conversation) -> Void) throws(Failure) -> Value {
        let conversation = Conversation()
        _ = EventLoop.run { start(conversation) }
        switch conversation.outcome.withLock({ $0 }) {
        case .success(let value): return value
        case .failure(let failure): throw failure
        case nil: throw Failure(.ourBug, "The command ended without a result. Please report this.")
        }
    }

    /// Ends the conversation with a failure when nobody listens.
    func connect(_ candidates: [String], _ handler: @escaping @ReactorActor (ControlConnection.Event) -> Void) {
        do throws(Failure) {
            connection = try ControlConnection(EventLoop.shared, candidates: candidates, handler)
        } catch {
            end(.failure(error))
        }
    }

    func send(_ request: JSONValue) { connection?.send(request) }

    /// Calls `handler` when somebody wants the command to end.
    func onInterrupt(_ handler: @escaping @ReactorActor () -> Void) {
        EventLoop.shared.onSignals([SIGINT, SIGTERM, SIGHUP]) { _ in handler() }
    }

    /// The first result counts.
    func end(_ result: Result<Value, Failure>) {
        outcome.withLock { if $0 == nil { $0 = result } }
        connection?.close()
        connection = nil
        EventLoop.shared.stop()
    }
}
