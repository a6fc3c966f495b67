import Daemon
import Glibc

/// A directory of our own for as long as a command runs, mode 0700.
struct TemporaryDirectory: Sendable {
    let path: String

    /// A socket's path has room for 107 octets, so a deep `$TMPDIR` is passed over.
    init() throws(Failure) {
        let chosen = getenv("TMPDIR").map { String(cString: $0) } ?? ""
        for parent in [chosen, "/tmp", "/var/tmp"] where !parent.isEmpty && parent.utf8.count <= 70 {
            var template = Array("\(parent)/tryck.XXXXXX".utf8CString)
            if mkdtemp(&template) != nil {
                path = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
                return
            }
        }
        throw Failure(.unavailable, "There is no directory for temporary files. Set TMPDIR to one that can be written.")
    }

    /// It goes away with everything in it.
    func remove() { TemporaryDirectory.remove(path) }

    /// Links are removed, not followed.
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
