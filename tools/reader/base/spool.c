// SPDX-License-Identifier: BSD-2-Clause
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/order.h"
#include "base/spool.h"

#define PART_BYTES	(SPOOL_PART * sizeof(struct spooled))

uint32_t spool_new(struct spool *t)
{
	GROW(t->seq, t->n, t->cap);
	memset(&t->seq[t->n], 0, sizeof(*t->seq));
	t->seq[t->n].sorted = true;
	return t->n++;
}

/* Opens a file without a name, which vanishes when the program ends. */
static bool open_file(struct spool *t)
{
	const char *dir = getenv("TMPDIR");
	char *path;

	if (t->open || t->error)
		return t->open;
	path = xasprintf("%s/pmclog.XXXXXX", dir && *dir ? dir : "/tmp");
	t->fd = mkostemp(path, O_CLOEXEC);
	if (t->fd < 0)
		t->error = errno;
	else
		unlink(path);
	free(path);
	t->open = t->fd >= 0;
	return t->open;
}

static bool transfer(struct spool *t, uint64_t part, struct spooled *s,
		     bool out)
{
	off_t at = (off_t)(part * PART_BYTES);
	size_t done = 0;
	ssize_t n;

	while (done < PART_BYTES) {
		char *p = (char *)s + done;

		n = out ? pwrite(t->fd, p, PART_BYTES - done, at + (off_t)done)
			: pread(t->fd, p, PART_BYTES - done, at + (off_t)done);
		if (n > 0) {
			done += (size_t)n;
		} else if (n == 0 || errno != EINTR) {
			t->error = n ? errno : EIO;
			return false;
		}
	}
	return true;
}

static void write_tail(struct spool *t, struct spool_seq *q)
{
	if (!open_file(t) || !transfer(t, t->parts, q->tail, true))
		return;
	APPEND(q->part, q->nparts, q->capparts) = t->parts++;
	q->ntail = 0;
}

void spool_add(struct spool *t, uint32_t seq, int64_t time, uint32_t value)
{
	struct spool_seq *q = &t->seq[seq];

	if (t->error)
		return;
	if (q->ntail == SPOOL_PART)
		write_tail(t, q);
	if (t->error)
		return;
	if (q->n && time < q->last)
		q->sorted = false;
	q->last = time;
	APPEND(q->tail, q->ntail, q->captail) = (struct spooled){
		.time = time, .value = value,
	};
	q->n++;
}

static void read_in_order(struct spool *t, const struct spool_seq *q,
			  void (*see)(void *ctx, const struct spooled *s),
			  void *ctx)
{
	struct spooled part[SPOOL_PART];
	uint32_t i, j;

	for (i = 0; i < q->nparts; i++) {
		if (!transfer(t, q->part[i], part, false))
			return;
		for (j = 0; j < SPOOL_PART; j++)
			see(ctx, &part[j]);
	}
	for (j = 0; j < q->ntail; j++)
		see(ctx, &q->tail[j]);
}

struct gathering {
	struct spooled *s;
	size_t n;
};

static void gather(void *ctx, const struct spooled *s)
{
	struct gathering *g = ctx;

	g->s[g->n] = *s;
	g->s[g->n].pad = (uint32_t)g->n;
	g->n++;
}

DEFINE_ORDER(by_time, struct spooled, ORDER(a->time, b->time) ?: ORDER(a->pad, b->pad))

void spool_read(struct spool *t, uint32_t seq,
		void (*see)(void *ctx, const struct spooled *s), void *ctx)
{
	const struct spool_seq *q = &t->seq[seq];
	struct gathering g = { 0 };
	size_t i;

	if (q->sorted) {
		read_in_order(t, q, see, ctx);
		return;
	}
	g.s = xreallocarray(NULL, q->n, sizeof(*g.s));
	read_in_order(t, q, gather, &g);
	qsort(g.s, g.n, sizeof(*g.s), by_time);
	for (i = 0; i < g.n; i++)
		see(ctx, &g.s[i]);
	free(g.s);
}

void spool_free(struct spool *t)
{
	uint32_t i;

	for (i = 0; i < t->n; i++) {
		free(t->seq[i].tail);
		free(t->seq[i].part);
	}
	free(t->seq);
	if (t->open)
		close(t->fd);
	memset(t, 0, sizeof(*t));
}
