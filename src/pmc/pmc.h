/* SPDX-License-Identifier: GPL-2.0-only */
/* A PMC, its events, and the counters of its overflows. */
#ifndef HWPMC_PMC_H
#define HWPMC_PMC_H

#include <linux/bitmap.h>
#include <linux/cpumask.h>
#include <linux/perf_event.h>
#include <asm/local64.h>

#include "hwpmc.h"
#include "sample/period.h"

/**
 * struct pmc_stat - what became of a PMC's overflows on one CPU
 *
 * Written by the handler on that CPU at any nesting depth.  Read anywhere; a
 * reading is exact if no handler was there meanwhile: hwpmc_merge_look_holds().
 */
struct pmc_stat {
	local64_t	overflows;
	local64_t	committed;
	atomic64_t	dropped[PMCLOG_DROP_NCAUSE];	/* also on other CPUs */
	local64_t	filtered;
	local64_t	cut;
	local64_t	cut_by[PMCLOG_CUT_NCAUSE];
	local64_t	late;
	local64_t	throttled;
	u64		first[PMCLOG_DROP_NCAUSE];	/* of uncounted drops */
	u64		last[PMCLOG_DROP_NCAUSE];
};

/* the same, as read */
struct pmc_count {
	u64	overflows;
	u64	committed;
	u64	dropped[PMCLOG_DROP_NCAUSE];
	u64	filtered;
	u64	cut;
	u64	cut_by[PMCLOG_CUT_NCAUSE];
	u64	late;
	u64	throttled;
	u64	first[PMCLOG_DROP_NCAUSE];
	u64	last[PMCLOG_DROP_NCAUSE];
};

/**
 * struct count_zero - where the count of a PMC begins
 * @origin: the PMC's value is that, and the sum of its events
 * @enabled, @running: times of the sum when the value was set
 */
struct count_zero {
	u64	origin;
	u64	enabled;
	u64	running;
};

/* the count of events, and the time that they counted (nanoseconds) */
struct count_sum {
	u64	value;
	u64	enabled;
	u64	running;
};

/**
 * struct rate_expected - how many samples the period in force asks for
 * @expected: until the last reading, by all periods so far; READ_ONCE by the writer
 *	thread, WRITE_ONCE under owner->mutex, of a CPU also under owner->cpus_mutex
 * @before: ... until the period was last changed; under both mutexes, like @since
 * @since: the reading when the period was last changed
 */
struct rate_expected {
	u64	expected;
	u64	before;
	struct count_sum since;
};

/**
 * struct pmc_cpu - a PMC on one CPU
 * @pmc, @cpu: constant
 * @stat:  see struct pmc_stat
 * @event: owner->mutex; NULL while the CPU is offline, without a PMU, and if the PMU is
 *	not for this CPU
 * @life:  owner->mutex; owner->hp.cpu_lives of the CPU when @event was created
 * @base, @enabled0, @running0: owner->mutex; sums of events that are gone
 * @total, @enabled, @running: last reading, including events that are gone;
 *	WRITE_ONCE under owner->mutex, READ_ONCE by the writer thread
 * @rate:  of a system-wide PMC
 * @counted: drops in @seen; WRITE_ONCE by the writer thread, READ_ONCE by the
 *	     handler
 * @seen, @counted_at: the writer thread's: counters of one moment, and the time before
 *	it at which the pass began
 * @told, @told_last: the writer thread's: drops logged, and the last of them
 * @period: the writer thread's: of a PMC that samples at a rate
 * @last_period: that perf told at its last sample, for threads that begin; READ_ONCE and
 *	WRITE_ONCE anywhere, also by the handler
 */
struct pmc_cpu {
	struct hwpmc_pmc *pmc;
	int		cpu;
	struct pmc_stat	stat;

	struct perf_event *event;
	u32		life;
	u64		base;
	u64		enabled0;
	u64		running0;

