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
    guard !request.containsNUL else {
        throw ProcessJob.StartFailure(sentence: "an argument, a variable or the directory contains a zero octet")
    }
    if let directory = request.directory, access(directory, X_OK) != 0 {
        throw ProcessJob.StartFailure(sentence: "it cannot start in \"\(directory)\": \(systemMessage(errno))")
    }
    let program = try locate(name)

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
        throw ProcessJob.StartFailure(sentence: "\"\(program)\" cannot be started: \(systemMessage(failure))")
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
    /// True if a text that the system gets would end at a zero octet within it.
    fileprivate var containsNUL: Bool {
        arguments.contains(where: \.containsNUL) || environment.contains(where: \.containsNUL)
            || directory?.containsNUL ?? false
    }
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
