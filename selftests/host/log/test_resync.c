// SPDX-License-Identifier: BSD-2-Clause
/*
 * Damaged logs are read on behind the damage: what is handed out is what the
 * sound log has, but for the neighbourhood of the damage.  And what is not
 * damaged but of another era, cut anywhere or in a row with others.
 */
#define KEEP_ITEMS
#include "reading.h"
#include "rnd.h"
#include "tap.h"

static size_t some(void)
{
	return 1 + rnd(700);
}

/* A log, what is read of it, and room for what becomes of it */
static struct loggen g;
static struct seen sound;
static unsigned char *copy;

static void begin(const char *name)
{
	lg_make(&g, name);
	copy = malloc(g.len);
	sound = read_mem(g.buf, g.len, true);
}

static void end(void)
{
	seen_free(&sound);
	free(copy);
}

static bool same_item(const struct item *a, const struct item *b)
{
	return a->offset == b->offset && a->sum == b->sum && a->pack == b->pack;
}

static bool same(const struct seen *a, const struct seen *b, size_t n)
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
static size_t missing(const struct seen *a, const struct seen *b)
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
	struct seen r, other;

	begin(name);
	for (i = 0; i < ROUNDS; i++) {
		memcpy(copy, g.buf, g.len);
		damage(copy, g.len, from);
		r = read_mem(copy, g.len, true);
		lost = missing(&sound, &r);
		if (lost > worst)
			worst = lost;
		gone += r.end + r.bytes > g.len + 4096;
		other = read_file(copy, g.len, true);
		differ += other.n != r.n || !same(&r, &other, r.n) ||
			  other.gaps != r.gaps || other.bytes != r.bytes;
		seen_free(&other);
		other = read_feed(copy, g.len, some, true);
		differ += !same(&r, &other, other.n);
		/* what was skipped is no fault any more */
		differ += other.status == PMCLOG_ITER_MORE && strcmp(other.error, "no error");
		seen_free(&other);
		seen_free(&r);
	}
	ok(worst && worst <= most && !gone, "%s: of %zu records damage costs "
	   "at most %zu (%zu)", name, sound.n, most, worst);
	ok(!differ, "%s: from memory, a file and in pieces the same", name);
	end();
}

/* How many records more or less than @n there are in these bytes */
static size_t off_by(size_t n, const unsigned char *buf, size_t len)
{
	struct seen r = read_mem(buf, len, true);

	seen_free(&r);
	return n > r.n ? n - r.n : r.n - n;
}

/* Bytes that are missing, or too many: nothing is where it was. */
static void test_moved(const char *name, size_t from)
{
	size_t i, at, n, worst = 0, lost;

	begin(name);
	for (i = 0; i < ROUNDS; i++) {
		at = from + rnd(g.len - from - 200);
		n = 1 + rnd(100);
		memcpy(copy, g.buf, at);
		memcpy(copy + at, g.buf + at + n, g.len - at - n);
		lost = off_by(sound.n, copy, g.len - n);
		if (lost > worst)
			worst = lost;
	}
	ok(worst && worst <= 8, "%s: of %zu records missing bytes cost at most "
	   "8 (%zu)", name, sound.n, worst);
	end();
}

/* A log of a sound log's records is not skipped anywhere. */
static void test_sound(const char *name)
{
	begin(name);
	ok(sound.status == PMCLOG_ITER_EOF && !sound.gaps && !sound.bytes &&
	   sound.end == g.len, "%s: a sound log has no gaps", name);
	end();
}

static void test_cuts(const char *name)
{
	struct seen r, fed;
	size_t cut, bad = 0, n;

	begin(name);
	for (cut = 1; cut < g.len; cut++) {
		r = read_mem(g.buf, cut, true);
		for (n = 0; n < sound.n && sound.item[n].offset < cut; n++)
			;
		n -= n && r.end != cut;	/* the one that is cut */
		bad += r.n != n || !same(&sound, &r, n) || r.gaps ||
		       r.status != (r.end == cut ? PMCLOG_ITER_EOF :
						   PMCLOG_ITER_ERROR);
		fed = read_feed(g.buf, cut, some, true);
		bad += !same(&r, &fed, r.n) || fed.n != r.n ||
		       fed.status != PMCLOG_ITER_MORE;
		seen_free(&r);
		seen_free(&fed);
	}
	ok(!bad, "%s: cut at each of %zu bytes", name, g.len);
	end();
}

