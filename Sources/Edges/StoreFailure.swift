import CSQLite
import Glibc
import Platform

/// The reason why the store cannot be opened, read or written. The description advises the user, without secrets.
package enum StoreFailure: Error, Hashable, Sendable, CustomStringConvertible {
    /// Another daemon uses this state directory.
    case inUse(directory: String)
    /// The directory contains no database.
    case noStore(directory: String)
    /// A directory or file could not be created, opened or renamed.
    case file(operation: String, path: String, cause: String)
    /// A newer version of Tryck has written the file.
    case newerSchema(path: String, found: Int, known: Int)
    case diskFull(path: String)
    /// The directory, a file in it, or the file system is read-only for this user.
    case readOnly(path: String)
    /// Another program holds the file's lock.
    case busy(path: String)
    /// The file was found to be damaged while in use. At the next start it is renamed, and a new one is created.
    case damaged(path: String, cause: String)
    case database(DatabaseFailure)
    /// While the database was in use, another file took its place, or its log was deleted.
    case replaced(path: String)
    /// A reserve is not a regular file with a single name, or another user owns it or can write it.
    case foreignReserve(path: String)
    /// Another process has locked the ring. The two daemons use different state directories with the same ring, because one
    /// directory is a copy of the other.
    case ringInUse(path: String)

    package init(_ failure: DatabaseFailure) {
        switch failure.primaryCode {
        case SQLITE_FULL: self = .diskFull(path: failure.path)
        case SQLITE_READONLY: self = .readOnly(path: failure.path)
        case SQLITE_BUSY, SQLITE_LOCKED: self = .busy(path: failure.path)
        // SQLite reports a full disk only for failed writes, and not if a file cannot be extended.
        case SQLITE_IOERR, SQLITE_CANTOPEN: self = StoreFiles.obstacle(to: failure.path) ?? .database(failure)
        case SQLITE_CORRUPT, SQLITE_NOTADB: self = .damaged(path: failure.path, cause: failure.cause)
        default: self = .database(failure)
        }
    }

    /// - Parameter code: the `errno`.
    package init(operation: String, path: String, code: Int32) {
        self = Self.known(code, path: path) ?? .file(operation: operation, path: path, cause: systemMessage(code))
    }

    private static func known(_ code: Int32, path: String) -> StoreFailure? {
        switch code {
        case ENOSPC, EDQUOT: .diskFull(path: path)
        case EROFS, EACCES, EPERM: .readOnly(path: path)
        default: nil
        }
    }

    /// True if the disk refuses writes. Reads may still succeed.
    var isDiskFailure: Bool {
        switch self {
        case .diskFull, .readOnly: true
        case .database(let failure): [SQLITE_IOERR, SQLITE_CANTOPEN].contains(failure.primaryCode)
        // `known` maps some error numbers to the two cases above; `file` is any other.
        case .file(let operation, _, _): ["open", "sync"].contains(operation)
        case .inUse, .noStore, .newerSchema, .busy, .damaged, .replaced, .foreignReserve, .ringInUse: false
        }
    }

    package var description: String {
        switch self {
        case .inUse(let directory):
            "another daemon is using \(directory): stop it, or give this one its own state_directory"
        case .noStore(let directory):
            "\(directory) contains no database: specify the directory with --state-directory, or use sudo for the system's service"
        case .file(let operation, let path, let cause):
            "cannot \(operation) \(path): \(cause)"
        case .newerSchema(let path, let found, let known):
            "\(path) was written by a newer version (schema \(found), this version knows \(known)): "
                + "install that version again, or move the file away to start with no buttons"
        case .diskFull(let path):
            "no space left for \(path): free space on its file system"
        case .readOnly(let path):
            "\(path) cannot be written: check the owner of the directory and whether its file system is mounted read-only"
        case .busy(let path):
            "another program has locked \(path): close it"
        case .damaged(let path, let cause):
            "\(path) is damaged (\(cause)): at the next start it is renamed and a new one is created"
        case .database(let failure) where failure.primaryCode == SQLITE_IOERR:
            "\(failure): sudo dmesg may say what is wrong with the disk"
        case .database(let failure):
            "\(failure)"
        case .replaced(let path):
            "\(path) or its log is not the file that Tryck opened: move it away to keep the present state, "
                + "or restart Tryck to use it"
        case .foreignReserve(let path):
            "\(path) is not a file that only this user can write: remove it"
        case .ringInUse(let path):
            "\(path) is used by another daemon, whose state directory is a copy: give this one its own control_socket"
        }
    }
}

/// A finding for the user about the state directory, from opening or reading it.
package enum StoreNotice: Hashable, Sendable, CustomStringConvertible {
    /// Other users may enter the directory, which contains pairing keys. `mode`: the permission bits.
    case directoryIsOpen(path: String, mode: UInt32)
    /// Other users could read the file. Its mode has been changed to 0600.
    case fileWasOpen(path: String, mode: UInt32)
    /// The file was unusable and was renamed, and a new one was created. All pairings are in the renamed file.
    case renamed(path: String, as: String, cause: String)
    /// The file was empty: an earlier start was interrupted, or the contents were lost.
    case wasEmpty(path: String)
    /// The file was deleted while it was in use, and was written again.
    case writtenAgain(path: String)
    /// An invalid row was ignored. It stays in the file.
    case unreadable(table: String, row: String)
    /// A number out of range was replaced with the nearest valid one.
    case repaired(table: String, row: String)
    /// Records in the ring were not applied.
    case ringIgnored(path: String, cause: String)
    /// The ring is on a disk.
    case ringOnDisk(path: String)

    package var description: String {
        switch self {
        case .directoryIsOpen(let path, let mode):
            "\(path) has mode 0\(String(mode, radix: 8)) and holds pairing keys: chmod 700 \(path)"
        case .fileWasOpen(let path, let mode):
            "\(path) had mode 0\(String(mode, radix: 8)) and holds pairing keys: it is 0600 now"
        case .renamed(let path, let name, let cause):
            "\(path) is damaged (\(cause)): it was set aside as \(name), and all buttons must be paired again "
                + "or imported"
        case .wasEmpty(let path):
            "\(path) was empty, and is created again: if buttons were paired, they must be paired again or imported"
        case .writtenAgain(let path):
            "\(path) was deleted while Tryck used it, and was written again: stop Tryck before you delete its state"
        case .unreadable(let table, let row):
            "row \(row) of \(table) is invalid and was ignored"
        case .repaired(let table, let row):
            "row \(row) of \(table) has a number out of range: the nearest valid number is used"
        case .ringIgnored(let path, let cause):
            "records in \(path) were ignored: \(cause)"
        case .ringOnDisk(let path):
            "\(path) is not on a tmpfs, so a press may wait for that disk: set control_socket to a file on a tmpfs"
        }
    }
}
