#ifndef CLINUX_H
#define CLINUX_H
#include <sys/epoll.h>
#endif