static void append(struct loggen *to, const char *name)
{
	struct loggen other = { 0 };

	lg_make(&other, name);
	memcpy(lg_room(to, other.len), other.buf, other.len);
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
	struct seen all, one;
	struct loggen row = { 0 };
	size_t i, j, n = 0, bad = 0, at = 0;

	lg_start(&row);
	for (i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		append(&row, names[i]);
	all = read_mem(row.buf, row.len, true);
	for (i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		begin(names[i]);
		one = sound;
		for (j = 0; j < one.n && n < all.n; j++, n++) {
			one.item[j].offset += at;
			bad += !same_item(&one.item[j], &all.item[n]);
		}
		at += g.len;
		end();
	}
	ok(!bad && n == all.n && all.status == PMCLOG_ITER_EOF && !all.gaps,
	   "%zu records of sessions of every kind in a row", n);
	seen_free(&all);
	lg_free(&row);
}

/* What was recorded and not closed, and then something else appended. */
static void test_unclosed(void)
{
	struct seen r;

	begin("C-le-64");
	g.len -= 16;	/* CLOSELOG */
	append(&g, "A-be-32");
	g.len -= 12;
	append(&g, "B-le-64");
	r = read_mem(g.buf, g.len, true);
	ok(r.status == PMCLOG_ITER_EOF && !r.gaps && r.end == g.len,
	   "sessions without an end, and others behind them");
	seen_free(&r);
	end();
}

/* The same from a file that grows by @step bytes, with its end seen each time. */
static struct seen read_growing(const unsigned char *buf, size_t len, size_t step)
{
	int fd = lg_file(buf, 0);
	struct pmclog_iter *it = pmclog_iter_fd(fd);
	struct seen s = { 0 };
	size_t n, at;

	pmclog_iter_resync(it);
	for (at = 0; at < len; at += n) {
		n = step < len - at ? step : len - at;
		abort_if(pwrite(fd, buf + at, n, at) != (ssize_t)n);
		drain(it, &s);
	}
	pmclog_iter_close(it);
	close(fd);
	return s;
}

/*
 * Each header of the log damaged, one after the other.  A long record before it is
 * returned only if the file ended behind it.
 */
static void test_growing(const char *name)
{
	static const size_t steps[] = { 1, 16, 100 };
	size_t i, j, bad = 0;
	struct seen r, whole;

	begin(name);
	for (i = 3; i < 3 * sound.n; i++) {
		memcpy(copy, g.buf, g.len);
		copy[sound.item[i / 3].offset + i % 3] ^= 0x55;
		whole = read_file(copy, g.len, true);
		for (j = 0; j < 3; j++) {
			r = read_growing(copy, g.len, steps[j]);
			bad += missing(&whole, &r) || r.gaps != whole.gaps ||
			       (r.n == whole.n && (r.first != whole.first ||
						   r.bytes != whole.bytes)) ||
			       r.status != whole.status ||
			       r.error_offset != whole.error_offset;
			seen_free(&r);
		}
		seen_free(&whole);
	}
	ok(!bad, "%s: a damaged file that grows as the whole file (%zu differ)", name, bad);
	end();
}

/* Nothing but what looks like headers: it has to end soon all the same. */
static void test_worst_case(void)
{
	const uint32_t fake = PMCLOG_HEADER(PMCLOG_T_MAP_IN, 8188);
	struct seen r;
	uint32_t *p;
	size_t i;

	begin("small");
	p = lg_room(&g, 4 << 20);
	for (i = 0; i < (4 << 20) / sizeof(*p); i++)
		p[i] = fake;
	r = read_mem(g.buf, g.len, true);
	ok(r.n >= 6 && r.gaps && r.gaps < 1100, "4 MiB of headers of nothing");
	seen_free(&r);
	end();
}

/* Without the first record, or any number of bytes. */
static void test_start(const char *name)
{
	size_t cut, i, left, worst = 0, lost;

	begin(name);
	for (cut = 1; cut < g.len / 2; cut++) {
		for (i = left = 0; i < sound.n; i++)
			left += sound.item[i].offset >= cut;
		lost = off_by(left, g.buf + cut, g.len - cut);
		if (lost > worst)
			worst = lost;
	}
	ok(!worst, "%s: from any byte on (%zu)", name, worst);
	end();
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
	test_growing("full");
	test_growing("A-be-32");
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
