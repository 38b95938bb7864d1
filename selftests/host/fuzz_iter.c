// SPDX-License-Identifier: BSD-2-Clause
/* libFuzzer: the library's two interfaces on any bytes. */
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <pmclog.h>
#include <pmclog_iter.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static uint64_t walk(struct pmclog_iter *it)
{
	struct pmclog_rec rec;
	uint64_t sum = 0;
	uint32_t i;

	while (pmclog_iter_next(it, &rec) == PMCLOG_ITER_RECORD)
		for (i = 0; i < rec.len; i++)
			sum = sum * 31 + rec.data[i];
	return sum;
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
	uint64_t sum;
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
	read_events(data, size);
	return 0;
}
