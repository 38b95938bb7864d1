/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The names of src/ring/ring_shim.h for user space, on C11 atomics.
 *
 * Four mappings from one file:
 *
 * plain	Kernel barriers become C11 fences.  A fully ordered kernel RMW
 *		is more than a seq_cst one in C11, hence the fence after it.
 *
 * ThreadSanitizer (__SANITIZE_THREAD__)
 *		TSan ignores fences, and must not be given more ordering than
 *		the kernel has, or it would miss races.  So a fence is a
 *		seq_cst exchange on a word of this thread only: a real barrier
 *		to the CPU, and no happens-before edge to anybody.  That is
 *		enough for correct code: the bytes of records are ordered by
 *		C -> acquire of state, B -> acquire of commit and tail's
 *		release -> acquire; ring_rmb() only decides whether what was
 *		read of head belongs to the state that was acquired.  All
 *		words are atomic, relaxed unless the name says otherwise, so
 *		a lost release or acquire shows up as a race on a record.
 *
 * RING_WEAK	x86 does not reorder loads, so a missing read barrier would
 *		never be seen here.  The consumer's loads of the producers'
 *		words may then return what the word held at any time since the
 *		last barrier (never older than what was returned before): what
 *		a CPU may do that satisfies loads early.
 *
 * RING_MC	Compiled like TSan's, but ring_mc.c takes TSan's place and
 *		honours fences: they are C11's.
 *
 * Nothing is stronger than in the kernel, where it matters: the exchange of
 * head is relaxed (the kernel's is local to the CPU), stores and loads that are
 * not acquire or release are relaxed, and the full barrier of the entry is
 * behind the addition only, where the kernel has one before it too.
 */
#ifndef HWPMC_RING_SHIM_USER_H
#define HWPMC_RING_SHIM_USER_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

typedef uint8_t u8;
typedef uint32_t u32;
typedef uint64_t u64;
typedef _Atomic uint64_t ring_atomic;

#define ALIGN(x, a)		(((x) + (a) - 1) & ~((__typeof__(x))(a) - 1))
#define ____cacheline_aligned	__attribute__((aligned(64)))
#define barrier()		atomic_signal_fence(memory_order_seq_cst)

#if defined(__has_feature)
#if __has_feature(thread_sanitizer) && !defined(__SANITIZE_THREAD__)
#define __SANITIZE_THREAD__	1
#endif
#endif

/* The test's: may call back into producers. */
u64 ring_clock(void);

#if defined(__SANITIZE_THREAD__) && !defined(RING_MC)
static inline void ring_fence(void)
{
	static _Thread_local atomic_int mine;

	atomic_exchange_explicit(&mine, 1, memory_order_seq_cst);
}
#define ring_fence_mb()		ring_fence()
#define ring_fence_rmb()	ring_fence()
#else
#define ring_fence_mb()		atomic_thread_fence(memory_order_seq_cst)
#define ring_fence_rmb()	atomic_thread_fence(memory_order_acquire)
#endif

#ifdef RING_WEAK
u64 ring_weak_load(ring_atomic *p, memory_order order);
void ring_weak_barrier(void);
#define ring_load(p, order)	ring_weak_load((p), (order))
#define ring_weaken()		ring_weak_barrier()
#else
#define ring_load(p, order)	((u64)atomic_load_explicit((p), (order)))
#define ring_weaken()		((void)0)
#endif

static inline u64 ring_add_return_mb(ring_atomic *p, u64 v)
{
	u64 old = atomic_fetch_add_explicit(p, v, memory_order_seq_cst);

	ring_fence_mb();
	return old + v;
}

static inline u64 ring_read_acquire(ring_atomic *p)
{
	return ring_load(p, memory_order_acquire);
}

static inline u64 ring_read(ring_atomic *p)
{
	return ring_load(p, memory_order_relaxed);
}

static inline void ring_set(ring_atomic *p, u64 v)
{
	atomic_store_explicit(p, v, memory_order_relaxed);
}

static inline void ring_store_release(ring_atomic *p, u64 v)
{
	atomic_store_explicit(p, v, memory_order_release);
}

static inline bool ring_cmpxchg_local(ring_atomic *p, u64 old, u64 new)
{
	return atomic_compare_exchange_strong_explicit(p, &old, new,
						       memory_order_relaxed,
						       memory_order_relaxed);
}

static inline void ring_mb(void)
{
	ring_fence_mb();
	ring_weaken();
}

static inline void ring_rmb(void)
{
	ring_fence_rmb();
	ring_weaken();
}

#endif /* HWPMC_RING_SHIM_USER_H */
