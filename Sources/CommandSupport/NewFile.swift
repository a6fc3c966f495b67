import Glibc
import Platform

/// A new file, or one that replaces an existing file. Only its owner can read it, unless it is created with another mode.
package struct NewFile: Sendable {
    package let path: String
    private let isReplacing: Bool
    /// The permissions, of which the umask of the process removes some.
    private let mode: UInt32
    /// The sentence that says what to do when there is a file already.
    private let remedy: String

    /// Checks whether a file may be written at the path.
    ///
    /// - Throws: `Failure`: 64 when there is a file already, 74 when it cannot be replaced.
    package init(
        _ path: String, isReplacing: Bool = false, mode: UInt32 = 0o600,
        remedy: String = "Specify another file, or replace it with --force."
    ) throws(Failure) {
        self.path = path
        self.isReplacing = isReplacing
        self.mode = mode
        self.remedy = remedy
        var status = stat()
        if lstat(path, &status) == 0 {
            guard isReplacing else { throw exists(path) }
            guard status.st_mode & S_IFMT == S_IFREG else {
                throw Failure(
                    .inputOutput, "\(path) is not a regular file and cannot be replaced. Specify another file.")
            }
        }
    }

    /// Writes the file. When this returns, its content and its name are on the disk. A file that is replaced stays whole
    /// until then.
    ///
    /// - Throws: `Failure`: 64 when there is a file already, 74 when the file cannot be written.
    package func write(_ octets: [UInt8]) throws(Failure) {
        let written = isReplacing ? path + ".new" : path
        if isReplacing { unlink(written) }
        let descriptor = open(written, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode)
        guard descriptor >= 0 else {
            throw errno == EEXIST ? exists(written) : failure(errno)
        }
        var cause = Self.write(octets, to: descriptor)
        if close(descriptor) != 0, cause == 0 { cause = errno }
        if cause == 0, isReplacing, rename(written, path) != 0 { cause = errno }
        guard cause == 0 else {
            unlink(written)
            throw failure(cause)
        }
        cause = FileText.syncDirectory(of: path)
        guard cause == 0 else { throw failure(cause) }
    }

    /// - Returns: `errno`, or 0.
    private static func write(_ octets: [UInt8], to descriptor: Int32) -> Int32 {
        var rest = octets[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) }
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { return errno }
            rest = rest.dropFirst(count)
        }
        return fsync(descriptor) == 0 ? 0 : errno
    }

    private func exists(_ path: String) -> Failure { Failure(.usage, "\(path) already exists. \(remedy)") }

    private func failure(_ code: Int32) -> Failure {
        let advice =
            switch code {
            case ENOENT: "Create its directory, or specify another file."
            case EACCES, EPERM, EROFS: "Specify a file in a directory that you may write to."
            case ENOSPC, EDQUOT: "Make space on the disk, or specify a file on another disk."
            default: "Specify another file."
            }
        return Failure(.inputOutput, "\(path) cannot be written: \(systemMessage(code)). \(advice)")
    }
}
