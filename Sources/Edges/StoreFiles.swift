package import ButtonModel
import Glibc

/// The state directory: its mode, its lock, and the file in it.
package enum StoreFiles {
    package static let databaseName = "tryck.sqlite"
    package static let lockName = "tryck.lock"
    package static let reserveName = "tryck.reserve"

    /// Makes the directory (0700) where there is none, its parents with the usual mode.
    ///
    /// - Returns: a notice when others may look into it.
    static func prepareDirectory(_ path: String) throws(StoreFailure) -> StoreNotice? {
        var parent = path.hasPrefix("/") ? "/" : ""
        let components = path.split(separator: "/")
        for (index, component) in components.enumerated() {
            parent += (index == 0 ? "" : "/") + component
            let isLast = index == components.count - 1
            guard mkdir(parent, isLast ? 0o700 : 0o755) != 0, errno != EEXIST else { continue }
            // A parent we may not write to, or on a read-only file system, is none of our business when it is there.
            let cause = errno
            guard access(parent, F_OK) != 0 else { continue }
            throw StoreFailure(operation: "create", path: parent, code: cause)
        }
        let mode = try mode(of: path)
        return mode & 0o077 == 0 ? nil : .directoryIsOpen(path: path, mode: mode)
    }

    /// Whether a daemon has ever kept something there. One that may not be looked into is not without.
    package static func isEmpty(_ directory: String) -> Bool {
        access(directory + "/" + databaseName, F_OK) != 0 && (errno == ENOENT || errno == ENOTDIR)
    }

    /// Root becomes the owner of the directory for as long as `body` runs: what is made there is the daemon's to use,
    /// and what the daemon's user has put there is not opened with the rights of root. For a process with nothing else
    /// to do.
    static func asOwner<Result>(
        of directory: String, _ body: () throws(StoreFailure) -> Result
    ) throws(StoreFailure) -> Result {
        var information = stat()
        guard geteuid() == 0, stat(directory, &information) == 0, information.st_uid != 0 else { return try body() }
        let group = getegid()
        defer {
            seteuid(0)
            setegid(group)
        }
        guard setegid(information.st_gid) == 0, seteuid(information.st_uid) == 0 else {
            throw StoreFailure(operation: "become the owner of", path: directory, code: errno)
        }
        return try body()
    }

    /// One daemon per state directory.
    package static func lock(directory: String) throws(StoreFailure) -> DirectoryLock {
        let path = directory + "/" + lockName
        var descriptor = OwnedDescriptor(open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0o600))
        // A file system that is mounted read-only has the lock of those who could write.
        if !descriptor.isOpen, errno == EROFS { descriptor = OwnedDescriptor(open(path, O_RDONLY | O_CLOEXEC)) }
        guard descriptor.isOpen else {
            throw StoreFailure(operation: "open", path: path, code: errno)
        }
        guard flock(descriptor.rawValue, LOCK_EX | LOCK_NB) == 0 else {
            if errno == EWOULDBLOCK { throw StoreFailure.inUse(directory: directory) }
            throw StoreFailure(operation: "lock", path: path, code: errno)
        }
        return DirectoryLock(descriptor)
    }

    /// Makes an empty file (0600) where there is none. SQLite gives the files beside it the same mode.
    ///
    /// - Returns: notices when others could read it until now, and when it was there and empty.
    /// - Throws: `.damaged` when it is something else than a file, or lacks what its log goes with.
    static func prepareFile(_ path: String) throws(StoreFailure) -> [StoreNotice] {
        var notices: [StoreNotice] = []
        var information = stat()
        if stat(path, &information) == 0 {
            guard information.st_mode & S_IFMT == S_IFREG else {
                throw StoreFailure.damaged(path: path, cause: "it is not a file")
            }
            // SQLite takes one octet for nothing, too, and the log beside it for a leftover, which it removes.
            if information.st_size <= 1 {
                guard stat(path + "-wal", &information) != 0 || information.st_size == 0 else {
                    throw StoreFailure.damaged(path: path, cause: "it is empty, and its log is not")
                }
                notices.append(.wasEmpty(path: path))
            }
        }
        let descriptor = OwnedDescriptor(open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0o600))
        guard descriptor.isOpen else {
            throw StoreFailure(operation: "open", path: path, code: errno)
        }
        let mode = try mode(of: path)
        guard mode & 0o077 != 0 else { return notices }
        for name in [path, path + "-wal", path + "-shm"] where access(name, F_OK) == 0 {
            guard chmod(name, 0o600) == 0 else {
                throw StoreFailure(operation: "protect", path: name, code: errno)
            }
        }
        return notices + [.fileWasOpen(path: path, mode: mode)]
    }

    /// Renames a damaged file and its logs to `….damaged-20261121T023000Z`, the logs with `-wal` and `-journal` after
    /// that, so that SQLite finds them together.
    ///
    /// - Returns: the file's new path.
    package static func setAside(_ path: String, at now: UTCTime) throws(StoreFailure) -> String {
        let time = String(now.description.prefix(19).filter { $0 != "-" && $0 != ":" }) + "Z"
        var target = path + ".damaged-" + time
        // Two in one second: never over the first.
        var count = 1
        while access(target, F_OK) == 0 {
            count += 1
            target = path + ".damaged-" + time + "-\(count)"
        }
        for suffix in ["", "-wal", "-journal"] where access(path + suffix, F_OK) == 0 {
            guard rename(path + suffix, target + suffix) == 0 else {
                throw StoreFailure(operation: "rename", path: path + suffix, code: errno)
            }
        }
        // Only an index of the log, made anew by whoever opens it.
        unlink(path + "-shm")
        return target
    }

    static func openLog(_ database: String) throws(StoreFailure) -> OwnedDescriptor {
        let path = database + "-wal"
        let descriptor = OwnedDescriptor(open(path, O_RDWR | O_CLOEXEC))
        guard descriptor.isOpen else {
            throw StoreFailure(operation: "open", path: path, code: errno)
        }
        return descriptor
    }

    /// What the file system of a file is known to lack; `nil`: nothing.
    static func obstacle(to path: String) -> StoreFailure? {
        var information = statvfs()
        guard statvfs(path, &information) == 0 else { return nil }
        if information.f_flag & UInt(ST_RDONLY) != 0 { return .readOnly(path: path) }
        return information.f_bavail == 0 ? .diskFull(path: path) : nil
    }

    /// Until then the names in it, of new files too, are not on the disk. SQLite does this and takes no notice when it
    /// fails.
    static func syncDirectory(_ path: String) throws(StoreFailure) {
        let descriptor = OwnedDescriptor(open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC))
        // Some file systems have no such thing.
        guard !descriptor.isOpen || fsync(descriptor.rawValue) != 0, errno != EINVAL else { return }
        throw StoreFailure(operation: "sync", path: path, code: errno)
    }

    private static func mode(of path: String) throws(StoreFailure) -> UInt32 {
        var information = stat()
        guard stat(path, &information) == 0 else {
            throw StoreFailure(operation: "look at", path: path, code: errno)
        }
        return information.st_mode & 0o7777
    }

}

