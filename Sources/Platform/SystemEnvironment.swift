package import ButtonModel
import CLinux
import Glibc

/// The system environment of the process: environment variables, clocks, random numbers, processes and directories.
package enum SystemEnvironment {
    package static var environmentVariables: [String: String] {
        var variables: [String: String] = [:]
        guard var entry = linux_environment() else { return [:] }
        while let text = entry.pointee {
            let parts = String(cString: text).split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            if parts.count == 2 { variables[String(parts[0])] = String(parts[1]) }
            entry += 1
        }
        return variables
    }

    package static var wallClock: UTCTime {
        var time = timespec()
        clock_gettime(CLOCK_REALTIME, &time)
        return UTCTime(milliseconds: Int64(time.tv_sec) * 1000 + Int64(time.tv_nsec) / 1_000_000)
    }

    /// The present instant of the clock that state machines use.
    package static var sinceBoot: Instant {
        var time = timespec()
        clock_gettime(CLOCK_BOOTTIME, &time)
        return Instant(nanoseconds: Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec))
    }

    package static func randomOctets(_ count: Int) -> [UInt8] {
        var octets = [UInt8](repeating: 0, count: count)
        // Fails only for a bad address or on a kernel without getrandom.
        while octets.withUnsafeMutableBytes({ linux_random($0.baseAddress, $0.count) }) != 0 {}
        return octets
    }

    package static var randomSeed: UInt64 { randomOctets(8).reduce(0) { $0 << 8 | UInt64($1) } }

    package static var isRoot: Bool { geteuid() == 0 }

    /// True if this process can open windows.
    package static var hasDesktop: Bool { getenv("DISPLAY") != nil || getenv("WAYLAND_DISPLAY") != nil }

    /// True if a process with this name is running, for any user. The name is at most 15 octets, as kept by the kernel.
    package static func isRunning(_ name: String) -> Bool {
        names(in: "/proc").contains { process in
            process.allSatisfy(\.isWholeNumber)
                && (try? FileText(reading: "/proc/\(process)/comm"))?.octets == Array("\(name)\n".utf8)
        }
    }

    /// The names in a directory, in no particular order; empty if it cannot be read.
    package static func names(in directory: String) -> [String] {
        guard let entries = opendir(directory) else { return [] }
        defer { closedir(entries) }
        var names: [String] = []
        while let entry = readdir(entries) {
            let name = withUnsafePointer(to: &entry.pointee.d_name) {
                $0.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
            }
            if name != ".", name != ".." { names.append(name) }
        }
        return names
    }

    /// Directories for temporary files, the preferred one first. They need not exist.
    package static var temporaryDirectories: [String] {
        let chosen = getenv("TMPDIR").map { String(cString: $0) } ?? ""
        return [chosen, "/tmp", "/var/tmp"].filter { $0.hasPrefix("/") }
    }

    package static var workingDirectory: String {
        guard let path = getcwd(nil, 0) else { return "/" }
        defer { free(path) }
        return String(cString: path)
    }

    /// Creates the directory and missing parent directories, unless they exist.
    ///
    /// - Returns: false if that failed.
    @discardableResult
    package static func makeDirectory(_ path: String, mode: UInt32 = 0o700) -> Bool {
        if mkdir(path, mode) == 0 || errno == EEXIST { return true }
        guard errno == ENOENT, let slash = path.lastIndex(of: "/"), slash != path.startIndex,
            makeDirectory(String(path[..<slash]), mode: mode)
        else { return false }
        return mkdir(path, mode) == 0 || errno == EEXIST
    }

    /// The absolute path of the directory that contains the file.
    package static func directory(of path: String) -> String {
        let absolute = resolve(path, in: workingDirectory)
        guard let slash = absolute.lastIndex(of: "/"), slash != absolute.startIndex else { return "/" }
        return String(absolute[..<slash])
    }
}

/// Makes a path absolute: a path that begins with `~/` is relative to `home`, any other relative path to `base`.
package func resolve(_ path: String, in base: String, home: String? = nil) -> String {
    if path.hasPrefix("/") { return path }
    if path.hasPrefix("~/"), let home { return home + path.dropFirst() }
    return base + "/" + path
}
