package import ButtonModel
import CLinux
import Glibc

/// What the process finds around itself: environment, clocks, randomness, files. Everything here touches the system
/// and decides nothing.
package enum Surroundings {
    /// The environment's variables.
    package static var environment: [String: String] {
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

    package static func randomOctets(_ count: Int) -> [UInt8] {
        var octets = [UInt8](repeating: 0, count: count)
        // It fails for a bad address or an ancient kernel only.
        while octets.withUnsafeMutableBytes({ linux_random($0.baseAddress, $0.count) }) != 0 {}
        return octets
    }

    package static var randomSeed: UInt64 { randomOctets(8).reduce(0) { $0 << 8 | UInt64($1) } }

    package static var isRoot: Bool { geteuid() == 0 }

    /// Whether there is a process of this name, whoever runs it. The kernel keeps 15 octets of a name.
    package static func isRunning(_ name: String) -> Bool {
        guard let processes = opendir("/proc") else { return false }
        defer { closedir(processes) }
        while let entry = readdir(processes) {
            let process = withUnsafePointer(to: &entry.pointee.d_name) {
                $0.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
            }
            guard process.allSatisfy(\.isWholeNumber) else { continue }
            if (try? FileText(reading: "/proc/\(process)/comm"))?.octets == Array("\(name)\n".utf8) { return true }
        }
        return false
    }

    package static var workingDirectory: String {
        guard let path = getcwd(nil, 0) else { return "/" }
        defer { free(path) }
        return String(cString: path)
    }

    /// Makes the directory and those above it, mode 0700, unless they are there. False when that did not work.
    @discardableResult
    package static func makeDirectory(_ path: String, mode: UInt32 = 0o700) -> Bool {
        if mkdir(path, mode) == 0 || errno == EEXIST { return true }
        guard errno == ENOENT, let slash = path.lastIndex(of: "/"), slash != path.startIndex,
            makeDirectory(String(path[..<slash]), mode: mode)
        else { return false }
        return mkdir(path, mode) == 0 || errno == EEXIST
    }
}

/// A path made absolute: as it is, below the home directory for `~/`, else below `base`.
package func resolve(_ path: String, in base: String, home: String? = nil) -> String {
    if path.hasPrefix("/") { return path }
    if path.hasPrefix("~/"), let home { return home + path.dropFirst() }
    return base + "/" + path
}
