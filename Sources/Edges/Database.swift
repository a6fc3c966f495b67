import ButtonModel
import Bytes
import CSQLite
import Glibc

/// One connection to one SQLite file, for one thread.
///
/// Statements are prepared once, on first use, and kept by their text; so every SQL text in the program is a
/// literal, and every value is bound. No error and no description carries a bound value.
///
/// - Source: https://sqlite.org/c3ref/intro.html
package final class Database {
    package let path: String
    /// Pages in the write-ahead log after the last commit of this connection.
    package private(set) var walPageCount = 0
    /// Leaves the `-wal` file behind when the last connection closes, as evidence, instead of copying it into the file.
    package var keepsWALOnClose: Bool {
        didSet { _ = csqlite_keep_wal_on_close(handle, keepsWALOnClose ? 1 : 0) }
    }
    private let handle: OpaquePointer
    private var statements: [String: Statement] = [:]

    /// How a file is opened.
    package enum Access: Hashable, Sendable {
        /// Creates what is missing.
        case write
        case read
        /// Reads a file that no other connection has open, with its log, where no file can be made or changed: on a full
        /// disk, or one that is mounted read-only. SQLite's own locks and its index of the log need files.
        case readAlone
    }

    /// - Parameter busyTimeout: how long a statement waits for another connection's lock before it fails.
    package init(
        path: String, busyTimeout: Duration, keepsWALOnClose: Bool = false, access: Access = .write
    ) throws(DatabaseFailure) {
        var opened: OpaquePointer?
        let isReadOnly = access != .write
        let flags = isReadOnly ? SQLITE_OPEN_READONLY : SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE
        var information = stat()
        let hasLog = stat(path + "-wal", &information) == 0 && information.st_size > 0
        let code: Int32
        switch access {
        case .write, .read: code = sqlite3_open_v2(path, &opened, flags | SQLITE_OPEN_NOMUTEX, nil)
        case .readAlone where hasLog:
            code = sqlite3_open_v2(path, &opened, flags | SQLITE_OPEN_NOMUTEX, "unix-none")
        case .readAlone:
            // Without its log SQLite would make one.
            let name = path.utf8.map { "%" + [$0].hex }.joined()
            code = sqlite3_open_v2(
                "file:\(name)?immutable=1", &opened, flags | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_URI, nil)
        }
        guard code == SQLITE_OK, let opened else {
            let failure = DatabaseFailure(operation: "open", path: path, handle: opened, code: code)
            sqlite3_close_v2(opened)
            throw failure
        }
        // Where a file cannot be opened for both, SQLite opens it for reading and says nothing.
        guard isReadOnly || sqlite3_db_readonly(opened, "main") == 0 else {
            sqlite3_close_v2(opened)
            throw DatabaseFailure(operation: "open", path: path, code: SQLITE_CANTOPEN, cause: "it can only be read")
        }
        self.path = path
        handle = opened
        self.keepsWALOnClose = keepsWALOnClose
        _ = csqlite_keep_wal_on_close(opened, keepsWALOnClose ? 1 : 0)
        sqlite3_extended_result_codes(opened, 1)
        sqlite3_busy_timeout(opened, Int32(clamping: busyTimeout.milliseconds))
        // The index of the log is in the process then.
        if access == .readAlone { try run("PRAGMA locking_mode = EXCLUSIVE") }
        // 256 KiB of page cache instead of 2 MiB: the whole database is smaller.
        try run("PRAGMA cache_size = -256")
    }

    deinit {
        statements.values.forEach { $0.finalize() }
        sqlite3_close_v2(handle)
    }

    /// A copy in memory, which can be changed where the file cannot.
    package func copyInMemory() throws(DatabaseFailure) -> Database {
        let copy = try Database(path: ":memory:", busyTimeout: .zero)
        guard let backup = sqlite3_backup_init(copy.handle, "main", handle, "main") else {
            throw copy.failure("copy", sqlite3_errcode(copy.handle))
        }
        let code = sqlite3_backup_step(backup, -1)
        sqlite3_backup_finish(backup)
        guard code == SQLITE_DONE else { throw failure("copy", code) }
        return copy
    }

    /// Runs a statement to its end; rows are passed over.
    package func run(_ sql: String, _ values: DatabaseValue...) throws(DatabaseFailure) {
        let statement = try prepared(sql, values)
        defer { statement.reset() }
        while try step(statement) {}
    }

    /// What `read` makes of each row, in order; a row of which it makes nothing is left out.
    package func rows<T>(
        _ sql: String, _ values: DatabaseValue..., read: (DatabaseRow) -> T?
    ) throws(DatabaseFailure) -> [T] {
        let statement = try prepared(sql, values)
        defer { statement.reset() }
        var results: [T] = []
        while try step(statement) {
            if let value = read(DatabaseRow(statement: statement.handle)) { results.append(value) }
        }
        return results
    }

    /// All of `body` or nothing of it.
    package func transaction(_ body: () throws(DatabaseFailure) -> Void) throws(DatabaseFailure) {
        // Immediate: the lock is taken here or not at all, never half-way.
        try run("BEGIN IMMEDIATE")
        do {
            try body()
            try run("COMMIT")
        } catch {
            // SQLite has already rolled back by itself after some errors, a full disk among them.
            if sqlite3_get_autocommit(handle) == 0 { try? run("ROLLBACK") }
            throw error
        }
    }

    /// Compiles the statements of a script without running them: it throws when the file lacks what they name.
    package func check(_ sql: String) throws(DatabaseFailure) { _ = try prepared(sql, []) }

    /// From now on `walPageCount` is kept, and only `checkpoint` copies the log into the file.
    package func countWALPages() throws(DatabaseFailure) {
        try run("PRAGMA wal_autocheckpoint = 0")
        let context = Unmanaged.passUnretained(self).toOpaque()
        sqlite3_wal_hook(
            handle,
            { context, _, _, pageCount in
                guard let context else { return SQLITE_OK }
                Unmanaged<Database>.fromOpaque(context).takeUnretainedValue().walPageCount = Int(pageCount)
                return SQLITE_OK
            }, context)
    }

    /// Another connection began the log anew.
    package func forgetWALPages() { walPageCount = 0 }

    package enum CheckpointMode {
        /// Copies what it can without making a writer wait.
        case passive
        /// Copies all of it and leaves the log empty; writers wait.
        case truncate
    }

    /// Copies the log into the file and syncs both.
    ///
    /// - Returns: true when all of the log was copied.
    package func checkpoint(_ mode: CheckpointMode) throws(DatabaseFailure) -> Bool {
        var logged: Int32 = 0
        var copied: Int32 = 0
        let flag =
            switch mode {
            case .passive: SQLITE_CHECKPOINT_PASSIVE
            case .truncate: SQLITE_CHECKPOINT_TRUNCATE
            }
        let code = sqlite3_wal_checkpoint_v2(handle, nil, flag, &logged, &copied)
        if code & 0xFF == SQLITE_BUSY { return false }
        guard code == SQLITE_OK else { throw failure("checkpoint", code) }
        return logged == copied
    }

    private func prepared(_ sql: String, _ values: [DatabaseValue]) throws(DatabaseFailure) -> Statement {
        let statement: Statement
        if let known = statements[sql] {
            statement = known
        } else {
            var compiled: OpaquePointer?
            let code = sqlite3_prepare_v3(
                handle, sql, -1, UInt32(SQLITE_PREPARE_PERSISTENT), &compiled, nil)
            guard code == SQLITE_OK, let compiled else { throw failure("prepare", code) }
            statement = Statement(handle: compiled)
            statements[sql] = statement
        }
        for (index, value) in values.enumerated() {
            let code = statement.bind(value, at: Int32(index + 1))
            guard code == SQLITE_OK else { throw failure("bind", code) }
        }
        return statement
    }

    private func step(_ statement: Statement) throws(DatabaseFailure) -> Bool {
        switch sqlite3_step(statement.handle) {
        case SQLITE_ROW: return true
        case SQLITE_DONE: return false
        case let code: throw failure("run", code)
        }
    }

    private func failure(_ operation: String, _ code: Int32) -> DatabaseFailure {
        DatabaseFailure(operation: operation, path: path, handle: handle, code: code)
    }

    private struct Statement {
        let handle: OpaquePointer

        func bind(_ value: DatabaseValue, at index: Int32) -> Int32 {
            switch value {
            case .null: sqlite3_bind_null(handle, index)
            case .integer(let integer): sqlite3_bind_int64(handle, index, integer)
            case .text(let text):
                // With its length: a NUL inside is a character like any other.
                sqlite3_bind_text(handle, index, text, Int32(clamping: text.utf8.count), csqlite_transient())
            case .blob(let octets):
                sqlite3_bind_blob64(handle, index, octets, UInt64(octets.count), csqlite_transient())
            }
        }

        /// Also forgets the bound values: a key stays in memory no longer than it must.
        func reset() {
            sqlite3_reset(handle)
            sqlite3_clear_bindings(handle)
        }

        func finalize() { sqlite3_finalize(handle) }
    }
}

