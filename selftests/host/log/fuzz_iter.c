// SPDX-License-Identifier: BSD-2-Clause
/* libFuzzer: the library's two interfaces on any bytes. */
#include <stddef.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

#include <pmclog.h>
#include <pmclog_iter.h>

#include "moving.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static uint64_t walk(struct pmclog_iter *it)
{
	struct pmclog_rec rec;
	uint64_t sum = 0;
	uint32_t i;

	while (pmclog_iter_next(it, &rec) == PMCLOG_ITER_RECORD) {
		for (i = 0; i < rec.len; i++)
			sum = sum * 31 + rec.data[i];
		pmclog_iter_await(it);
	}
	return sum;
}

/* Records, with those that are passed over wherever that can be asked for. */
static uint64_t count(const uint8_t *data, size_t size, bool resync, bool pass)
{
	struct pmclog_iter *it = pmclog_iter_mem(data, size);
	struct pmclog_passed passed;
	struct pmclog_rec rec;
	uint64_t n = 0;

	if (resync)
		pmclog_iter_resync(it);
	while (pmclog_iter_next(it, &rec) == PMCLOG_ITER_RECORD) {
		if (++n != rec.serial)
			__builtin_trap();
		while (pass && pmclog_iter_pass(it, 0, 0, &passed))
			n += passed.n;
	}
	pmclog_iter_close(it);
	return n;
}

/* The first byte says how the rest is cut. */
static uint64_t walk_fed(const uint8_t *data, size_t size, size_t chunk)
{
	struct pmclog_iter *it = pmclog_iter_new();
	struct pmclog_rec rec;
	uint64_t sum = 0;
	size_t at, n;
	uint32_t i;

	for (at = 0; at < size; at += n) {
		n = size - at < chunk ? size - at : chunk;
		if (pmclog_iter_feed(it, data + at, n))
			__builtin_trap();
		while (pmclog_iter_next(it, &rec) == PMCLOG_ITER_RECORD)
			for (i = 0; i < rec.len; i++)
				sum = sum * 31 + rec.data[i];
	}
	pmclog_iter_close(it);
	return sum;
}

/* Windows of any length, which are gone with the next one. */
static ssize_t next_window(void *ctx, uint64_t offset, const unsigned char **p)
{
	struct moving *m = ctx;

	return moving_on(m, offset, m->step, p);
}

/* The log is cut while it is read. */
static ssize_t cut_window(void *ctx, uint64_t offset, const unsigned char **p)
{
	struct moving *m = ctx;

	if (offset % 3)
		m->len -= m->len / 8;
	return moving_on(m, offset, m->step, p);
}

static uint64_t walk_windows(const uint8_t *data, size_t size, size_t chunk,
			     bool resync, pmclog_window_fn window)
{
	struct moving m = { .buf = data, .len = size, .step = 64 * chunk };
	struct pmclog_iter *it = pmclog_iter_window(window, &m);
	uint64_t sum;

	if (resync)
		pmclog_iter_resync(it);
	sum = walk(it);
	pmclog_iter_close(it);
	free(m.copy);
	return sum;
}

static void read_events(const uint8_t *data, size_t size)
{
	static struct pmclog_ev ev;
	void *ps = pmclog_open(PMCLOG_FD_NONE);

	if (pmclog_feed(ps, (char *)data, size))
		__builtin_trap();
	do {
		while (!pmclog_read(ps, &ev))
			;
	} while (ev.pl_state == PMCLOG_EOF);
	pmclog_close(ps);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct pmclog_iter *it;
	uint64_t sum, resynced;
	size_t chunk;

	if (!size)
		return 0;
	chunk = 1 + data[0];
	data++;
	size--;
	it = pmclog_iter_mem(data, size);
	sum = walk(it);
	pmclog_iter_close(it);
	if (sum != walk_fed(data, size, chunk))
		__builtin_trap();
	it = pmclog_iter_mem(data, size);
	pmclog_iter_resync(it);
	resynced = walk(it);
	pmclog_iter_close(it);
	if (sum != walk_windows(data, size, chunk, false, next_window) ||
	    resynced != walk_windows(data, size, size, true, next_window))
		__builtin_trap();
	if (count(data, size, false, true) != count(data, size, false, false) ||
	    count(data, size, true, true) != count(data, size, true, false))
		__builtin_trap();
	/* who sees less ahead may go on elsewhere */
	walk_windows(data, size, chunk, true, next_window);
	walk_windows(data, size, chunk, chunk & 1, cut_window);
	read_events(data, size);
	return 0;
}