	u64		total;
	u64		enabled;
	u64		running;
	struct rate_expected rate;

	u64		counted[PMCLOG_DROP_NCAUSE];
	struct pmc_count seen;
	u64		counted_at;
	u64		told[PMCLOG_DROP_NCAUSE];
	u64		told_last[PMCLOG_DROP_NCAUSE];
	struct period_logged period;
	u64		last_period;
};

static inline void sum_add(struct count_sum *a, const struct count_sum *b)
{
	a->value += b->value;
	a->enabled += b->enabled;
	a->running += b->running;
}

static inline void sum_set(struct count_sum *to, const struct count_sum *from)
{
	WRITE_ONCE(to->value, from->value);
	WRITE_ONCE(to->enabled, from->enabled);
	WRITE_ONCE(to->running, from->running);
}

enum pmc_state {
	PMC_ALLOCATED,
	PMC_RUNNING,
	PMC_STOPPED,
	PMC_DELETED,		/* no events any more; the thread folds it */
};

/**
 * struct hwpmc_pmc - one allocated PMC
 *
 * Constant except for:
 * @state:   owner->mutex, in process modes targets_mutex as well; READ_ONCE
 *	     elsewhere
 * @caller, @caller_size: kernel text that calls tracepoint probes, see
 *	hwpmc_source_note(); set before the first event is enabled
 * @asked:   period, or with HWPMC_F_FREQ samples a second; owner->mutex
 * @period:  in force: @asked, or a lower rate, see budget.c; owner->mutex; READ_ONCE
 *	     elsewhere
 * @period_logged: sampling PMCs: @period at the last record that the writer thread has
 *	merged.  The writer thread sets it; a holder of owner->mutex sets it when
 *	no record announces the change (no log, or no room for a budget's).
 * @zero, @zero_before: owner->mutex; of a counting PMC: now, and before the value was
 *	last set
 * @sum:     last reading of all events; WRITE_ONCE under owner->mutex,
 *	     READ_ONCE by the writer thread
 * @rate:    process modes: of @sum
 * @filter:  owner->mutex, while the PMC does not run; RCU
 * @gated:   owner->mutex, while the PMC does not run; READ_ONCE by handlers:
 *	     its samples pass owner->gate_open
 * @gone, @ntargets, @attached: process modes, targets_mutex: counts of removed
 *	links; number of links; was there ever a link
 * @told_log: the writer thread's: number of the log that has this id
 * @folding, @deleted_by: the writer thread's: it was deleted before that time
 * @rates_told: ... and its rates are in the log
 * @dropping: number of events being released; any process context
 * @no_pmu:  its PMU was removed, so it gets no more events; WRITE_ONCE and READ_ONCE
 *
 * Freed by hwpmc_pmc_fold(): by the writer thread; while there is none, under
 * owner->mutex.
 */
struct hwpmc_pmc {
	struct hwpmc_owner *owner;
	u32		id;
	u32		row;
	u32		mode;
	u32		flags;
	int		cpu;		/* or HWPMC_CPU_ALL */
	struct perf_event_attr attr;
	char		name[HWPMC_NAME_MAX];
	unsigned long	caller;
	unsigned long	caller_size;

	enum pmc_state	state;
	u64		asked;
	u64		period;
	u64		period_logged;
	struct count_zero zero, zero_before;
	struct count_sum sum;
	struct rate_expected rate;
	struct pmc_filter __rcu *filter;
	bool		gated;
	struct count_sum gone;
	unsigned int	ntargets;
	bool		attached;
	unsigned long	told_log;
	bool		folding;
	u64		deleted_by;
	bool		rates_told;
	atomic_t	dropping;
	bool		no_pmu;

	struct pmc_cpu	*cpus[];	/* by CPU number; NULL: none */
};

static inline bool mode_is_sampling(u32 mode)
{
	return mode == HWPMC_MODE_SS || mode == HWPMC_MODE_TS;
}

