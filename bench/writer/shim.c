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

void *hwpmc_memory(size_t bytes, int node, gfp_t flags)
{
	(void)node;
	(void)flags;
	return measure_alloc(bytes);
}

void writer_free(const void *p)
{
	measure_free((void *)p);
}

/* What does not happen in a run */
#define UNEXPECTED(...)	__VA_ARGS__ { __builtin_trap(); }
/* What a run has nothing to do for, or gets the same answer of each time */
#define NOTHING(...)	__VA_ARGS__ { }
#define ALWAYS(answer, ...) __VA_ARGS__ { return answer; }

ALWAYS(true, bool hwpmc_access_privileged(const struct hwpmc_owner *o))
ALWAYS(1, int hwpmc_access_locked(void))
ALWAYS(0, u64 hwpmc_limit_run(struct hwpmc_owner *o, enum limit_time kind, u64 ran))
ALWAYS(0, int hwpmc_limit_begin_work(struct hwpmc_owner *o))
NOTHING(void hwpmc_limit_end_work(struct hwpmc_owner *o, u64 ran))
NOTHING(void hwpmc_limit_leave(struct hwpmc_owner *o))

void hwpmc_pmc_describe(const struct hwpmc_pmc *pmc, struct pmclog_pmcallocatedyn *a)
{
	a->pmcid = pmc->id;
	strscpy(a->name, pmc->name, sizeof(a->name));
	a->rate = pmc->period;
	a->type = pmc->attr.type;
	a->cpu = pmc->cpu;
}

UNEXPECTED(bool hwpmc_pmc_fold(struct hwpmc_owner *o, struct hwpmc_pmc *pmc, bool wait))
NOTHING(void hwpmc_log_keep(struct hwpmc_owner *o, struct pid *keeper, bool bound))
ALWAYS(false, bool hwpmc_unwind_tidy(struct hwpmc_owner *o))
NOTHING(void hwpmc_unwind_rest(struct hwpmc_owner *o))
NOTHING(void hwpmc_unwind_sync_lapsed(struct hwpmc_owner *o))
UNEXPECTED(u64 hwpmc_run_by_worker(void (*fn)(void *arg), void *arg))
UNEXPECTED(void hwpmc_dump_count_loss(struct hwpmc_owner *o))
UNEXPECTED(void hwpmc_dump_all(struct hwpmc_owner *o))
UNEXPECTED(void hwpmc_dump_news(struct hwpmc_owner *o))
UNEXPECTED(void hwpmc_dump_young(struct hwpmc_owner *o, u64 since))
UNEXPECTED(struct dump_batch *hwpmc_dump_batch_new(struct hwpmc_owner *o, bool brief))
UNEXPECTED(int hwpmc_dump_batch_again(struct dump_batch *b, struct task_struct *leader,
	   u32 nr, bool no_maps, bool last, bool *told))
UNEXPECTED(void hwpmc_dump_batch_ended(struct dump_batch *b, u32 nr, u64 tsc))
UNEXPECTED(void hwpmc_dump_batch_tell(struct dump_batch *b))
UNEXPECTED(void hwpmc_dump_batch_free(struct dump_batch *b))
UNEXPECTED(int hwpmc_flight_attach(struct hwpmc_owner *o, u64 size))
NOTHING(void hwpmc_flight_free(struct hwpmc_owner *o))
UNEXPECTED(int hwpmc_stream_attach(struct hwpmc_owner *o, u64 size))
NOTHING(void hwpmc_stream_detach(struct hwpmc_owner *o))
UNEXPECTED(void hwpmc_rotate_log(struct hwpmc_owner *o, const struct log_place *to))
UNEXPECTED(void *hwpmc_rotate_tee_room(struct hwpmc_owner *o, u32 len))
ALWAYS(false, bool hwpmc_snapshot_wanted(struct hwpmc_log *log, const struct log_request *r))
NOTHING(void hwpmc_snapshot_answer(struct hwpmc_owner *o))
NOTHING(void hwpmc_snapshot_forget(struct hwpmc_owner *o))
