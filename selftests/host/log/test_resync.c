// SPDX-License-Identifier: BSD-2-Clause
/*
 * Damaged logs are read on behind the damage: what is handed out is what the
 * sound log has, but for the neighbourhood of the damage.  And what is not
 * damaged but of another era, cut anywhere or in a row with others.
 */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <pmclog_iter.h>

#include "loggen.h"
#include "rnd.h"
#include "tap.h"

/* a record handed out: where it is in the log, and what it says */
struct item {
	uint64_t offset, sum;
	uint32_t pack;
};

struct reading {
	struct item *item;
	size_t n, cap;
	enum pmclog_iter_status status;
	uint64_t gaps, first, bytes, end;
};

static void keep(struct reading *r, const struct pmclog_rec *rec)
{
	struct item *it;
	uint32_t i;

	if (r->n == r->cap) {
		r->cap = r->cap ? 2 * r->cap : 256;
		r->item = realloc(r->item, r->cap * sizeof(*r->item));
	}
	it = &r->item[r->n++];
	it->offset = rec->offset;
	it->pack = rec->pack;
	it->sum = rec->type;
	for (i = 0; i < rec->len; i++)
		it->sum = it->sum * 31 + rec->data[i];
	r->end = rec->offset + rec->stored;
}

static void drain(struct reading *r, struct pmclog_iter *it)
{
	struct pmclog_rec rec;

	while ((r->status = pmclog_iter_next(it, &rec)) == PMCLOG_ITER_RECORD)
		keep(r, &rec);
	r->gaps = pmclog_iter_gaps(it, &r->first, &r->bytes);
}

/* A copy of exactly @len bytes, so that a sanitizer sees the end. */
static struct reading read_mem(const unsigned char *buf, size_t len)
{
	unsigned char *copy = malloc(len ? len : 1);
	struct reading r = { 0 };
	struct pmclog_iter *it;

	memcpy(copy, buf, len);
	it = pmclog_iter_mem(copy, len);
	pmclog_iter_resync(it);
	drain(&r, it);
	pmclog_iter_close(it);
	free(copy);
	return r;
}

static struct reading read_pieces(const unsigned char *buf, size_t len)
{
	struct pmclog_iter *it = pmclog_iter_new();
	struct reading r = { 0 };
	size_t at, n;

	pmclog_iter_resync(it);
	for (at = 0; at < len; at += n) {
		n = 1 + rnd(700);
		if (n > len - at)
			n = len - at;
		if (pmclog_iter_feed(it, buf + at, n))
			abort();
		drain(&r, it);
	}
	pmclog_iter_close(it);
	return r;
}

static struct reading read_file(const unsigned char *buf, size_t len)
{
	int fd = lg_file(buf, len);
	struct pmclog_iter *it = pmclog_iter_fd(fd);
	struct reading r = { 0 };

	pmclog_iter_resync(it);
	drain(&r, it);
	pmclog_iter_close(it);
	close(fd);
	return r;
}

static bool same_item(const struct item *a, const struct item *b)
{
	return a->offset == b->offset && a->sum == b->sum && a->pack == b->pack;
}

static bool same(const struct reading *a, const struct reading *b, size_t n)
{
	size_t i;

	if (a->n < n || b->n < n)
		return false;
	for (i = 0; i < n; i++)
		if (!same_item(&a->item[i], &b->item[i]))
			return false;
	return true;
}

/* How many items of @a are not in @b; both are in the order of the log. */
static size_t missing(const struct reading *a, const struct reading *b)
{
	size_t i, j = 0, n = 0;

	for (i = 0; i < a->n; i++) {
		while (j < b->n && b->item[j].offset < a->item[i].offset)
			j++;
		n += j == b->n || !same_item(&a->item[i], &b->item[j]);
		j += j < b->n && same_item(&a->item[i], &b->item[j]);
	}
	return n;
}

/* Some bytes of it, not those of the first record, become something else. */
static size_t damage(unsigned char *buf, size_t len, size_t from)
{
	size_t at = from + rnd(len - from), n = 1 + rnd(rnd(2) ? 4 : 300), i;

	if (n > len - at)
		n = len - at;
	switch (rnd(4)) {
	case 0:
		memset(buf + at, 0, n);
		break;
	case 1:
		buf[at] ^= 1 << rnd(8);
		n = 1;
		break;
	default:
		for (i = 0; i < n; i++)
			buf[at + i] = (unsigned char)rnd(256);
	}
	return n;
}

