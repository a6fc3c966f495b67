#define _GNU_SOURCE
#include "CLinux.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/random.h>
#include <sys/syscall.h>
#include <unistd.h>

#ifndef P_PIDFD
#define P_PIDFD 3
#endif

int linux_pidfd_open(pid_t process)
{
	return (int)syscall(SYS_pidfd_open, process, 0u);
}

int linux_reap(int pidfd, int *signalled, int *status)
{
	siginfo_t info;

	memset(&info, 0, sizeof info);
	if (waitid((idtype_t)P_PIDFD, (id_t)pidfd, &info, WEXITED | WNOHANG) < 0)
		return -1;
	if (info.si_pid == 0)
		return 0;
	*signalled = info.si_code != CLD_EXITED;
	*status = info.si_status;
	return 1;
}

int linux_accept(int listener)
{
	return accept4(listener, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
}

int linux_pipe(int ends[2])
{
	return pipe2(ends, O_CLOEXEC | O_NONBLOCK);
}

int linux_set_blocking(int descriptor, int blocking)
{
	int flags = fcntl(descriptor, F_GETFL);

	if (flags < 0)
		return -1;
	return fcntl(descriptor, F_SETFL, blocking ? flags & ~O_NONBLOCK : flags | O_NONBLOCK);
}

int linux_spawn_closefrom(posix_spawn_file_actions_t *actions, int first)
{
	return posix_spawn_file_actions_addclosefrom_np(actions, first);
}

int linux_spawn_chdir(posix_spawn_file_actions_t *actions, const char *directory)
{
	return posix_spawn_file_actions_addchdir_np(actions, directory);
}

char **linux_environment(void)
{
	return environ;
}

int linux_random(void *buffer, size_t count)
{
	unsigned char *next = buffer;

	while (count > 0) {
		ssize_t got = getrandom(next, count, 0);
		if (got < 0) {
			if (errno == EINTR)
				continue;
			return -1;
		}
		next += got;
		count -= (size_t)got;
	}
	return 0;
}

socklen_t linux_unix_address(struct sockaddr_un *address, const char *path)
{
	size_t length = strlen(path);

	memset(address, 0, sizeof *address);
	address->sun_family = AF_UNIX;
	// A path keeps its terminating zero; an abstract name has none, and its first byte is one.
	if (length == 0 || length >= sizeof address->sun_path)
		return 0;
	memcpy(address->sun_path, path, length);
	if (path[0] == '@') {
		address->sun_path[0] = 0;
		return (socklen_t)(offsetof(struct sockaddr_un, sun_path) + length);
	}
	return (socklen_t)(offsetof(struct sockaddr_un, sun_path) + length + 1);
}

const unsigned long linux_HCIDEVUP = _IOW('H', 201, int);
const unsigned long linux_HCIDEVDOWN = _IOW('H', 202, int);
const unsigned long linux_HCIGETDEVLIST = _IOR('H', 210, int);
const unsigned long linux_HCIGETDEVINFO = _IOR('H', 211, int);
