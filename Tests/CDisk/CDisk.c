#define _GNU_SOURCE
#include "CDisk.h"

#include <malloc.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <dlfcn.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <unistd.h>

// glibc's headers rename some of these functions for large files; this file needs the plain names.
#undef open
#undef pwrite
#undef ftruncate
#undef statvfs

static _Atomic(disk_watcher) watcher;
// The directory whose file system seems to be full; NULL if there is none.
static _Atomic(const char *) full_directory;

void disk_watch(disk_watcher next)
{
	atomic_store(&watcher, next);
}

void disk_seem_full(const char *directory)
{
	// The old text is not freed, because another thread may be reading it.
	atomic_store(&full_directory, directory ? strdup(directory) : NULL);
}

int statvfs(const char *path, struct statvfs *information)
{
	int (*next)(const char *, struct statvfs *) = (int (*)(const char *, struct statvfs *))dlsym(RTLD_NEXT, "statvfs");
	const char *full = atomic_load(&full_directory);
	int result = next(path, information);

	if (result == 0 && full && strncmp(path, full, strlen(full)) == 0)
		information->f_bavail = 0;
	return result;
}

// Returns the path of an open file; NULL if it has been removed.
static const char *name_of(int descriptor, char name[PATH_MAX])
{
	static const char removed[] = " (deleted)";
	char link[32];
	ssize_t length;

	snprintf(link, sizeof link, "/proc/self/fd/%d", descriptor);
	length = readlink(link, name, PATH_MAX - 1);
	if (length < 0)
		return NULL;
	name[length] = 0;
	if (length >= (ssize_t)sizeof removed - 1) {
		const char *end = name + length - (sizeof removed - 1);
		for (size_t i = 0; i < sizeof removed; i++) {
			if (end[i] != removed[i])
				return name;
		}
		return NULL;
	}
	return name;
}

// Returns whether the call may be made; sets errno if not.
static int may(struct disk_call call, int descriptor)
{
	disk_watcher current = atomic_load_explicit(&watcher, memory_order_acquire);
	char name[PATH_MAX];
	int saved = errno, refusal;

	if (!current)
		return 1;
	if (!call.path)
		call.path = name_of(descriptor, name);
	refusal = current(&call);
	errno = refusal ? refusal : saved;
	return !refusal;
}

static int opened(const char *path, int flags, mode_t mode)
{
	struct disk_call call = {.operation = DISK_OPEN, .path = path, .flags = flags};

	if ((flags & O_ACCMODE) != O_RDONLY && !may(call, -1))
		return -1;
	return (int)syscall(SYS_openat, AT_FDCWD, path, flags, mode);
}

#define MODE_OF(flags) ({ \
	mode_t mode = 0; \
	if ((flags) & (O_CREAT | __O_TMPFILE)) { \
		va_list list; \
		va_start(list, flags); \
		mode = va_arg(list, mode_t); \
		va_end(list); \
	} \
	mode; })

int open(const char *path, int flags, ...)
{
	return opened(path, flags, MODE_OF(flags));
}

int open64(const char *path, int flags, ...)
{
	return opened(path, flags | O_LARGEFILE, MODE_OF(flags));
}

ssize_t pwrite64(int descriptor, const void *octets, size_t count, off64_t offset)
{
	struct disk_call call = {.operation = DISK_WRITE, .octets = octets, .count = count, .offset = offset};

	return may(call, descriptor) ? syscall(SYS_pwrite64, descriptor, octets, count, offset) : -1;
}

ssize_t pwrite(int descriptor, const void *octets, size_t count, off_t offset)
{
	return pwrite64(descriptor, octets, count, offset);
}

int ftruncate64(int descriptor, off64_t length)
{
	struct disk_call call = {.operation = DISK_TRUNCATE, .offset = length};

	return may(call, descriptor) ? (int)syscall(SYS_ftruncate, descriptor, length) : -1;
}

static int synced(long number, int descriptor)
{
	int result;

	if (!may((struct disk_call){.operation = DISK_SYNC}, descriptor))
		return -1;
	result = (int)syscall(number, descriptor);
	if (result == 0 && !may((struct disk_call){.operation = DISK_SYNCED}, descriptor))
		return -1;
	return result;
}

int fdatasync(int descriptor)
{
	return synced(SYS_fdatasync, descriptor);
}

int fsync(int descriptor)
{
	return synced(SYS_fsync, descriptor);
}

int unlink(const char *path)
{
	if (!may((struct disk_call){.operation = DISK_UNLINK, .path = path}, -1))
		return -1;
	return (int)syscall(SYS_unlinkat, AT_FDCWD, path, 0);
}

int rename(const char *path, const char *target)
{
	if (!may((struct disk_call){.operation = DISK_RENAME, .path = path, .target = target}, -1))
		return -1;
	return (int)syscall(SYS_renameat2, AT_FDCWD, path, AT_FDCWD, target, 0);
}

int mkdir(const char *path, mode_t mode)
{
	if (!may((struct disk_call){.operation = DISK_MKDIR, .path = path}, -1))
		return -1;
	return (int)syscall(SYS_mkdirat, AT_FDCWD, path, mode);
}

size_t allocated_octets(void)
{
	struct mallinfo2 info = mallinfo2();

	return info.uordblks + info.hblkhd;
}
