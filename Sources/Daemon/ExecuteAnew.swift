import CLinux
import Glibc
import Reactor

/// Begins this program again in this process: same arguments, same environment, none of its descriptors but the
/// standard streams. Threads end with it, and what a helper is still doing is not waited for.
///
/// A signal that is blocked for the loop stays blocked, and one that comes meanwhile waits for the new program. A file that
/// was put in the program's place since, as by an upgrade, is what begins.
///
/// - Returns: the system's words, when it did not work.
@ReactorActor
func executeAnew() -> String {
    // A library may have opened one of which we know nothing.
    linux_close_on_exec(3)
    linux_restore_ambient_capabilities()
    execv(ownPath, CommandLine.unsafeArgv)
    // The path may lead nowhere, as after a change of the root directory. By this one it is named `exe` in lists.
    execv("/proc/self/exe", CommandLine.unsafeArgv)
    return describe(errno)
}

/// Where the program is, or was before it was replaced.
private var ownPath: String {
    var buffer = [CChar](repeating: 0, count: Int(PATH_MAX))
    let count = readlink("/proc/self/exe", &buffer, buffer.count)
    let path = String(decoding: buffer.prefix(max(0, count)).lazy.map(UInt8.init(bitPattern:)), as: UTF8.self)
    let removed = " (deleted)"
    return path.hasSuffix(removed) ? String(path.dropLast(removed.count)) : path
}
