/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Processes of the log that still run with another root or mount namespace, as
 * in containers.  Their mapped files are opened in their file system: in ours,
 * the path in the log may not exist, or may be that of another file.
 *
 * Only for a log of this machine, and for processes that began before its end:
 * so those of a later boot are excluded.
 */
#ifndef READER_LIVE_H
#define READER_LIVE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct image_root;
struct log_facts;
struct profile;

/**
 * struct view - identity of the file system that a process sees
 * @mounts: its mount namespace
 * @dev, @ino: its root directory
 */
struct view {
	ino_t mounts;
	dev_t dev;
	ino_t ino;
};

/**
 * struct live - a running process with another view
 * @start: as pid_start()
 */
struct live {
	struct view view;
	uint32_t pid;
	uint64_t start;
};

/**
 * struct lives - all such processes, sorted by view
 * @until: time of the next scan
 */
struct lives {
	struct live *live;
	uint32_t n, cap;
	int64_t until;
};

/* Start of a running process in seconds since 1970; 0: no such process. */
int64_t live_began(uint32_t pid);
/* Does a process of this pid run that began before the log's end? */
bool live_is(const struct log_facts *log, uint32_t pid);
/*
 * The next root with the file that is mapped as @obj, the first for *@at = 0;
 * false: there are no more.
 */
bool live_root(struct profile *p, uint32_t obj, uint32_t *at,
	       struct image_root *root);

#endif /* READER_LIVE_H */
