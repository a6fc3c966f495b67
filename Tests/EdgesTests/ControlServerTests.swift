import ButtonModel
import CLinux
import Glibc
import Hub
import Reactor
import ReactorTestSupport
import Testing

@testable import ControlClient
@testable import Edges
@testable import Platform

@Suite struct ControlServerTests {
    @Test("each line is a request, and its answer comes back on its connection")
    func exchange() async throws {
        let answers = try await withServer(echo) { path in
            let first = try ControlClient(path: path)
            let second = try ControlClient(path: path)
            try first.send(Array("one".utf8))
            try second.send(Array("two\n\nthree".utf8))
            return [
                try first.readLine(timeout: .seconds(10)), try second.readLine(timeout: .seconds(10)),
                try second.readLine(timeout: .seconds(10)),
            ]
        }
        #expect(answers == ["1: one", "2: two", "2: three"].map { Array($0.utf8) })
    }

    @Test("an answer of many writes arrives whole")
    func largeAnswer() async throws {
        let large = [UInt8](repeating: UInt8(ascii: "x"), count: OutgoingBuffer.maximumCount - 1)
        let answer = try await withServer({ server, client, _ in server.send(large, to: client) }) { path in
            let client = try ControlClient(path: path)
            try client.send([1])
            return try client.readLine(timeout: .seconds(10))
        }
        #expect(answer == large)
    }

    @Test("a request at the bound is heard; one octet more costs the connection")
    func requestBound() async throws {
        let count = ControlServer.maximumLineLength
        let failure = try await withServer({ server, client, line in
            server.send(Array(String(line.count).utf8), to: client)
        }) { path in
            let client = try ControlClient(path: path)
            try client.send([UInt8](repeating: 0x20, count: count))
            let answer = try client.readLine(timeout: .seconds(10))
            #expect(answer == Array(String(count).utf8))
            try client.send([UInt8](repeating: 0x20, count: count + 1))
            return failureOf { () throws(ControlClientFailure) in try client.readLine(timeout: .seconds(10)) }
        }
        #expect(failure == .closed)
    }

    @Test(
        "a flood of lines is handled in portions: each turn of the loop is short, and another client is heard meanwhile"
    )
    func flood() async throws {
        let before = OutcomeBox<Int>()
        let count = 5_000
        let turns = try await withReactor { LinesPerTurn() }
        try await withServer(
            { server, client, line in
                turns.count()
                // A request may take a fifth of a millisecond.
                let start = EventLoop.shared.nanosecondsSinceBoot
                while EventLoop.shared.nanosecondsSinceBoot - start < 200_000 {}
                if line == [UInt8(ascii: "q")] {
                    before.value = turns.all
                    server.send(line, to: client)
                } else if turns.all > count {
                    server.send(line, to: client)
                }
            }
        ) { path in
            let flood = try ControlClient(path: path)
            let other = try ControlClient(path: path)
            try flood.send([UInt8](repeatElement([UInt8(ascii: "x"), 10], count: count).joined()))
            try other.send([UInt8(ascii: "q")])
            _ = try other.readLine(timeout: .seconds(20))
            // All of it comes in the end.
            _ = try flood.readLine(timeout: .seconds(60))
        }
        let flooded = try #require(before.value)
        #expect(flooded < count / 2, "\(flooded) lines came before another client's first one")
        let most = try await withReactor { turns.most }
        // 10 ms, and the last line may begin just before they are over.
        #expect(most <= 51, "\(most) lines in one turn")
    }

    @Test("a client that disconnects during a write does not affect other clients")
    func goneInTheMiddle() async throws {
        let large = [UInt8](repeating: UInt8(ascii: "x"), count: OutgoingBuffer.maximumCount - 1)
        let answer = try await withServer({ server, client, line in
            server.send(line.isEmpty || line == [1] ? large : line, to: client)
        }) { path in
            for _ in 0..<20 {
                let client = try ControlClient(path: path)
                try client.send([1])
                // Something has come, and more is waiting for us to take it.
                var first = pollfd(fd: client.descriptor, events: Int16(POLLIN), revents: 0)
                #expect(poll(&first, 1, 10_000) == 1)
            }
            let last = try ControlClient(path: path)
            try last.send([2])
            return try last.readLine(timeout: .seconds(10))
        }
        #expect(answer == [2])
    }

