/* SPDX-License-Identifier: BSD-2-Clause */
/* How far reading has come, on a terminal, for who waits longer than a second. */
#ifndef READER_PROGRESS_H
#define READER_PROGRESS_H

#include <stdbool.h>
#include <stdint.h>

#define PROGRESS_RECORDS	32768	/* between two calls */

struct progress {
	bool terminal;		/* there is somebody to tell */
	bool shown;
	int fd;			/* of the log */
	uint64_t size;		/* of the file, 0: it is none */
	uint64_t next;		/* when to say something, ns */
};

/* @fd: of the log that is about to be read */
void progress_begin(struct progress *p, int fd);
/* @bytes of the log were read; from time to time. */
void progress_show(struct progress *p, uint64_t bytes);
/* Leaves the line as it was. */
void progress_end(struct progress *p);

#endif /* READER_PROGRESS_H */