static inline bool mode_is_system(u32 mode)
{
	return mode == HWPMC_MODE_SS || mode == HWPMC_MODE_SC;
}

/* Branches in the kernel have its addresses, also for a PMC of user mode. */
static inline bool branch_shows_kernel(u64 branch)
{
	return branch & (PERF_SAMPLE_BRANCH_KERNEL | PERF_SAMPLE_BRANCH_HV);
}

static inline bool pmc_is_system(const struct hwpmc_pmc *pmc)
{
	return mode_is_system(pmc->mode);
}

static inline bool pmc_is_sampling(const struct hwpmc_pmc *pmc)
{
	return mode_is_sampling(pmc->mode);
}

/* under owner->mutex */
#define for_each_live_pmc(o, row, pmc)				\
	for_each_set_bit(row, (o)->pmcs.live, HWPMC_NROW)		\
		if (!((pmc) = (o)->pmcs.at[row])) {} else

/*
 * Context: the writer thread, which alone folds; while there is none, under
 * owner->mutex; anywhere else, under fold_mutex.
 */
#define for_each_pmc(o, row, pmc)				\
	for ((row) = 0; (row) < READ_ONCE((o)->pmcs.end_row); (row)++)	\
		if (!((pmc) = smp_load_acquire(&(o)->pmcs.at[row]))) {} else

/* without owner->mutex: hotplug work may add entries meanwhile */
#define for_each_pmc_cpu(pmc, cpu, pc)				\
	for_each_possible_cpu(cpu)				\
		if (!((pc) = smp_load_acquire(&(pmc)->cpus[cpu]))) {} else

/* pmc.c: under owner->mutex */
#define HWPMC_CAPS_OFFERED	(HWPMC_CAP_INTERRUPT | HWPMC_CAP_USER | \
				 HWPMC_CAP_SYSTEM | HWPMC_CAP_READ | \
				 HWPMC_CAP_WRITE | HWPMC_CAP_PRECISE | \
				 HWPMC_CAP_SYSWIDE)

/* what only a PMU can answer */
#define HWPMC_F_OF_PMU		(HWPMC_F_BRANCH | HWPMC_F_DATA)

struct hwpmc_pmc *hwpmc_pmc_find(struct hwpmc_owner *o, u32 id);
int hwpmc_pmc_allocate(struct hwpmc_owner *o, struct hwpmc_allocate *a);
int hwpmc_pmc_release(struct hwpmc_owner *o, u32 id);
void hwpmc_pmc_allocate_undo(struct hwpmc_owner *o, u32 id);
int hwpmc_pmc_start(struct hwpmc_owner *o, u32 id);
int hwpmc_pmc_stop(struct hwpmc_owner *o, u32 id);
int hwpmc_pmc_attach(struct hwpmc_owner *o, struct hwpmc_attach *a);
int hwpmc_pmc_filter(struct hwpmc_owner *o, const struct hwpmc_filter *a);
int hwpmc_pmc_detach(struct hwpmc_owner *o, struct hwpmc_attach *a);
void hwpmc_pmc_stop_logging(struct hwpmc_owner *o);
int hwpmc_pmc_may_start(struct hwpmc_owner *o, const struct hwpmc_pmc *pmc);
int hwpmc_pmc_check(struct hwpmc_owner *o, const struct hwpmc_pmc *pmc);
int hwpmc_pmc_prepare(struct hwpmc_owner *o, struct hwpmc_pmc *pmc);
void hwpmc_pmc_enable(struct hwpmc_pmc *pmc);
void hwpmc_pmc_disable(struct hwpmc_pmc *pmc);
bool hwpmc_pmc_needs_log(const struct hwpmc_pmc *pmc);
void hwpmc_pmc_release_all(struct hwpmc_owner *o);

