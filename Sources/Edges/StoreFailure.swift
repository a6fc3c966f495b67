import CSQLite
import Glibc
import Platform

/// Why something could not be kept or read, as a sentence that says what to do. Nothing secret is in it.
package enum StoreFailure: Error, Hashable, Sendable, CustomStringConvertible {
    /// Another daemon has this state directory.
    case inUse(directory: String)
    /// No daemon ever kept anything there.
    case nothingKept(directory: String)
    /// A directory or file could not be made, opened or renamed.
    case file(operation: String, path: String, cause: String)
    /// The file was written by a newer version.
    case newerSchema(path: String, found: Int, known: Int)
    case diskFull(path: String)
    /// The directory, a file in it, or the file system.
    case readOnly(path: String)
    /// Another program holds the file's lock.
    case busy(path: String)
    /// The file broke while it was in use; at the next start it is set aside.
    case damaged(path: String, cause: String)
    case database(DatabaseFailure)
    /// A reserve is no regular file, or another user owns it or can write it.
    case foreignReserve(path: String)

    package init(_ failure: DatabaseFailure) {
        switch failure.primaryCode {
        case SQLITE_FULL: self = .diskFull(path: failure.path)
        case SQLITE_READONLY: self = .readOnly(path: failure.path)
        case SQLITE_BUSY, SQLITE_LOCKED: self = .busy(path: failure.path)
        // SQLite knows a full disk only where it writes, and not where it makes a file longer.
        case SQLITE_IOERR, SQLITE_CANTOPEN: self = StoreFiles.obstacle(to: failure.path) ?? .database(failure)
        case SQLITE_CORRUPT, SQLITE_NOTADB: self = .damaged(path: failure.path, cause: failure.cause)
        default: self = .database(failure)
        }
    }

    /// - Parameter code: an `errno`.
    package init(operation: String, path: String, code: Int32) {
        self = Self.known(code, path: path) ?? .file(operation: operation, path: path, cause: describe(code))
    }

    private static func known(_ code: Int32, path: String) -> StoreFailure? {
        switch code {
        case ENOSPC, EDQUOT: .diskFull(path: path)
        case EROFS, EACCES, EPERM: .readOnly(path: path)
        default: nil
        }
    }

    /// The disk does not take what is written; what is there may be read all the same.
    var isOfTheDisk: Bool {
        switch self {
        case .diskFull, .readOnly: true
        case .database(let failure): [SQLITE_IOERR, SQLITE_CANTOPEN].contains(failure.primaryCode)
        // `file` is an error number that is none of the two above.
        case .file(let operation, _, _): ["open", "sync"].contains(operation)
        case .inUse, .nothingKept, .newerSchema, .busy, .damaged, .foreignReserve: false
        }
    }

    package var description: String {
        switch self {
        case .inUse(let directory):
            "another daemon is using \(directory): stop it, or give this one its own state_directory"
        case .nothingKept(let directory):
            "\(directory) keeps no buttons: name the place with --state-directory, or use sudo for the system's service"
        case .file(let operation, let path, let cause):
            "cannot \(operation) \(path): \(cause)"
        case .newerSchema(let path, let found, let known):
            "\(path) was written by a newer version (schema \(found), this version knows \(known)): "
                + "install that version again, or move the file away to start with no buttons"
        case .diskFull(let path):
            "no space left for \(path): free some"
        case .readOnly(let path):
            "\(path) cannot be written: check the owner of the directory and whether its file system is mounted read-only"
        case .busy(let path):
            "another program has locked \(path): close it"
        case .damaged(let path, let cause):
            "\(path) is damaged (\(cause)): at the next start it is set aside and a new one begun"
        case .database(let failure) where failure.primaryCode == SQLITE_IOERR:
            "\(failure): sudo dmesg may say what is wrong with the disk"
        case .database(let failure):
            "\(failure)"
        case .foreignReserve(let path):
            "\(path) is not a file that only this user can write: remove it"
        }
    }
}

/// Something about the state directory a person should hear of, found while it was opened or read.
package enum StoreNotice: Hashable, Sendable, CustomStringConvertible {
    /// Others may look into the directory with the pairing keys. Mode: the permission bits.
    case directoryIsOpen(path: String, mode: UInt32)
    /// Others could read the file; its mode is 0600 now.
    case fileWasOpen(path: String, mode: UInt32)
    /// The file could not be used and now has this name; a new one was begun. All pairings are in the old one.
    case setAside(path: String, as: String, cause: String)
    /// The file was there and had nothing in it: a start was cut off before anything was kept, or a disk lost it.
    case wasEmpty(path: String)
    /// A row that makes no sense was passed over, and is still in the file.
    case unreadable(table: String, row: String)
    /// A number that cannot be was taken for the nearest that can.
    case repaired(table: String, row: String)

    package var description: String {
        switch self {
        case .directoryIsOpen(let path, let mode):
            "\(path) has mode 0\(String(mode, radix: 8)) and holds pairing keys: chmod 700 \(path)"
        case .fileWasOpen(let path, let mode):
            "\(path) had mode 0\(String(mode, radix: 8)) and holds pairing keys: it is 0600 now"
        case .setAside(let path, let name, let cause):
            "\(path) is damaged (\(cause)): it was set aside as \(name), and all buttons must be paired again "
                + "or imported"
        case .wasEmpty(let path):
            "\(path) was empty, and is begun anew: if buttons were paired, they must be paired again or imported"
        case .unreadable(let table, let row):
            "row \(row) of \(table) is invalid and was ignored"
        case .repaired(let table, let row):
            "row \(row) of \(table) has an impossible number: the nearest possible one is used instead"
        }
    }
}
