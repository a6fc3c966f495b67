#include <sqlite3.h>

// Functions for what Swift cannot call: SQLITE_TRANSIENT is a cast, and sqlite3_config and sqlite3_db_config are
// variadic.

/// The destructor that tells `sqlite3_bind_*` to copy its value.
static inline sqlite3_destructor_type csqlite_transient(void) { return SQLITE_TRANSIENT; }

/// Sets whether closing the last connection leaves the `-wal` file as it is. Returns a result code of SQLite.
static inline int csqlite_keep_wal_on_close(sqlite3 *database, int keep) {
    return sqlite3_db_config(database, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, keep, (int *)0);
}

/// Lets each connection allocate the pages of its cache one at a time. By default it allocates 20 at once, and writes to all of
/// them. Called before the first connection is opened. Returns a result code of SQLite.
static inline int csqlite_allocate_single_pages(void) { return sqlite3_config(SQLITE_CONFIG_PAGECACHE, (void *)0, 0, 0); }
