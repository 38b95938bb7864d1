// SPDX-License-Identifier: BSD-2-Clause
/* Logs that are zstd streams: what a descriptor gives, whole, cut and damaged. */
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <pmclog_iter.h>

#include "loggen.h"
#include "tap.h"

#ifndef WITH_ZSTD

int main(void)
{
	puts("1..0 # SKIP built without zstd");
	return 0;
}

#else

#include <zstd.h>

#define CUT	"truncated: the compressed log is cut"

/*
 * A log, and what became of it: @z.  @at[i] bytes of @z say all of the first
 * @shown[i] bytes of the log: there a flush ended.
 */
static struct packed {
	struct loggen g;
	unsigned char *z;
	size_t len;
	size_t cap;
	size_t at[64];
	size_t shown[64];
	size_t n;
} p;

/* Flushed after every piece; a frame ends after every @frame pieces. */
static void make_packed(const char *name, size_t pieces, size_t frame)
{
	ZSTD_CCtx *c = ZSTD_createCCtx();
	size_t i, step;

	lg_free(&p.g);
	free(p.z);
	memset(&p, 0, sizeof(p));
	lg_make(&p.g, name);
	step = p.g.len / pieces + 1;
	p.cap = 2 * p.g.len + 4096;
	p.z = malloc(p.cap);
	ZSTD_CCtx_setParameter(c, ZSTD_c_checksumFlag, 1);
	for (i = 0; i < pieces; i++) {
		ZSTD_outBuffer out = { p.z, p.cap, p.len };
		size_t from = i * step, to = from + step;
		ZSTD_inBuffer in;

		if (to > p.g.len)
			to = p.g.len;
		in = (ZSTD_inBuffer){ p.g.buf, to, from };
		abort_if(ZSTD_compressStream2(c, &out, &in, (i + 1) % frame ?
					      ZSTD_e_flush : ZSTD_e_end));
		p.len = out.pos;
		p.at[p.n] = out.pos;
		p.shown[p.n++] = to;
	}
	ZSTD_freeCCtx(c);
}

/* What a reader saw; @wrong: a record that is not that of the log */
struct seen {
	size_t n;
	size_t end;
	size_t wrong;
	enum pmclog_iter_status status;
	const char *error;
};

static void drain(struct pmclog_iter *it, struct seen *s)
{
	struct pmclog_rec rec;

	while ((s->status = pmclog_iter_next(it, &rec)) == PMCLOG_ITER_RECORD) {
		s->n++;
		s->wrong += rec.offset + rec.len > p.g.len ||
			    memcmp(rec.data, p.g.buf + rec.offset, rec.len);
		s->end = rec.offset + rec.len;
	}
	s->error = pmclog_iter_error(it, NULL);
}

static struct seen read_file(const unsigned char *buf, size_t len)
{
	int fd = lg_file(buf, len);
	struct pmclog_iter *it = pmclog_iter_fd(fd);
	struct seen s = { 0 };

	drain(it, &s);
	/* the next call finds the same */
	if (s.status != PMCLOG_ITER_EOF) {
		size_t n = s.n;

		drain(it, &s);
		s.wrong += s.n != n;
	}
	pmclog_iter_close(it);
	close(fd);
	return s;
}

static bool whole(const struct seen *s)
{
	return s->status == PMCLOG_ITER_EOF && s->end == p.g.len && !s->wrong;
}

static void test_whole(const char *name)
{
	static const unsigned char skippable[] = {
		0x5A, 0x2A, 0x4D, 0x18, 3, 0, 0, 0, 'a', 'b', 'c',
	};
	struct seen s;

	make_packed(name, 1, 1);
	s = read_file(p.z, p.len);
	ok(whole(&s), "%s: one frame", name);
	memmove(p.z + sizeof(skippable), p.z, p.len);
	memcpy(p.z, skippable, sizeof(skippable));
	s = read_file(p.z, p.len + sizeof(skippable));
	ok(whole(&s), "%s: after a frame to be skipped", name);
	make_packed(name, 12, 3);
	s = read_file(p.z, p.len);
	ok(whole(&s), "%s: several frames", name);
}

