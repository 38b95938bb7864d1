/* SPDX-License-Identifier: BSD-2-Clause */
/* Logs sent to another machine: "host:port", "[::1]:port". */
#include <errno.h>
#include <netdb.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "reader/freebsd/log_source.h"
#include "pmcstat.h"

/* As in FreeBSD, "./a:b" is a file. */
int net_is_address(const char *path)
{
	return path[0] != '/' && path[0] != '.' && strchr(path, ':') != NULL;
}

/* Splits an address; brackets protect the colons of an IPv6 address. */
static int split(char *address, char **host, char **port)
{
	char *colon = strrchr(address, ':');
	size_t len;

	*colon = '\0';
	*port = colon + 1;
	*host = address;
	len = strlen(address);
	if (address[0] == '[' && address[len - 1] == ']') {
		address[len - 1] = '\0';
		++*host;
	}
	return **host && **port ? 0 : -1;
}

static int connect_first(const struct addrinfo *list, int *why)
{
	const struct addrinfo *a;
	int fd;

	for (a = list; a; a = a->ai_next) {
		fd = socket(a->ai_family, a->ai_socktype | SOCK_CLOEXEC,
			    a->ai_protocol);
		if (fd >= 0 && !connect(fd, a->ai_addr, a->ai_addrlen))
			return fd;
		*why = errno;
		if (fd >= 0)
			close(fd);
	}
	return -1;
}

int net_connect(const char *path)
{
	const struct addrinfo hints = { .ai_socktype = SOCK_STREAM };
	char *address = strdup(path), *host, *port;
	struct addrinfo *list;
	int fd, err, why = 0;

	if (!address)
		die(EX_OSERR, "out of memory");
	if (split(address, &host, &port))
		die(EX_USAGE, "%s: not host:port", path);
	if (!port_is_valid(port))
		die(EX_USAGE, "%s: a port is at most 65535", path);
	err = getaddrinfo(host, port, &hints, &list);
	if (err)
		die(EX_NOHOST, "%s: %s", path, gai_strerror(err));
	fd = connect_first(list, &why);
	if (fd < 0)
		die(EX_UNAVAILABLE, "cannot connect to %s: %s", path,
		    strerror(why));
	freeaddrinfo(list);
	free(address);
	return fd;
}
