import Glibc
import Platform

/// Finds what was installed together with this program.
package enum DaemonProgram {
    /// The path of `tryckd` or another program of the package: beside this executable, otherwise in `$PATH`.
    package static func locate(_ name: String = "tryckd") throws(Failure) -> String {
        let searched = getenv("PATH").map { String(cString: $0) } ?? "/usr/local/bin:/usr/bin:/bin"
        let directories = [directory] + searched.split(separator: ":").map(String.init)
        for directory in directories where access("\(directory)/\(name)", X_OK) == 0 {
            return "\(directory)/\(name)"
        }
        throw Failure(
            .unavailable, "There is no \(name) beside this program or in $PATH. Install it, or build it: swift build")
    }

    /// The directory of this executable.
    package static var directory: String {
        guard let path = realpath("/proc/self/exe", nil) else { return "." }
        defer { free(path) }
        return String(cString: path).directory
    }
}

extension String {
    /// The part of a path before its last slash; `.` when it has none.
    package var directory: String {
        guard let slash = lastIndex(of: "/") else { return "." }
        return slash == startIndex ? "/" : String(self[..<slash])
    }
}
