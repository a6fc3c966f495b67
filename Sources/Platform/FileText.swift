package import ButtonModel
import CLinux
import Glibc
package import JSON

/// The complete contents of a file that a user wrote.
package struct FileText: Sendable {
    package var path: String
    package var octets: [UInt8]
    package var isReadableByOthers: Bool
    package var modifiedAt: UTCTime

    /// The limit in octets. Reading ends with `tooLong` beyond it.
    package static let maximumLength = 32 * 1024 * 1024

    package enum Failure: Error, Hashable, Sendable, CustomStringConvertible {
        case notFound(String)
        case tooLong(String)
        case unreadable(String, cause: String)

        package var description: String {
            switch self {
            case .notFound(let path): "\(path) does not exist"
            case .tooLong(let path): "\(path) is longer than 32 MiB"
            case .unreadable(let path, let cause): "\(path) cannot be read: \(cause)"
            }
        }

        /// The failure in the JSON form of a diagnostic.
        package var problem: JSONValue {
            let path =
                switch self {
                case .notFound(let path), .tooLong(let path), .unreadable(let path, _): path
                }
            return [
                "code": "file", "severity": "error", "file": .string(path), "line": 1, "column": 1,
                "message": .string(description), "hint": .null,
            ]
        }
    }

    /// - Parameters:
    ///   - path: the path of a regular file. Anything else is refused, and opening it does not block.
    ///   - acceptsPipes: also reads a pipe, and waits until its writer has closed it.
    package init(reading path: String, acceptsPipes: Bool = false) throws(Failure) {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK)
        guard descriptor >= 0 else {
            throw errno == ENOENT || errno == ENOTDIR
                ? .notFound(path) : .unreadable(path, cause: String(cString: strerror(errno)))
        }
        defer { close(descriptor) }
        var status = stat()
        guard fstat(descriptor, &status) == 0, fcntl(descriptor, F_SETFL, 0) == 0 else {
            throw .unreadable(path, cause: systemMessage(errno))
        }
        let kind = status.st_mode & S_IFMT
        guard kind != S_IFDIR else { throw .unreadable(path, cause: "it is a directory") }
        guard kind == S_IFREG || acceptsPipes && kind == S_IFIFO else {
            throw .unreadable(path, cause: "it is not a regular file")
        }
        let octets = try Self.contents(of: descriptor, path)
        guard !octets.isEmpty || kind != S_IFIFO else {
            throw .unreadable(path, cause: "nothing writes to it")
        }
        self.path = path
        self.octets = octets
        isReadableByOthers = status.st_mode & 0o077 != 0
        modifiedAt = UTCTime(milliseconds: Int64(status.st_mtim.tv_sec) * 1000)
    }

    /// Reads standard input to its end.
    ///
    /// - Parameter path: the path in messages.
    package init(readingStandardInputAs path: String) throws(Failure) {
        self.path = path
        octets = try Self.contents(of: STDIN_FILENO, path)
        isReadableByOthers = false
        modifiedAt = UTCTime(milliseconds: 0)
    }

    private static func contents(of descriptor: Int32, _ path: String) throws(Failure) -> [UInt8] {
        var octets: [UInt8] = []
        var chunk = [UInt8](repeating: 0, count: 65_536)
        while true {
            let count = read(descriptor, &chunk, chunk.count)
            if count < 0, errno == EINTR { continue }
            guard count >= 0 else { throw .unreadable(path, cause: String(cString: strerror(errno))) }
            guard count > 0 else { return octets }
            octets.append(contentsOf: chunk[..<count])
            guard octets.count <= FileText.maximumLength else { throw .tooLong(path) }
        }
    }

    /// Writes a file with mode 0600 and replaces `path` by renaming, so that readers see either the old or the new
    /// contents. Afterwards the file is on the disk, under its name.
    ///
    /// - Returns: whether this succeeded.
    package static func write(_ octets: [UInt8], to path: String) -> Bool {
        let temporary = path + ".new"
        let descriptor = open(temporary, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { return false }
        var written = 0
        while written < octets.count {
            let count = octets[written...].withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) }
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { break }
            written += count
        }
        let isWhole = written == octets.count && fsync(descriptor) == 0
        close(descriptor)
        guard isWhole else {
            unlink(temporary)
            return false
        }
        return rename(temporary, path) == 0 && syncDirectory(of: path) == 0
    }

    /// Blocks until the entries of a file's directory are on the disk, including the entry of a new file.
    ///
    /// - Returns: `errno`, or 0.
    package static func syncDirectory(of path: String) -> Int32 {
        let descriptor = open(SystemEnvironment.directory(of: path), O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard descriptor >= 0 else { return errno }
        defer { close(descriptor) }
        // Some file systems do not sync directories.
        return fsync(descriptor) == 0 || errno == EINVAL ? 0 : errno
    }
}