/* How much of the log a reader must get of the first @cut bytes at least */
static size_t promised(size_t cut)
{
	size_t i, shown = 0, end = 0;

	for (i = 0; i < p.n && p.at[i] <= cut; i++)
		shown = p.shown[i];
	while (end < shown) {
		size_t len = PMCLOG_HEADER_LEN(pmclog_get32(p.g.buf + end));

		if (end + len > shown)
			break;
		end += len;
	}
	return end;
}

static bool at_frame(size_t cut, size_t frame)
{
	size_t i;

	for (i = frame - 1; i < p.n; i += frame)
		if (p.at[i] == cut)
			return true;
	return !cut;
}

static void test_cuts(void)
{
	size_t cut, wrong = 0, less = 0, said = 0;
	struct seen s;

	make_packed("full", 12, 3);
	for (cut = 0; cut < p.len; cut++) {
		bool between = at_frame(cut, 3);

		s = read_file(p.z, cut);
		wrong += !!s.wrong;
		less += s.end < promised(cut);
		if (cut > 3 && !between)
			said += s.status != PMCLOG_ITER_ERROR ||
				strcmp(s.error, CUT);
		else if (cut)
			said += s.status == PMCLOG_ITER_ERROR &&
				strcmp(s.error, "truncated record");
	}
	ok(!wrong, "cut at each of %zu bytes: only the log's records", p.len);
	ok(!less, "all that was flushed before the cut");
	ok(!said, "it is said to be truncated");
}

/* Flips bits; the frames have checksums, but only at their end. */
static void test_damage(void)
{
	size_t at, silent = 0, beyond = 0, first = 0;
	struct seen s;

	make_packed("full", 4, 4);
	for (at = 0; at < p.len; at++) {
		p.z[at] ^= 1U << (at % 8);
		s = read_file(p.z, p.len);
		silent += s.status != PMCLOG_ITER_ERROR && !whole(&s);
		beyond += s.end > p.g.len;
		first += at >= p.at[0] && s.end < promised(p.at[0]);
		p.z[at] ^= 1U << (at % 8);
	}
	ok(!silent, "damage of each of %zu bytes is found, or harmless", p.len);
	ok(!beyond, "and no more comes of it than there was");
	ok(!first, "what is before it is read");
}

/* A live reader: a pipe that does not wait, in pieces of any size. */
static void test_pipe(void)
{
	size_t at = 0, n, i = 0, late = 0;
	struct seen s = { 0 };
	struct pmclog_iter *it;
	int fds[2];

	make_packed("full", 20, 5);
	abort_if(pipe2(fds, O_NONBLOCK));
	it = pmclog_iter_fd(fds[0]);
	while (at < p.len) {
		n = (size_t)(1 + random() % 61);
		if (n > p.at[i] - at)
			n = p.at[i] - at;
		abort_if(write(fds[1], p.z + at, n) != (ssize_t)n);
		at += n;
		drain(it, &s);
		if (s.status != PMCLOG_ITER_MORE)
			break;
		late += s.end < promised(at);
		i += at == p.at[i];
	}
	ok(s.status == PMCLOG_ITER_MORE && at == p.len, "a pipe: more later");
	ok(!late, "what was flushed is there at once");
	close(fds[1]);
	drain(it, &s);
	ok(whole(&s), "then the end");
	pmclog_iter_close(it);
	close(fds[0]);
}

static void test_growing(void)
{
	struct seen s = { 0 };
	struct pmclog_iter *it;
	size_t at, late = 0;
	int fd;

	make_packed("full", 20, 5);
	fd = lg_file(p.z, 2);
	it = pmclog_iter_fd(fd);
	for (at = 2; at < p.len; at++) {
		drain(it, &s);
		late += s.end < promised(at) || s.status > 0;
		abort_if(pwrite(fd, p.z + at, 1, (off_t)at) != 1);
	}
	drain(it, &s);
	ok(!late && whole(&s), "a file that grows byte by byte");
	pmclog_iter_close(it);
	close(fd);
}

