#define _GNU_SOURCE
#include "CLinux.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <linux/capability.h>
#include <linux/close_range.h>
#include <linux/magic.h>
#include <malloc.h>
#include <pthread.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/random.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
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

uid_t linux_peer_user(int descriptor)
{
	struct ucred peer;
	socklen_t length = sizeof peer;

	if (getsockopt(descriptor, SOL_SOCKET, SO_PEERCRED, &peer, &length) < 0)
		return (uid_t)-1;
	return peer.uid;
}

int linux_pipe(int ends[2])
{
	return pipe2(ends, O_CLOEXEC);
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

/* A bit for each capability that was ambient. No lock is needed, because only the loop's thread starts programs. */
static unsigned long long dropped_capabilities;

int linux_drop_ambient_capabilities(void)
{
	static int looked;
	int capability;

	for (capability = 0; !looked && capability < 64; capability++)
		if (prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_IS_SET, capability, 0, 0) == 1)
			dropped_capabilities |= 1ULL << capability;
	looked = 1;
	return prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0);
}

void linux_restore_ambient_capabilities(void)
{
	int capability;

	for (capability = 0; capability < 64; capability++)
		if (dropped_capabilities >> capability & 1)
			prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_RAISE, capability, 0, 0);
}

int linux_keeps_net_admin_on_exec(void)
{
	struct __user_cap_header_struct header = {_LINUX_CAPABILITY_VERSION_3, 0};
	struct __user_cap_data_struct data[_LINUX_CAPABILITY_U32S_3];

	if (geteuid() == 0 || prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_IS_SET, CAP_NET_ADMIN, 0, 0) == 1)
		return 1;
	return syscall(SYS_capget, &header, data) != 0 || !(data[0].effective & 1u << CAP_NET_ADMIN);
}

int linux_forbid_dumps(void)
{
	return prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
}

int linux_close_on_exec(unsigned first)
{
	return close_range(first, ~0u, CLOSE_RANGE_CLOEXEC);
}

void linux_use_one_heap(void)
{
	mallopt(M_ARENA_MAX, 1);
}

void linux_trim_heap(void)
{
	malloc_trim(0);
}

void linux_trim_stack(void)
{
	const uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
	// Four pages are left for this call and for signal handlers.
	const uintptr_t end = ((uintptr_t)__builtin_frame_address(0) & ~(page - 1)) - 4 * page;
	const uintptr_t length = 256 * 1024;

	// Below the stack of the main thread, the kernel keeps a gap of at least 256 pages. Other threads have other memory there.
	if (gettid() == getpid())
		madvise((void *)(end - length), length, MADV_DONTNEED);
}

// Returns whether the dynamic linker has relocated addresses in segments that cannot be written now.
static int has_text_relocations(const struct dl_phdr_info *object)
{
	for (int i = 0; i < object->dlpi_phnum; i++) {
		const ElfW(Phdr) *segment = &object->dlpi_phdr[i];

		if (segment->p_type != PT_DYNAMIC)
			continue;
		const ElfW(Dyn) *entry = (const ElfW(Dyn) *)(object->dlpi_addr + segment->p_vaddr);
		for (; entry->d_tag != DT_NULL; entry++)
			if (entry->d_tag == DT_TEXTREL || (entry->d_tag == DT_FLAGS && (entry->d_un.d_val & DF_TEXTREL)))
				return 1;
	}
	return 0;
}

static int forget_segments(struct dl_phdr_info *object, size_t size, void *context)
{
	const uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);

	(void)size;
	(void)context;
	// The program has no name, libraries have a path, and what the kernel provides has another name.
	if ((object->dlpi_name && *object->dlpi_name && *object->dlpi_name != '/') || has_text_relocations(object))
		return 0;
	for (int i = 0; i < object->dlpi_phnum; i++) {
		const ElfW(Phdr) *segment = &object->dlpi_phdr[i];

		// What the dynamic linker relocates and protects afterwards is in a segment that could be written at first.
		if (segment->p_type != PT_LOAD || (segment->p_flags & PF_W))
			continue;
		uintptr_t start = (object->dlpi_addr + segment->p_vaddr) & ~(page - 1);
		uintptr_t end = (object->dlpi_addr + segment->p_vaddr + segment->p_memsz + page - 1) & ~(page - 1);
		madvise((void *)start, end - start, MADV_DONTNEED);
	}
	return 0;
}

void linux_forget_code(void)
{
	// The dynamic linker loads no library meanwhile.
	dl_iterate_phdr(forget_segments, NULL);
}

int linux_processors(int *lowest, int *highest)
{
	cpu_set_t set;

	if (sched_getaffinity(0, sizeof(set), &set) < 0)
		return -1;
	*lowest = *highest = -1;
	for (int processor = 0; processor < CPU_SETSIZE; processor++) {
		if (!CPU_ISSET(processor, &set))
			continue;
		if (*lowest < 0)
			*lowest = processor;
		*highest = processor;
	}
	return 0;
}

int linux_use_processor(int processor)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(processor, &set);
	return sched_setaffinity(0, sizeof(set), &set);
}

int linux_is_on_tmpfs(int descriptor)
{
	struct statfs information;

	return fstatfs(descriptor, &information) == 0 && information.f_type == TMPFS_MAGIC;
}

char **linux_environment(void)
{
	return environ;
}

uintptr_t linux_thread(void)
{
	return (uintptr_t)pthread_self();
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
	// A path keeps its terminating zero. An abstract name has none, but its first byte is zero.
	if (length == 0 || length >= sizeof address->sun_path)
		return 0;
	memcpy(address->sun_path, path, length);
	if (path[0] == '@') {
		address->sun_path[0] = 0;
		return (socklen_t)(offsetof(struct sockaddr_un, sun_path) + length);
	}
	return (socklen_t)(offsetof(struct sockaddr_un, sun_path) + length + 1);
}

// Request numbers and layouts of the kernel, as in <bluetooth/hci.h>, which would need the package of BlueZ's headers.
#define HCI_DEVICE_DOWN _IOW('H', 202, int)
#define HCI_GET_DEVICE_LIST _IOR('H', 210, int)
#define HCI_GET_DEVICE_INFO _IOR('H', 211, int)
#define HCI_MAXIMUM_DEVICES 16

int linux_hci_list(int socket, uint16_t *indexes, int capacity)
{
	struct {
		uint16_t count;
		struct {
			uint16_t index;
			uint32_t flags;
		} devices[HCI_MAXIMUM_DEVICES];
	} list = { .count = HCI_MAXIMUM_DEVICES };
	int written = 0;

	if (ioctl(socket, HCI_GET_DEVICE_LIST, &list) < 0)
		return -1;
	while (written < list.count && written < HCI_MAXIMUM_DEVICES && written < capacity) {
		indexes[written] = list.devices[written].index;
		written++;
	}
	return written;
}

int linux_hci_address(int socket, uint16_t index, uint8_t address[6])
{
	// struct hci_dev_info: id, name[8], address[6], and fields that are not used here.
	union {
		uint16_t index;
		unsigned char octets[128];
	} info;

	memset(&info, 0, sizeof info);
	info.index = index;
	if (ioctl(socket, HCI_GET_DEVICE_INFO, &info) < 0)
		return -1;
	memcpy(address, info.octets + 10, 6);
	return 0;
}

int linux_hci_down(int socket, uint16_t index)
{
	return ioctl(socket, HCI_DEVICE_DOWN, (unsigned long)index);
}
