package import Edges
import Glibc
import Platform

/// The state of a state directory, as another process than the daemon can observe it.
package struct StateDirectoryReport: Hashable, Sendable {
    package enum Condition: Hashable, Sendable {
        /// There is no directory; the daemon creates it when it starts.
        case absent
        /// There is no directory, and the daemon could not create it below `path`.
        case cannotBeMade(path: String, cause: String)
        /// `path`, which is the path of the directory or an ancestor of it, is not a directory.
        case notADirectory(path: String)
        case readOnlyFileSystem
        /// No file can be created in the directory.
        case notWritable(cause: String)
        /// A file can be created in the directory, but nothing can be written to the file.
        case full(cause: String)
        case writable
    }

    package enum DatabaseCondition: Hashable, Sendable {
        case absent
        /// A daemon has the database open. The daemon checked it when it started.
        case inUse
        case sound
        /// This user has no permission to read the database.
        case hidden
        case failed(StoreFailure)
    }

    package struct ForeignFile: Hashable, Sendable {
        package var path: String
        package var owner: String

        package init(path: String, owner: String) {
            self.path = path
            self.owner = owner
        }
    }

    package var path: String
    package var condition: Condition
    /// The name of the user who owns the directory; `nil` if there is no directory.
    package var owner: String?
    /// The permission bits of the directory.
    package var mode: UInt32?
    /// A file in the directory that belongs to another user than the directory, so that the daemon may not write it.
    package var foreignFile: ForeignFile?
    /// The space for users without privileges, in octets; `nil` if it is unknown.
    package var freeSpace: UInt64?
    package var database: DatabaseCondition

    package init(
        path: String, condition: Condition, owner: String? = nil, mode: UInt32? = nil, foreignFile: ForeignFile? = nil,
        freeSpace: UInt64? = nil,
        database: DatabaseCondition = .absent
    ) {
        self.path = path
        self.condition = condition
        self.owner = owner
        self.mode = mode
        self.foreignFile = foreignFile
        self.freeSpace = freeSpace
        self.database = database
    }

    /// Examines the directory: creates a file in it and removes the file. Does not create the directory.
    package init(examining path: String) {
        var information = stat()
        guard stat(path, &information) == 0 else {
            let reason = errno
            let parent = Self.nearestAncestor(of: path)
            let condition: Condition
            if reason == ENOTDIR {
                condition = .notADirectory(path: parent)
            } else if reason != ENOENT {
                condition = .cannotBeMade(path: parent, cause: systemMessage(reason))
            } else if access(parent, W_OK | X_OK) != 0 {
                condition = .cannotBeMade(path: parent, cause: systemMessage(errno))
            } else {
                condition = .absent
            }
            self.init(path: path, condition: condition, freeSpace: Self.freeSpace(at: parent))
            return
        }
        let owner = Self.name(of: information.st_uid)
        guard information.st_mode & S_IFMT == S_IFDIR else {
            self.init(path: path, condition: .notADirectory(path: path), owner: owner)
            return
        }
        self.init(
            path: path, condition: Self.tryWriting(in: path), owner: owner, mode: information.st_mode & 0o7777,
            foreignFile: Self.foreignFile(in: path, of: information.st_uid), freeSpace: Self.freeSpace(at: path),
            database: Self.database(in: path))
    }

    private static func tryWriting(in directory: String) -> Condition {
        let probe = "\(directory)/.tryck-doctor-\(getpid())"
        let descriptor = open(probe, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else {
            return errno == EROFS ? .readOnlyFileSystem : .notWritable(cause: systemMessage(errno))
        }
        defer {
            close(descriptor)
            unlink(probe)
        }
        // A full disk still has room for an empty file.
        let count = [UInt8](repeating: 0, count: 4096).withUnsafeBytes {
            Glibc.write(descriptor, $0.baseAddress, $0.count)
        }
        guard count < 4096 else { return .writable }
        let reason = count < 0 ? errno : ENOSPC
        // EFBIG is caused by the process's limit of the file size.
        return [ENOSPC, EDQUOT, EFBIG].contains(reason)
            ? .full(cause: systemMessage(reason)) : .notWritable(cause: systemMessage(reason))
    }

    /// The first file that belongs to another user than `owner`, mostly because root ran the daemon for a while.
    private static func foreignFile(in directory: String, of owner: UInt32) -> ForeignFile? {
        let names = [
            StoreFiles.databaseName, StoreFiles.databaseName + "-wal", StoreFiles.lockName, StoreFiles.reserveName,
            HistoryEdge.directoryName,
        ]
        for path in names.map({ "\(directory)/\($0)" }) {
            var information = stat()
            guard lstat(path, &information) == 0, information.st_uid != owner else { continue }
            return ForeignFile(path: path, owner: name(of: information.st_uid))
        }
        return nil
    }

    private static func name(of user: UInt32) -> String {
        getpwuid(user).map { String(cString: $0.pointee.pw_name) } ?? "\(user)"
    }

    private static func freeSpace(at path: String) -> UInt64? {
        var information = statvfs()
        guard statvfs(path, &information) == 0 else { return nil }
        let (octets, isHuge) = UInt64(information.f_bavail)
            .multipliedReportingOverflow(by: UInt64(information.f_frsize))
        return isHuge ? .max : octets
    }

    private static func database(in directory: String) -> DatabaseCondition {
        let path = directory + "/" + StoreFiles.databaseName
        guard access(path, F_OK) == 0 else { return errno == ENOENT ? .absent : .hidden }
        guard access(path, R_OK) == 0 else { return .hidden }
        if isInUse(directory) { return .inUse }
        do throws(DatabaseFailure) {
            let database = try Database(path: path, busyTimeout: .zero, keepsWALOnClose: true, access: .read)
            let results = try database.rows("PRAGMA quick_check(1)") { $0.text(0) }
            guard results == ["ok"] else {
                return .failed(.damaged(path: path, cause: results.first ?? "it cannot be checked"))
            }
            let version = Int(try database.rows("PRAGMA user_version", read: { $0.integer(0) }).first ?? 0)
            guard version <= StoreSchema.version else {
                return .failed(.newerSchema(path: path, found: version, known: StoreSchema.version))
            }
            return .sound
        } catch {
            let failure = StoreFailure(error)
            if case .busy = failure { return .inUse }
            return .failed(failure)
        }
    }

    /// True if a daemon uses the directory.
    package static func isInUse(_ directory: String) -> Bool {
        let lock = OwnedDescriptor(open(directory + "/" + StoreFiles.lockName, O_RDONLY | O_CLOEXEC))
        return lock.isOpen && flock(lock.rawValue, LOCK_SH | LOCK_NB) != 0 && errno == EWOULDBLOCK
    }

    private static func nearestAncestor(of path: String) -> String {
        var path = path
        while access(path, F_OK) != 0, let slash = path.lastIndex(of: "/"), slash != path.startIndex {
            path = String(path[..<slash])
        }
        return access(path, F_OK) == 0 ? path : "/"
    }
}
