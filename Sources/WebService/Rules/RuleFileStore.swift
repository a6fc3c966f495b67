import Bytes
import Cryptography
import Glibc
import Platform

/// Reads and writes the files of the rule set. A file is opened below the folder of the entry file, without following links.
package struct RuleFileStore: Sendable {
    package struct Contents: Hashable, Sendable {
        package var octets: [UInt8]
        /// In quotes. It depends on a secret key, so that it tells nothing about passwords in the file.
        package var etag: String
        /// Why the file cannot be written, as a sentence; `nil` if it can.
        package var obstacle: String?
    }

    package enum Failure: Error, Hashable, Sendable {
        /// There is no regular file, or a link is on the way.
        case notFound
        /// The file has changed since; these are its present contents.
        case changed(Contents)
        /// The sentence says why, and what to do.
        case notWritable(String)
    }

    package static let maximumLength = 16 << 20

    private let folder: String
    private let key: [UInt8]

    /// - Parameters:
    ///   - folder: the folder of the entry file.
    ///   - key: octets that only this program knows.
    package init(folder: String, key: [UInt8]) {
        self.folder = folder
        self.key = key
    }

    package func read(_ name: String) throws(Failure) -> Contents {
        let (folder, last) = try open(name)
        defer { close(folder) }
        return try read(last, in: folder).contents
    }

    /// Replaces the text of a file. The text before is kept as `FILE~`, mode and owner stay, and the file is on the disk
    /// when the call returns.
    ///
    /// - Parameter etag: of the contents that the new text is based on.
    /// - Returns: the new contents.
    package func write(_ octets: [UInt8], to name: String, ifMatch etag: String) throws(Failure) -> Contents {
        let (folder, last) = try open(name)
        defer { close(folder) }
        let (contents, status) = try read(last, in: folder)
        guard contents.etag == etag else { throw .changed(contents) }
        if let obstacle = contents.obstacle { throw .notWritable(obstacle) }
        guard octets != contents.octets else { return contents }
        try replace(last + "~", with: contents.octets, status, in: folder)
        try replace(last, with: octets, status, in: folder)
        return try read(last, in: folder).contents
    }

    // MARK: Files

    private func open(_ name: String) throws(Failure) -> (folder: Int32, last: String) {
        let segments = name.split(separator: "/", omittingEmptySubsequences: false).map(String.init)
        guard let last = segments.last, !last.isEmpty, last != ".", last != "..", !last.utf8.contains(0),
            let folder = BeneathFile.openFolder(segments.dropLast(), in: folder)
        else { throw .notFound }
        return (folder, last)
    }

    private func read(_ last: String, in folder: Int32) throws(Failure) -> (contents: Contents, status: stat) {
        guard let file = BeneathFile.read(last, in: folder, maximumLength: Self.maximumLength) else { throw .notFound }
        let digest = Digest.hmacSHA256(file.octets, key: key) ?? []
        let contents = Contents(
            octets: file.octets, etag: "\"\(Array(digest.prefix(16)).hex)\"",
            obstacle: obstacle(last, file.status, in: folder))
        return (contents, file.status)
    }

    private func obstacle(_ last: String, _ status: stat, in folder: Int32) -> String? {
        let user = geteuid()
        guard status.st_uid == user || user == 0 else {
            return "\(last) belongs to another user; sudo chown \(Self.userName) gives it to the page"
        }
        guard faccessat(folder, ".", W_OK, AT_EACCESS) == 0 else {
            return "the folder of \(last) cannot be written; sudo chown \(Self.userName) gives it to the page"
        }
        guard status.st_mode & S_IWUSR != 0 else { return "\(last) is read-only; chmod u+w permits changes" }
        return nil
    }

    private static var userName: String {
        getpwuid(geteuid()).map { String(cString: $0.pointee.pw_name) } ?? "\(geteuid())"
    }

    /// Writes a temporary file, syncs it, and renames it.
    private func replace(
        _ name: String, with octets: [UInt8], _ status: stat, in folder: Int32
    ) throws(Failure) {
        func failed(_ reason: Int32) -> Failure {
            .notWritable(
                "\(name) cannot be written: \(systemMessage(reason)). The file is as it was; free some space or check its folder"
            )
        }
        let suffix = SystemEnvironment.randomOctets(6).hex
        let temporary = ".\(name.prefix(200)).\(suffix).new"
        let file = openat(folder, temporary, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0o600)
        guard file >= 0 else { throw failed(errno) }
        var reason: Int32 = 0
        var written = 0
        while written < octets.count, reason == 0 {
            let count = octets[written...].withUnsafeBytes { Glibc.write(file, $0.baseAddress, $0.count) }
            if count > 0 { written += count } else if errno != EINTR { reason = errno }
        }
        if reason == 0, fchown(file, status.st_uid, status.st_gid) != 0 { reason = errno }
        if reason == 0, fchmod(file, status.st_mode & 0o777) != 0 { reason = errno }
        if reason == 0, fsync(file) != 0 { reason = errno }
        close(file)
        if reason == 0, renameat(folder, temporary, folder, name) != 0 { reason = errno }
        if reason == 0, fsync(folder) != 0, errno != EINVAL { reason = errno }
        guard reason == 0 else {
            unlinkat(folder, temporary, 0)
            throw failed(reason)
        }
    }
}
