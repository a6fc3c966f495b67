package import ButtonModel
import Glibc

/// Creates, checks, locks and syncs the state directory and the database file in it.
package enum StoreFiles {
    package static let databaseName = "tryck.sqlite"
    package static let lockName = "tryck.lock"
    package static let reserveName = "tryck.reserve"

    /// Creates the directory with mode 0700 if it is missing, and missing parents with mode 0755.
    ///
    /// - Returns: a notice if other users may enter the directory.
    static func prepareDirectory(_ path: String) throws(StoreFailure) -> StoreNotice? {
        var parent = path.hasPrefix("/") ? "/" : ""
        let components = path.split(separator: "/")
        for (index, component) in components.enumerated() {
            parent += (index == 0 ? "" : "/") + component
            let isLast = index == components.count - 1
            guard mkdir(parent, isLast ? 0o700 : 0o755) != 0, errno != EEXIST else { continue }
            // `mkdir` may fail with another error than EEXIST although the directory exists, for example on a read-only file
            // system. That does no harm.
            let code = errno
            guard access(parent, F_OK) != 0 else { continue }
            throw StoreFailure(operation: "create", path: parent, code: code)
        }
        let mode = try mode(of: path)
        return mode & 0o077 == 0 ? nil : .directoryIsOpen(path: path, mode: mode)
    }

    /// True if the directory contains no database. False if this user may not enter the directory, because it may contain one.
    package static func isEmpty(_ directory: String) -> Bool {
        access(directory + "/" + databaseName, F_OK) != 0 && (errno == ENOENT || errno == ENOTDIR)
    }

    /// True if the directory contains no database, or only an empty file, which a start on a full disk leaves.
    static func lacksContents(_ directory: String) -> Bool {
        var information = stat()
        // SQLite considers a file of one octet to be empty, too.
        return isEmpty(directory) || stat(directory + "/" + databaseName, &information) == 0 && information.st_size <= 1
    }

    /// True if the directory contains neither a database nor the log of one.
    static func lacksDatabase(_ directory: String) -> Bool {
        var information = stat()
        let hasLog = stat(directory + "/" + databaseName + "-wal", &information) == 0 && information.st_size > 0
        return isEmpty(directory) || lacksContents(directory) && !hasLog
    }

    /// Runs `body` with the effective user and group of the directory's owner, if this process is root's.
    ///
    /// Files that are created belong to the daemon's user, and files that this user has put there are not opened with the
    /// rights of root. The whole process changes its user, so no other thread may do anything meanwhile.
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

    /// Locks the directory, so that only one process uses it at a time.
    ///
    /// - Parameter old: the lock that this process holds for the path. The directory that it locks may have been deleted since.
    package static func lock(directory: String, replacing old: FileLock? = nil) throws(StoreFailure) -> FileLock {
        let path = directory + "/" + lockName
        let ofDirectory = try lockItself(directory, replacing: old)
        var descriptor = OwnedDescriptor(open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0o600))
        if !descriptor.isOpen, errno == EROFS {
            // The lock file that a daemon created earlier can be opened for reading only.
            descriptor = OwnedDescriptor(open(path, O_RDONLY | O_CLOEXEC))
            // A restored copy has no such file.
            if !descriptor.isOpen, errno == ENOENT, let ofDirectory { return ofDirectory }
        }
        // A full disk may have no room for the lock file of the first start.
        if !descriptor.isOpen, errno == ENOSPC || errno == EDQUOT, let ofDirectory { return ofDirectory }
        guard descriptor.isOpen else {
            throw StoreFailure(operation: "open", path: path, code: errno)
        }
        guard flock(descriptor.rawValue, LOCK_EX | LOCK_NB) == 0 else {
            if errno == EWOULDBLOCK { throw StoreFailure.inUse(directory: directory) }
            throw StoreFailure(operation: "lock", path: path, code: errno)
        }
        return FileLock(descriptor, ofDirectory: ofDirectory)
    }

    /// Locks the directory itself, because a daemon that was started on a read-only file system may have found no lock file.
    ///
    /// - Returns: `nil` if the file system does not lock directories, as some of other machines do not.
    private static func lockItself(
        _ directory: String, replacing old: FileLock?
    ) throws(StoreFailure) -> FileLock? {
        if let known = old?.ofDirectory ?? old, known.identity == FileIdentity(path: directory) { return known }
        let descriptor = OwnedDescriptor(open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC))
        guard descriptor.isOpen else { return nil }
        if flock(descriptor.rawValue, LOCK_EX | LOCK_NB) == 0 { return FileLock(descriptor) }
        if errno == EWOULDBLOCK { throw StoreFailure.inUse(directory: directory) }
        return nil
    }

    /// Creates an empty file with mode 0600 if the database file is missing. SQLite gives its other files the same mode.
    ///
    /// - Returns: a notice if other users could read the file until now, and one if it existed and was empty.
    /// - Throws: `.damaged` if it is not a regular file, or if it is empty and has a log.
    static func prepareFile(_ path: String) throws(StoreFailure) -> [StoreNotice] {
        var notices: [StoreNotice] = []
        var information = stat()
        if stat(path, &information) == 0 {
            guard information.st_mode & S_IFMT == S_IFREG else {
                throw StoreFailure.damaged(path: path, cause: "it is not a file")
            }
            // SQLite considers a file of one octet to be empty, too, and would delete the log of an empty file.
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

    /// Renames a damaged file to `….damaged-20261121T023000Z`, and its logs to the same name with `-wal` and `-journal`, so
    /// that SQLite finds them together.
    ///
    /// - Returns: the file's new path.
    package static func setAside(_ path: String, at now: UTCTime) throws(StoreFailure) -> String {
        let time = String(now.description.prefix(19).filter { $0 != "-" && $0 != ":" }) + "Z"
        var target = path + ".damaged-" + time
        // A number distinguishes two damaged files of the same second.
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
        // This file is only an index of the log, which SQLite creates again when the file is opened.
        unlink(path + "-shm")
        return target
    }

    /// Opens the write-ahead log of a database, which must exist.
    static func openLog(_ database: String) throws(StoreFailure) -> OwnedDescriptor {
        let path = database + "-wal"
        let descriptor = OwnedDescriptor(open(path, O_RDWR | O_CLOEXEC))
        guard descriptor.isOpen else {
            throw StoreFailure(operation: "open", path: path, code: errno)
        }
        return descriptor
    }

    /// The reason why the file system of a file cannot be written; `nil` if none is known.
    static func obstacle(to path: String) -> StoreFailure? {
        var information = statvfs()
        guard statvfs(path, &information) == 0 else { return nil }
        if information.f_flag & UInt(ST_RDONLY) != 0 { return .readOnly(path: path) }
        return information.f_bavail == 0 ? .diskFull(path: path) : nil
    }

    /// Syncs a directory, so that the names of new and renamed files in it survive a power cut. SQLite also does this, but
    /// ignores errors.
    static func syncDirectory(_ path: String) throws(StoreFailure) {
        let descriptor = OwnedDescriptor(open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC))
        // Some file systems cannot sync a directory, and return EINVAL.
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

/// The lock (`flock`) of an open file, such as that of a state directory. It is released with the last reference to it, or when
/// the process ends.
package final class FileLock: Sendable {
    private let descriptor: OwnedDescriptor
    /// The lock of the directory that contains the file; it ends together with this one.
    fileprivate let ofDirectory: FileLock?

    /// - Parameter descriptor: the file, which is already locked.
    init(_ descriptor: OwnedDescriptor, ofDirectory: FileLock? = nil) {
        self.descriptor = descriptor
        self.ofDirectory = ofDirectory
    }

    var identity: FileIdentity? { FileIdentity(descriptor) }

    // Between fork and exec, a child process has a copy of the descriptor. The lock would outlive a mere close here.
    deinit { flock(descriptor.rawValue, LOCK_UN) }
}

/// A file descriptor that is closed with the last reference to it. While a helper thread has a reference, the kernel cannot
/// reuse the number for another file.
package final class OwnedDescriptor: Sendable {
    package let rawValue: Int32
    package var isOpen: Bool { rawValue >= 0 }

    package init(_ rawValue: Int32) { self.rawValue = rawValue }

    deinit { if isOpen { close(rawValue) } }

    /// Blocks until everything that was written is on the disk.
    ///
    /// - Returns: true on success.
    func syncData() -> Bool {
        while fdatasync(rawValue) != 0 {
            guard errno == EINTR else { return false }
        }
        return true
    }

    /// Reads the whole file and writes the same octets again, so that the next sync has to bring all of them to the disk.
    ///
    /// - Returns: true on success.
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

/// A file of a file system, independent of its name.
package struct FileIdentity: Hashable, Sendable {
    private let device: UInt64
    private let number: UInt64

    /// `nil` if there is no file with this path. A symbolic link is followed.
    package init?(path: String) {
        var information = stat()
        guard stat(path, &information) == 0 else { return nil }
        self.init(information)
    }

    /// `nil` if the descriptor is closed.
    init?(_ descriptor: OwnedDescriptor) {
        var information = stat()
        guard fstat(descriptor.rawValue, &information) == 0 else { return nil }
        self.init(information)
    }

    private init(_ information: stat) {
        (device, number) = (UInt64(information.st_dev), UInt64(information.st_ino))
    }
}
