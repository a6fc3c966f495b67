// Preloaded into tryckd: an adapter hci0 that is really an H4 stream somewhere else.
//
// The daemon opens its adapter with socket(AF_BLUETOOTH), ioctls and bind(HCI_CHANNEL_USER). This makes that code run on
// a kernel without Bluetooth: the descriptor is one end of an AF_UNIX SOCK_SEQPACKET pair, so a read is one packet and
// epoll works, and a thread joins the other end to a virtual controller. It proves nothing about the kernel.
//
//     cc -shared -fPIC -O2 -pthread -o hci_user_shim.so hci_user_shim.c -ldl
//     HCI_SHIM=127.0.0.1:6402 LD_PRELOAD=./hci_user_shim.so tryckd
//
// HCI_SHIM may be the path of a unix socket too. Only hci0 exists, and one holder at a time: a second bind gets EBUSY.
//
// HCI_SHIM_STATE may name a file with one line about the one adapter there is, which is read again at every call:
//
//     INDEX ADDRESS ERRNO       3 00:1A:7D:DA:71:13 132
//
// ERRNO is what a bind is answered with, 0 for none; EAFNOSUPPORT is the answer to every socket. Without the file
// there is no adapter.
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

// From <bluetooth/bluetooth.h> and <bluetooth/hci.h>, whose prototypes would get in the way.
enum { af_bluetooth = 31, btproto_hci = 1, sol_hci = 0, channel_user = 1 };

#define GET_DEVICE_LIST 0x800448d2u
#define GET_DEVICE_INFO 0x800448d3u
#define DEVICE_UP 0x400448c9u
#define DEVICE_DOWN 0x400448cau
#define DEVICE_RESET 0x400448cbu

struct hci_address {
    uint16_t family, device, channel;
};

struct device_list {
    uint16_t count;
    struct {
        uint16_t device;
        uint32_t options;
    } entries[];
};

struct device_info {
    uint16_t device;
    char name[8];
    uint8_t address[6];
    uint32_t flags;
    uint8_t type, features[8];
    uint32_t packet_type, link_policy, link_mode;
    uint16_t acl_mtu, acl_packets, sco_mtu, sco_packets;
    uint32_t statistics[10];
};

