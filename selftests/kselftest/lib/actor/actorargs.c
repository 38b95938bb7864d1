// SPDX-License-Identifier: GPL-2.0-only
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "actor.h"
#include "guest.h"

/*
 * Rates that the machine can bear: what becomes of it under more is overload.c's
 * subject.
 */
static struct hwpmc_allocate sampler(struct rng *r)
{
	switch (rng_below(r, 8)) {
	case 0:
		return pmc_sampler(SWITCHES, 1 + rng_below(r, 50));
	case 1:
		return pmc_sampler(FAULTS, 1 + rng_below(r, 50));
	case 2:
		return pmc_sampler(CYCLES, 5000000 + rng_below(r, 50000000));
	default:
		return pmc_clock(10 + rng_below(r, scaled(1000, 150)));
	}
}

static void of_processes(struct rng *r, struct hwpmc_allocate *a)
{
	a->mode = a->mode == HWPMC_MODE_SS ? HWPMC_MODE_TS : HWPMC_MODE_TC;
	a->cpu = HWPMC_CPU_ANY;
	a->flags &= ~HWPMC_F_INCLUDE_OWNER;
	if (rng_once(r, 2))
		a->flags |= HWPMC_F_DESCENDANTS;
	if (a->mode == HWPMC_MODE_TC && rng_once(r, 2))
		a->flags |= HWPMC_F_LOG_PROCEXIT;
	if (a->mode == HWPMC_MODE_TC && rng_once(r, 2))
		a->flags |= HWPMC_F_LOG_PROCCSW;
}

/* Ourselves, who has made us, and whoever may be there. */
int args_pid(struct rng *r)
{
	switch (rng_below(r, 4)) {
	case 0:
		return 0;
	case 1:
		return getpid();
	case 2:
		return getppid();
	default:
		return rng_below(r, getpid() + 20);
	}
}

struct hwpmc_allocate args_pmc(struct rng *r)
{
	struct hwpmc_allocate a;

	if (rng_once(r, 3))
		a = pmc_counter(rng_once(r, 4) ? PERF_TYPE_HARDWARE :
						 PERF_TYPE_SOFTWARE,
				rng_below(r, PERF_COUNT_SW_MAX));
	else
		a = sampler(r);
	if (rng_once(r, 3))
		a.cpu = rng_below(r, 2);
	if (rng_once(r, 3))
		of_processes(r, &a);
	if (rng_once(r, 4))
		a.flags &= ~HWPMC_F_INCLUDE_OWNER;
	if (rng_once(r, 3))
		a.caps = rng_below(r, 4) << 1;		/* USER, SYSTEM */
	if (rng_once(r, 4))
		a.flags |= HWPMC_F_EXCLUDE_IDLE;
	if ((a.mode == HWPMC_MODE_SS || a.mode == HWPMC_MODE_TS) &&
	    rng_once(r, 6))
		a.flags |= HWPMC_F_TRIGGER;
	if (rng_once(r, 4))
		a.flags &= ~(HWPMC_F_CALLCHAIN | HWPMC_F_USERCALLCHAIN);
	return a;
}

/* One that samples can have, mostly; @cgroup: an open directory. */
struct hwpmc_condition args_condition(struct rng *r, int cgroup)
{
	struct hwpmc_condition c = {
		.what = 1 + rng_below(r, HWPMC_COND_USER),
		.op = rng_below(r, 2),
	};

	switch (c.what) {
	case HWPMC_COND_COMM:
		snprintf(c.comm, sizeof(c.comm), "actor%u-%u", rng_below(r, 4),
			 rng_below(r, 10));
		break;
	case HWPMC_COND_CGROUP:
		c.value = cgroup;
		break;
	case HWPMC_COND_USER:
		break;
	default:
		c.value = args_pid(r);
	}
	return c;
}

/* One word of @arg becomes another. */
void args_spoil(struct rng *r, void *arg, uint32_t size)
{
	static const uint32_t words[] = {
		0, 1, 2, 3, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFE, 0xFFFFFFFF,
	};
	uint32_t word = rng_once(r, 3) ? (uint32_t)rng_next(r) :
					 words[rng_below(r, 8)];

	memcpy((char *)arg + rng_below(r, size / 4) * 4, &word, 4);
}

/* A record that WRITELOG takes, or nearly; returns its length. */
uint32_t args_records(struct rng *r, void *buf, uint32_t size)
{
	struct pmclog_map_in *m = buf;
	uint32_t len = sizeof(*m) + 8 + 4 * rng_below(r, 64);

	if (len > size)
		len = size;
	memset(buf, 0, len);
	m->h.header = PMCLOG_HEADER(PMCLOG_T_MAP_IN, len);
	m->pid = PMCLOG_PID_KERNEL;
	m->start = 0xFFFFFFFFC0100000ULL;
	memset(m + 1, 'm', len - sizeof(*m) - 1);
	if (rng_once(r, 2))
		args_spoil(r, buf, len);
	return len;
}

/* Nothing there, half of it there, not to be written, not ours. */
void *args_bad_address(struct rng *r)
{
	static char *pages;
	char *p;

	if (!pages) {
		p = mmap(NULL, 3 * 65536, PROT_READ | PROT_WRITE,
			 MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		if (p != MAP_FAILED) {
			mprotect(p + 65536, 65536, PROT_NONE);
			mprotect(p + 2 * 65536, 65536, PROT_READ);
			pages = p;
		}
	}
	switch (rng_below(r, 6)) {
	case 0:
		return NULL;
	case 1:
		return (void *)rng_next(r);
	case 2:
		return (void *)(1UL << 63 | rng_next(r));
	case 3:
		return pages + 65536;
	case 4:
		return pages + 2 * 65536;
	default:
		return pages + 65536 - 4 * (1 + rng_below(r, 20));
	}
}
