/* SPDX-License-Identifier: BSD-2-Clause */
/* Opens a log. */
#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sysexits.h>
#include <unistd.h>

#include <linux/pmclog.h>

#include "base/samefile.h"
#include "base/say.h"
#include "freebsd/log_source.h"
#include "log/input.h"

#define DEFAULT_PORT	"9000"	/* FreeBSD's */
#define HOST_MAX	256

/* The port of "host:port".  As in FreeBSD, a file with a colon is written ./a:b. */
static const char *port_of(const char *path)
{
	return *path == '/' || *path == '.' ? NULL : strrchr(path, ':');
}

bool input_is_file(const char *path)
{
	return path && strcmp(path, "-") && !port_of(path);
}

static int cannot_listen(const char *path, const char *why)
{
	warn_line("cannot listen on %s: %s", path, why);
	if (!access(path, F_OK))
		warn_line("the file of that name is ./%s", path);
	return -1;
}

static int bound_socket(const struct addrinfo *ai)
{
	int one = 1, err;
	int fd = socket(ai->ai_family, SOCK_STREAM | SOCK_CLOEXEC, 0);

	if (fd < 0)
		return -1;
	setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one));
	if (!bind(fd, ai->ai_addr, ai->ai_addrlen) && !listen(fd, 1))
		return fd;
	err = errno;
	close(fd);
	errno = err;
	return -1;
}

/* Prints the port, which the system may have chosen. */
static void tell_port(int fd)
{
	struct sockaddr_storage addr;
	socklen_t len = sizeof(addr);
	char port[16];

	if (!getsockname(fd, (struct sockaddr *)&addr, &len) &&
	    !getnameinfo((struct sockaddr *)&addr, len, NULL, 0, port,
			 sizeof(port), NI_NUMERICSERV))
		warn_line("listening on port %s", port);
}

bool port_is_valid(const char *port)
{
	char *end;
	unsigned long n = strtoul(port, &end, 10);

	return *end || n <= 65535;
}

static int listening(const char *path, const char *colon)
{
	struct addrinfo hints = { .ai_socktype = SOCK_STREAM }, *list, *ai;
	const char *port = colon[1] ? colon + 1 : DEFAULT_PORT;
	size_t len = (size_t)(colon - path);
	char host[HOST_MAX];
	int fd = -1, err;

	if (len >= sizeof(host))
		return cannot_listen(path, "the name is too long");
	if (!port_is_valid(port))
		return cannot_listen(path, "a port is at most 65535");
	if (len > 1 && *path == '[' && path[len - 1] == ']') {
		path++;
		len -= 2;
	}
	memcpy(host, path, len);
	host[len] = '\0';
	/*
	 * Without a host: only the loopback address, in IPv4, which both
	 * localhost and 127.0.0.1 reach.
	 */
	if (!len)
		hints.ai_family = AF_INET;
	err = getaddrinfo(len ? host : NULL, port, &hints, &list);
	if (err)
		return cannot_listen(path, gai_strerror(err));
	for (ai = list; ai && fd < 0; ai = ai->ai_next)
		fd = bound_socket(ai);
	err = errno;
	freeaddrinfo(list);
	if (fd < 0)
		return cannot_listen(path, strerror(err));
	if (!strcmp(port, "0"))
		tell_port(fd);
	return fd;
}

/* Accepts a single connection. */
static int accept_log(const char *path, const char *colon)
{
	int fd, s = listening(path, colon);

	if (s < 0)
		return -1;
	do {
		fd = accept4(s, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
	} while (fd < 0 && (errno == EINTR || errno == ECONNABORTED));
	if (fd < 0)
		cannot_listen(path, strerror(errno));
	close(s);
	return fd;
}

static int open_file(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	if (fd < 0)
		warn_line("cannot open %s: %s", path, strerror(errno));
	return fd;
}

int input_open_log(struct input *in, const char *path, int fd)
{
	const char *name = path ? path : "the log", *colon;

	if (path && !strcmp(path, "-")) {
		fd = STDIN_FILENO;
		name = "standard input";
	} else if (path) {
		colon = port_of(path);
		fd = colon ? accept_log(path, colon) : open_file(path);
		if (fd < 0)
			return EX_NOINPUT;
	}
	if (!input_fd(in, name, input_not_waiting(fd)))
		return 0;
	return path && path_is_directory(path) ? EX_NOINPUT : EX_OSERR;
}

void input_wait(const struct input *in, int ms)
{
	struct pollfd pfd = { .fd = in->fd, .events = POLLIN };

	poll(&pfd, 1, ms);
}

int input_failed(const struct input *in)
{
	uint64_t offset;
	const char *what = input_error(in, &offset);

	input_complain(in);
	return strncmp(what, "read error", 10) ? EX_DATAERR : EX_IOERR;
}

int input_was_empty(const struct input *in)
{
	warn_line("%s is empty", in->path);
	return EX_DATAERR;
}

int input_unwanted(const struct reading *o, const struct pmclog_rec *rec)
{
	const struct cpulist *cpus = &o->cpus;
	uint32_t cpu, tid;

	if (rec->type != PMCLOG_T_CALLCHAIN)
		return 0;
	cpu = PMCLOG_CC_CPU(REC32(rec, callchain, cpuflags));
	tid = REC32(rec, callchain, tid);
	/* -c has chosen what was recorded */
	if (!o->live && !cpus->all && (cpu >= CPU_LIMIT || !cpus->set[cpu]))
		return 1;
	return o->one_lwp && tid != o->lwp;
}