    @Test("a client that does not read is disconnected at one mebibyte, and its end is reported")
    func deafClient() async {
        let dropped: Hub.ClientID? = await onReactor { run in
            let path = temporaryPath()
            var server: ControlServer?
            let client = OutcomeBox<Int32>()
            server = try? ControlServer(loop: run.loop, path: path) { id, _ in
                for _ in 0..<40 { server?.send([UInt8](repeating: 0x20, count: 32 * 1024), to: id) }
            } onDisconnect: { id in
                close(client.value ?? -1)
                server?.close()
                run.finish(id)
            }
            let descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
            client.value = descriptor
            if case .success(let addresses) = SocketAddress.resolve(unixPath: path) {
                _ = addresses[0].connect(descriptor)
            }
            _ = write(descriptor, "x\n", 2)
        }
        #expect(dropped == Hub.ClientID(rawValue: 1))
    }

    @Test("a client above the limit gets an error and is disconnected; a client that leaves makes room for another")
    func clientBound() async throws {
        let result = try await withServer(echo) { path -> [String] in
            var descriptors: [Int32] = []
            defer { for descriptor in descriptors { close(descriptor) } }
            guard case .success(let addresses) = SocketAddress.resolve(unixPath: path) else { return [] }
            // A user gets at most half of the connections.
            for _ in 0..<(ControlServer.maximumClients + 1) / 2 {
                let descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
                // While the backlog is full this waits.
                #expect(addresses[0].connect(descriptor) == 0)
                descriptors.append(descriptor)
            }
            let refused = try ControlClient(path: path)
            _ = try refused.readLine(timeout: .seconds(10))
            let failure = failureOf { () throws(ControlClientFailure) in try refused.readLine(timeout: .seconds(10)) }
            shutdown(descriptors[0], Int32(SHUT_RDWR))
            var octet: UInt8 = 0
            _ = read(descriptors[0], &octet, 1)
            // The server may accept the next client before it notices the end of this one.
            var answer: [UInt8] = []
            while answer.last != UInt8(ascii: "x") {
                let next = try ControlClient(path: path)
                try? next.send(Array("x".utf8))
                answer = (try? next.readLine(timeout: .seconds(10))) ?? []
            }
            return ["\(failure.map { "\($0)" } ?? "")", String(decoding: answer.suffix(3), as: UTF8.self)]
        }
        #expect(result == ["\(ControlClientFailure.closed)", ": x"])
    }

