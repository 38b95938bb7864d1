/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What src/ring/ring.h and src/ring/merge.c need, for rings of which one thread is both the
 * producer and the consumer: the module's merge orders what that thread has taken from
 * the rings of the kernel.  So there is nothing to be ordered between threads here.
 */
#ifndef HWPMC_RING_SHIM_USER_H
#define HWPMC_RING_SHIM_USER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

typedef uint8_t u8;
typedef uint32_t u32;
typedef uint64_t u64;
typedef uint64_t ring_atomic;

#define ALIGN(x, a)		(((x) + (a) - 1) & ~((__typeof__(x))(a) - 1))
#define ____cacheline_aligned	__attribute__((aligned(64)))
#define barrier()		((void)0)
#define ring_mb()		((void)0)
#define ring_rmb()		((void)0)

/* queue.c: the stamp of the record that is put into a ring */
u64 ring_clock(void);

static inline u64 ring_add_return_mb(ring_atomic *p, u64 v)
{
	return *p += v;
}

static inline u64 ring_read_acquire(ring_atomic *p)
{
	return *p;
}

static inline u64 ring_read(ring_atomic *p)
{
	return *p;
}

static inline void ring_set(ring_atomic *p, u64 v)
{
	*p = v;
}

static inline void ring_store_release(ring_atomic *p, u64 v)
{
	*p = v;
}

static inline bool ring_cmpxchg_local(ring_atomic *p, u64 old, u64 new)
{
	bool same = *p == old;

	if (same)
		*p = new;
	return same;
}

#endif /* HWPMC_RING_SHIM_USER_H */
