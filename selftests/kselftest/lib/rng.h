/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Numbers that only look random: the same seed, the same numbers.
 */
#ifndef TEST_RNG_H
#define TEST_RNG_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/random.h>

#include "guest.h"

struct rng {
	uint64_t	state;
};

/* One that differs from run to run. */
static inline uint64_t rng_seed(void)
{
	uint32_t seed = 1;

	return getrandom(&seed, sizeof(seed), GRND_NONBLOCK) < 0 ? now_ns() :
								   seed;
}

/* splitmix64 */
static inline uint64_t rng_next(struct rng *r)
{
	uint64_t z = r->state += 0x9E3779B97F4A7C15ULL;

	z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ULL;
	z = (z ^ (z >> 27)) * 0x94D049BB133111EBULL;
	return z ^ (z >> 31);
}

static inline uint32_t rng_below(struct rng *r, uint32_t n)
{
	return (rng_next(r) >> 32) * n >> 32;
}

/* True once in @n. */
static inline bool rng_once(struct rng *r, uint32_t n)
{
	return !rng_below(r, n);
}

/* A stream of its own for whatever has @number. */
static inline struct rng rng_branch(uint64_t seed, uint64_t number)
{
	struct rng r = { .state = seed ^ (number * 0xD1342543DE82EF95ULL) };

	r.state = rng_next(&r);
	return r;
}

#endif /* TEST_RNG_H */
