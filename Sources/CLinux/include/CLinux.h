// What the Glibc overlay leaves out: headers it does not map, GNU-only calls, variadic ones, macros.
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

// Every call returns -1 and sets errno where the system does; posix_spawn's family returns the error itself.

// A descriptor that becomes readable when the process has ended. Closed on exec. Linux 5.3.
int linux_pidfd_open(pid_t process);

// Reaps the process of a pidfd without blocking: 1 when it was reaped, 0 when it still runs.
// `signalled` says whether `status` is a signal number or an exit status.
int linux_reap(int pidfd, int *signalled, int *status);

// The next connection of a listening socket, non-blocking and closed on exec.
int linux_accept(int listener);

// The user that opened the other end of a unix socket's connection; (uid_t)-1 where the kernel does not say.
uid_t linux_peer_user(int descriptor);

// A pipe whose two ends are non-blocking and closed on exec. What is put in place of a child's standard
// stream must be made blocking again: see linux_set_blocking.
int linux_pipe(int ends[2]);
int linux_set_blocking(int descriptor, int blocking);

// glibc 2.34 and 2.29.
int linux_spawn_closefrom(posix_spawn_file_actions_t *actions, int first);
int linux_spawn_chdir(posix_spawn_file_actions_t *actions, const char *directory);

// Takes the calling thread's ambient capabilities: what it starts from then on has none of them. What it may do itself
// stays. Linux 4.3.
int linux_drop_ambient_capabilities(void);

// Gives the calling thread back what the first call of the above took from it.
void linux_restore_ambient_capabilities(void);

// From now on this process leaves no core file, and only root may look into it (ptrace, /proc/PID/mem). It may still read
// its own /proc/self. A program that it executes or starts begins without this.
int linux_forbid_dumps(void);

// No descriptor from `first` on outlives an exec. Linux 5.11; glibc 2.34.
int linux_close_on_exec(unsigned first);

// The environment of this process: "NAME=value" strings, ended by a null pointer.
char **linux_environment(void);

// Fills the buffer from the kernel's generator; 0, or -1 and errno. May be called before the generator is
// seeded, and then waits for it.
int linux_random(void *buffer, size_t count);

// The address of a unix socket, and its length for bind and connect; 0 where the path is empty or does not fit.
// A leading '@' means the abstract namespace.
socklen_t linux_unix_address(struct sockaddr_un *address, const char *path);

// Bluetooth controllers by their ioctls, which are macros of a kind that Swift does not see. `socket` is any
// BTPROTO_HCI socket. The list returns how many indexes it wrote; the address is little endian, as on the air.
int linux_hci_list(int socket, uint16_t *indexes, int capacity);
int linux_hci_address(int socket, uint16_t index, uint8_t address[6]);
int linux_hci_down(int socket, uint16_t index);

#endif
