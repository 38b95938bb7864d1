// SPDX-License-Identifier: GPL-2.0-only
/*
 * The kernel's and the module's functions that the writer thread calls, but that are
 * not part of the path of a record from a ring to the log.
 */
#include "log/emit.h"
#include "log/dump.h"
#include "log/flight.h"
#include "hwpmc.h"
#include "pmc/pmc.h"
#include "unwind/unwind.h"
#include "writer.h"

struct task_struct writer_current;
struct new_utsname writer_utsname = { .release = "writer" };
unsigned int nr_cpu_ids;
struct cpumask __cpu_possible_mask;

unsigned int cpumask_next(int cpu, const struct cpumask *mask)
{
	unsigned int at = cpu + 1, word = at / 64;
	unsigned long bits;

	if (at >= nr_cpu_ids)
		return nr_cpu_ids;
	bits = mask->bits[word] & (~0UL << at % 64);
	while (!bits) {
		if (++word * 64 >= nr_cpu_ids)
			return nr_cpu_ids;
		bits = mask->bits[word];
	}
	return word * 64 + __builtin_ctzl(bits);
}

noinline void cond_resched(void)
{
	barrier();
}

void schedule(void)
{
}

void *writer_zalloc(size_t size)
{
	return measure_alloc(size);
}

void writer_free(const void *p)
{
	measure_free((void *)p);
}

/* No such thing happens in a run. */
static noreturn void unexpected(void)
{
	__builtin_trap();
}

bool hwpmc_access_privileged(const struct hwpmc_owner *o)
{
	return true;
}

int hwpmc_access_locked(void)
{
	return 1;
}

u64 hwpmc_limit_run(struct hwpmc_owner *o, u64 ran)
{
	return 0;
}

void hwpmc_pmc_describe(const struct hwpmc_pmc *pmc, struct pmclog_pmcallocatedyn *a)
{
	a->pmcid = pmc->id;
	strscpy(a->name, pmc->name, sizeof(a->name));
	a->rate = pmc->period;
	a->type = pmc->attr.type;
	a->cpu = pmc->cpu;
}

bool hwpmc_pmc_fold(struct hwpmc_owner *o, struct hwpmc_pmc *pmc, bool wait)
{
	unexpected();
}

void hwpmc_log_keep(struct hwpmc_owner *o, struct pid *keeper, bool bound)
{
}

bool hwpmc_unwind_tidy(struct hwpmc_owner *o)
{
	return false;
}

void hwpmc_unwind_rest(struct hwpmc_owner *o)
{
}

void hwpmc_dump_all(struct hwpmc_owner *o)
{
	unexpected();
}

void hwpmc_dump_news(struct hwpmc_owner *o)
{
	unexpected();
}

void hwpmc_dump_young(struct hwpmc_owner *o, u64 since)
{
	unexpected();
}

struct dump_batch *hwpmc_dump_batch_new(struct hwpmc_owner *o, bool brief)
{
	unexpected();
}

int hwpmc_dump_batch_again(struct dump_batch *b, struct task_struct *leader, u32 nr,
			   bool no_maps, bool last)
{
	unexpected();
}

void hwpmc_dump_batch_ended(struct dump_batch *b, u32 nr, u64 tsc)
{
	unexpected();
}

void hwpmc_dump_batch_tell(struct dump_batch *b)
{
	unexpected();
}

void hwpmc_dump_batch_free(struct dump_batch *b)
{
	unexpected();
}

int hwpmc_flight_attach(struct hwpmc_owner *o, u64 size)
{
	unexpected();
}

void hwpmc_flight_free(struct hwpmc_owner *o)
{
}

int hwpmc_stream_attach(struct hwpmc_owner *o, u64 size)
{
	unexpected();
}

void hwpmc_stream_detach(struct hwpmc_owner *o)
{
}

void hwpmc_rotate_log(struct hwpmc_owner *o, const struct log_place *to)
{
	unexpected();
}

void *hwpmc_rotate_tee_room(struct hwpmc_owner *o, u32 len)
{
	unexpected();
}

bool hwpmc_snapshot_wanted(struct hwpmc_log *log, const struct log_request *r)
{
	return false;
}

void hwpmc_snapshot_answer(struct hwpmc_owner *o)
{
}

void hwpmc_snapshot_forget(struct hwpmc_owner *o)
{
}
