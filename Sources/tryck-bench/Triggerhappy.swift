import CLinux
import CommandSupport
import Glibc
import Platform

/// Debian's triggerhappy, a daemon (`thd`) that starts programs for keys, with a simulated keyboard.
///
/// Key events come through a pipe. A preloaded library answers the one ioctl that thd makes when it opens a keyboard;
/// everything after that is thd's own code.
final class Triggerhappy {
    static let package = "triggerhappy"

    private let process: pid_t
    private let keys: Int32
    private let started: StartSignal

    /// - Throws: the reason why it cannot be measured here, for the table.
    init(in directory: String, started: StartSignal) throws(Failure) {
        let searched = (getenv("PATH").map { String(cString: $0) } ?? "") + ":/usr/sbin:/usr/bin"
        let program = searched.split(separator: ":").lazy.map { (directory) -> String in "\(directory)/thd" }
            .first { (path: String) in access(path, X_OK) == 0 }
        guard let program else {
            throw Failure(.unavailable, "not measured: the package \(Self.package) is not installed")
        }
        let (source, library, pipe) = (directory + "/keyboard.c", directory + "/keyboard.so", directory + "/keys")
        let triggers = directory + "/triggers.conf"
        guard FileText.write(Array(Self.keyboard.utf8), to: source), mkfifo(pipe, 0o600) == 0,
            FileText.write(Array("KEY_A 1 echo > \(started.path)\n".utf8), to: triggers)
        else { throw Failure(.unavailable, "not measured: \(directory) cannot be written to") }
        guard Self.run(["/usr/bin/cc", "-shared", "-fPIC", "-o", library, source]) else {
            throw Failure(.unavailable, "not measured: there is no C compiler for its keyboard (gcc, libc6-dev)")
        }
        keys = open(pipe, O_RDWR | O_CLOEXEC)
        self.started = started
        let (process, failure) = startProgram(
            program, ["thd", "--triggers", triggers, pipe],
            environment: ["LD_PRELOAD=\(library)", "PATH=/usr/bin:/bin"]
        ) { actions in
            posix_spawn_file_actions_addopen(actions, STDERR_FILENO, directory + "/thd.log", O_WRONLY | O_CREAT, 0o600)
        }
        guard failure == 0, keys >= 0 else { throw Failure(.unavailable, "not measured: thd cannot be started") }
        self.process = process
        // The first press waits until thd has opened its keyboard.
        guard press() != nil else {
            stop()
            throw Failure(.unavailable, "not measured: thd does not take its keyboard")
        }
    }

    /// Presses the key. Returns nanoseconds until the program signals that it has begun; `nil` when it does not.
    func press() -> Double? {
        let clock = ContinuousClock()
        let began = clock.now
        write(value: 1)
        guard started.wait() else { return nil }
        let time = clock.now - began
        write(value: 0)
        return Double(time.nanoseconds)
    }

    func stop() {
        kill(process, SIGTERM)
        while waitpid(process, nil, 0) < 0, errno == EINTR {}
        close(keys)
    }

    /// Writes an event of KEY_A and the end of its report: two `struct input_event`.
    private func write(value: Int32) {
        for (type, code, value) in [(UInt16(1), UInt16(30), value), (0, 0, 0)] {
            var event = (timeval(), type, code, value)
            _ = withUnsafeBytes(of: &event) { Glibc.write(keys, $0.baseAddress, $0.count) }
        }
    }

    private static func run(_ arguments: [String]) -> Bool {
        guard let program = arguments.first, access(program, X_OK) == 0 else { return false }
        let (process, failure) = startProgram(program, arguments) { _ in }
        guard failure == 0 else { return false }
        var status: Int32 = 0
        while waitpid(process, &status, 0) < 0, errno == EINTR {}
        return status == 0
    }

    /// The source of the preloaded library, with which a pipe reports that it has keys.
    private static let keyboard = """
        #include <string.h>
        #include <stdarg.h>
        #include <unistd.h>
        #include <sys/syscall.h>
        int ioctl(int descriptor, unsigned long request, ...) {
            va_list list;
            va_start(list, request);
            char *argument = va_arg(list, char *);
            va_end(list);
            unsigned size = request >> 16 & 0x3FFF;
            if ((request & 0xC000FFFF) != 0x80004520)
                return syscall(SYS_ioctl, descriptor, request, argument);
            memset(argument, 0, size);
            argument[0] = 2;
            return size;
        }

        """
}

/// A pipe that programs write to when they begin.
struct StartSignal {
    let path: String
    private let descriptor: Int32

    init(in directory: String) throws(Failure) {
        path = directory + "/started"
        guard mkfifo(path, 0o600) == 0 else { throw Failure(.unavailable, "cannot write to \(directory)") }
        descriptor = open(path, O_RDWR | O_CLOEXEC | O_NONBLOCK)
        guard descriptor >= 0 else { throw Failure(.unavailable, "cannot read from \(directory)") }
    }

    /// - Returns: whether a program began within five seconds.
    func wait() -> Bool {
        var poll = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        guard Glibc.poll(&poll, 1, 5000) == 1 else { return false }
        var octets = [UInt8](repeating: 0, count: 64)
        return read(descriptor, &octets, octets.count) > 0
    }
}