#define ROUNDS	500

/* the first record, and what the neighbourhood may cost */
static void test_damage(const char *name, size_t from, size_t most)
{
	size_t i, lost = 0, worst = 0, differ = 0, gone = 0;
	struct reading sound, r, other;
	unsigned char *copy;
	struct loggen g;

	lg_make(&g, name);
	copy = malloc(g.len);
	sound = read_mem(g.buf, g.len);
	for (i = 0; i < ROUNDS; i++) {
		memcpy(copy, g.buf, g.len);
		damage(copy, g.len, from);
		r = read_mem(copy, g.len);
		lost = missing(&sound, &r);
		if (lost > worst)
			worst = lost;
		gone += r.end + r.bytes > g.len + 4096;
		other = read_file(copy, g.len);
		differ += other.n != r.n || !same(&r, &other, r.n) ||
			  other.gaps != r.gaps || other.bytes != r.bytes;
		free(other.item);
		other = read_pieces(copy, g.len);
		differ += !same(&r, &other, other.n);
		free(other.item);
		free(r.item);
	}
	ok(worst && worst <= most && !gone, "%s: of %zu records damage costs "
	   "at most %zu (%zu)", name, sound.n, most, worst);
	ok(!differ, "%s: from memory, a file and in pieces the same", name);
	free(sound.item);
	free(copy);
	lg_free(&g);
}

/* Bytes that are missing, or too many: nothing is where it was. */
static void test_moved(const char *name, size_t from)
{
	size_t i, at, n, worst = 0, lost;
	struct reading sound, r;
	unsigned char *copy;
	struct loggen g;

	lg_make(&g, name);
	copy = malloc(g.len);
	sound = read_mem(g.buf, g.len);
	for (i = 0; i < ROUNDS; i++) {
		at = from + rnd(g.len - from - 200);
		n = 1 + rnd(100);
		memcpy(copy, g.buf, at);
		memcpy(copy + at, g.buf + at + n, g.len - at - n);
		r = read_mem(copy, g.len - n);
		lost = sound.n > r.n ? sound.n - r.n : r.n - sound.n;
		if (lost > worst)
			worst = lost;
		free(r.item);
	}
	ok(worst && worst <= 8, "%s: of %zu records missing bytes cost at most "
	   "8 (%zu)", name, sound.n, worst);
	free(sound.item);
	free(copy);
	lg_free(&g);
}

/* A log of a sound log's records is not skipped anywhere. */
static void test_sound(const char *name)
{
	struct reading r;
	struct loggen g;

	lg_make(&g, name);
	r = read_mem(g.buf, g.len);
	ok(r.status == PMCLOG_ITER_EOF && !r.gaps && !r.bytes &&
	   r.end == g.len, "%s: a sound log has no gaps", name);
	free(r.item);
	lg_free(&g);
}

static void test_cuts(const char *name)
{
	struct reading whole, r, fed;
	size_t cut, bad = 0, n;
	struct loggen g;

	lg_make(&g, name);
	whole = read_mem(g.buf, g.len);
	for (cut = 1; cut < g.len; cut++) {
		r = read_mem(g.buf, cut);
		for (n = 0; n < whole.n && whole.item[n].offset < cut; n++)
			;
		n -= n && r.end != cut;	/* the one that is cut */
		bad += r.n != n || !same(&whole, &r, n) || r.gaps ||
		       r.status != (r.end == cut ? PMCLOG_ITER_EOF :
						   PMCLOG_ITER_ERROR);
		fed = read_pieces(g.buf, cut);
		bad += !same(&r, &fed, r.n) || fed.n != r.n ||
		       fed.status != PMCLOG_ITER_MORE;
		free(r.item);
		free(fed.item);
	}
	ok(!bad, "%s: cut at each of %zu bytes", name, g.len);
	free(whole.item);
	lg_free(&g);
}

