import CLinux
import Glibc
import Platform
import Reactor

/// Restarts this program in the same process: with the same arguments and environment, and with only the standard
/// streams of its descriptors. Other threads are terminated, even if a helper has not finished.
///
/// Signals blocked for the loop stay blocked, so a signal that arrives meanwhile is pending for the new program. If the
/// program's file was replaced since, as by an upgrade, the new file is executed.
///
/// - Returns: the system's error message; returns only on failure.
@ReactorActor
func restartProcess() -> String {
    // Libraries may have opened descriptors without FD_CLOEXEC.
    linux_close_on_exec(3)
    linux_restore_ambient_capabilities()
    execv(ownPath, CommandLine.unsafeArgv)
    // The path may be wrong, as after a change of the root directory. Then the process is named `exe` in process lists.
    execv("/proc/self/exe", CommandLine.unsafeArgv)
    return systemMessage(errno)
}

/// The path of the program's file, even if the file was deleted or replaced.
var ownPath: String {
    var buffer = [CChar](repeating: 0, count: Int(PATH_MAX))
    let count = readlink("/proc/self/exe", &buffer, buffer.count)
    let path = String(decoding: buffer.prefix(max(0, count)).lazy.map(UInt8.init(bitPattern:)), as: UTF8.self)
    let removed = " (deleted)"
    return path.hasSuffix(removed) ? String(path.dropLast(removed.count)) : path
}
