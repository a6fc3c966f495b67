import Foundation

/// A real program under test, or a peer of one: its output line by line, with deadlines, and its end.
final class Program: @unchecked Sendable {
    // Safety: everything mutable is read and written with `condition` locked.
    private let process = Process()
    private let input = Pipe()
    private let condition = NSCondition()
    private var collected: [String] = []
    private var partial: [Int: String] = [:]
    private var openStreams = 2
    private var hasExited = false
    private var consumed = 0

    let name: String

    struct Failure: Error, CustomStringConvertible {
        var description: String
    }

    init(
        _ executable: String, _ arguments: [String] = [], environment: [String: String] = [:], directory: URL? = nil
    ) throws {
        name = URL(filePath: executable).lastPathComponent
        guard FileManager.default.isExecutableFile(atPath: executable) else {
            throw Failure(description: "\(executable) is not there; ./deploy/test installs and builds what tests need")
        }
        process.executableURL = URL(filePath: executable)
        process.arguments = arguments
        var variables = ProcessInfo.processInfo.environment
        // The sanitizers' and the runner's own settings are none of the program's business.
        variables["LD_PRELOAD"] = nil
        variables.merge(environment) { $1 }
        process.environment = variables
        process.currentDirectoryURL = directory
        process.standardInput = input
        for (index, pipe) in [Pipe(), Pipe()].enumerated() {
            if index == 0 { process.standardOutput = pipe } else { process.standardError = pipe }
            // A thread that blocks: Dispatch's own sources do not survive that other tests open and close descriptors.
            let handle = pipe.fileHandleForReading
            Thread.detachNewThread { [weak self] in
                while true {
                    let data = handle.availableData
                    self?.took(data, index)
                    if data.isEmpty { break }
                }
            }
        }
        process.terminationHandler = { [weak self] _ in
            self?.condition.withLock {
                self?.hasExited = true
                self?.condition.broadcast()
            }
        }
        try process.run()
    }

    deinit { stop() }

    private func took(_ data: Data, _ stream: Int) {
        condition.withLock {
            if data.isEmpty {
                openStreams -= 1
                if let rest = partial[stream], !rest.isEmpty { collected.append(rest) }
            } else {
                var lines = ((partial[stream] ?? "") + String(decoding: data, as: UTF8.self))
                    .split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
                partial[stream] = lines.removeLast()
                collected += lines
            }
            condition.broadcast()
        }
    }

    /// All lines of both streams so far.
    var lines: [String] { condition.withLock { collected } }
    var text: String { lines.joined(separator: "\n") }

    /// The next line, after those already waited for, that contains `text`.
    @discardableResult
    func line(containing text: String, within seconds: Double = 60) throws -> String {
        let deadline = Date(timeIntervalSinceNow: seconds)
        condition.lock()
        defer { condition.unlock() }
        while true {
            if let index = collected[consumed...].firstIndex(where: { $0.contains(text) }) {
                consumed = index + 1
                return collected[index]
            }
            let isOver = openStreams == 0 || (hasExited && Date() > deadline)
            guard !isOver, condition.wait(until: deadline) else {
                throw Failure(
                    description: "\(name): no line with \"\(text)\""
                        + (isOver ? " before it ended" : " within \(seconds) s") + "; it said:\n"
                        + collected.suffix(40).joined(separator: "\n"))
            }
        }
    }

    func write(_ line: String) {
        try? input.fileHandleForWriting.write(contentsOf: Data((line + "\n").utf8))
    }

    func closeInput() { try? input.fileHandleForWriting.close() }

    /// Waits until it has ended by itself, and its output is here. A program started meanwhile by another test
    /// may have inherited the other end of a pipe, so the end of the output is not waited for long.
    func status(within seconds: Double = 90) throws -> Int32 {
        let deadline = Date(timeIntervalSinceNow: seconds)
        condition.lock()
        defer { condition.unlock() }
        while !hasExited {
            if condition.wait(until: min(deadline, Date(timeIntervalSinceNow: 0.5))) { continue }
            // A program that another test started at the same moment may hold what `Process` watches, and it notices
            // nothing: then the kernel is asked, and the child is left for it to collect.
            if let status = endedStatus { return status }
            guard Date() < deadline else {
                throw Failure(
                    description: "\(name) has not ended within \(seconds) s; it said:\n"
                        + collected.suffix(40).joined(separator: "\n"))
            }
        }
        let grace = Date(timeIntervalSinceNow: 1)
        while openStreams > 0, condition.wait(until: grace) {}
        return process.terminationStatus
    }

    /// The status or the signal of a child that has ended and was not collected.
    private var endedStatus: Int32? {
        var information = siginfo_t()
        guard waitid(P_PID, id_t(process.processIdentifier), &information, WEXITED | WNOHANG | WNOWAIT) == 0,
            information.si_signo == SIGCHLD
        else { return nil }
        return information._sifields._sigchld.si_status
    }

    func signal(_ number: Int32) {
        if process.isRunning { kill(process.processIdentifier, number) }
    }

    var processIdentifier: Int32 { process.processIdentifier }

    /// Ends it, and waits for that. What `Process` believes of it is not asked: it has been seen to be wrong.
    func stop() {
        condition.lock()
        defer { condition.unlock() }
        guard !hasExited else { return }
        // Ours end in order; a peer may have SIGTERM blocked, as a child of a test runner does, and has nothing to lose.
        kill(process.processIdentifier, name.hasPrefix("tryck") ? SIGTERM : SIGKILL)
        let deadline = Date(timeIntervalSinceNow: 5)
        while !hasExited {
            guard condition.wait(until: deadline) else {
                kill(process.processIdentifier, SIGKILL)
                return
            }
        }
    }
}
