// SPDX-License-Identifier: BSD-2-Clause
/* Ranges made disjoint, beside looking at each address in turn. */
#include <string.h>

#include "rnd.h"
#include "elf/segs.h"
#include "tap.h"

#define SPACE	200

/* Paints @n ranges one over the other, both ways. */
static bool one_round(unsigned int n)
{
	uint32_t want[SPACE], i, k;
	struct segs t = { 0 };
	bool good = true;

	memset(want, 0xff, sizeof(want));
	for (i = 0; i < n; i++) {
		uint32_t start = (uint32_t)rnd(SPACE), end = start + (uint32_t)rnd(60);
		uint32_t owner = (uint32_t)rnd(n);

		segs_add(&t, start, end, owner);
		for (k = start; k < end && k < SPACE; k++)
			if (want[k] == SEGS_NONE || want[k] < owner)
				want[k] = owner;
	}
	segs_flatten(&t);
	for (i = 0; i < SPACE; i++)
		good &= segs_find(&t, i) == want[i];
	for (i = 1; i < t.n; i++)
		good &= t.seg[i - 1].end <= t.seg[i].start;
	segs_free(&t);
	return good;
}

static bool rounds(void)
{
	unsigned int i;

	for (i = 0; i < 3000; i++)
		if (!one_round(1 + i % 50))
			return false;
	return true;
}

static bool edges(void)
{
	struct segs t = { 0 };
	bool good;

	segs_flatten(&t);
	good = segs_find(&t, 0) == SEGS_NONE;
	segs_add(&t, 5, 5, 1);
	segs_add(&t, 9, 3, 1);
	segs_add(&t, UINT64_MAX - 1, UINT64_MAX, 2);
	segs_add(&t, 0, UINT64_MAX, 1);
	segs_flatten(&t);
	good &= segs_find(&t, 0) == 1 && segs_find(&t, UINT64_MAX - 1) == 2 &&
		segs_find(&t, UINT64_MAX) == SEGS_NONE && t.n == 2;
	segs_free(&t);
	return good;
}

int main(void)
{
	ok(rounds(), "the highest number has each address");
	ok(edges(), "empty ranges and those at the ends");
	return done();
}