/* create.c: under owner->mutex */
int hwpmc_create_events(struct hwpmc_pmc *pmc);
void hwpmc_create_undo(struct hwpmc_pmc *pmc);
void hwpmc_create_undo_cpus(struct hwpmc_pmc *pmc);

/* object/pmcs.c: under owner->mutex; the writer thread describes and folds, too */
void hwpmc_pmc_describe(const struct hwpmc_pmc *pmc,
			struct pmclog_pmcallocatedyn *a);
int hwpmc_pmc_charge(struct hwpmc_owner *o, u32 mode, int cpu);
void hwpmc_pmc_uncharge(struct hwpmc_owner *o, u32 mode, int cpu);
void hwpmc_pmc_free(struct hwpmc_pmc *pmc);
bool hwpmc_pmc_fold(struct hwpmc_owner *o, struct hwpmc_pmc *pmc, bool wait);

/* value.c: under owner->mutex */
void hwpmc_pmc_fill_period(struct hwpmc_pmc *pmc, u64 count);
int hwpmc_pmc_setcount(struct hwpmc_owner *o, struct hwpmc_setcount *a,
		       u64 *old);
void hwpmc_pmc_forget_logged(struct hwpmc_owner *o);
void hwpmc_pmc_setcount_undo(struct hwpmc_owner *o, u32 id, u64 old);
int hwpmc_pmc_rw(struct hwpmc_owner *o, struct hwpmc_rw *a);
void hwpmc_pmc_rw_undo(struct hwpmc_owner *o, u32 id);
int hwpmc_pmc_set_period(struct hwpmc_pmc *pmc, u64 period);
void hwpmc_pmc_refresh(struct hwpmc_pmc *pmc);
void hwpmc_pmc_refresh_all(struct hwpmc_owner *o);

/* budget.c: under owner->mutex, except hwpmc_budget_end() */
int hwpmc_budget_set(struct hwpmc_owner *o, const struct hwpmc_setbudget *a);
void hwpmc_budget_get(struct hwpmc_owner *o, struct hwpmc_getbudget *a);
u64 hwpmc_budget_rate(const struct hwpmc_pmc *pmc, u64 rate);
void hwpmc_budget_expect(const struct hwpmc_pmc *pmc, u64 rate);
void hwpmc_budget_unexpect(const struct hwpmc_pmc *pmc);
void hwpmc_budget_end(struct hwpmc_owner *o);

/* stats.c: sums of counters */
void hwpmc_stats_add_count(struct pmclog_account *a, const struct pmc_count *c);
void hwpmc_stats_add_account(struct pmclog_account *a,
			     const struct pmclog_account *b);
void hwpmc_stats_sub_account(struct pmclog_account *a,
			     const struct pmclog_account *b);
void hwpmc_stats_read_count(struct pmc_count *c, const struct pmc_stat *s);

/* logging.c: under owner->mutex and owner->cpus_mutex */
int hwpmc_logging_configure(struct hwpmc_owner *o,
			    const struct hwpmc_configurelog *c);
int hwpmc_logging_close(struct hwpmc_owner *o);
void hwpmc_logging_begin_end(struct hwpmc_owner *o);
void hwpmc_logging_drop(struct hwpmc_owner *o);
int hwpmc_logging_rotate(struct hwpmc_owner *o, int fd, u32 flags);
int hwpmc_logging_snapshot(struct hwpmc_owner *o, const struct hwpmc_snapshot *s);

/*
 * The changes that a RECORD has made.
 * @rows: rows of the PMCs that were started or stopped
 * @fresh: rows of the PMCs that were attached to the caller for that
 * @log:  a log was begun for them
 * @held, @hooked: the owner's hooks before
 */
struct recorded {
	DECLARE_BITMAP(rows, HWPMC_NROW);
	DECLARE_BITMAP(fresh, HWPMC_NROW);
	bool		log;
	unsigned long	held;
	bool		hooked;
};

