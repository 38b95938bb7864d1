/* SPDX-License-Identifier: BSD-2-Clause */
/* An ELF file like others: the program itself. */
#ifndef COPY_SELF_H
#define COPY_SELF_H

#include <fcntl.h>
#include <unistd.h>

#include "abort.h"

/* Opened for both; the caller's to close. */
static int copy_self(const char *name)
{
	char buf[65536];
	int from = open("/proc/self/exe", O_RDONLY);
	int to = open(name, O_RDWR | O_CREAT | O_TRUNC, 0755);
	ssize_t n;

	while ((n = read(from, buf, sizeof(buf))) > 0)
		abort_if(write(to, buf, (size_t)n) != n);
	close(from);
	usleep(20000);		/* tables of files that have just changed are not kept */
	return to;
}

#endif /* COPY_SELF_H */
