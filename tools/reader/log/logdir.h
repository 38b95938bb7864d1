/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A directory with the logs of one recording: which they are, and their order.
 */
#ifndef READER_LOGDIR_H
#define READER_LOGDIR_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "log/rec.h"

/**
 * struct log_origin - where and when a log began
 * @ours:    written by hwpmc for Linux
 * @wall:    ns since 1970 at @tsc; 0: not known
 * @tsc:     clock of the first record
 * @freq:    ticks of that clock in a second
 * @machine: hash of the machine's and its kernel's names; 0: not known
 * @kernel:  address of the kernel, which differs by boot; 0: not known
 * @owner:   process that recorded it
 */
struct log_origin {
	bool ours;
	int64_t wall;
	uint64_t tsc, freq;
	uint64_t machine, kernel;
	uint32_t owner;
};

/**
 * struct logdir_log - a log of the directory
 * @name:  in the directory; any bytes
 * @label: path for messages, without control characters
 * @dev, @ino, @size: the file, as it was when the directory was read
 * @digest: of its bytes; 0: not needed so far
 * @told:  up to this time its samples are in an earlier log, too; set by the
 *         user
 */
struct logdir_log {
	char *name, *label;
	dev_t dev;
	ino_t ino;
	off_t size;
	struct log_origin origin;
	uint64_t digest, told;
};

/**
 * struct logdir
 * @fd:   the directory; the caller's
 * @logs: by the time at which they began
 * @unread: number of files that could not be opened, after a message
 */
struct logdir {
	int fd;
	uint32_t unread;
	struct logdir_log *logs;
	uint32_t n, cap;
};

/*
 * Finds the logs in directory @fd by what is in its files.  Prints one line
 * about files that are no logs.  0, or -1 and *@why: it cannot be read, or has
 * no log.  Opens one file at a time.
 */
int logdir_read(struct logdir *d, int fd, const char *path, const char **why);
/* A descriptor, or -1 and *@why: it is gone, or another file now. */
int logdir_open(const struct logdir *d, const struct logdir_log *log,
		const char **why);
/* Is it a snapshot of a flight recorder? */
bool logdir_is_snapshot(const struct logdir *d, const struct logdir_log *log);
void logdir_free(struct logdir *d);

#endif /* READER_LOGDIR_H */