/// A value to bind. Octets never print themselves.
package enum DatabaseValue: CustomStringConvertible, CustomReflectable {
    case null
    case integer(Int64)
    case text(String)
    case blob([UInt8])

    package init(_ text: String?) { self = text.map(DatabaseValue.text) ?? .null }
    package init(_ integer: Int64?) { self = integer.map(DatabaseValue.integer) ?? .null }

    package var description: String {
        switch self {
        case .null: "NULL"
        case .integer(let integer): "\(integer)"
        case .text(let text): "\(text)"
        case .blob(let octets): "\(octets.count) octets"
        }
    }

    package var customMirror: Mirror { Mirror(self, children: []) }
}

/// The row a statement stands on; of use only where it was handed out. Columns count from 0.
///
/// SQLite converts between types where it can; what a column of a `STRICT` table holds is of its type or NULL.
package struct DatabaseRow {
    fileprivate let statement: OpaquePointer

    package func integer(_ column: Int32) -> Int64? {
        guard sqlite3_column_type(statement, column) == SQLITE_INTEGER else { return nil }
        return sqlite3_column_int64(statement, column)
    }

    package func text(_ column: Int32) -> String? {
        guard sqlite3_column_type(statement, column) == SQLITE_TEXT,
            let octets = sqlite3_column_text(statement, column)
        else { return nil }
        let count = Int(sqlite3_column_bytes(statement, column))
        return String(validating: UnsafeBufferPointer(start: octets, count: count), as: UTF8.self)
    }

    package func blob(_ column: Int32) -> [UInt8]? {
        guard sqlite3_column_type(statement, column) == SQLITE_BLOB else { return nil }
        // The length of an empty blob comes with no address.
        guard let octets = sqlite3_column_blob(statement, column) else { return [] }
        return Array(UnsafeRawBufferPointer(start: octets, count: Int(sqlite3_column_bytes(statement, column))))
    }
}

/// What SQLite refused to do.
package struct DatabaseFailure: Error, Hashable, Sendable, CustomStringConvertible {
    /// `open`, `copy`, `prepare`, `bind`, `run` or `checkpoint`.
    package var operation: String
    package var path: String
    /// An extended result code.
    ///
    /// - Source: https://sqlite.org/rescode.html
    package var code: Int32
    /// SQLite's own words; they may quote SQL, never a bound value.
    package var cause: String

    package var primaryCode: Int32 { code & 0xFF }

    package var description: String { "\(path): \(operation): \(cause) (SQLite \(code))" }

    init(operation: String, path: String, code: Int32, cause: String) {
        self.operation = operation
        self.path = path
        self.code = code
        self.cause = cause
    }

    fileprivate init(operation: String, path: String, handle: OpaquePointer?, code: Int32) {
        self.init(
            operation: operation, path: path, code: code,
            cause: String(cString: handle == nil ? sqlite3_errstr(code) : sqlite3_errmsg(handle)))
    }
}
