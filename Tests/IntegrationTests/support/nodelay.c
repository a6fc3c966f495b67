// Preloaded into RootCanal: every connection it accepts gets TCP_NODELAY.
//
// RootCanal writes each packet in two pieces. Without this the second piece waits for the acknowledgement of the
// first, which the other side delays: 44 ms for each answer.
//
//     cc -shared -fPIC -O2 -o nodelay.so nodelay.c -ldl
//     LD_PRELOAD=./nodelay.so rootcanal -hci_port=6402
#define _GNU_SOURCE
#include <dlfcn.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stddef.h>
#include <sys/socket.h>

static int without_delay(int descriptor)
{
    int on = 1;

    if (descriptor >= 0)
        setsockopt(descriptor, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    return descriptor;
}

int accept(int listener, struct sockaddr *address, socklen_t *length)
{
    static int (*real)(int, struct sockaddr *, socklen_t *);

    if (real == NULL)
        real = (int (*)(int, struct sockaddr *, socklen_t *))dlsym(RTLD_NEXT, "accept");
    return without_delay(real(listener, address, length));
}

int accept4(int listener, struct sockaddr *address, socklen_t *length, int flags)
{
    static int (*real)(int, struct sockaddr *, socklen_t *, int);

    if (real == NULL)
        real = (int (*)(int, struct sockaddr *, socklen_t *, int))dlsym(RTLD_NEXT, "accept4");
    return without_delay(real(listener, address, length, flags));
}