static void append(struct loggen *g, const char *name)
{
	struct loggen other;

	lg_make(&other, name);
	memcpy(lg_room(g, other.len), other.buf, other.len);
	lg_free(&other);
}

/* Sessions of every kind in a row: each is read as if it were alone. */
static void test_row(void)
{
	static const char *const names[] = {
		"C-le-64", "A-be-32", "packed", "A-le-64", "B-be-i386",
		"B-le-32", "A-le-32", "C-be-64", "full", "A-be-64", "packed",
		"B-le-64",
	};
	struct reading all, one;
	size_t i, j, n = 0, bad = 0, at = 0;
	struct loggen g;

	lg_start(&g);
	for (i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		append(&g, names[i]);
	all = read_mem(g.buf, g.len);
	for (i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		struct loggen alone;

		lg_make(&alone, names[i]);
		one = read_mem(alone.buf, alone.len);
		for (j = 0; j < one.n && n < all.n; j++, n++) {
			one.item[j].offset += at;
			bad += !same_item(&one.item[j], &all.item[n]);
		}
		at += alone.len;
		free(one.item);
		lg_free(&alone);
	}
	ok(!bad && n == all.n && all.status == PMCLOG_ITER_EOF && !all.gaps,
	   "%zu records of sessions of every kind in a row", n);
	free(all.item);
	lg_free(&g);
}

/* What was recorded and not closed, and then something else appended. */
static void test_unclosed(void)
{
	struct reading r;
	struct loggen g;
	size_t at;

	lg_make(&g, "C-le-64");
	g.len -= 16;	/* CLOSELOG */
	append(&g, "A-be-32");
	at = g.len;
	g.len -= 12;
	append(&g, "B-le-64");
	r = read_mem(g.buf, g.len);
	ok(r.status == PMCLOG_ITER_EOF && !r.gaps && r.end == g.len && at,
	   "sessions without an end, and others behind them");
	free(r.item);
	lg_free(&g);
}

/* Nothing but what looks like headers: it has to end soon all the same. */
static void test_worst_case(void)
{
	const uint32_t fake = PMCLOG_HEADER(PMCLOG_T_MAP_IN, 8188);
	struct reading r;
	struct loggen g;
	uint32_t *p;
	size_t i;

	lg_make(&g, "small");
	p = lg_room(&g, 4 << 20);
	for (i = 0; i < (4 << 20) / sizeof(*p); i++)
		p[i] = fake;
	r = read_mem(g.buf, g.len);
	ok(r.n >= 6 && r.gaps && r.gaps < 1100, "4 MiB of headers of nothing");
	free(r.item);
	lg_free(&g);
}

/* Without the first record, or any number of bytes. */
static void test_start(const char *name)
{
	size_t cut, worst = 0, lost;
	struct reading sound, r;
	struct loggen g;

	lg_make(&g, name);
	sound = read_mem(g.buf, g.len);
	for (cut = 1; cut < g.len / 2; cut++) {
		size_t i, left = 0;

		for (i = 0; i < sound.n; i++)
			left += sound.item[i].offset >= cut;
		r = read_mem(g.buf + cut, g.len - cut);
		lost = left > r.n ? left - r.n : r.n - left;
		if (lost > worst)
			worst = lost;
		free(r.item);
	}
	ok(!worst, "%s: from any byte on (%zu)", name, worst);
	free(sound.item);
	lg_free(&g);
}

int main(void)
{
	static const char *const foreign[] = {
		"A-le-64", "A-le-32", "A-be-64", "A-be-32", "B-le-64",
		"B-be-32", "B-le-i386", "C-le-64", "C-be-64", "C-le-32",
	};
	size_t i;

	test_sound("full");
	test_sound("packed");
	test_damage("full", 20, 10);
	test_damage("long", 112, 12);
	test_damage("twice", 700, 10);
	test_moved("full", 112);
	test_start("full");
	for (i = 0; i < sizeof(foreign) / sizeof(foreign[0]); i++) {
		test_sound(foreign[i]);
		test_cuts(foreign[i]);
		test_damage(foreign[i], 112, 14);
		test_moved(foreign[i], 112);
		test_start(foreign[i]);
	}
	test_row();
	test_unclosed();
	test_worst_case();
	return done();
}
