// Makes each fsync and fdatasync take 20 ms longer, as on a slow memory card. It shows that no press waits for the disk:
//
//   cc -shared -fPIC -O2 -o slow_disk.so Tests/IntegrationTests/support/slow_disk.c -ldl
//   LD_PRELOAD=$PWD/slow_disk.so .build/release/tryck-bench press --every 200 --presses 1000
#define _GNU_SOURCE
#include <dlfcn.h>
#include <time.h>

static void sleep_as_a_disk(void) {
    struct timespec duration = {0, 20 * 1000 * 1000};
    nanosleep(&duration, 0);
}

int fdatasync(int descriptor) {
    static int (*real)(int);
    if (!real) real = (int (*)(int))dlsym(RTLD_NEXT, "fdatasync");
    sleep_as_a_disk();
    return real(descriptor);
}

int fsync(int descriptor) {
    static int (*real)(int);
    if (!real) real = (int (*)(int))dlsym(RTLD_NEXT, "fsync");
    sleep_as_a_disk();
    return real(descriptor);
}
