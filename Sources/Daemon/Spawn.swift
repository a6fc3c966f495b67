import CLinux
import Glibc
import Hub
import Reactor

/// Starts a program in a process group of its own and opens a pidfd for it.
///
/// The pidfd is readable when the program has ended, and the process number is valid until it is reaped: the caller
/// is the only one who waits for it. The call holds the thread until the program's own code begins.
@ReactorActor
func spawn(
    _ request: ProcessRequest, _ pipes: StandardPipes
) throws(ProcessJob.StartFailure) -> (process: pid_t, processDescriptor: Int32) {
    guard let name = request.arguments.first, !name.isEmpty else {
        throw ProcessJob.StartFailure(sentence: "no program is named")
    }
    let strings = request.arguments + request.environment + [request.directory ?? ""]
    guard !strings.contains(where: { $0.utf8.contains(0) }) else {
        throw ProcessJob.StartFailure(sentence: "an argument, a variable or the directory contains a zero octet")
    }
    if let directory = request.directory, access(directory, X_OK) != 0 {
        throw ProcessJob.StartFailure(sentence: "it cannot start in \"\(directory)\": \(describe(errno))")
    }
    let program = try locate(name)

    var actions = posix_spawn_file_actions_t()
    posix_spawn_file_actions_init(&actions)
    defer { posix_spawn_file_actions_destroy(&actions) }
    if let input = pipes.input {
        posix_spawn_file_actions_adddup2(&actions, input.child, 0)
    } else {
        posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0)
    }
    posix_spawn_file_actions_adddup2(&actions, pipes.output.child, 1)
    posix_spawn_file_actions_adddup2(&actions, pipes.error.child, 2)
    linux_spawn_closefrom(&actions, 3)
    if let directory = request.directory { linux_spawn_chdir(&actions, directory) }

    var attributes = posix_spawnattr_t()
    posix_spawnattr_init(&attributes)
    defer { posix_spawnattr_destroy(&attributes) }
    // The signals that the loop reads are blocked here, and SIGPIPE is ignored: none of that is for the program.
    var none = sigset_t()
    sigemptyset(&none)
    var all = sigset_t()
    sigfillset(&all)
    posix_spawnattr_setsigmask(&attributes, &none)
    posix_spawnattr_setsigdefault(&attributes, &all)
    posix_spawnattr_setpgroup(&attributes, 0)
    posix_spawnattr_setflags(
        &attributes, Int16(POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF))

    var process: pid_t = 0
    let failure = withCStrings(request.arguments) { arguments in
        withCStrings(request.environment) { environment in
            posix_spawn(&process, program, &actions, &attributes, arguments, environment)
        }
    }
    guard failure == 0 else {
        throw ProcessJob.StartFailure(sentence: "\"\(program)\" cannot be started: \(describe(failure))")
    }
    let processDescriptor = linux_pidfd_open(process)
    guard processDescriptor >= 0 else {
        let reason = describe(errno)
        kill(-process, SIGKILL)
        waitpid(process, nil, 0)
        throw ProcessJob.StartFailure(sentence: "\"\(program)\" cannot be watched: \(reason)")
    }
    return (process, processDescriptor)
}

private func locate(_ name: String) throws(ProcessJob.StartFailure) -> String {
    if name.contains("/") { return name }
    for directory in ProcessEdge.searchPath {
        let candidate = "\(directory)/\(name)"
        if access(candidate, X_OK) == 0 { return candidate }
    }
    throw ProcessJob.StartFailure(
        sentence: "there is no program \"\(name)\" in \(ProcessEdge.searchPath.joined(separator: ", "))")
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
