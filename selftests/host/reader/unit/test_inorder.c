// SPDX-License-Identifier: BSD-2-Clause
/* Samples that are complete in any order are written in that of the log, each once. */
#include <stdlib.h>
#include <string.h>

#include "export/inorder.h"
#include "tap.h"

#define SAMPLES	20000U
#define AHEAD	300U		/* so many samples behind one that is late */
#define FRAMES	3U

struct seen {
	uint64_t last;
	uint32_t n, back, wrong;
	bool is[SAMPLES];
};

static bool is_whole(const struct sample *s)
{
	const struct sample_more *more = sample_more(s);
	struct pmclog_branch branch;
	uint32_t i;

	if (more->detail.n)
		memcpy(&branch, more->detail.branch, sizeof(branch));
	for (i = 0; i < FRAMES; i++)
		if (s->frames[i] != s->number + i)
			return false;
	return s->nframes == FRAMES &&
	       (s->number % 5 ? !s->more :
		more->raw.len == 6 && !memcmp(more->raw.data, "fields", 6) &&
		more->detail.n == 1 && branch.from == s->number);
}

static void see(void *ctx, const struct sample *s)
{
	struct seen *seen = ctx;

	seen->wrong += seen->is[s->number] || !is_whole(s);
	seen->is[s->number] = true;
	seen->back += seen->n++ && s->number < seen->last;
	seen->last = s->number;
}

/* Its memory is another's afterwards. */
static void add(struct inorder *t, uint64_t number, uint64_t tsc)
{
	uint32_t frames[FRAMES] = { number, number + 1, number + 2 };
	struct pmclog_branch branch = { .from = number };
	unsigned char fields[] = "fields";
	struct sample_more more = {
		.raw = { .data = fields, .len = 6 },
		.detail = { .branch = (unsigned char *)&branch, .n = 1 },
	};
	struct sample s = {
		.number = number, .tsc = tsc, .frames = frames, .nframes = FRAMES,
		.more = number % 5 ? NULL : &more,
	};

	inorder_add(t, &s);
	memset(frames, 0xff, sizeof(frames));
	memset(fields, 0xff, sizeof(fields));
	memset(&branch, 0xff, sizeof(branch));
}

/* One in @rare samples is complete only when up to AHEAD others are. */
static void test_any_order(unsigned int rare)
{
	struct { uint64_t number, at; } late[AHEAD + 1];
	struct seen seen = { .n = 0 };
	struct inorder t = { .write = see, .ctx = &seen };
	uint32_t i, j, n = 0;

	for (i = 0; i < SAMPLES; i++) {
		for (j = 0; j < n; j++)
			if (late[j].at <= i) {
				add(&t, late[j].number, 0);
				late[j--] = late[--n];
			}
		if (n <= AHEAD && !(rand() % rare)) {
			late[n].number = i;
			late[n++].at = i + 1 + rand() % AHEAD;
		} else {
			add(&t, i, 0);
		}
	}
	while (n--)
		add(&t, late[n].number, 0);
	inorder_end(&t);
	ok(seen.n == SAMPLES && !seen.back && !seen.wrong && !t.behind && !t.bytes,
	   "one in %u late: in order, and each as it was", rare);
	inorder_free(&t);
}

/* A sample that never is complete, and one that is when the others wait no longer */
static void test_time(void)
{
	struct seen seen = { .n = 0 };
	struct inorder t = { .write = see, .ctx = &seen, .within = 100 };
	uint32_t i;

	add(&t, 0, 1000);
	for (i = 3; i < 100; i++)
		add(&t, i, 1000 + i);
	ok(seen.n == 1, "samples behind a late one wait");
	add(&t, 100, 1104);
	ok(seen.n == 99 && !seen.back, "and no longer than they are to");
	add(&t, 2, 1002);
	ok(seen.n == 100 && t.behind == 1, "that one comes late, and is counted");
	inorder_end(&t);
	ok(seen.n == 100 && !seen.wrong, "what is never complete is not written");
	inorder_free(&t);
}

static void test_memory(void)
{
	struct inorder t = { .write = see };
	struct seen *seen = calloc(1, sizeof(*seen));
	size_t most = 0;
	uint32_t i;

	t.ctx = seen;
	/* so large that the limit is met */
	t.bytes = INORDER_BYTES - 100000;
	for (i = 1; i < SAMPLES; i++) {
		add(&t, i, i);
		if (t.bytes > most)
			most = t.bytes;
	}
	add(&t, 0, 0);
	ok(seen->n == SAMPLES && most <= INORDER_BYTES && t.behind == 1 && !seen->wrong,
	   "no more memory than the limit");
	ok(t.bytes == INORDER_BYTES - 100000, "all is given back");
	inorder_free(&t);
	free(seen);
}

int main(void)
{
	srand(1);
	test_any_order(1000);
	test_any_order(10);
	test_any_order(2);
	test_time();
	test_memory();
	return done();
}
