// System calls that the Glibc module lacks: headers it does not map, GNU-only functions, variadic functions, macros.
#ifndef CLINUX_H
#define CLINUX_H

#include <signal.h>
#include <spawn.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/timerfd.h>
#include <sys/types.h>
#include <sys/un.h>
#include <sys/wait.h>

// All functions return -1 and set errno as the system does, except those for posix_spawn, which return the error.

// Opens a pidfd, which becomes readable when the process has ended and is closed on exec. Since Linux 5.3.
int linux_pidfd_open(pid_t process);

// Reaps the process of a pidfd without blocking. Returns 1 when it was reaped, 0 while it still runs.
// `signalled` tells whether `status` is a signal number or an exit status.
int linux_reap(int pidfd, int *signalled, int *status);

// Accepts the next connection of a listening socket. It is non-blocking and closed on exec.
int linux_accept(int listener);

// Returns the user of the peer of a connected Unix socket, or (uid_t)-1 if the kernel does not know it.
uid_t linux_peer_user(int descriptor);

// Creates a pipe whose two ends are blocking, as programs expect their standard streams, and closed on exec.
int linux_pipe(int ends[2]);
int linux_set_blocking(int descriptor, int blocking);

// File actions that close all descriptors from `first` on, and that change the directory. Since glibc 2.34 and 2.29.
int linux_spawn_closefrom(posix_spawn_file_actions_t *actions, int first);
int linux_spawn_chdir(posix_spawn_file_actions_t *actions, const char *directory);

// Drops the calling thread's ambient capabilities, so that programs it starts from then on have none of them. The
// thread's own capabilities stay. Since Linux 4.3.
int linux_drop_ambient_capabilities(void);

// Restores the ambient capabilities that the thread's first call of linux_drop_ambient_capabilities removed.
void linux_restore_ambient_capabilities(void);

// Returns 0 if a program that this process executes would lose CAP_NET_ADMIN: the process has the capability, it is not
// ambient, and the user is not root.
int linux_keeps_net_admin_on_exec(void);

// Forbids core files of this process and lets only root inspect it (ptrace, /proc/PID/mem). The process can still read
// its own /proc/self. Programs that it executes or starts begin without this restriction.
int linux_forbid_dumps(void);

// Sets FD_CLOEXEC on every descriptor from `first` on. Since Linux 5.11 and glibc 2.34.
int linux_close_on_exec(unsigned first);

// All threads share one heap, so that the memory of a thread that has ended is used again. By default, glibc has heaps for
// each processor.
void linux_use_one_heap(void);

// Gives free memory of the heap back to the system.
void linux_trim_heap(void);

// Gives the stack below this call back to the system, up to 256 KiB, which the deepest calls so far have used. It does nothing
// outside of the main thread.
void linux_trim_stack(void);

// Forgets the pages of code and constants of the program and its libraries. What is used later is mapped again from the files.
// Segments that the program or the dynamic linker may have written are left alone.
void linux_forget_code(void);

// Writes the lowest and the highest number of the processors that the calling thread may use. Returns 0, or -1 and sets errno.
int linux_processors(int *lowest, int *highest);

// Limits the calling thread, and the processes that it starts later, to a processor. Returns 0, or -1 and sets errno.
int linux_use_processor(int processor);

// Returns whether the file is on a tmpfs.
int linux_is_on_tmpfs(int descriptor);

// The calling thread. Differs from pthread_self(), which glibc declares as constant: an optimizer may read that once for a
// whole Swift function, also where the function continues on another thread after a suspension.
uintptr_t linux_thread(void);

// The environment of this process: "NAME=value" strings, ended by a null pointer.
char **linux_environment(void);

// Fills the buffer from the kernel's random generator. Returns 0, or -1 and sets errno. Blocks until the generator is
// seeded.
int linux_random(void *buffer, size_t count);

// Fills in the address of a Unix socket. Returns its length for bind and connect, or 0 if the path is empty or too
// long. A leading '@' means the abstract namespace.
socklen_t linux_unix_address(struct sockaddr_un *address, const char *path);

// Ioctls of Bluetooth controllers, whose numbers are macros that Swift does not import. `socket` is any BTPROTO_HCI
// socket. linux_hci_list returns how many indexes it wrote; the address is little endian, as on the air.
int linux_hci_list(int socket, uint16_t *indexes, int capacity);
int linux_hci_address(int socket, uint16_t index, uint8_t address[6]);
int linux_hci_down(int socket, uint16_t index);

#endif
