// A virtual controller, made an adapter of this machine: joins /dev/vhci to a server that speaks HCI in H4 framing.
//
//     vhci_bridge 127.0.0.1 6402              prints "hci0", or whatever number the kernel gives it
//     vhci_bridge 127.0.0.1 6402 unplugged    has a controller, and so an address, but no adapter yet
//
// SIGUSR1 pulls the adapter out: the kernel loses it, and the air loses the controller. SIGUSR2 plugs it in again.
// RootCanal gives a new controller the lowest address that is free, so mostly it is the one it had.
//
// A controller that is reset loses its links, which the other side notices soon. RootCanal's does not tell it, so a new one
// takes the place of a controller with links. It may have another address.
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define VENDOR 0xff // The first octet of packets to and from the vhci driver itself.

// The longest packet there can be: indicator, header and contents of ACL data.
static unsigned char stream[1 + 4 + 0xffff];
static size_t stream_length;
static struct sockaddr_in address = { .sin_family = AF_INET };
static int controller = -1;
static int vhci = -1;
static int links;
static volatile sig_atomic_t is_wanted = 1;

static void pull_or_plug(int signal)
{
    is_wanted = signal == SIGUSR2;
}

static void fail(const char *what)
{
    perror(what);
    exit(1);
}

static void put(int descriptor, const unsigned char *octets, size_t count)
{
    while (count > 0) {
        ssize_t written = write(descriptor, octets, count);

        if (written < 0)
            fail("write");
        octets += written;
        count -= (size_t)written;
    }
}

// The length of the packet that the stream begins with; 0 while some of it is missing.
static size_t packet_length(void)
{
    static const unsigned char header_lengths[] = { 0, 4, 5, 4, 3, 5 };
    unsigned char indicator = stream[0];
    size_t length;

    if (stream_length == 0)
        return 0;
    if (indicator == 0 || indicator >= sizeof header_lengths) {
        fprintf(stderr, "vhci_bridge: 0x%02x begins no HCI packet\n", indicator);
        exit(1);
    }
    length = header_lengths[indicator];
    if (stream_length < length)
        return 0;
    switch (indicator) {
    case 2:
        length += (size_t)(stream[3] | stream[4] << 8);
        break;
    case 5:
        length += (size_t)((stream[3] | stream[4] << 8) & 0x3fff);
        break;
    default:
        length += stream[length - 1];
    }
    return stream_length < length ? 0 : length;
}

static void connect_controller(void)
{
    int on = 1;

    stream_length = 0;
    links = 0;
    controller = socket(AF_INET, SOCK_STREAM, 0);
    if (controller < 0 || connect(controller, (struct sockaddr *)&address, sizeof address) < 0)
        fail("connect");
    setsockopt(controller, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
}

static void plug(void)
{
    unsigned char create[] = { VENDOR, 0x00 }, answer[4];

    vhci = open("/dev/vhci", O_RDWR);
    if (vhci < 0)
        fail("/dev/vhci");
    put(vhci, create, sizeof create);
    // The driver answers with the same two octets and the adapter's number, before it passes on the first command.
    if (read(vhci, answer, sizeof answer) != sizeof answer || answer[0] != VENDOR)
        fail("/dev/vhci does not tell its number");
    printf("hci%d\n", answer[2] | answer[3] << 8);
    fflush(stdout);
}

static void pull(void)
{
    close(vhci);
    close(controller);
    vhci = controller = -1;
}

// HCI_Reset. Core, Vol 4, Part E, 7.3.2.
static int is_reset(const unsigned char *packet, size_t length)
{
    return length == 4 && memcmp(packet, "\x01\x03\x0c", 4) == 0;
}

// LE Connection Complete, or the enhanced one, with status 0. Core, Vol 4, Part E, 7.7.65.1 and 7.7.65.10.
static int is_new_link(const unsigned char *packet, size_t length)
{
    return length > 4 && packet[0] == 4 && packet[1] == 0x3e && (packet[3] == 0x01 || packet[3] == 0x0a) && packet[4] == 0;
}

// Disconnection Complete with status 0. Core, Vol 4, Part E, 7.7.5.
static int is_lost_link(const unsigned char *packet, size_t length)
{
    return length > 3 && packet[0] == 4 && packet[1] == 0x05 && packet[3] == 0;
}

static void from_kernel(void)
{
    unsigned char packet[sizeof stream];
    ssize_t length = read(vhci, packet, sizeof packet);

    if (length < 0)
        fail("reading /dev/vhci");
    if (length == 0 || packet[0] == VENDOR)
        return;
    if (links > 0 && is_reset(packet, (size_t)length)) {
        // The address is free only when RootCanal has removed the controller.
        shutdown(controller, SHUT_WR);
        while (read(controller, stream, sizeof stream) > 0)
            ;
        close(controller);
        connect_controller();
    }
    put(controller, packet, (size_t)length);
}

static void from_controller(void)
{
    ssize_t count = read(controller, stream + stream_length, sizeof stream - stream_length);
    size_t length;

    if (count <= 0)
        fail("the controller has gone");
    stream_length += (size_t)count;
    while ((length = packet_length()) > 0) {
        links += is_new_link(stream, length) - is_lost_link(stream, length);
        // Each write is one packet. Packets for a missing adapter are dropped, and an adapter that is down refuses them (ENXIO).
        if (vhci >= 0 && write(vhci, stream, length) < 0 && errno != ENXIO)
            fail("writing /dev/vhci");
        memmove(stream, stream + length, stream_length - length);
        stream_length -= length;
    }
}

int main(int argc, char **argv)
{
    struct sigaction action = { .sa_handler = pull_or_plug };
    sigset_t blocked, open_mask;

    if ((argc != 3 && argc != 4) || inet_pton(AF_INET, argv[1], &address.sin_addr) != 1) {
        fprintf(stderr, "usage: vhci_bridge HOST PORT [unplugged]\n");
        return 64;
    }
    sigemptyset(&blocked);
    sigaddset(&blocked, SIGUSR1);
    sigaddset(&blocked, SIGUSR2);
    // Signals are unblocked only inside ppoll, so that none is missed between the check and the wait.
    sigprocmask(SIG_BLOCK, &blocked, &open_mask);
    sigaction(SIGUSR1, &action, NULL);
    sigaction(SIGUSR2, &action, NULL);
    is_wanted = argc == 3;
    address.sin_port = htons((uint16_t)atoi(argv[2]));
    connect_controller();
    for (;;) {
        if (is_wanted && controller < 0)
            connect_controller();
        if (is_wanted && vhci < 0)
            plug();
        if (!is_wanted && vhci >= 0)
            pull();
        // poll ignores a descriptor of -1.
        struct pollfd polled[] = { { vhci, POLLIN, 0 }, { controller, POLLIN, 0 } };

        if (ppoll(polled, 2, NULL, &open_mask) < 0)
            continue;
        if (polled[0].revents != 0)
            from_kernel();
        if (polled[1].revents != 0)
            from_controller();
    }
}
