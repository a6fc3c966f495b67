#include <sqlite3.h>

// SQLITE_TRANSIENT is a cast, and sqlite3_db_config is variadic: Swift can call neither.

/// Tells `sqlite3_bind_*` to copy what it is given.
static inline sqlite3_destructor_type csqlite_transient(void) { return SQLITE_TRANSIENT; }

/// Whether closing the last connection leaves the `-wal` file as it is.
static inline int csqlite_keep_wal_on_close(sqlite3 *database, int keep) {
    return sqlite3_db_config(database, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, keep, (int *)0);
}
