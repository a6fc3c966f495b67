import ButtonModel
import Bytes
import CSQLite
import Glibc

/// A connection to an SQLite file, used by one thread at a time.
///
/// A statement is prepared when it is first used, and kept by its SQL text. Therefore every SQL text in the program is
/// a literal, which may contain names of `StoredFact.columns`, and every value is bound. Errors and descriptions contain no
/// bound values.
///
/// - Source: https://sqlite.org/c3ref/intro.html
package final class Database {
    package let path: String
    /// The number of pages in the write-ahead log after the last commit of this connection.
    package private(set) var walPageCount = 0
    /// True if the `-wal` file is kept when the last connection closes, as evidence of a failure. Otherwise SQLite copies it
    /// into the database file and deletes it.
    package var keepsWALOnClose: Bool {
        didSet { _ = csqlite_keep_wal_on_close(handle, keepsWALOnClose ? 1 : 0) }
    }
    /// SQLite's result code for its configuration, which precedes the first connection of the process.
    static let configurationCode = csqlite_allocate_single_pages()
    private let handle: OpaquePointer
    private var statements: [String: Statement] = [:]

    /// The way in which a file is opened.
    package enum Access: Hashable, Sendable {
        /// Creates missing files.
        case write
        case read
        /// Reads a file that no other connection has open, and its log, without creating or changing a file: for a full or
        /// read-only disk. SQLite's locks and its index of the log (`-shm`) would need files.
        case readWithoutLocks
    }

    /// - Parameter busyTimeout: how long a statement waits for another connection's lock before it fails.
    package init(
        path: String, busyTimeout: Duration, keepsWALOnClose: Bool = false, access: Access = .write
    ) throws(DatabaseFailure) {
        // If it fails, SQLite only uses more memory.
        _ = Self.configurationCode
        var opened: OpaquePointer?
        let isReadOnly = access != .write
        let flags = isReadOnly ? SQLITE_OPEN_READONLY : SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE
        var information = stat()
        let hasLog = stat(path + "-wal", &information) == 0 && information.st_size > 0
        let code: Int32
        switch access {
        case .write, .read: code = sqlite3_open_v2(path, &opened, flags | SQLITE_OPEN_NOMUTEX, nil)
        case .readWithoutLocks where hasLog:
            code = sqlite3_open_v2(path, &opened, flags | SQLITE_OPEN_NOMUTEX, "unix-none")
        case .readWithoutLocks:
            // Without an existing log, SQLite would create one.
            let name = path.utf8.map { "%" + [$0].hex }.joined()
            code = sqlite3_open_v2(
                "file:\(name)?immutable=1", &opened, flags | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_URI, nil)
        }
        guard code == SQLITE_OK, let opened else {
            let failure = DatabaseFailure(operation: "open", path: path, handle: opened, code: code)
            sqlite3_close_v2(opened)
            throw failure
        }
        // If a file cannot be opened for writing, SQLite opens it for reading without an error.
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
        // In this mode SQLite keeps the index of the log in memory, instead of in the file `-shm`.
        if access == .readWithoutLocks { try run("PRAGMA locking_mode = EXCLUSIVE") }
        // 128 KiB of page cache instead of 2 MiB, because a press uses a few pages of 4 KiB.
        try run("PRAGMA cache_size = -128")
    }

    deinit {
        statements.values.forEach { $0.finalize() }
        sqlite3_close_v2(handle)
    }

    /// A copy in memory, which can be changed even if the file cannot.
    package func copyInMemory() throws(DatabaseFailure) -> Database {
        let copy = try Database(path: ":memory:", busyTimeout: .zero)
        try self.copy(to: copy)
        return copy
    }

    /// Replaces everything in `target` in one transaction.
    package func copy(to target: Database) throws(DatabaseFailure) {
        guard let backup = sqlite3_backup_init(target.handle, "main", handle, "main") else {
            throw target.failure("copy", sqlite3_errcode(target.handle))
        }
        let code = sqlite3_backup_step(backup, -1)
        sqlite3_backup_finish(backup)
        guard code == SQLITE_DONE else { throw target.failure("copy", code) }
    }

    /// Executes a statement to its end and ignores its rows.
    package func run(_ sql: String, _ values: DatabaseValue...) throws(DatabaseFailure) { try run(sql, values) }

    func run(_ sql: String, _ values: [DatabaseValue]) throws(DatabaseFailure) {
        let statement = try prepared(sql, values)
        defer { statement.reset() }
        while try step(statement) {}
    }

    /// Executes a query, and returns the results of `read` for its rows, in order. Rows for which `read` returns `nil` are left
    /// out.
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

    /// Executes `body` in a transaction, which is rolled back if `body` throws.
    package func transaction(_ body: () throws(DatabaseFailure) -> Void) throws(DatabaseFailure) {
        // IMMEDIATE takes the write lock at the start, so later statements cannot fail for lack of the lock.
        try run("BEGIN IMMEDIATE")
        do {
            try body()
            try run("COMMIT")
        } catch {
            // After some errors, such as a full disk, SQLite has rolled back already.
            if sqlite3_get_autocommit(handle) == 0 { try? run("ROLLBACK") }
            throw error
        }
    }

    /// Compiles a statement without executing it. Throws if the file lacks a table or column that it names.
    package func check(_ sql: String) throws(DatabaseFailure) { _ = try prepared(sql, []) }

    /// Enables `walPageCount`, and disables automatic checkpoints: from then on, only `checkpoint` copies the log.
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

    /// Resets the count after another connection has restarted the log.
    package func forgetWALPages() { walPageCount = 0 }

    package enum CheckpointMode {
        /// Copies as much as possible without making writers wait.
        case passive
        /// Copies the whole log and truncates it; writers wait.
        case truncate
    }

    /// Copies the write-ahead log into the database file and syncs both.
    ///
    /// - Returns: true if the whole log was copied.
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
                // With an explicit length, SQLite stores NUL characters like any others.
                sqlite3_bind_text(handle, index, text, Int32(clamping: text.utf8.count), csqlite_transient())
            case .blob(let octets):
                sqlite3_bind_blob64(handle, index, octets, UInt64(octets.count), csqlite_transient())
            }
        }

        /// Also clears the bound values, so that keys do not stay in memory.
        func reset() {
            sqlite3_reset(handle)
            sqlite3_clear_bindings(handle)
        }

        func finalize() { sqlite3_finalize(handle) }
    }
}

/// A value to bind to a statement. The description of a blob contains its length only.
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

/// The current row of a statement, valid only during the call of `read`. Columns count from 0.
///
/// A value of another type than requested is `nil`. Columns of a `STRICT` table contain values of their type or NULL.
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
        // SQLite returns a null pointer for an empty blob.
        guard let octets = sqlite3_column_blob(statement, column) else { return [] }
        return Array(UnsafeRawBufferPointer(start: octets, count: Int(sqlite3_column_bytes(statement, column))))
    }
}

/// An SQLite call that failed.
package struct DatabaseFailure: Error, Hashable, Sendable, CustomStringConvertible {
    /// `open`, `copy`, `prepare`, `bind`, `run` or `checkpoint`.
    package var operation: String
    package var path: String
    /// An extended result code.
    ///
    /// - Source: https://sqlite.org/rescode.html
    package var code: Int32
    /// SQLite's message, which may contain SQL but no bound value.
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
