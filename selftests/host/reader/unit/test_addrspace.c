// SPDX-License-Identifier: BSD-2-Clause
/* The address-space model against an array with an entry for each page. */
#include <stdlib.h>
#include <string.h>

#include "machine/addrspace.h"
#include "tap.h"

#define PAGES	4096	/* at most */
#define PAGE	4096ULL
#define SPACES	8

static uint64_t pages;		/* of the present walk */

struct model {
	uint32_t obj[PAGES];		/* + 1, 0: nothing */
	uint64_t offset[PAGES];
};

/* Are the mappings sorted and disjoint, and is what is said of leaves true? */
static bool is_sound(const struct aspace *as)
{
	const struct aspace_leaf *l;
	uint64_t end = 0;
	uint32_t i, j;

	for (i = 0; as && i < as->n; i++) {
		l = as->leaf[i].leaf;
		for (j = 0; j < l->n; end = l->map[j++].end)
			if (l->map[j].start < end ||
			    l->map[j].start >= l->map[j].end)
				return false;
		if (!l->n || l->n > l->cap || as->leaf[i].end != end)
			return false;
	}
	return true;
}

static bool agrees(const struct aspace *as, const struct model *m)
{
	uint32_t i;

	if (!is_sound(as))
		return false;
	for (i = 0; i < pages; i++) {
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
	uint64_t from = rand() % pages, n = 1 + rand() % 12, i;
	struct mapping map = {
		.start = from * PAGE, .obj = obj,
		.offset = (uint64_t)(rand() % 1000) * PAGE,
	};
	bool in = rand() % 3;

	if (from + n > pages)
		n = pages - from;
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

/*
 * Maps, cuts and forks at random; every space must stay its own, which is looked at
 * after so many steps each.
 */
static bool random_walk(unsigned int seed, uint64_t npages, int steps, int each)
{
	static struct model m[SPACES];
	struct aspace *as[SPACES] = { NULL };
	bool good = true;
	int step, i, j;

	srand(seed);
	pages = npages;
	memset(m, 0, sizeof(m));
	for (step = 0; step < steps && good; step++) {
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
		for (j = 0; j < SPACES && step % each == 0; j++)
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

/* A mapping for each second page, from the top down as the kernel has them */
static struct aspace *filled(uint32_t n)
{
	struct aspace *as = NULL;
	struct mapping m;

	for (m = (struct mapping){ .obj = n }; m.obj--;) {
		m.start = (uint64_t)m.obj * 2 * PAGE;
		m.end = m.start + PAGE;
		m.offset = m.obj;
		aspace_insert(&as, &m);
	}
	return as;
}

static bool has_from(const struct aspace *as, uint32_t from, uint32_t n)
{
	const struct mapping *m;
	uint32_t i;

	for (i = 0; i < n; i++) {
		m = aspace_find(as, (uint64_t)i * 2 * PAGE + 5);
		if (!m != (i < from) || (m && m->offset != i) ||
		    aspace_find(as, (uint64_t)i * 2 * PAGE + PAGE))
			return false;
	}
	return is_sound(as);
}

static void test_many(void)
{
	const uint32_t n = 400000, part = 300001;
	struct aspace *as = filled(n), *child;
	struct mapping m = { .start = 1, .end = 2 };
	uint32_t i;

	ok(has_from(as, 0, n), "as many mappings as there are");
	child = aspace_get(as);
	aspace_cut(&child, 0, (uint64_t)part * 2 * PAGE);
	ok(has_from(child, part, n) && has_from(as, 0, n),
	   "a child has cut most of them, which leaves its parent's");
	aspace_put(child);
	for (i = 0; i < 1000; i++) {
		child = aspace_get(as);
		m.obj = i;
		aspace_insert(&child, &m);
		if (!i)
			ok(has_from(as, 0, n) && aspace_find(child, 1)->obj == 0 &&
			   aspace_find(child, 2)->offset == 2 &&
			   aspace_find(as, 1)->end == PAGE, "a child's own");
		aspace_put(child);
	}
	aspace_put(as);
}

static uint32_t odd_to_7(void *ctx, uint32_t obj)
{
	++*(uint32_t *)ctx;
	return obj % 2 ? 7 : obj;
}

static void test_objects(void)
{
	struct aspace *as = filled(1000), *child = aspace_get(as);
	uint32_t gen = aspace_gen(as), called = 0;

	ok(aspace_has(as, 999) && !aspace_has(as, 1000) && !aspace_has(NULL, 1),
	   "whether an object is mapped");
	aspace_replace(&child, odd_to_7, &called);
	ok(called == 1000 && aspace_gen(child) != gen && aspace_gen(as) == gen &&
	   aspace_has(child, 998) && !aspace_has(child, 999) &&
	   aspace_has(as, 999), "objects take the place of others");
	gen = aspace_gen(child);
	aspace_replace(&child, odd_to_7, &called);
	ok(aspace_gen(child) == gen, "or of themselves, which changes nothing");
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
	ok(!aspace_next(as, 0), "all of it cut");
	aspace_put(as);
}

int main(void)
{
	unsigned int seed, bad = 0;

	for (seed = 1; seed <= 200; seed++)
		bad += !random_walk(seed, 64, 400, 1);
	ok(!bad, "200 random walks agree with the page array (%u do not)",
	   bad);
	for (seed = 1; seed <= 5; seed++)
		bad += !random_walk(seed, PAGES, 12000, 100);
	ok(!bad, "5 long ones, too (%u do not)", bad);
	test_generations();
	test_limits();
	test_many();
	test_objects();
	return done();
}
