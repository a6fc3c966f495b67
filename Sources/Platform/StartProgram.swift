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
    guard let texts = ProgramTexts(arguments, environment: environment) else { return (0, EINVAL) }
    return startProgram(path, texts, ProgramFiles(files))
}

/// The same for texts and files that were prepared earlier. The files must have been prepared by the same thread.
///
/// - Parameter path: `nil`: the first argument.
package func startProgram(
    _ path: String?, _ texts: ProgramTexts, _ files: ProgramFiles
) -> (process: Int32, failure: Int32) {
    // The pointers are theirs.
    defer { withExtendedLifetime((texts, files)) {} }
    var process: pid_t = 0
    let environment = texts.environment ?? linux_environment()
    let failure =
        if let path {
            posix_spawn(&process, path, files.actions, files.attributes, texts.arguments, environment)
        } else if let program = texts.arguments[0] {
            posix_spawn(&process, program, files.actions, files.attributes, texts.arguments, environment)
        } else {
            EINVAL
        }
    return (process, failure)
}

/// What the kernel does between the creation of a process and the execution of its program: descriptors, the working directory,
/// the process group, and signals. It does not depend on the program, so it can be prepared before it is known.
package final class ProgramFiles {
    fileprivate let actions = UnsafeMutablePointer<posix_spawn_file_actions_t>.allocate(capacity: 1)
    fileprivate let attributes = UnsafeMutablePointer<posix_spawnattr_t>.allocate(capacity: 1)

    /// Also drops the ambient capabilities of the thread, because a program would inherit them.
    ///
    /// - Parameter setUp: sets up the descriptors 0 to 2 and the working directory.
    package init(_ setUp: (UnsafeMutablePointer<posix_spawn_file_actions_t>) -> Void) {
        posix_spawn_file_actions_init(actions)
        setUp(actions)
        linux_spawn_closefrom(actions, 3)

        posix_spawnattr_init(attributes)
        var none = sigset_t()
        sigemptyset(&none)
        var all = sigset_t()
        sigfillset(&all)
        posix_spawnattr_setsigmask(attributes, &none)
        posix_spawnattr_setsigdefault(attributes, &all)
        posix_spawnattr_setpgroup(attributes, 0)
        posix_spawnattr_setflags(
            attributes, Int16(POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF))

        // Fails with EINVAL on kernels before 4.3, which have no ambient capabilities.
        linux_drop_ambient_capabilities()
    }

    /// Also makes the program start in a directory, whose path must not contain a zero octet.
    package func add(directory: String) {
        _ = directory.withCString { linux_spawn_chdir(actions, $0) }
    }

    deinit {
        posix_spawn_file_actions_destroy(actions)
        posix_spawnattr_destroy(attributes)
        actions.deallocate()
        attributes.deallocate()
    }
}

/// The arguments and the environment of a program as `execve` needs them: arrays of pointers to texts that end with a zero octet.
package final class ProgramTexts {
    /// The texts, in one block of memory.
    private let octets: UnsafeMutablePointer<CChar>
    fileprivate let arguments: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>
    /// `nil`: the environment of this process. It is the end of the block of `arguments`.
    fileprivate let environment: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>?

    /// - Returns: `nil` if a text contains a zero octet.
    package init?(_ arguments: [String], environment: [String]?) {
        let texts = arguments + (environment ?? [])
        octets = .allocate(capacity: texts.reduce(1) { $0 + $1.utf8.count + 1 })
        self.arguments = .allocate(capacity: texts.count + 2)
        self.arguments.initialize(repeating: nil, count: texts.count + 2)
        self.environment = environment == nil ? nil : self.arguments + (arguments.count + 1)
        var end = octets
        for (index, var text) in texts.enumerated() {
            let count = text.withUTF8 { text in
                UnsafeMutableRawBufferPointer(start: end, count: text.count).copyMemory(from: .init(text))
                return text.count
            }
            guard memchr(end, 0, count) == nil else { return nil }
            // A null pointer ends the arguments.
            self.arguments[index < arguments.count ? index : index + 1] = end
            end[count] = 0
            end += count + 1
        }
    }

    deinit {
        octets.deallocate()
        arguments.deallocate()
    }
}
