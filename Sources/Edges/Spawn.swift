import CLinux
import Glibc
import Hub
import Platform
import Reactor

/// Starts a program in its own process group.
///
/// The process id stays valid until the caller reaps the process. The call blocks until the program is executed (vfork semantics).
///
/// - Parameter texts: those of the request; `nil` if one of them contains a zero octet.
@ReactorActor
func spawn(
    _ request: ProcessRequest, _ texts: ProgramTexts?, _ streams: StandardStreams
) throws(ProcessJob.StartFailure) -> pid_t {
    guard let name = request.arguments.first, !name.isEmpty else {
        throw ProcessJob.StartFailure(sentence: "no program is named")
    }
    let isPath = name.utf8.contains(UInt8(ascii: "/"))
    let path = isPath ? nil : locate(name)
    // Why a program cannot be started is looked for afterwards, so that no start waits for that.
    guard isPath || path != nil, let texts, !(request.directory?.containsNUL ?? false) else {
        throw ProcessJob.StartFailure(
            sentence: request.obstacle
                ?? "there is no program \"\(name)\" in \(ProcessEdge.searchPath.joined(separator: ", "))")
    }
    if let directory = request.directory { streams.files.add(directory: directory) }
    let (process, failure) = startProgram(path, texts, streams.files)
    guard failure == 0 else {
        throw ProcessJob.StartFailure(
            sentence: request.obstacle ?? "\"\(path ?? name)\" cannot be started: \(systemMessage(failure))")
    }
    return process
}

/// A descriptor that becomes readable when the process has ended. If there is none, the process is killed.
func openProcess(_ process: pid_t) throws(ProcessJob.StartFailure) -> Int32 {
    let descriptor = linux_pidfd_open(process)
    guard descriptor >= 0 else {
        let reason = systemMessage(errno)
        kill(-process, SIGKILL)
        waitpid(process, nil, 0)
        throw ProcessJob.StartFailure(sentence: "it cannot be watched: \(reason)")
    }
    return descriptor
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

extension ProgramTexts {
    /// `nil` if a text contains a zero octet.
    convenience init?(_ request: ProcessRequest) { self.init(request.arguments, environment: request.environment) }
}

/// The path of a program; `nil` if none of the directories has it.
private func locate(_ name: String) -> String? {
    for directory in ProcessEdge.searchPath {
        let candidate = "\(directory)/\(name)"
        if access(candidate, X_OK) == 0 { return candidate }
    }
    return nil
}
