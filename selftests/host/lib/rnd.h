/* SPDX-License-Identifier: BSD-2-Clause */
/* Numbers that look random and are the same in each run (xorshift64). */
#ifndef RND_H
#define RND_H

#include <stdint.h>

static uint64_t rnd(uint64_t below)
{
	static uint64_t seed = 88172645463325252ULL;

	seed ^= seed << 13;
	seed ^= seed >> 7;
	seed ^= seed << 17;
	return seed % below;
}

#endif
