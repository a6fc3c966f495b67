package import CLinux
import Glibc

/// Starts a program in its own process group. It inherits no descriptors but those set up by `files`.
///
/// The program starts with no signal blocked and with default handlers, although the daemon blocks signals for its loop
/// and ignores SIGPIPE. Descriptors from 3 on are closed. The program gets no ambient capabilities. `no_new_privs` is
/// not set, so that sudo works. The call blocks until the program is executed (vfork semantics).
///
/// - Parameters:
///   - path: the path of the program, without a search.
///   - arguments: the first is the program's name.
///   - environment: `NAME=value`; `nil`: the environment of this process.
///   - files: sets up the descriptors 0 to 2 and the working directory.
/// - Returns: the process id and 0, or an error number if nothing was started: `EINVAL` if an argument or a variable contains a
///   zero octet.
package func startProgram(
    _ path: String, _ arguments: [String], environment: [String]? = nil,
    _ files: (UnsafeMutablePointer<posix_spawn_file_actions_t>) -> Void
) -> (process: Int32, failure: Int32) {
    var actions = posix_spawn_file_actions_t()
    posix_spawn_file_actions_init(&actions)
    defer { posix_spawn_file_actions_destroy(&actions) }
    files(&actions)
    linux_spawn_closefrom(&actions, 3)

    var attributes = posix_spawnattr_t()
    posix_spawnattr_init(&attributes)
    defer { posix_spawnattr_destroy(&attributes) }
    var none = sigset_t()
    sigemptyset(&none)
    var all = sigset_t()
    sigfillset(&all)
    posix_spawnattr_setsigmask(&attributes, &none)
    posix_spawnattr_setsigdefault(&attributes, &all)
    posix_spawnattr_setpgroup(&attributes, 0)
    posix_spawnattr_setflags(
        &attributes, Int16(POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF))

    // Fails with EINVAL on kernels before 4.3, which have no ambient capabilities.
    linux_drop_ambient_capabilities()
    var process: pid_t = 0
    let failure = withCStrings(arguments) { arguments in
        guard let environment else {
            return posix_spawn(&process, path, &actions, &attributes, arguments, linux_environment())
        }
        return withCStrings(environment) { environment in
            posix_spawn(&process, path, &actions, &attributes, arguments, environment)
        }
    }
    return (process, failure)
}

/// Calls `body` with a null-terminated array of null-terminated copies of the strings, all in one block of memory.
///
/// - Returns: `EINVAL` if a string contains a zero octet, or else the result of `body`.
private func withCStrings(
    _ strings: [String], _ body: (UnsafePointer<UnsafeMutablePointer<CChar>?>) -> Int32
) -> Int32 {
    let size = strings.reduce(1) { $0 + $1.utf8.count + 1 }
    return withUnsafeTemporaryAllocation(of: CChar.self, capacity: size) { octets in
        withUnsafeTemporaryAllocation(of: UnsafeMutablePointer<CChar>?.self, capacity: strings.count + 1) { pointers in
            guard var end = octets.baseAddress, let first = pointers.baseAddress else { return ENOMEM }
            for (index, string) in strings.enumerated() {
                var string = string
                let count = string.withUTF8 { text in
                    UnsafeMutableRawBufferPointer(start: end, count: text.count).copyMemory(from: .init(text))
                    return text.count
                }
                guard memchr(end, 0, count) == nil else { return EINVAL }
                first[index] = end
                end += count
                end.pointee = 0
                end += 1
            }
            first[strings.count] = nil
            return body(first)
        }
    }
}