/// Ends with the last reference to it, and with the process.
package final class DirectoryLock: Sendable {
    private let descriptor: OwnedDescriptor

    /// - Parameter descriptor: locked.
    init(_ descriptor: OwnedDescriptor) { self.descriptor = descriptor }

    // A program that is being started has the descriptor, too, for a moment: closing it here would not unlock it.
    deinit { flock(descriptor.rawValue, LOCK_UN) }
}

/// A descriptor that is closed when nobody holds it any more: a helper that still works on it keeps its number
/// from being given away.
package final class OwnedDescriptor: Sendable {
    package let rawValue: Int32
    package var isOpen: Bool { rawValue >= 0 }

    package init(_ rawValue: Int32) { self.rawValue = rawValue }

    deinit { if isOpen { close(rawValue) } }

    /// Blocks until what was written is on the disk.
    func syncData() -> Bool {
        while fdatasync(rawValue) != 0 {
            guard errno == EINTR else { return false }
        }
        return true
    }

    /// Writes everything that can be read once more, so that the next sync has all of it to do.
    func writeAgain() -> Bool {
        var chunk = [UInt8](repeating: 0, count: 65_536)
        var offset = 0
        while true {
            let count = pread(rawValue, &chunk, chunk.count, offset)
            guard count > 0 else { return count == 0 }
            guard pwrite(rawValue, chunk, count, offset) == count else { return false }
            offset += count
        }
    }
}
