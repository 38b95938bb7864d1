/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <linux/perf_event.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "bpf/sampler.h"
#include "bpf/sideband.h"

/* within kernel.perf_event_mlock_kb of a user without CAP_IPC_LOCK */
#define DATA_SIZE	(256U << 10)

/* Each record ends with this: TID, TIME and CPU of struct perf_event_attr */
struct trailer {
	uint32_t	pid, tid;
	uint64_t	time;
	uint32_t	cpu, res;
};

static int open_event(unsigned int cpu)
{
	struct perf_event_attr attr = {
		.size = sizeof(attr), .type = PERF_TYPE_SOFTWARE,
		.config = PERF_COUNT_SW_DUMMY,
		.sample_type = PERF_SAMPLE_TID | PERF_SAMPLE_TIME |
			       PERF_SAMPLE_CPU,
		.read_format = PERF_FORMAT_LOST,
		.sample_id_all = 1, .use_clockid = 1, .clockid = CLOCK_MONOTONIC,
		.mmap = 1, .mmap2 = 1, .comm = 1, .comm_exec = 1, .task = 1,
		.watermark = 1, .wakeup_watermark = DATA_SIZE / 4,
	};

	return (int)syscall(SYS_perf_event_open, &attr, -1, cpu, -1,
			    PERF_FLAG_FD_CLOEXEC);
}

static int open_cpu(struct sideband *s, unsigned int cpu)
{
	void *page;

	s->fd[cpu] = open_event(cpu);
	if (s->fd[cpu] < 0)
		return errno == ENODEV ? 0 : -1;	/* offline */
	page = mmap(NULL, (size_t)sysconf(_SC_PAGESIZE) + DATA_SIZE,
		    PROT_READ | PROT_WRITE, MAP_SHARED, s->fd[cpu], 0);
	if (page == MAP_FAILED)
		return -1;
	s->page[cpu] = page;
	return 0;
}

int sideband_open(struct sideband *s, unsigned int ncpu)
{
	unsigned int cpu;

	s->fd = calloc(ncpu, sizeof(*s->fd));
	s->page = calloc(ncpu, sizeof(*s->page));
	s->lost = calloc(ncpu, sizeof(*s->lost));
	if (!s->fd || !s->page || !s->lost)
		return -1;
	s->ncpu = ncpu;
	for (cpu = 0; cpu < ncpu; cpu++)
		s->fd[cpu] = -1;
	for (cpu = 0; cpu < ncpu; cpu++)
		if (open_cpu(s, cpu))
			return -1;
	return 0;
}

void sideband_stop(struct sideband *s)
{
	unsigned int cpu;

	for (cpu = 0; cpu < s->ncpu; cpu++)
		if (s->fd[cpu] >= 0)
			ioctl(s->fd[cpu], PERF_EVENT_IOC_DISABLE, 0);
}

/*
 * perf reports a loss with the next record that has room.  Behind the last record there
 * is none, so the number of all losses is read from the event.
 */
void sideband_settle(struct sideband *s)
{
	struct {
		uint64_t value, lost;
	} got;
	unsigned int cpu;

	for (cpu = 0; cpu < s->ncpu; cpu++)
		if (s->fd[cpu] >= 0 &&
		    read(s->fd[cpu], &got, sizeof(got)) == sizeof(got) &&
		    got.lost > s->lost[cpu])
			s->lost[cpu] = got.lost;
}

void sideband_close(struct sideband *s)
{
	unsigned int cpu;

	for (cpu = 0; cpu < s->ncpu; cpu++) {
		if (s->page[cpu])
			munmap(s->page[cpu],
			       (size_t)sysconf(_SC_PAGESIZE) + DATA_SIZE);
		if (s->fd[cpu] >= 0)
			close(s->fd[cpu]);
	}
	free(s->fd);
	free(s->page);
	free(s->lost);
	memset(s, 0, sizeof(*s));
}

/* Copies @len bytes at @pos of a ring, around its end. */
static void copy_out(void *to, const unsigned char *data, uint64_t pos, size_t len)
{
	size_t at = pos & (DATA_SIZE - 1);
	size_t first = len < DATA_SIZE - at ? len : DATA_SIZE - at;

	memcpy(to, data + at, first);
	memcpy((unsigned char *)to + first, data, len - first);
}

static void take_record(struct sideband *s, unsigned int cpu, struct queues *q,
			unsigned int i, struct sideband_record *r)
{
	struct perf_event_header h;
	struct trailer t;
	uint64_t lost;

	memcpy(&h, r->perf, sizeof(h));
	if (h.type == PERF_RECORD_LOST) {
		/* after the header: an id, and the number */
		memcpy(&lost, r->perf + sizeof(h) + sizeof(uint64_t),
		       sizeof(lost));
		s->lost[cpu] += lost;
		return;
	}
	memcpy(&t, r->perf + h.size - sizeof(t), sizeof(t));
	r->stamp = (struct ring_stamp){ .tsc = t.time };
	s->records++;
	queue_push(q, i, SAMPLER_PERF, r, (u32)(sizeof(*r) + h.size));
}

int sideband_take(struct sideband *s, unsigned int cpu, struct queues *q,
		  unsigned int i)
{
	static union {
		struct sideband_record r;
		unsigned char bytes[sizeof(struct sideband_record) +
				    QUEUE_RECORD_MAX];
	} u;
	struct perf_event_mmap_page *page = s->page[cpu];
	const unsigned char *data = (unsigned char *)page +
				    sysconf(_SC_PAGESIZE);
	uint64_t head, tail;
	struct perf_event_header h;

	if (!page)
		return 1;
	head = __atomic_load_n(&page->data_head, __ATOMIC_ACQUIRE);
	for (tail = page->data_tail; tail < head && queue_has_room(q, i);
	     tail += h.size) {
		copy_out(&h, data, tail, sizeof(h));
		if (h.size < sizeof(h) + sizeof(struct trailer)) {
			/* not perf's: nothing behind it can be found */
			s->lost[cpu]++;
			tail = head;
			break;
		}
		copy_out(u.r.perf, data, tail, h.size);
		take_record(s, cpu, q, i, &u.r);
	}
	__atomic_store_n(&page->data_tail, tail, __ATOMIC_RELEASE);
	return tail == head;
}
