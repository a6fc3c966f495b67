public import Reactor

/// The test did not end within the time `onReactor` allows.
public struct TimedOut: Error {
    public init() {}
}

/// Runs a test that waits: the event loop runs until `body` has ended.
@discardableResult
public func withReactor<T: Sendable>(_ body: @escaping @ReactorActor @Sendable () async throws -> T) async throws -> T {
    let (turns, turn) = AsyncStream<ReactorRun<Result<T, any Error>>>.makeStream()
    // Unlike `ReactorRun.task`, this task has the task-local values of the test, by which a recorded issue finds it.
    Task(executorPreference: ThreadExecutor()) {
        for await run in turns {
            await withTaskExecutorPreference(LoopTaskExecutor()) { @ReactorActor in
                do { run.finish(.success(try await body())) } catch { run.finish(.failure(error)) }
            }
        }
    }
    let result: Result<T, any Error>? = await onReactor { run in
        turn.yield(run)
        turn.finish()
    }
    guard let result else { throw TimedOut() }
    return try result.get()
}

/// The events on the reactor, in order, for which a test can wait.
@ReactorActor
public final class Happenings<Event: Sendable> {
    private var events: [Event] = []
    private var waiter: CheckedContinuation<Event, Never>?

    public init() {}

    public func add(_ event: Event) {
        if let waiter {
            self.waiter = nil
            waiter.resume(returning: event)
        } else {
            events.append(event)
        }
    }

    public func next() async -> Event {
        if !events.isEmpty { return events.removeFirst() }
        return await withCheckedContinuation { continuation in
            // With an executor that the task prefers, this is a later turn of the loop than the line above.
            if events.isEmpty { waiter = continuation } else { continuation.resume(returning: events.removeFirst()) }
        }
    }

    /// The next event for which `choose` returns a value. Events before it are dropped.
    public func next<T>(_ choose: (Event) -> T?) async -> T {
        while true {
            if let chosen = choose(await next()) { return chosen }
        }
    }

    /// Takes all events that have not been taken yet.
    public func takeAll() -> [Event] {
        defer { events = [] }
        return events
    }
}
