/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * listen ADDRESS: prints a free port of ADDRESS, takes one connection there and
 * copies what comes to standard error, until its end.
 */
#include <err.h>
#include <netdb.h>
#include <stdio.h>
#include <sys/socket.h>
#include <unistd.h>

static void check(int good, const char *what)
{
	if (!good)
		err(2, "%s", what);
}

static void print_port(int fd)
{
	struct sockaddr_storage sa;
	socklen_t len = sizeof(sa);
	char port[16];

	check(!getsockname(fd, (struct sockaddr *)&sa, &len), "getsockname");
	check(!getnameinfo((struct sockaddr *)&sa, len, NULL, 0, port,
			   sizeof(port), NI_NUMERICSERV), "getnameinfo");
	puts(port);
	fclose(stdout);
}

int main(int argc, char **argv)
{
	const struct addrinfo hints = {
		.ai_socktype = SOCK_STREAM, .ai_flags = AI_NUMERICHOST,
	};
	struct addrinfo *a;
	char buf[4096];
	int fd, peer;
	ssize_t n;

	check(argc == 2 && !getaddrinfo(argv[1], NULL, &hints, &a), "address");
	fd = socket(a->ai_family, a->ai_socktype, a->ai_protocol);
	check(fd >= 0 && !bind(fd, a->ai_addr, a->ai_addrlen) &&
	      !listen(fd, 1), "listen");
	freeaddrinfo(a);
	print_port(fd);
	alarm(60);	/* nobody comes */
	peer = accept(fd, NULL, NULL);
	check(peer >= 0, "accept");
	while ((n = read(peer, buf, sizeof(buf))) > 0)
		check(write(STDERR_FILENO, buf, (size_t)n) == n, "write");
	check(!n, "read");
	return 0;
}
