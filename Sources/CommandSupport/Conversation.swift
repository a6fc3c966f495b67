package import ControlClient
import Glibc
package import JSON
import Platform
package import Reactor
import Synchronization

/// Runs a command on the event loop, from its first request to its result.
@ReactorActor
package final class Conversation<Value: Sendable> {
    private nonisolated let outcome = Mutex<Result<Value, Failure>?>(nil)
    private var connection: ControlConnection?

    private nonisolated init() {}

    /// Runs the loop until `end` is called.
    package nonisolated static func run(_ start: @escaping @ReactorActor (Conversation) -> Void) throws(Failure)
        -> Value
    {
        let conversation = Conversation()
        _ = EventLoop.run { start(conversation) }
        switch conversation.outcome.withLock({ $0 }) {
        case .success(let value): return value
        case .failure(let failure): throw failure
        case nil: throw Failure(.internalError, "The command ended without a result. Please report this.")
        }
    }

    /// Connects to the daemon. Ends the conversation with a failure when no daemon listens.
    package func connect(_ candidates: [String], _ handler: @escaping @ReactorActor (ControlConnection.Event) -> Void) {
        do throws(ControlClientFailure) {
            connection = try ControlConnection(EventLoop.shared, candidates: candidates, handler)
        } catch {
            end(.failure(Failure(error, candidates: candidates)))
        }
    }

    package func send(_ request: JSONValue) { connection?.send(request) }

    /// Calls `handler` on SIGINT, SIGTERM and SIGHUP.
    package func onInterrupt(_ handler: @escaping @ReactorActor () -> Void) {
        EventLoop.shared.onSignals([SIGINT, SIGTERM, SIGHUP]) { _ in handler() }
    }

    /// Ends the conversation. Only the first result counts.
    package func end(_ result: Result<Value, Failure>) {
        outcome.withLock { if $0 == nil { $0 = result } }
        connection?.close()
        connection = nil
        EventLoop.shared.stop()
    }
}
