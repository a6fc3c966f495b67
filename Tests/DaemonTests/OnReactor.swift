import Glibc
import Reactor
import Synchronization

struct TimedOut: Error {}

/// Runs the event loop on a thread of its own until `body` has ended. Tests that come meanwhile wait for their turn.
///
/// - Throws: what `body` throws, or `TimedOut` when it takes longer than `limit` seconds.
@discardableResult
func onReactor<T: Sendable>(
    limit: Int64 = 20, _ body: @escaping @ReactorActor @Sendable () async throws -> T
) async throws -> T {
    let outcome = Mutex<Result<T, any Error>>(.failure(TimedOut()))
    let box = OutcomeBox(outcome)
    return try await withCheckedContinuation { continuation in
        onThread {
            _ = EventLoop.run {
                let loop = EventLoop.shared
                let giveUp = loop.timer { loop.stop() }
                giveUp.set(at: loop.nanosecondsSinceBoot + limit * 1_000_000_000)
                Task { @ReactorActor in
                    let result: Result<T, any Error>
                    do { result = .success(try await body()) } catch { result = .failure(error) }
                    box.outcome.withLock { $0 = result }
                    loop.stop()
                }
            }
            continuation.resume(returning: box.outcome.withLock { $0 })
        }
    }.get()
}

private final class OutcomeBox<T: Sendable>: Sendable {
    let outcome: Mutex<Result<T, any Error>>
    init(_ outcome: consuming Mutex<Result<T, any Error>>) { self.outcome = outcome }
}

private func onThread(_ body: @escaping @Sendable () -> Void) {
    final class Body: Sendable {
        let run: @Sendable () -> Void
        init(_ run: @escaping @Sendable () -> Void) { self.run = run }
    }
    var thread = pthread_t()
    let failure = pthread_create(
        &thread, nil,
        { argument in
            if let argument { Unmanaged<Body>.fromOpaque(argument).takeRetainedValue().run() }
            return nil
        }, Unmanaged.passRetained(Body(body)).toOpaque())
    precondition(failure == 0, "pthread_create: \(failure)")
    pthread_detach(thread)
}

/// What happens on the reactor, in order, for a test to wait for.
@ReactorActor
final class Happenings<Event: Sendable> {
    private var events: [Event] = []
    private var waiter: CheckedContinuation<Event, Never>?

    func add(_ event: Event) {
        if let waiter {
            self.waiter = nil
            waiter.resume(returning: event)
        } else {
            events.append(event)
        }
    }

    func next() async -> Event {
        if !events.isEmpty { return events.removeFirst() }
        return await withCheckedContinuation { waiter = $0 }
    }

    /// The next event of which `choose` makes something; those before it are dropped.
    func next<T>(_ choose: (Event) -> T?) async -> T {
        while true {
            if let chosen = choose(await next()) { return chosen }
        }
    }

    /// What has come and was not taken yet.
    func takeAll() -> [Event] {
        defer { events = [] }
        return events
    }
}

/// An empty directory of the test's own, gone with the last reference.
final class TemporaryDirectory: Sendable {
    let path: String

    init() {
        let name = strdup("/tmp/tryck-tests-XXXXXX")
        defer { free(name) }
        guard let name, mkdtemp(name) != nil else { preconditionFailure("mkdtemp: \(errno)") }
        path = String(cString: name)
    }

    deinit { removeTree(path) }
}

private func removeTree(_ path: String) {
    if let directory = opendir(path) {
        while let entry = readdir(directory) {
            let name = withUnsafeBytes(of: entry.pointee.d_name) { bytes in
                String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
            }
            if name != ".", name != ".." { removeTree(path + "/" + name) }
        }
        closedir(directory)
    }
    remove(path)
}

func readFile(_ path: String) -> [UInt8] {
    let file = open(path, O_RDONLY)
    guard file >= 0 else { return [] }
    defer { close(file) }
    var octets: [UInt8] = []
    var chunk = [UInt8](repeating: 0, count: 65536)
    while case let count = read(file, &chunk, chunk.count), count > 0 { octets += chunk.prefix(count) }
    return octets
}

func writeFile(_ path: String, _ octets: some Collection<UInt8>, mode: mode_t = 0o600) {
    let file = open(path, O_WRONLY | O_CREAT | O_TRUNC, mode)
    precondition(file >= 0, "\(path): \(errno)")
    let octets = Array(octets)
    precondition(write(file, octets, octets.count) == octets.count, "\(path): \(errno)")
    close(file)
}

func mode(of path: String) -> mode_t? {
    var information = stat()
    return stat(path, &information) == 0 ? information.st_mode & 0o7777 : nil
}
