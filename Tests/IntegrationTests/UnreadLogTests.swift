import ControlClient
import Foundation
import JSON
import Platform
import Setup
import Testing

/// A daemon whose standard error is not read, or only for a while.
@Suite("A log that is not read", .serialized, .ownThread)
struct UnreadLogTests {
    enum Place: CaseIterable {
        case pipe, socket, smallPipe, closedPipe, closedSocket, fullDisk
    }

    @Test(
        "with a blocked log the daemon handles presses, and later says how many lines it could not write",
        arguments: Place.allCases)
    func unread(place: Place) throws {
        let workshop = try Workshop()
        let port = try workshop.mosquitto()
        let messages = try workshop.subscriber(port)
        try workshop.write("simulator.yaml", "buttons:\n  \(RuleHouse.kitchen)\n")
        try workshop.write(
            "tryck.yaml",
            """
            bluetooth: {transport: "simulated:simulator.yaml"}
            mqtt: {broker: "mqtt://127.0.0.1:\(port)"}
            """)
        let log = try LogEnd(place)
        let (process, failure) = startProgram(
            Workshop.built("tryckd"),
            [
                "tryckd", "--config", workshop.path("tryck.yaml"), "--state-directory", workshop.path("state"),
                "--control-socket", workshop.path("control.sock"), "--log-level", "debug",
            ]
        ) { actions in
            posix_spawn_file_actions_adddup2(actions, log.writingEnd, 2)
        }
        try #require(failure == 0)
        defer {
            kill(process, SIGKILL)
            waitpid(process, nil, 0)
        }
        close(log.writingEnd)
        try messages.line(containing: "tryck/bridge/state online")
        try messages.wait(forLineContaining: #""powered":true"#)
        let client = try ControlClient(path: workshop.path("control.sock"))
        func ask(_ request: String, _ data: JSONValue) throws {
            let line: JSONValue = ["request": .string(request), "data": data]
            try client.send(line.encoded())
            let answer = try JSONValue(parsing: client.readLine(timeout: .seconds(30)))
            #expect(answer["status"] == "ok", "\(answer)")
        }
        try ask("permit_join", ["time": 60])
        try messages.line(containing: "tryck/80e4da000001/availability online")
        try ask("simulator/press", ["button": "kitchen", "press": "click"])
        try messages.line(containing: "tryck/80e4da000001/action click")
        guard let readingEnd = log.readingEnd else { return }
        // Now there is space, and the next line says how many were lost.
        let reader = LogReader(readingEnd)
        try workshop.wait {
            try ask("permit_join", ["time": 0])
            try ask("permit_join", ["time": 1])
            return place == .smallPipe || reader.text.contains(" were not written")
        }
        for line in reader.text.split(separator: "\n").dropFirst().dropLast() {
            #expect(line.wholeMatch(of: /\d{4}-\d\d-\d\dT\S+ [a-z]+ +\S+: .*/) != nil, "\(line)")
        }
    }
}

/// Standard error of a daemon, and its other end.
private struct LogEnd {
    /// `F_SETPIPE_SZ`, a GNU extension.
    private static let setPipeSize: Int32 = 1031

    var writingEnd: Int32
    /// `nil` if nothing can be read.
    var readingEnd: Int32?

    init(_ place: UnreadLogTests.Place) throws {
        var ends: [Int32] = [0, 0]
        switch place {
        case .pipe, .closedPipe, .smallPipe:
            try #require(pipe(&ends) == 0)
            _ = fcntl(ends[1], Self.setPipeSize, 4096)
        case .socket, .closedSocket:
            // A socket pair, as systemd gives to a service for its log.
            try #require(socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0, &ends) == 0)
            var size: Int32 = 4096
            setsockopt(ends[1], SOL_SOCKET, SO_SNDBUF, &size, socklen_t(MemoryLayout<Int32>.size))
        case .fullDisk:
            writingEnd = open("/dev/full", O_WRONLY)
            return
        }
        for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        (readingEnd, writingEnd) = (ends[0], ends[1])
        switch place {
        case .pipe, .socket: fill()
        case .smallPipe: break
        case .closedPipe, .closedSocket:
            close(ends[0])
            readingEnd = nil
        case .fullDisk: break
        }
    }

    /// Writes until the pipe is full. Then the flag of this test's end is restored.
    private func fill() {
        let flags = fcntl(writingEnd, F_GETFL)
        _ = fcntl(writingEnd, F_SETFL, flags | O_NONBLOCK)
        while write(writingEnd, "\n", 1) == 1 {}
        _ = fcntl(writingEnd, F_SETFL, flags)
    }
}

/// Reads everything from a descriptor on a thread of its own.
private final class LogReader: @unchecked Sendable {
    // Safety: `collected` is read and written with `lock` locked.
    private let lock = NSLock()
    private var collected = ""

    init(_ descriptor: Int32) {
        let handle = FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
        Thread.detachNewThread { [weak self] in
            while case let data = handle.availableData, !data.isEmpty {
                guard let self else { return }
                lock.withLock { collected += String(decoding: data, as: UTF8.self) }
            }
        }
    }

    var text: String { lock.withLock { collected } }
}
