// What a test program asks of its disk, before the kernel hears of it: SQLite's calls and our own alike, because the
// functions of the C library that change files are defined here, and the program's own definition comes first.
#ifndef CDISK_H
#define CDISK_H

#include <stddef.h>
#include <stdint.h>

enum disk_operation {
	DISK_OPEN,
	DISK_WRITE,
	DISK_TRUNCATE,
	// Told twice: what was written after the first is not covered.
	DISK_SYNC,
	DISK_SYNCED,
	DISK_UNLINK,
	DISK_RENAME,
	DISK_MKDIR,
};

struct disk_call {
	enum disk_operation operation;
	// Of the file, as it is called at this moment. NULL where it has no name any more.
	const char *path;
	// The new name.
	const char *target;
	const void *octets;
	size_t count;
	// Where to write, or the new length.
	int64_t offset;
	// Of open(2).
	int flags;
};

// 0, or the errno that the call fails with; it is not made then. Called on whatever thread makes the call.
typedef int (*disk_watcher)(const struct disk_call *call);

// One at a time; NULL ends it.
void disk_watch(disk_watcher watcher);

// How many octets this process holds from malloc.
size_t allocated_octets(void);

#endif