// The function of the C library that a function of this file replaces.
#define REAL(function)                                                       \
    ({                                                                       \
        static __typeof__(&function) real;                                   \
        if (real == NULL)                                                    \
            real = (__typeof__(&function))dlsym(RTLD_NEXT, #function);       \
        real;                                                                \
    })

enum { descriptor_limit = 4096 };

// This end of each pair, plus one; 0 if the descriptor is not one of the shim.
static int other_end[descriptor_limit];
static atomic_bool is_held;

struct adapter {
    unsigned index, address[6];
    int error;
};

// Returns false if there is no adapter.
static bool find_adapter(struct adapter *adapter)
{
    const char *path = getenv("HCI_SHIM_STATE");
    unsigned *a = adapter->address;
    FILE *file;
    int fields;

    memset(adapter, 0, sizeof *adapter);
    if (path == NULL)
        return true;
    if ((file = fopen(path, "re")) == NULL)
        return false;
    // The kernel writes addresses backwards.
    fields = fscanf(file, "%u %x:%x:%x:%x:%x:%x %d", &adapter->index, a + 5, a + 4, a + 3, a + 2, a + 1, a,
                    &adapter->error);
    fclose(file);
    return fields == 8;
}

static bool is_ours(int descriptor)
{
    return descriptor >= 0 && descriptor < descriptor_limit && other_end[descriptor] != 0;
}

static bool write_all(int descriptor, const uint8_t *octets, size_t count)
{
    while (count > 0) {
        ssize_t written = REAL(write)(descriptor, octets, count);

        if (written <= 0)
            return false;
        octets += written;
        count -= (size_t)written;
    }
    return true;
}

// How long the packet at the start of a stream is, with its indicator; 0 when it is not all there yet.
// Command, ACL data, synchronous data, event, isochronous data: 1 to 5.
static size_t packet_length(const uint8_t *octets, size_t count)
{
    static const uint8_t header_length[6] = {0, 4, 5, 4, 3, 5};
    size_t length;

    if (count == 0 || octets[0] < 1 || octets[0] > 5 || count < header_length[octets[0]])
        return 0;
    switch (octets[0]) {
    case 2: length = (size_t)(octets[3] | octets[4] << 8); break;
    case 4: length = octets[2]; break;
    case 5: length = (size_t)(octets[3] | octets[4] << 8) & 0x3fff; break;
    default: length = octets[3];
    }
    length += header_length[octets[0]];
    return count >= length ? length : 0;
}

struct join {
    int pair, controller;
};

// Carries packets both ways until one side is gone.
static void *run(void *argument)
{
    struct join join = *(struct join *)argument;
    static uint8_t incoming[65536], outgoing[4096]; // one holder at a time, so one thread
    size_t buffered = 0, length;

    free(argument);
    for (;;) {
        struct pollfd ends[2] = {{join.pair, POLLIN, 0}, {join.controller, POLLIN, 0}};
        ssize_t count;

        if (poll(ends, 2, -1) < 0 && errno != EINTR)
            break;
        if (ends[0].revents != 0) {
            count = REAL(recv)(join.pair, outgoing, sizeof outgoing, 0);
            if (count <= 0 || !write_all(join.controller, outgoing, (size_t)count))
                break;
        }
        if (ends[1].revents != 0) {
            count = REAL(recv)(join.controller, incoming + buffered, sizeof incoming - buffered, 0);
            if (count <= 0)
                break;
            buffered += (size_t)count;
            while ((length = packet_length(incoming, buffered)) > 0) {
                if (REAL(send)(join.pair, incoming, length, MSG_NOSIGNAL) < 0)
                    goto ended;
                memmove(incoming, incoming + length, buffered - length);
                buffered -= length;
            }
        }
    }
ended:
    REAL(close)(join.pair);
    REAL(close)(join.controller);
    atomic_store(&is_held, false);
    return NULL;
}

static int dial_unix(const char *path)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    int descriptor;

    if (strlen(path) >= sizeof address.sun_path)
        return -1;
    strcpy(address.sun_path, path);
    descriptor = REAL(socket)(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (descriptor >= 0 && connect(descriptor, (struct sockaddr *)&address, sizeof address) < 0) {
        REAL(close)(descriptor);
        return -1;
    }
    return descriptor;
}

static int dial_tcp(const char *endpoint)
{
    struct sockaddr_in address = {.sin_family = AF_INET};
    const char *colon = strrchr(endpoint, ':');
    char host[64] = "";
    int descriptor, on = 1;

    if (colon == NULL || (size_t)(colon - endpoint) >= sizeof host)
        return -1;
    memcpy(host, endpoint, (size_t)(colon - endpoint));
    address.sin_port = htons((uint16_t)atoi(colon + 1));
    if (inet_pton(AF_INET, host, &address.sin_addr) != 1)
        return -1;
    descriptor = REAL(socket)(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (descriptor >= 0 && connect(descriptor, (struct sockaddr *)&address, sizeof address) < 0) {
        REAL(close)(descriptor);
        return -1;
    }
    if (descriptor >= 0)
        REAL(setsockopt)(descriptor, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    return descriptor;
}

int socket(int domain, int type, int protocol)
{
    struct adapter adapter;
    int pair[2];

    if (domain != af_bluetooth)
        return REAL(socket)(domain, type, protocol);
    if (find_adapter(&adapter) && adapter.error == EAFNOSUPPORT) {
        errno = EAFNOSUPPORT;
        return -1;
    }
    if (protocol != btproto_hci) {
        errno = EPROTONOSUPPORT;
        return -1;
    }
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | (type & (SOCK_CLOEXEC | SOCK_NONBLOCK)), 0, pair) < 0)
        return -1;
    if (pair[0] >= descriptor_limit) {
        REAL(close)(pair[0]);
        REAL(close)(pair[1]);
        errno = EMFILE;
        return -1;
    }
    fcntl(pair[1], F_SETFD, FD_CLOEXEC);
    fcntl(pair[1], F_SETFL, fcntl(pair[1], F_GETFL) & ~O_NONBLOCK);
    other_end[pair[0]] = pair[1] + 1;
    return pair[0];
}

int bind(int descriptor, const struct sockaddr *address, socklen_t length)
{
    const struct hci_address *wanted = (const void *)address;
    const char *endpoint = getenv("HCI_SHIM");
    struct adapter adapter;
    struct join *join;
    pthread_t thread;
    int controller;

    if (!is_ours(descriptor) || length < sizeof *wanted || wanted->family != af_bluetooth)
        return REAL(bind)(descriptor, address, length);
    if (wanted->channel != channel_user) // raw, monitor, control: accepted, but no packets arrive
        return 0;
    if (!find_adapter(&adapter) || wanted->device != adapter.index || endpoint == NULL) {
        errno = ENODEV;
        return -1;
    }
    if (adapter.error != 0) {
        errno = adapter.error;
        return -1;
    }
    if (atomic_exchange(&is_held, true)) {
        errno = EBUSY;
        return -1;
    }
    controller = *endpoint == '/' ? dial_unix(endpoint) : dial_tcp(endpoint);
    join = malloc(sizeof *join);
    if (controller < 0 || join == NULL)
        goto failed;
    *join = (struct join){other_end[descriptor] - 1, controller};
    if (pthread_create(&thread, NULL, run, join) != 0)
        goto failed;
    pthread_detach(thread);
    other_end[descriptor] = 0; // the thread has it now
    return 0;
failed:
    free(join);
    if (controller >= 0)
        REAL(close)(controller);
    atomic_store(&is_held, false);
    errno = ENODEV;
    return -1;
}

int close(int descriptor)
{
    if (is_ours(descriptor)) {
        REAL(close)(other_end[descriptor] - 1);
        other_end[descriptor] = 0;
    }
    return REAL(close)(descriptor);
}

int setsockopt(int descriptor, int level, int name, const void *value, socklen_t length)
{
    if (is_ours(descriptor) && level == sol_hci)
        return 0;
    return REAL(setsockopt)(descriptor, level, name, value, length);
}

static int answer(unsigned long request, void *argument)
{
    struct device_list *list = argument;
    struct device_info *info = argument;
    struct adapter adapter;
    bool is_there = find_adapter(&adapter);

    switch ((uint32_t)request) {
    case GET_DEVICE_LIST:
        if (list->count < 1) {
            errno = EINVAL;
            return -1;
        }
        list->count = is_there;
        if (!is_there)
            return 0;
        list->entries[0].device = (uint16_t)adapter.index;
        list->entries[0].options = 0;
        return 0;
    case GET_DEVICE_INFO:
        if (!is_there || info->device != adapter.index) {
            errno = ENODEV;
            return -1;
        }
        memset(info, 0, sizeof *info);
        info->device = (uint16_t)adapter.index;
        snprintf(info->name, sizeof info->name, "hci%u", adapter.index % 1000);
        for (int octet = 0; octet < 6; octet++)
            info->address[octet] = (uint8_t)adapter.address[octet];
        return 0;
    case DEVICE_UP:
    case DEVICE_DOWN:
    case DEVICE_RESET:
        return 0;
    default:
        errno = ENOTTY;
        return -1;
    }
}

int ioctl(int descriptor, unsigned long request, ...)
{
    static int (*real)(int, unsigned long, ...);
    va_list arguments;
    void *argument;

    va_start(arguments, request);
    argument = va_arg(arguments, void *);
    va_end(arguments);
    if (is_ours(descriptor))
        return answer(request, argument);
    if (real == NULL)
        real = (int (*)(int, unsigned long, ...))dlsym(RTLD_NEXT, "ioctl");
    return real(descriptor, request, argument);
}
