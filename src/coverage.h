/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Coverage of the writing thread (HWPMC_KCOV=1, for selftests/fuzz-kernel).
 *
 * KCOV notes what a task itself reaches.  The thread works for the program that
 * has begun the log: what it reaches is noted for that one's handle.
 */
#ifndef HWPMC_COVERAGE_H
#define HWPMC_COVERAGE_H

#ifdef HWPMC_KCOV
#include <linux/kcov.h>

/* @handle: constant while the log lasts; 0: nobody looks */
struct coverage {
	u64 handle;
};

/* Process context of the program whose handle it is. */
static inline void coverage_init(struct coverage *c)
{
	c->handle = kcov_common_handle();
}

/* The thread, which may sleep; not nested. */
static inline void coverage_begin(const struct coverage *c)
{
	kcov_remote_start_common(c->handle);
}

/* The thread; nothing happens without coverage_begin(). */
static inline void coverage_end(void)
{
	kcov_remote_stop();
}
#else
struct coverage {
};

static inline void coverage_init(struct coverage *c) {}
static inline void coverage_begin(const struct coverage *c) {}
static inline void coverage_end(void) {}
#endif

#endif /* HWPMC_COVERAGE_H */
