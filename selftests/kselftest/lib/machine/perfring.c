// SPDX-License-Identifier: GPL-2.0-only
#include <linux/perf_event.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "perfring.h"

#define RING_BYTES	(8UL << 20)

bool perf_ring_begin(struct perf_ring *r, int cpu, uint32_t type,
		     uint64_t config, unsigned int hz)
{
	struct perf_event_attr attr = {
		.size = sizeof(attr),
		.type = type,
		.config = config,
		.sample_freq = hz,
		.freq = 1,
		.sample_type = PERF_SAMPLE_TID | PERF_SAMPLE_CALLCHAIN,
		.exclude_callchain_user = 1,
	};

	memset(r, 0, sizeof(*r));
	r->fd = syscall(SYS_perf_event_open, &attr, -1, cpu, -1,
			PERF_FLAG_FD_CLOEXEC);
	if (r->fd < 0)
		return false;
	r->base = mmap(NULL, getpagesize() + RING_BYTES, PROT_READ | PROT_WRITE,
		       MAP_SHARED, r->fd, 0);
	if (r->base != MAP_FAILED)
		return true;
	close(r->fd);
	return false;
}

void perf_ring_stop(struct perf_ring *r)
{
	ioctl(r->fd, PERF_EVENT_IOC_DISABLE, 0);
}

/* Copies what may go around the end of the buffer. */
static void take(const struct perf_ring *r, uint64_t at, void *to, size_t len)
{
	const char *data = (const char *)r->base + getpagesize();
	size_t off = at % RING_BYTES, first = RING_BYTES - off;

	if (first > len)
		first = len;
	memcpy(to, data + off, first);
	memcpy((char *)to + first, data, len - first);
}

static void read_sample(const struct perf_ring *r, uint64_t at,
			struct perf_chain *c)
{
	uint32_t ids[2];
	uint64_t n, pc;

	take(r, at, ids, sizeof(ids));
	c->pid = ids[0];
	c->tid = ids[1];
	at += sizeof(ids);
	take(r, at, &n, sizeof(n));
	for (c->npc = 0; n-- && c->npc < PERF_RING_DEPTH;) {
		at += sizeof(pc);
		take(r, at, &pc, sizeof(pc));
		/* markers: PERF_CONTEXT_KERNEL */
		if (pc < PERF_CONTEXT_MAX)
			c->pc[c->npc++] = pc;
	}
}

bool perf_ring_next(struct perf_ring *r, struct perf_chain *c)
{
	struct perf_event_mmap_page *page = r->base;
	uint64_t head = __atomic_load_n(&page->data_head, __ATOMIC_ACQUIRE);
	uint64_t tail = page->data_tail, lost[2];
	struct perf_event_header h;
	bool found = false;

	while (!found && tail < head) {
		take(r, tail, &h, sizeof(h));
		found = h.type == PERF_RECORD_SAMPLE;
		if (found)
			read_sample(r, tail + sizeof(h), c);
		if (h.type == PERF_RECORD_LOST) {
			take(r, tail + sizeof(h), lost, sizeof(lost));
			r->lost += lost[1];
		}
		tail += h.size;
	}
	__atomic_store_n(&page->data_tail, tail, __ATOMIC_RELEASE);
	return found;
}

void perf_ring_end(struct perf_ring *r)
{
	munmap(r->base, getpagesize() + RING_BYTES);
	close(r->fd);
}