/* recordall.c: under owner->mutex */
int hwpmc_recordall_run(struct hwpmc_owner *o, struct hwpmc_record *a,
			struct recorded *done);
void hwpmc_recordall_undo(struct hwpmc_owner *o, struct hwpmc_record *a,
			  struct recorded *done);

/* cpus.c: under owner->mutex and owner->cpus_mutex */
int hwpmc_cpus_set(struct hwpmc_owner *o, const struct hwpmc_setcpus *a);

/* rows.c: over all owners; cpu < 0: all CPUs */
int hwpmc_rows_init(void);
void hwpmc_rows_exit(void);
bool hwpmc_rows_take(int cpu, u32 row);
void hwpmc_rows_put(int cpu, u32 row);
void hwpmc_rows_disabled(int cpu, unsigned long *map);
int hwpmc_rows_check_cpu(int cpu);
int hwpmc_rows_admin(const struct hwpmc_owner *o, const struct hwpmc_admin *a);

/* source.c: event sources */
int hwpmc_source_init(void);
int hwpmc_source_check_flags(const struct hwpmc_allocate *a);
int hwpmc_source_check(const struct hwpmc_allocate *a);
u64 hwpmc_source_default_period(u32 type);
void hwpmc_source_fill(struct perf_event_attr *attr,
		       const struct hwpmc_allocate *a);
void hwpmc_source_fill_hardware(struct perf_event_attr *attr,
				const struct hwpmc_allocate *a);
bool hwpmc_source_less_precise(struct perf_event_attr *attr, int err);
bool hwpmc_source_knows_no_modes(struct perf_event_attr *attr);
void hwpmc_source_note(struct hwpmc_pmc *pmc, const struct perf_event *event);
int hwpmc_source_suits(const struct perf_event *event, bool sampling);
bool hwpmc_source_is_elsewhere(const struct perf_event *event, int cpu);

/* event.c: the locks are at its top */
int hwpmc_event_init(void);
void hwpmc_event_exit(void);
struct perf_event *hwpmc_event_new(struct hwpmc_pmc *pmc, int cpu,
				   struct task_struct *task, void *context,
				   perf_overflow_handler_t handler);
bool hwpmc_event_lost_pmu(struct hwpmc_pmc *pmc, const struct perf_event *event);
int hwpmc_event_set_period(const struct hwpmc_pmc *pmc, struct perf_event *event,
			   u64 period);
int hwpmc_event_create(struct pmc_cpu *pc);
void hwpmc_event_drop(struct hwpmc_pmc *pmc, struct perf_event *event);
void hwpmc_event_drops_wait(struct hwpmc_pmc *pmc);
void hwpmc_event_drops_settle(struct hwpmc_pmc *pmc);
int hwpmc_event_add_cpus(struct hwpmc_pmc *pmc);
void hwpmc_event_release(struct pmc_cpu *pc);
void hwpmc_event_read(struct pmc_cpu *pc);
int hwpmc_event_sync_cpus(struct hwpmc_pmc *pmc);
int hwpmc_event_create_cpus(struct hwpmc_pmc *pmc);
bool hwpmc_event_says_no(int err);
int hwpmc_event_exists(u32 type, u64 config);

/* rate.c: for the locks see there */
void hwpmc_rate_read(const struct hwpmc_pmc *pmc, struct rate_expected *r,
		     const struct count_sum *now);
void hwpmc_rate_set_sum(struct hwpmc_pmc *pmc, const struct count_sum *sum);
void hwpmc_rate_period_ends(struct hwpmc_pmc *pmc);

/* filter.c */
int hwpmc_filter_set(struct hwpmc_pmc *pmc, const struct hwpmc_filter *a);
bool hwpmc_filter_refuses(const struct hwpmc_pmc *pmc, struct pt_regs *regs);
void hwpmc_filter_free(struct hwpmc_pmc *pmc);

#endif /* HWPMC_PMC_H */
