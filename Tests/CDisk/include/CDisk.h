// Observes the file system calls of a test program before the kernel, those of SQLite and of the daemon. It defines the
// functions of the C library that change files, and the program's own definitions take precedence.
#ifndef CDISK_H
#define CDISK_H

#include <stddef.h>
#include <stdint.h>

enum disk_operation {
	DISK_OPEN,
	DISK_WRITE,
	DISK_TRUNCATE,
	// A sync is reported twice, at its start and end: later writes are not covered.
	DISK_SYNC,
	DISK_SYNCED,
	DISK_UNLINK,
	DISK_RENAME,
	DISK_MKDIR,
};

struct disk_call {
	enum disk_operation operation;
	// The present path of the file. NULL if it has been removed.
	const char *path;
	// The new name.
	const char *target;
	const void *octets;
	size_t count;
	// The offset of a write, or the new length.
	int64_t offset;
	// The flags of open(2).
	int flags;
};

// Returns 0, or the errno with which the call fails without being made. Called on the thread of the call.
typedef int (*disk_watcher)(const struct disk_call *call);

// Sets the only watcher; NULL removes it.
void disk_watch(disk_watcher watcher);

// Lets the file system of the only directory have no free block for statvfs(3); NULL ends that. Writes do not fail by this.
void disk_seem_full(const char *directory);

// Returns the number of octets that this process has allocated with malloc.
size_t allocated_octets(void);

#endif
