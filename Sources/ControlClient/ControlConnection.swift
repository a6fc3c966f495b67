package import JSON
package import Reactor

/// A `ControlClient` on the event loop: one JSON object for each line, in both directions.
@ReactorActor
package final class ControlConnection {
    package enum Event: Sendable {
        case received(JSONValue)
        /// The reason, as a sentence for people. No event comes after it.
        case closed(String)
    }

    private let handler: @ReactorActor (Event) -> Void
    private var watch: Watch?
    /// `nil` once the connection is closed.
    private var client: ControlClient?

    /// Connects to the first path at which a daemon listens.
    ///
    /// - Parameter timeLimit: how long the loop may stand still until a daemon that hangs takes the connection; `nil`: without
    ///   limit.
    /// - Throws: as `ControlSocket.first` does.
    package init(
        _ loop: EventLoop, candidates: [String], connectingWithin timeLimit: Duration? = nil,
        _ handler: @escaping @ReactorActor (Event) -> Void
    ) throws(ControlClientFailure) {
        let client = try ControlSocket.first(of: candidates) { path throws(ControlClientFailure) in
            try ControlClient(path: path, connectingWithin: timeLimit)
        }
        self.client = client
        self.handler = handler
        watch = loop.watch(client.descriptor, .read) { [unowned self] interest in ready(interest) }
    }

    package func send(_ request: JSONValue) {
        guard let client else { return }
        client.enqueue(request.encoded())
        write(client)
    }

    package func close() {
        watch?.cancel()
        watch = nil
        client = nil
    }

    private func ready(_ interest: IOEvents) {
        guard let client else { return }
        if interest.contains(.write) { write(client) }
        guard interest.contains(.read) || interest.hasHangup else { return }
        do throws(ControlClientFailure) {
            try client.receive()
            // The handler may close the connection.
            while self.client != nil, let line = try client.nextLine() {
                guard let value = try? JSONValue(parsing: line) else {
                    return end("The daemon sent a line that is not JSON. Is another program listening on its socket?")
                }
                handler(.received(value))
            }
        } catch .lineTooLong {
            end("The daemon sent a line longer than \(ControlClient.maximumLineLength) octets. Please report this.")
        } catch {
            end("The daemon has closed the connection; see its log for the reason.")
        }
    }

    private func write(_ client: ControlClient) {
        // A broken connection is reported when it is read.
        let isComplete = (try? client.sendEnqueued()) ?? true
        watch?.set(isComplete ? .read : [.read, .write])
    }

    private func end(_ sentence: String) {
        guard client != nil else { return }
        close()
        handler(.closed(sentence))
    }
}
