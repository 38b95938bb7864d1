// SPDX-License-Identifier: BSD-2-Clause
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/progress.h"
#include "base/say.h"

#define SECOND	1000000000ULL
#define EVERY	(SECOND / 5)

void progress_begin(struct progress *p, int fd)
{
	struct stat st;

	*p = (struct progress){ .fd = fd, .terminal = isatty(STDERR_FILENO) };
	if (!p->terminal)
		return;
	if (!fstat(fd, &st) && S_ISREG(st.st_mode))
		p->size = (uint64_t)st.st_size;
	p->next = now_ns() + SECOND;
}

void progress_show(struct progress *p, uint64_t bytes)
{
	off_t at;

	if (!p->terminal || now_ns() < p->next)
		return;
	p->next = now_ns() + EVERY;
	p->shown = true;
	/* the position in the file, which may be compressed, unlike @bytes */
	at = p->size ? lseek(p->fd, 0, SEEK_CUR) : -1;
	if (at >= 0 && (uint64_t)at <= p->size)
		fprintf(stderr, "\rreading: %3.0f %%\033[K",
			100 * (double)at / (double)p->size);
	else
		fprintf(stderr, "\rreading: %.0f MB\033[K",
			(double)bytes / 1e6);
}

void progress_end(struct progress *p)
{
	if (p->shown)
		fputs("\r\033[K", stderr);
	p->shown = false;
}