    @Test("one user gets at most half of the connections, and an error for the next one")
    func share() async throws {
        let result = try await withServer(echo) { path -> [String] in
            var clients: [ControlClient] = []
            while clients.count < 40 {
                let client = try ControlClient(path: path)
                try? client.send(Array("x".utf8))
                let answer = String(decoding: try client.readLine(timeout: .seconds(10)), as: UTF8.self)
                if !answer.hasSuffix(": x") { return ["\(clients.count)", answer] }
                clients.append(client)
            }
            return ["\(clients.count)"]
        }
        #expect(
            result == [
                "32",
                #"{"status":"error","error":"this user has 32 connections already; end some of them","data":{}}"#,
            ])
    }

    @Test("the socket is for its owner and its group")
    func mode() async throws {
        let mode = try await withServer(echo) { path in
            var status = stat()
            lstat(path, &status)
            return status.st_mode
        }
        #expect(mode == S_IFSOCK | 0o660)
    }

    @Test("a socket file without a listening process is replaced; one with a listener, and other files, are not")
    func stale() async {
        let outcome: [String]? = await onReactor { run in
            var outcome: [String] = []
            @ReactorActor func start(_ path: String) -> ControlServer? {
                do throws(ControlServerFailure) {
                    let server = try ControlServer(loop: run.loop, path: path) { _, _ in }
                    outcome.append("listens")
                    return server
                } catch {
                    outcome.append("\(error)".replacing(path, with: "PATH"))
                    return nil
                }
            }
            let path = temporaryPath()
            // A killed daemon leaves a socket file on which no process listens.
            let dead = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
            if case .success(let addresses) = SocketAddress.resolve(unixPath: path) { _ = addresses[0].bind(dead) }
            close(dead)
            let server = start(path)
            _ = start(path)
            server?.close()
            outcome.append(access(path, F_OK) == 0 ? "is left" : "is removed")
            close(open(path, O_CREAT | O_WRONLY, 0o600))
            _ = start(path)
            outcome.append(access(path, F_OK) == 0 ? "is left" : "is removed")
            unlink(path)
            _ = start("/no/such/directory/control.sock")
            run.finish(outcome)
        }
        #expect(
            outcome == [
                "listens",
                "another tryckd listens on PATH: stop it, or give this one its own `control_socket`",
                "is removed",
                "PATH is not a socket: remove it, or configure another `control_socket`",
                "is left",
                "bind of PATH failed: No such file or directory",
            ])
    }

    @Test("a socket file that was deleted is created again, and a file of another server is left alone")
    func restored() async throws {
        let path = temporaryPath()
        let outcome = try await withReactor {
            var outcome: [String] = []
            let server = try ControlServer(loop: .shared, path: path) { _, _ in }
            try server.restoreFile()
            unlink(path)
            try server.restoreFile()
            outcome.append((try? ControlClient(path: path)) == nil ? "refuses" : "listens")
            unlink(path)
            let other = try ControlServer(loop: .shared, path: path) { _, _ in }
            do throws(ControlServerFailure) { try server.restoreFile() } catch { outcome.append("\(error)") }
            server.close()
            outcome.append(access(path, F_OK) == 0 ? "is left" : "is removed")
            other.close()
            outcome.append(access(path, F_OK) == 0 ? "is left" : "is removed")
            return outcome
        }
        #expect(
            outcome == [
                "listens", "another tryckd listens on \(path): stop it, or give this one its own `control_socket`",
                "is left", "is removed",
            ])
    }

    @Test("a handler may close the server, and the rest of the lines are not heard")
    func closeInside() async {
        let heard: Int? = await onReactor { run in
            let path = temporaryPath()
            var server: ControlServer?
            var heard = 0
            server = try? ControlServer(loop: run.loop, path: path) { _, _ in
                heard += 1
                server?.close()
                run.after(milliseconds: 20) { run.finish(heard) }
            }
            run.loop.offload {
                if let client = try? ControlClient(path: path) { try? client.send(Array("1\n2\n3".utf8)) }
            } then: {
            }
        }
        #expect(heard == 1)
    }

    // MARK: The client alone

    @Test("without a daemon, the failure is `notRunning` with the path")
    func notRunning() {
        let path = temporaryPath()
        #expect(
            failureOf { () throws(ControlClientFailure) in _ = try ControlClient(path: path) }
                == .notRunning(path: path))
    }

    @Test("a daemon that does not answer is given up at the deadline")
    func deadline() async throws {
        let failure = try await withServer({ _, _, _ in }) { path in
            let client = try ControlClient(path: path)
            try client.send([1])
            let start = ContinuousClock.now
            let failure = failureOf { () throws(ControlClientFailure) in try client.readLine(timeout: .milliseconds(50))
            }
            #expect(ContinuousClock.now - start >= .milliseconds(50))
            return failure
        }
        #expect(failure == .timedOut)
    }
}

// MARK: Steps

@ReactorActor
private final class LinesPerTurn {
    private(set) var all = 0
    /// In one turn of the loop.
    private(set) var most = 0
    private var current = 0
    private var turn: UInt64 = 0

    func count() {
        if turn != EventLoop.shared.turn { (turn, current) = (EventLoop.shared.turn, 0) }
        all += 1
        current += 1
        most = max(most, current)
    }
}

@ReactorActor
private func echo(_ server: ControlServer, _ client: Hub.ClientID, _ line: [UInt8]) {
    server.send(Array("\(client.rawValue): ".utf8) + line, to: client)
}

private func temporaryPath() -> String {
    var random: UInt64 = 0
    linux_random(&random, 8)
    return "/tmp/tryck-test-\(String(random, radix: 16)).sock"
}

/// Serves while `body` uses the blocking client on a helper thread.
private func withServer<T: Sendable>(
    _ onRequest: @escaping @ReactorActor (ControlServer, Hub.ClientID, [UInt8]) -> Void,
    _ body: @escaping @Sendable (String) throws -> T
) async throws -> T {
    let result: Result<T, any Error>? = await onReactor { run in
        let path = temporaryPath()
        var server: ControlServer?
        do throws(ControlServerFailure) {
            server = try ControlServer(loop: run.loop, path: path) { client, line in
                if let server { onRequest(server, client, line) }
            }
        } catch {
            return run.finish(.failure(error))
        }
        run.loop.offload {
            Result { try body(path) }
        } then: { result in
            server?.close()
            run.finish(result)
        }
    }
    return try #require(result).get()
}

private func failureOf<T>(_ body: () throws(ControlClientFailure) -> T) -> ControlClientFailure? {
    do throws(ControlClientFailure) {
        _ = try body()
        return nil
    } catch {
        return error
    }
}
