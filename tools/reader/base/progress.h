/* SPDX-License-Identifier: BSD-2-Clause */
/* Shows on a terminal how much was read, if that takes more than a second. */
#ifndef READER_PROGRESS_H
#define READER_PROGRESS_H

#include <stdbool.h>
#include <stdint.h>

#define PROGRESS_RECORDS	32768	/* between two calls */

struct progress {
	bool terminal;		/* there is a terminal to write to */
	bool shown;
	int fd;			/* of the log */
	uint64_t size;		/* of the file, 0: not a file */
	uint64_t next;		/* time of the next update, ns */
};

/* @fd: descriptor of the log that is about to be read */
void progress_begin(struct progress *p, int fd);
/* Call from time to time: @bytes of the log were read. */
void progress_show(struct progress *p, uint64_t bytes);
/* Clears the line. */
void progress_end(struct progress *p);

#endif /* READER_PROGRESS_H */
