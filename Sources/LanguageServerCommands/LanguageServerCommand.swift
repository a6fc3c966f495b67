import ArgumentParser
import ButtonModel
import CommandSupport
import Glibc
import LanguageServer
import Platform

struct LanguageServerCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "language-server",
        abstract: "Check and complete rules while an editor changes them.",
        discussion: """
            Editors start this command and talk to it over standard input and output, in the Language Server Protocol. \
            It shows the mistakes that tryck check finds while you type, completes keys, values and names, explains them, \
            and renames buttons, variables and scripts in all files of a rule set. How to set up VS Code, Neovim, Emacs, \
            Helix and Kate is in rules/README.md. Needs no daemon. The exit status is 0 if the editor ended it properly, and \
            1 otherwise.

              tryck language-server
            """)

    @Flag(help: "Use standard input and output. There is no other way; some editors give this option.")
    var stdio = false

    func run() throws {
        guard isatty(STDIN_FILENO) == 0 else {
            throw Failure(
                .usage, "An editor starts this command and talks to it. See tryck language-server --help for how.")
        }
        // An editor that has gone is an error of the write, which has an exit status of its own.
        signal(SIGPIPE, SIG_IGN)
        var loop = try ServerLoop(DiskFiles(variables: SystemEnvironment.environmentVariables))
        let status = try loop.run()
        guard status == 0 else { throw Failure.silent(.negativeResult) }
    }
}

/// Passes octets between standard input and output and a language server, answers what the server asks of the disk, and
/// carries out its checks and asks daemons on threads of their own.
private struct ServerLoop {
    private let files: DiskFiles
    private var server: LanguageServer
    private let checks: WorkThread<SetCheck>
    private let daemons: WorkThread<LastRunsAnswer>
    private var deadline: Instant?
    private var status: Int32?
    private var hasInputEnded = false

    init(_ files: DiskFiles) throws(Failure) {
        self.files = files
        server = LanguageServer(variables: files.variables, version: Version.string)
        checks = try WorkThread()
        daemons = try WorkThread()
    }

    /// Runs until the editor ends the server, and returns the exit status.
    mutating func run() throws(Failure) -> Int32 {
        var buffer = [UInt8](repeating: 0, count: 1 << 16)
        while true {
            if let status { return status }
            let ready = wait()
            if ready.check, let check = checks.take() { try give(.checked(check)) }
            if ready.daemon, let answer = daemons.take() { try give(.lastRuns(answer)) }
            if ready.isTimeOver { try give(.timerFired) }
            guard ready.input, status == nil else { continue }
            let count = read(STDIN_FILENO, &buffer, buffer.count)
            if count > 0 {
                try give(.received(Array(buffer.prefix(count))))
            } else if count == 0 || errno != EINTR && errno != EAGAIN {
                hasInputEnded = true
                try give(.inputEnded)
            }
        }
    }

    /// Waits until there is input, the result of a check or the answer of a daemon, or until the deadline.
    private func wait() -> (input: Bool, check: Bool, daemon: Bool, isTimeOver: Bool) {
        // A negative descriptor is not waited for.
        let input = hasInputEnded || !server.wantsInput ? -1 : STDIN_FILENO
        var descriptors = [
            pollfd(fd: input, events: Int16(POLLIN), revents: 0),
            pollfd(fd: checks.finished, events: Int16(POLLIN), revents: 0),
            pollfd(fd: daemons.finished, events: Int16(POLLIN), revents: 0),
        ]
        var timeout: Int32 = -1
        if let deadline {
            // Rounded up, so that the deadline has passed afterwards.
            timeout = Int32(clamping: ((deadline - Self.now).nanoseconds + 999_999) / 1_000_000)
            timeout = max(0, timeout)
        }
        let count = poll(&descriptors, nfds_t(descriptors.count), timeout)
        // After an interruption by a signal, the loop asks again.
        return (
            count > 0 && descriptors[0].revents != 0, count > 0 && descriptors[1].revents != 0,
            count > 0 && descriptors[2].revents != 0, count == 0 && deadline != nil
        )
    }

    private mutating func give(_ input: LanguageServer.Input) throws(Failure) {
        if case .timerFired = input { deadline = nil }
        var effects = server.handle(input, at: Self.now)[...]
        while let effect = effects.popFirst() {
            switch effect {
            case .send(let octets): try Self.write(octets)
            case .find(let request): effects += server.handle(.found(files.answer(to: request)), at: Self.now)
            case .check(let check):
                // Without a thread, the editor waits for the check.
                guard !checks.start({ [files] in check.run(answering: files.answer) }) else { continue }
                effects += server.handle(.checked(check.run(answering: files.answer)), at: Self.now)
            case .askDaemon(let configuration):
                guard !daemons.start({ [files] in files.lastRuns(configuration) }) else { continue }
                effects += server.handle(.lastRuns(.silent), at: Self.now)
            case .setTimer(let time): deadline = time
            case .exit(let status): self.status = status
            }
        }
    }

    private static func write(_ octets: [UInt8]) throws(Failure) {
        var rest = octets[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { Glibc.write(STDOUT_FILENO, $0.baseAddress, $0.count) }
            if count > 0 {
                rest = rest.dropFirst(count)
            } else if errno == EAGAIN {
                var descriptor = pollfd(fd: STDOUT_FILENO, events: Int16(POLLOUT), revents: 0)
                _ = poll(&descriptor, 1, -1)
            } else if errno != EINTR {
                throw Failure(.inputOutput, "The editor does not read any more: \(String(cString: strerror(errno))).")
            }
        }
    }

    private static var now: Instant {
        var time = timespec()
        clock_gettime(CLOCK_BOOTTIME, &time)
        return Instant(nanoseconds: Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec))
    }
}
