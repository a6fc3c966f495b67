/// The tables, and how an older file becomes a newer one.
///
/// The file says its own version in `user_version`; 0 is a file that has just been created.
package enum StoreSchema {
    package static var version: Int { migrations.count }

    /// The statements that bring version *n* to *n* + 1, by *n*. What has been released is never edited.
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
        // A button of a flicd has no pairing of ours: 0 and no octets.
        [
            "ALTER TABLE buttons ADD COLUMN source TEXT",
            "ALTER TABLE buttons ADD COLUMN battery_percent INTEGER",
        ],
        ["ALTER TABLE buttons ADD COLUMN last_seen INTEGER"],
    ]

    /// Why the file is none that we began; `nil` when it may be ours.
    static func foreignness(of database: Database) throws(DatabaseFailure) -> String? {
        let application = try database.rows("PRAGMA application_id") { $0.integer(0) }.first ?? 0
        guard application == 0 else { return "it is another program's database" }
        let version = try database.rows("PRAGMA user_version") { $0.integer(0) }.first ?? 0
        // No later version of this program will ever have seen so many.
        guard (0...1000).contains(version) else { return "its version is \(version)" }
        guard version == 0 else { return nil }
        let tables = try database.rows("SELECT count(*) FROM sqlite_schema") { $0.integer(0) }.first ?? 0
        return tables == 0 ? nil : "it is another program's database"
    }

    /// Brings the file up to `version`, all the way or not at all.
    ///
    /// - Returns: the version found, which may be a newer one; such a file is left as it is.
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
