/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Definitions that ring.h and merge.c need from their surroundings, so that the
 * same source runs in the kernel and, under ThreadSanitizer, in user space
 * (selftests/ring/ring_shim_user.h supplies the same names there).
 */
#ifndef HWPMC_RING_SHIM_H
#define HWPMC_RING_SHIM_H

#ifdef __KERNEL__

#include <linux/align.h>
#include <linux/atomic.h>
#include <linux/cache.h>
#include <linux/compiler.h>
#include <linux/string.h>
#include <linux/ktime.h>
#include <linux/timekeeping.h>
#include <linux/types.h>

/* A word that one CPU's nested contexts write and another CPU reads. */
typedef atomic64_t ring_atomic;

/* Fully ordered: no later access can be seen before the addition. */
#define ring_add_return_mb(p, v)	((u64)atomic64_add_return((v), (p)))
#define ring_read_acquire(p)		((u64)atomic64_read_acquire(p))
#define ring_read(p)			((u64)atomic64_read(p))
#define ring_set(p, v)			atomic64_set((p), (v))
#define ring_store_release(p, v)	atomic64_set_release((p), (v))
/* Atomic against this CPU's other contexts only. */
static inline bool ring_cmpxchg_local(ring_atomic *p, u64 old, u64 new)
{
	return (u64)cmpxchg_local(&p->counter, (s64)old, (s64)new) == old;
}

#define ring_mb()	smp_mb()
#define ring_rmb()	smp_rmb()
#define ring_clock()	ktime_get_raw_fast_ns()

#else
#include "ring_shim_user.h"
#endif

/* Any address will do. */
#define ring_prefetch(p)	__builtin_prefetch(p)

#endif /* HWPMC_RING_SHIM_H */
