package import CLinux
import Glibc

/// Starts a program at the head of a process group of its own, with nothing of ours but what `files` gives it.
///
/// The signals that the loop reads are blocked here and SIGPIPE is ignored; a program begins with neither. Descriptors
/// from 3 on are closed in it. Ambient capabilities are ours alone; `no_new_privs` is not set, so that sudo works. The call
/// holds the thread until the program's own code begins.
///
/// - Parameters:
///   - path: of the program; nothing is looked up.
///   - arguments: the first is the program's own name. No string holds a zero octet.
///   - environment: `NAME=value`; `nil` is ours.
///   - files: says what its descriptors 0 to 2 are, and where it starts.
/// - Returns: its number, and 0; or an error number, and nothing was started.
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

    // EINVAL where the kernel has none.
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

/// Calls `body` with a null-terminated array of null-terminated copies. No string contains a zero octet.
private func withCStrings<Result>(
    _ strings: [String], _ body: (UnsafePointer<UnsafeMutablePointer<CChar>?>) -> Result
) -> Result {
    var pointers: [UnsafeMutablePointer<CChar>?] = strings.map { strdup($0) }
    pointers.append(nil)
    defer { for pointer in pointers { free(pointer) } }
    return body(pointers)
}
