// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <fcntl.h>
#include <linux/perf_event.h>
#include <netinet/in.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/inotify.h>
#include <sys/mman.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include "dev.h"
#include "logkind.h"

/* A descriptor that one call makes */
#define KIND(name, ...)	int name(void) { return __VA_ARGS__; }

static int a_read_end(void)
{
	int ends[2];

	return pipe(ends) ? -1 : ends[0];
}

static KIND(an_epoll, epoll_create1(0))
static KIND(an_eventfd, eventfd(0, 0))
static KIND(a_timerfd, timerfd_create(CLOCK_MONOTONIC, 0))

static int a_signalfd(void)
{
	sigset_t none;

	sigemptyset(&none);
	return signalfd(-1, &none, 0);
}

static KIND(an_inotify, inotify_init())

static int an_event(void)
{
	struct perf_event_attr attr = {
		.size = sizeof(attr),
		.type = PERF_TYPE_SOFTWARE,
		.config = PERF_COUNT_SW_DUMMY,
	};

	return syscall(SYS_perf_event_open, &attr, 0, -1, -1, 0);
}

static KIND(a_memfd, memfd_create("log", MFD_ALLOW_SEALING))

static int sealed(int seals)
{
	int fd = a_memfd();

	return fcntl(fd, F_ADD_SEALS, seals) ? -1 : fd;
}

static KIND(sealed_write, sealed(F_SEAL_WRITE))
static KIND(sealed_growth, sealed(F_SEAL_GROW))
static KIND(lone_unix, socket(AF_UNIX, SOCK_STREAM, 0))
static KIND(lone_unix_datagram, socket(AF_UNIX, SOCK_DGRAM, 0))
static KIND(lone_tcp, socket(AF_INET, SOCK_STREAM, 0))
static KIND(lone_udp, socket(AF_INET, SOCK_DGRAM, 0))

static int listener(void)
{
	int fd = socket(AF_INET, SOCK_STREAM, 0);

	return listen(fd, 1) ? -1 : fd;
}

const struct log_kind log_kinds[] = {
	{ "directory", NULL, "/tmp", O_RDONLY | O_DIRECTORY, -EBADF },
	{ "O_PATH", NULL, "/tmp", O_PATH, -EBADF },
	{ "O_PATH of a file", NULL, "/proc/self/exe", O_PATH, -EBADF },
	{ "to read", NULL, "/proc/self/exe", O_RDONLY, -EBADF },
	{ "read end", a_read_end, .take = -EBADF },
	{ "another device", dev_open, .take = -EINVAL },
	{ "null", NULL, "/dev/null", O_WRONLY, -EINVAL },
	{ "full", NULL, "/dev/full", O_WRONLY, -EINVAL },
	{ "zero", NULL, "/dev/zero", O_RDWR, -EINVAL },
	{ "file of proc", NULL, "/proc/self/comm", O_RDWR, -EINVAL },
	{ "epoll", an_epoll, .take = -EINVAL },
	{ "eventfd", an_eventfd, .take = -EINVAL },
	{ "timerfd", a_timerfd, .take = -EINVAL },
	{ "signalfd", a_signalfd, .take = -EINVAL },
	{ "inotify", an_inotify, .take = -EBADF },
	{ "perf event", an_event, .take = -EINVAL },
	{ "character device", NULL, "/dev/urandom", O_WRONLY, 0, 0 },
	{ "memfd", a_memfd, .write = 0 },
	{ "sealed memfd", sealed_write, .write = -EPERM },
	{ "memfd that cannot grow", sealed_growth, .write = -EPERM },
	{ "unconnected unix", lone_unix, .write = -ENOTCONN },
	{ "unconnected unix datagrams", lone_unix_datagram,
	  .write = -ENOTCONN },
	{ "unconnected TCP", lone_tcp, .write = -EPIPE },
	{ "unconnected UDP", lone_udp, .write = -EDESTADDRREQ },
	{ "listener", listener, .write = -EPIPE },
};

const size_t log_nkinds = sizeof(log_kinds) / sizeof(log_kinds[0]);

int log_kind_make(const struct log_kind *k)
{
	return k->make ? k->make() : open(k->path, k->flags);
}
