/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Processes of the log that still run, and see other files than we do: those of
 * containers.  What one of them has mapped is asked for in its file system,
 * where the path of the log may be that of no file, or of another.
 *
 * Only of a log of this machine, and of processes that began before its end:
 * those of another boot did not.
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
 * struct view - the file system that a process sees: two that are alike in this
 * see the same
 * @mounts: its mount namespace
 * @dev, @ino: its root
 */
struct view {
	ino_t mounts;
	dev_t dev;
	ino_t ino;
};

/**
 * struct live - one of these processes
 * @start: as pid_start()
 */
struct live {
	struct view view;
	uint32_t pid;
	uint64_t start;
};

/**
 * struct lives - all of them, sorted by what they see
 * @until: when to look again
 */
struct lives {
	struct live *live;
	uint32_t n, cap;
	int64_t until;
};

/* Seconds since 1970 at which a running process began; 0: there is none. */
int64_t live_began(uint32_t pid);
/* It runs, and the log can have told of it, not of an earlier one. */
bool live_is(const struct log_facts *log, uint32_t pid);
/*
 * A file system that has what is mapped as @obj, the first with *at = 0; false:
 * there is no more.
 */
bool live_root(struct profile *p, uint32_t obj, uint32_t *at,
	       struct image_root *root);

#endif /* READER_LIVE_H */
