// SPDX-License-Identifier: BSD-2-Clause
/* The address-space model against an array with an entry for each page. */
#include <stdlib.h>
#include <string.h>

#include "machine/addrspace.h"
#include "tap.h"

#define PAGES	64
#define PAGE	4096ULL
#define SPACES	8

struct model {
	uint32_t obj[PAGES];		/* + 1, 0: nothing */
	uint64_t offset[PAGES];
};

static bool agrees(const struct aspace *as, const struct model *m)
{
	uint32_t i, n = as ? as->n : 0;

	for (i = 0; i + 1 < n; i++)
		if (as->map[i].start >= as->map[i].end ||
		    as->map[i].end > as->map[i + 1].start)
			return false;
	for (i = 0; i < PAGES; i++) {
		uint64_t pc = i * PAGE + 123;
		const struct mapping *f = aspace_find(as, pc);

		if (!f != !m->obj[i])
			return false;
		if (f && (f->obj + 1 != m->obj[i] ||
			  pc - f->start + f->offset != m->offset[i] + 123))
			return false;
	}
	return true;
}

static void change(struct aspace **as, struct model *m, uint32_t obj)
{
	uint64_t from = rand() % PAGES, n = 1 + rand() % 12, i;
	struct mapping map = {
		.start = from * PAGE, .obj = obj,
		.offset = (uint64_t)(rand() % 1000) * PAGE,
	};
	bool in = rand() % 3;

	if (from + n > PAGES)
		n = PAGES - from;
	map.end = (from + n) * PAGE;
	if (in)
		aspace_insert(as, &map);
	else
		aspace_cut(as, map.start, map.end);
	for (i = 0; i < n; i++) {
		m->obj[from + i] = in ? obj + 1 : 0;
		m->offset[from + i] = map.offset + i * PAGE;
	}
}

/* Maps, cuts and forks at random; every space must stay its own. */
static bool random_walk(unsigned int seed)
{
	static struct model m[SPACES];
	struct aspace *as[SPACES] = { NULL };
	bool good = true;
	int step, i, j;

	srand(seed);
	memset(m, 0, sizeof(m));
	for (step = 0; step < 400 && good; step++) {
		i = rand() % SPACES;
		j = rand() % SPACES;
		if (rand() % 10 == 0) {
			struct aspace *copy = aspace_get(as[i]);

			aspace_put(as[j]);
			as[j] = copy;
			m[j] = m[i];
		} else {
			change(&as[i], &m[i], (uint32_t)step);
		}
		for (j = 0; j < SPACES; j++)
			good &= agrees(as[j], &m[j]);
	}
	for (i = 0; i < SPACES; i++)
		aspace_put(as[i]);
	return good;
}

static void test_generations(void)
{
	struct mapping m = { .start = PAGE, .end = 3 * PAGE, .obj = 5 };
	struct aspace *as = NULL, *child;
	uint32_t gen;

	ok(aspace_gen(as) == 0, "the empty space has generation 0");
	aspace_insert(&as, &m);
	gen = aspace_gen(as);
	aspace_insert(&as, &m);
	ok(aspace_gen(as) == gen, "what is there already changes nothing");
	aspace_cut(&as, 10 * PAGE, 11 * PAGE);
	ok(aspace_gen(as) == gen, "cutting nothing changes nothing");
	child = aspace_get(as);
	ok(child == as, "a fork shares");
	aspace_cut(&child, PAGE, 2 * PAGE);
	ok(child != as && aspace_gen(child) != gen && aspace_gen(as) == gen,
	   "a change makes the child's own, and leaves the parent's");
	ok(aspace_find(as, PAGE) && !aspace_find(child, PAGE) &&
	   aspace_find(child, 2 * PAGE)->offset == PAGE,
	   "with the right contents");
	aspace_put(as);
	aspace_put(child);
}

static void test_limits(void)
{
	struct mapping top = {
		.start = UINT64_MAX - 10, .end = UINT64_MAX, .obj = 1,
	};
	struct mapping none = { .start = 5, .end = 5 };
	struct aspace *as = NULL;

	aspace_insert(&as, &none);
	ok(!as, "an empty mapping is none");
	aspace_insert(&as, &top);
	ok(aspace_find(as, UINT64_MAX - 1) && !aspace_find(as, UINT64_MAX),
	   "the top of memory");
	aspace_cut(&as, 0, UINT64_MAX);
	ok(as->n == 0, "all of it cut");
	aspace_put(as);
}

int main(void)
{
	unsigned int seed, bad = 0;

	for (seed = 1; seed <= 200; seed++)
		bad += !random_walk(seed);
	ok(!bad, "200 random walks agree with the page array (%u do not)",
	   bad);
	test_generations();
	test_limits();
	return done();
}
