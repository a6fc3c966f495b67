/// The schema of the database, and its migrations.
///
/// `user_version` is the file's version; 0 is a file that has just been created.
package enum StoreSchema {
    package static var version: Int { migrations.count }

    /// The statements that migrate version *n* to *n* + 1, at index *n*. Released statements are never changed.
    static let migrations: [[String]] = [
        [
            """
            CREATE TABLE installation (
                only_row INTEGER PRIMARY KEY CHECK (only_row = 1),
                id TEXT NOT NULL,
                next_run INTEGER NOT NULL
            ) STRICT
            """,
            """
            CREATE TABLE buttons (
                id TEXT PRIMARY KEY,
                address_kind INTEGER NOT NULL,
                uuid TEXT NOT NULL,
                serial TEXT NOT NULL,
                nickname TEXT NOT NULL,
                firmware INTEGER NOT NULL,
                name TEXT,
                pairing_identifier INTEGER NOT NULL,
                pairing_key BLOB NOT NULL,
                paired_at INTEGER NOT NULL,
                boot_id INTEGER NOT NULL,
                event_count INTEGER NOT NULL,
                advertising_configured INTEGER NOT NULL,
                battery_mv INTEGER,
                battery_at INTEGER,
                press_count INTEGER NOT NULL,
                seq INTEGER NOT NULL,
                trigger_mode TEXT,
                latency_mode TEXT NOT NULL,
                connection_wanted INTEGER NOT NULL,
                recogniser TEXT NOT NULL
            ) STRICT, WITHOUT ROWID
            """,
            """
            CREATE TABLE runs (
                id INTEGER PRIMARY KEY,
                rule TEXT NOT NULL,
                button TEXT NOT NULL,
                boot_id INTEGER NOT NULL,
                event_count INTEGER NOT NULL,
                started_at INTEGER NOT NULL
            ) STRICT
            """,
        ],
        [
            "ALTER TABLE buttons ADD COLUMN auto_disconnect INTEGER",
            "ALTER TABLE buttons ADD COLUMN nickname_chosen_at INTEGER",
            "ALTER TABLE buttons ADD COLUMN battery_low INTEGER NOT NULL DEFAULT 0",
        ],
        [
            """
            CREATE TABLE rule_state (
                kind TEXT NOT NULL,
                key TEXT NOT NULL,
                value TEXT NOT NULL,
                PRIMARY KEY (kind, key)
            ) STRICT, WITHOUT ROWID
            """
        ],
        [
            "ALTER TABLE buttons ADD COLUMN heard INTEGER NOT NULL DEFAULT 0",
            "UPDATE buttons SET heard = seq",
        ],
        [
            "ALTER TABLE buttons ADD COLUMN model TEXT NOT NULL DEFAULT 'flic2'",
            "ALTER TABLE buttons ADD COLUMN small_event_count INTEGER NOT NULL DEFAULT 0",
            "ALTER TABLE buttons ADD COLUMN led_mode TEXT NOT NULL DEFAULT 'fill'",
            "ALTER TABLE buttons ADD COLUMN dials TEXT NOT NULL DEFAULT '{}'",
            "ALTER TABLE runs ADD COLUMN small_event_count INTEGER NOT NULL DEFAULT 0",
        ],
        // A button of a flicd has no pairing with Tryck: its identifier is 0, and its key is empty.
        [
            "ALTER TABLE buttons ADD COLUMN source TEXT",
            "ALTER TABLE buttons ADD COLUMN battery_percent INTEGER",
        ],
        ["ALTER TABLE buttons ADD COLUMN last_seen INTEGER"],
        ["ALTER TABLE buttons ADD COLUMN home TEXT"],
        // The state of the feeds of an engine or a site; `FeedChange` defines the keys and values.
        ["CREATE TABLE feed (key TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT, WITHOUT ROWID"],
        ["ALTER TABLE buttons ADD COLUMN battery_weeks TEXT NOT NULL DEFAULT '{}'"],
    ]

    /// Why the file cannot be a database of Tryck; `nil` if it may be one.
    static func reasonNotOurs(of database: Database) throws(DatabaseFailure) -> String? {
        let application = try database.rows("PRAGMA application_id") { $0.integer(0) }.first ?? 0
        guard application == 0 else { return "it is another program's database" }
        let version = try database.rows("PRAGMA user_version") { $0.integer(0) }.first ?? 0
        // No version of Tryck will have so many migrations.
        guard (0...1000).contains(version) else { return "its version is \(version)" }
        guard version == 0 else { return nil }
        let tables = try database.rows("SELECT count(*) FROM sqlite_schema") { $0.integer(0) }.first ?? 0
        return tables == 0 ? nil : "it is another program's database"
    }

    /// Migrates the file to `version` in one transaction.
    ///
    /// - Returns: the version found. A file of a newer version is not changed.
    static func migrate(_ database: Database) throws(DatabaseFailure) -> Int {
        let found = Int(try database.rows("PRAGMA user_version", read: { $0.integer(0) }).first ?? 0)
        guard (0..<version).contains(found) else { return found }
        try database.transaction { () throws(DatabaseFailure) in
            for statement in migrations[found...].joined() { try database.run(statement) }
            try database.run("PRAGMA user_version = \(version)")
        }
        return found
    }
}
