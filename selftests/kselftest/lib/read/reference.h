/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * perf's own count of the same event in the same process: what ours is to be.
 */
#ifndef TEST_REFERENCE_H
#define TEST_REFERENCE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>
#include <linux/hwpmc.h>

/*
 * Of a thread and, with @inherit, of those that it makes from now on; counts as
 * @a does, not enabled yet.  A negative errno, or a descriptor.
 */
int reference_open(const struct hwpmc_allocate *a, pid_t tid, bool inherit);
bool reference_start(int fd);
bool reference_stop(int fd);
uint64_t reference_value(int fd);

/*
 * A count that is there first: the others of a thread, or with @tid -1 of @cpu,
 * get what counters it leaves them.  Enabled; -EBUSY: there is no counter left.
 */
int reference_pin(const struct hwpmc_allocate *a, pid_t tid, int cpu);
/* ... and its times, into @r's value, enabled and running. */
bool reference_times(int fd, struct hwpmc_rw *r);

#endif /* TEST_REFERENCE_H */
