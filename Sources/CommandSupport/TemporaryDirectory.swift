import Glibc
import Platform

/// A directory with mode 0700 that exists as long as a command runs.
package struct TemporaryDirectory: Sendable {
    package let path: String

    /// Makes the directory in `$TMPDIR`, `/tmp` or `/var/tmp`. A long `$TMPDIR` is skipped, because the path of a
    /// socket has at most 107 octets.
    ///
    /// - Parameter isInMemory: true to prefer `/dev/shm`, which is a tmpfs.
    package init(isInMemory: Bool = false) throws(Failure) {
        let chosen = getenv("TMPDIR").map { String(cString: $0) } ?? ""
        let parents = (isInMemory ? ["/dev/shm"] : []) + [chosen, "/tmp", "/var/tmp"]
        for parent in parents where !parent.isEmpty && parent.utf8.count <= 70 {
            var template = Array("\(parent)/tryck.XXXXXX".utf8CString)
            if mkdtemp(&template) != nil {
                path = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
                return
            }
        }
        throw Failure(.unavailable, "There is no writable directory for temporary files. Set TMPDIR to one.")
    }

    /// Removes the directory with everything in it.
    package func remove() { TemporaryDirectory.remove(path) }

    /// Removes a file or a directory. Links are removed and not followed.
    private static func remove(_ path: String) {
        guard Glibc.remove(path) != 0, errno == ENOTEMPTY || errno == EEXIST, let entries = opendir(path) else {
            return
        }
        var names: [String] = []
        while let entry = readdir(entries) {
            names.append(
                withUnsafeBytes(of: entry.pointee.d_name) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) })
        }
        closedir(entries)
        for name in names where name != "." && name != ".." { remove("\(path)/\(name)") }
        Glibc.remove(path)
    }
}