/* Makes the log, which may have grown, one frame. */
static void pack_again(int checksum)
{
	ZSTD_CCtx *c = ZSTD_createCCtx();

	free(p.z);
	p.cap = ZSTD_compressBound(p.g.len);
	p.z = malloc(p.cap);
	ZSTD_CCtx_setParameter(c, ZSTD_c_checksumFlag, checksum);
	p.len = ZSTD_compress2(c, p.z, p.cap, p.g.buf, p.g.len);
	abort_if(ZSTD_isError(p.len));
	ZSTD_freeCCtx(c);
}

static struct seen read_resync(void)
{
	int fd = lg_file(p.z, p.len);
	struct pmclog_iter *it = pmclog_iter_fd(fd);
	struct seen s = { 0 };

	pmclog_iter_resync(it);
	drain(it, &s);
	pmclog_iter_close(it);
	close(fd);
	return s;
}

/* A frame without a checksum says nothing more when all of it is out. */
static void test_exact(void)
{
	struct seen s;

	make_packed("small", 1, 1);
	/* the size of the iterator's buffer */
	while (p.g.len < (256 << 10) - 48)
		lg_fork(&p.g, 1, 2);
	lg_record(&p.g, PMCLOG_T_USERDATA, (256 << 10) - p.g.len);
	pack_again(0);
	s = read_file(p.z, p.len);
	ok(whole(&s), "a frame that ends where the buffer does");
}

static void test_resync(void)
{
	size_t sound, i;
	struct seen s;

	make_packed("small", 1, 1);
	p.z[p.len - 1] ^= 1;
	s = read_resync();
	ok(s.status == PMCLOG_ITER_ERROR && s.end == p.g.len && !s.wrong,
	   "the last record before a wrong checksum");
	sound = p.g.len;
	for (i = 0; i < 600 << 10; i += 4) {
		uint32_t junk = (uint32_t)random() & 0x7F7F7F7F;

		memcpy(lg_room(&p.g, 4), &junk, 4);
	}
	pack_again(1);
	p.len -= 6;
	s = read_resync();
	ok(s.status == PMCLOG_ITER_ERROR && !strcmp(s.error, CUT) &&
	   s.end == sound, "cut where no record is");
}

/* A window of 2 GiB costs whoever believes it that much memory. */
static void test_window(void)
{
	static const unsigned char wide[] = {
		0x28, 0xB5, 0x2F, 0xFD, 0x00, (31 - 10) << 3, 1, 0, 0,
	};
	struct seen s;

	make_packed("small", 1, 1);
	s = read_file(wide, sizeof(wide));
	ok(s.status == PMCLOG_ITER_ERROR && !strcmp(s.error,
	   "compressed with a window of more than 128 MiB"), "a wide window");
}

/* Memory and feeding are for those who have the bytes of the log itself. */
static void test_not_fd(void)
{
	struct pmclog_iter *it;
	struct pmclog_rec rec;

	make_packed("small", 1, 1);
	it = pmclog_iter_mem(p.z, p.len);
	ok(pmclog_iter_next(it, &rec) == PMCLOG_ITER_ERROR &&
	   strstr(pmclog_iter_error(it, NULL), "compressed by zstd"),
	   "memory is not decompressed: %s", pmclog_iter_error(it, NULL));
	pmclog_iter_close(it);
	it = pmclog_iter_new();
	abort_if(pmclog_iter_feed(it, p.z, p.len));
	ok(pmclog_iter_next(it, &rec) == PMCLOG_ITER_ERROR &&
	   strstr(pmclog_iter_error(it, NULL), "compressed by zstd"),
	   "nor what is fed");
	pmclog_iter_close(it);
}

int main(void)
{
	srandom(1);
	test_whole("small");
	test_whole("full");
	test_whole("long");
	test_cuts();
	test_damage();
	test_pipe();
	test_growing();
	test_exact();
	test_resync();
	test_window();
	test_not_fd();
	return done();
}

#endif
