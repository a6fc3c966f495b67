import CLinux
import Glibc
import Hub
import Platform
import Reactor

/// Starts a program in its own process group, and opens a pidfd for it.
///
/// The pidfd becomes readable when the program has ended. The process id stays valid until the caller reaps the
/// process. The call blocks until the program is executed (vfork semantics).
@ReactorActor
func spawn(
    _ request: ProcessRequest, _ pipes: StandardPipes
) throws(ProcessJob.StartFailure) -> (process: pid_t, processDescriptor: Int32) {
    guard let name = request.arguments.first, !name.isEmpty else {
        throw ProcessJob.StartFailure(sentence: "no program is named")
    }
    // Why a program cannot be started is looked for afterwards, so that no start waits for that.
    guard let program = locate(name), !(request.directory?.containsNUL ?? false) else {
        throw ProcessJob.StartFailure(
            sentence: request.obstacle
                ?? "there is no program \"\(name)\" in \(ProcessEdge.searchPath.joined(separator: ", "))")
    }
    let (process, failure) = startProgram(program, request.arguments, environment: request.environment) { actions in
        if let input = pipes.input {
            posix_spawn_file_actions_adddup2(actions, input.child, 0)
        } else if pipes.isOutputInput {
            posix_spawn_file_actions_adddup2(actions, pipes.output.child, 0)
        } else {
            posix_spawn_file_actions_addopen(actions, 0, "/dev/null", O_RDONLY, 0)
        }
        posix_spawn_file_actions_adddup2(actions, pipes.output.child, 1)
        posix_spawn_file_actions_adddup2(actions, pipes.error.child, 2)
        if let directory = request.directory { linux_spawn_chdir(actions, directory) }
    }
    guard failure == 0 else {
        throw ProcessJob.StartFailure(
            sentence: request.obstacle ?? "\"\(program)\" cannot be started: \(systemMessage(failure))")
    }
    let processDescriptor = linux_pidfd_open(process)
    guard processDescriptor >= 0 else {
        let reason = systemMessage(errno)
        kill(-process, SIGKILL)
        waitpid(process, nil, 0)
        throw ProcessJob.StartFailure(sentence: "\"\(program)\" cannot be watched: \(reason)")
    }
    return (process, processDescriptor)
}

extension ProcessRequest {
    /// Why the program cannot be started, as a sentence, unless the program itself is the reason.
    fileprivate var obstacle: String? {
        if arguments.contains(where: \.containsNUL) || environment.contains(where: \.containsNUL)
            || directory?.containsNUL ?? false
        {
            return "an argument, a variable or the directory contains a zero octet"
        }
        guard let directory, access(directory, X_OK) != 0 else { return nil }
        return "it cannot start in \"\(directory)\": \(systemMessage(errno))"
    }
}

/// The path of a program; `nil` if none of the directories has it.
private func locate(_ name: String) -> String? {
    if name.utf8.contains(UInt8(ascii: "/")) { return name }
    for directory in ProcessEdge.searchPath {
        let candidate = "\(directory)/\(name)"
        if access(candidate, X_OK) == 0 { return candidate }
    }
    return nil
}
