import CLinux
import Foundation
import Platform

/// A program under test, or a peer of one: its output by lines, with deadlines, and its exit.
///
/// Foundation's `Process` is not used, because it is not safe with many threads that open and close descriptors.
final class Program: @unchecked Sendable {
    // Safety: all mutable state is accessed with `condition` locked.
    private let input = Pipe()
    private let condition = NSCondition()
    private var collected: [String] = []
    private var partial: [Int: String] = [:]
    private var openStreams = 2
    /// The exit status, or the signal that ended the program.
    private var outcome: Int32?
    private var consumed = 0

    let name: String
    let processIdentifier: Int32

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
        var variables = ProcessInfo.processInfo.environment
        // The settings of sanitizers and of the test runner are not passed on.
        variables["LD_PRELOAD"] = nil
        // BlueZ of this machine is none of the tests' business.
        variables["DBUS_SYSTEM_BUS_ADDRESS"] = "unix:path=/nonexistent/bus"
        variables.merge(environment) { $1 }
        let (input, outputs) = (input, [Pipe(), Pipe()])
        let (process, failure) = startProgram(
            executable, [executable] + arguments, environment: variables.map { "\($0)=\($1)" }
        ) { actions in
            posix_spawn_file_actions_adddup2(actions, input.fileHandleForReading.fileDescriptor, 0)
            for (index, pipe) in outputs.enumerated() {
                posix_spawn_file_actions_adddup2(actions, pipe.fileHandleForWriting.fileDescriptor, Int32(index + 1))
            }
            if let directory { linux_spawn_chdir(actions, directory.path) }
        }
        processIdentifier = process
        guard failure == 0 else {
            outcome = -1
            throw Failure(description: "\(executable) cannot be started: \(String(cString: strerror(failure)))")
        }
        try? input.fileHandleForReading.close()
        for (index, pipe) in outputs.enumerated() {
            try? pipe.fileHandleForWriting.close()
            let handle = pipe.fileHandleForReading
            Thread.detachNewThread { [weak self] in
                while true {
                    let data = handle.availableData
                    self?.took(data, index)
                    if data.isEmpty { break }
                }
            }
        }
        Thread.detachNewThread { [weak self] in
            var information = siginfo_t()
            while waitid(P_PID, id_t(process), &information, WEXITED | WNOWAIT) != 0, errno == EINTR {}
            self?.ended(information._sifields._sigchld.si_status)
            // Until then, no other process can have its process id.
            waitpid(process, nil, 0)
        }
    }

    deinit { stop() }

    private func ended(_ outcome: Int32) {
        condition.withLock {
            self.outcome = outcome
            condition.broadcast()
        }
    }

    private func took(_ data: Data, _ stream: Int) {
        condition.withLock {
            if data.isEmpty {
                openStreams -= 1
                if let rest = partial[stream], !rest.isEmpty { collected.append(rest) }
            } else {
                // A carriage return and a line feed are one character of a string.
                var lines = ((partial[stream] ?? "") + String(decoding: data, as: UTF8.self))
                    .replacing("\r\n", with: "\n").split(separator: "\n", omittingEmptySubsequences: false).map(
                        String.init)
                partial[stream] = lines.removeLast()
                collected += lines
            }
            condition.broadcast()
        }
    }

    var hasEnded: Bool { condition.withLock { outcome != nil } }

    /// All lines of both streams so far.
    var lines: [String] { condition.withLock { collected } }
    var text: String { lines.joined(separator: "\n") }

    /// The next line that contains `text`, after the lines that were already waited for.
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
            let isOver = openStreams == 0 || (outcome != nil && Date() > deadline)
            guard !isOver, condition.wait(until: deadline) else {
                throw Failure(
                    description: "\(name): no line with \"\(text)\""
                        + (isOver ? " before it ended" : " within \(seconds) s") + "; it said:\n"
                        + collected.suffix(40).joined(separator: "\n"))
            }
        }
    }

    /// Waits until the lines of both streams so far are as a test wants them. The condition is checked after each output.
    func wait(within seconds: Double = 60, until isTrue: (_ lines: [String]) -> Bool) throws {
        let deadline = Date(timeIntervalSinceNow: seconds)
        condition.lock()
        defer { condition.unlock() }
        while !isTrue(collected) {
            guard openStreams > 0, condition.wait(until: deadline) else {
                throw Failure(
                    description: "\(name): not true within \(seconds) s, or before the output ended; it said:\n"
                        + collected.suffix(40).joined(separator: "\n"))
            }
        }
    }

    /// Waits until there is a line that contains `text`, even if it was already waited for.
    func wait(forLineContaining text: String) throws { try wait { $0.contains { $0.contains(text) } } }

    func write(_ line: String) {
        try? input.fileHandleForWriting.write(contentsOf: Data((line + "\n").utf8))
    }

    func closeInput() { try? input.fileHandleForWriting.close() }

    /// Waits until the program has ended and its output has arrived; processes that it started may keep its output
    /// open.
    func status(within seconds: Double = 90) throws -> Int32 {
        let deadline = Date(timeIntervalSinceNow: seconds)
        condition.lock()
        defer { condition.unlock() }
        while true {
            if let outcome {
                let grace = Date(timeIntervalSinceNow: 1)
                while openStreams > 0, condition.wait(until: grace) {}
                return outcome
            }
            guard condition.wait(until: deadline) else {
                throw Failure(
                    description: "\(name) has not ended within \(seconds) s; it said:\n"
                        + collected.suffix(40).joined(separator: "\n"))
            }
        }
    }

    func signal(_ number: Int32) {
        condition.withLock { if outcome == nil { _ = kill(processIdentifier, number) } }
    }

    /// Ends the program, and waits for its exit.
    func stop() {
        condition.lock()
        defer { condition.unlock() }
        guard outcome == nil else { return }
        // Programs of this package end with SIGTERM; a peer is killed.
        kill(processIdentifier, name.hasPrefix("tryck") ? SIGTERM : SIGKILL)
        let deadline = Date(timeIntervalSinceNow: 5)
        while outcome == nil {
            guard condition.wait(until: deadline) else {
                kill(processIdentifier, SIGKILL)
                return
            }
        }
    }
}
