import CLinux
import Glibc
import Platform

/// Runs another program and returns its output. Its running time and the length of its output are limited.
package enum BoundedProgram {
    package struct Result: Hashable, Sendable {
        /// The program's standard output and standard error, each cut off after `maximumOutput` octets.
        package var output, errors: [UInt8]
        /// True if the program ended by itself with status 0.
        package var hasSucceeded: Bool
    }

    /// The maximum length of an output in octets.
    package static let maximumOutput = 256 * 1024

    /// The path of a program in the absolute directories of PATH; `nil` if none of them has it.
    package static func find(_ name: String, path: String) -> String? {
        path.split(separator: ":").filter { $0.hasPrefix("/") }.map { "\($0)/\(name)" }
            .first { access($0, X_OK) == 0 }
    }

    /// Runs the program without input, and with its messages in English. When the time is over, or an output is too long,
    /// the program is killed together with the processes that it has started.
    ///
    /// - Returns: `nil` if the program cannot be started.
    package static func run(_ path: String, _ arguments: [String], within limit: Duration) -> Result? {
        var (output, errors) = ([Int32](repeating: -1, count: 2), [Int32](repeating: -1, count: 2))
        defer { for descriptor in output + errors where descriptor >= 0 { close(descriptor) } }
        guard linux_pipe(&output) == 0, linux_pipe(&errors) == 0 else { return nil }
        var environment = SystemEnvironment.environmentVariables
        environment["LC_ALL"] = "C"
        let (process, failure) = startProgram(
            path, [path] + arguments, environment: environment.map { "\($0)=\($1)" }
        ) { actions in
            posix_spawn_file_actions_addopen(actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0)
            posix_spawn_file_actions_adddup2(actions, output[1], STDOUT_FILENO)
            posix_spawn_file_actions_adddup2(actions, errors[1], STDERR_FILENO)
        }
        guard failure == 0 else { return nil }
        for descriptor in [output[1], errors[1]] { close(descriptor) }
        (output[1], errors[1]) = (-1, -1)
        let descriptor = linux_pidfd_open(process)
        guard descriptor >= 0 else {
            kill(-process, SIGKILL)
            waitpid(process, nil, 0)
            return nil
        }
        defer { close(descriptor) }
        var result = Result(output: [], errors: [], hasSucceeded: false)
        let end = ContinuousClock.now + limit
        var (isOutputOpen, areErrorsOpen, hasEnded) = (true, true, false)
        while isOutputOpen || areErrorsOpen || !hasEnded, max(result.output.count, result.errors.count) < maximumOutput
        {
            let rest = (end - .now) / .milliseconds(1)
            guard rest > 0 else { break }
            var waits = [
                pollfd(fd: isOutputOpen ? output[0] : -1, events: Int16(POLLIN), revents: 0),
                pollfd(fd: areErrorsOpen ? errors[0] : -1, events: Int16(POLLIN), revents: 0),
                pollfd(fd: hasEnded ? -1 : descriptor, events: Int16(POLLIN), revents: 0),
            ]
            guard poll(&waits, 3, Int32(min(rest.rounded(.up), 60_000))) > 0 else { continue }
            if waits[0].revents != 0 { isOutputOpen = read(output[0], into: &result.output) }
            if waits[1].revents != 0 { areErrorsOpen = read(errors[0], into: &result.errors) }
            if waits[2].revents != 0 { hasEnded = true }
        }
        kill(-process, SIGKILL)
        var status: Int32 = 0
        waitpid(process, &status, 0)
        result.hasSucceeded = hasEnded && status == 0
        return result
    }

    /// Reads once from a pipe.
    ///
    /// - Returns: false at the end of the pipe, or after an error.
    private static func read(_ descriptor: Int32, into octets: inout [UInt8]) -> Bool {
        var chunk = [UInt8](repeating: 0, count: 16_384)
        let count = Glibc.read(descriptor, &chunk, chunk.count)
        guard count > 0 else { return count < 0 && errno == EINTR }
        octets += chunk.prefix(min(count, maximumOutput - octets.count))
        return true
    }
}
