// SPDX-License-Identifier: GPL-2.0-only
/*
 * The writer thread: one per log.
 *
 * Each pass looks at all rings, merges the records up to the horizon into the
 * buffer by time, reports losses, and answers requests.  The thread never takes the
 * owner's mutex, because its holder may be waiting for the thread: see hwpmc.h.
 */
#include <linux/delay.h>
#include <linux/freezer.h>
#include <linux/kthread.h>
#include <linux/module.h>
#include <linux/sched.h>
#include <linux/sched/signal.h>
#include <linux/timekeeping.h>
#include <uapi/linux/sched/types.h>

#include "dump.h"
#include "emit.h"
#include "flight.h"
#include "hwpmc.h"
#include "pmc/pmc.h"
#include "sample/record.h"
#include "sink.h"
#include "trace.h"
#include "unwind/unwind.h"

#define DRAIN_INTERVAL	(HZ / 20)
#define REST		HZ
#define REST_OF_PIPE	(HZ / 5)	/* there is a reader who waits */
/* a pass with more records than this of each CPU is followed by another one soon */
#define FEW		50
#define LOOK_TRIES	8
#define EXACT_TRIES	1000
#define THREAD_NICE	-10

/* @cpu: or RING_OF_IOCTLS, where no PMC is */
static struct pmc_cpu *pmc_on(struct hwpmc_pmc *pmc, unsigned int cpu)
{
	return cpu < nr_cpu_ids ? smp_load_acquire(&pmc->cpus[cpu]) : NULL;
}

/* Has no handler counted in @pc since @state?  A PMC that is folded has no handlers. */
static bool count_holds(struct pmc_cpu *pc, struct merge_src *src, u64 state)
{
	if (pc->pmc->folding)
		return true;
	if (src->ring)
		return hwpmc_merge_look_holds(src, state);
	smp_rmb();	/* without a ring handlers count drops only */
	return !READ_ONCE(pc->pmc->owner->rings[pc->cpu]);
}

/*
 * Takes over the counters of a PMC on a CPU, if no handler runs there meanwhile.  All
 * samples that the look at the CPU's ring has found are in them.
 */
static bool count_pmc(struct pmc_cpu *pc, struct merge_src *src, u64 now)
{
	u64 state = src->ring ? hwpmc_merge_look_begin(src) : 0;
	struct pmc_count count;
	unsigned int i;

	hwpmc_stats_read_count(&count, &pc->stat);
	if (!count_holds(pc, src, state))
		return false;
	pc->seen = count;
	pc->counted_at = now;
	for (i = 0; i < PMCLOG_DROP_NCAUSE; i++)
		WRITE_ONCE(pc->counted[i], count.dropped[i]);
	return true;
}

/*
 * Counters are taken PMC by PMC: one look for many PMCs would nearly always find a
 * handler running.
 */
static void count_cpu(struct hwpmc_owner *o, struct merge_src *src,
		      unsigned int cpu, u64 now)
{
	unsigned int waits = LOOK_TRIES, row;
	struct hwpmc_pmc *pmc;
	struct pmc_cpu *pc;

	for_each_pmc(o, row, pmc) {
		pc = pmc_on(pmc, cpu);
		while (pc && !count_pmc(pc, src, now) && waits) {
			waits--;
			udelay(1);	/* the handler that is there ends */
		}
	}
}

/*
 * The losses before the records that the look has found, and perhaps later ones.  They
 * must be told before these records.
 */
static void take_process_losses(struct owner_ring *or)
{
	/* pairs with note_lost(): the times are those of this number, or later */
	or->proc_seen.dropped = smp_load_acquire(&or->proc_dropped);
	or->proc_seen.first = READ_ONCE(or->proc_first);
	or->proc_seen.last = READ_ONCE(or->proc_last);
	/* after this, the next loss sets proc_first again */
	smp_store_release(&or->proc_counted, or->proc_seen.dropped);
}

static bool look_at_ring(struct merge_src *src, u64 now)
{
	unsigned int i;

	for (i = 0; i < LOOK_TRIES; i++) {
		if (hwpmc_merge_look_end(src, hwpmc_merge_look_begin(src), now))
			return true;
		udelay(1);	/* the handler that is there ends */
	}
	hwpmc_merge_look_busy(src);
	return false;
}

/* Counters are read after the ring: hwpmc_drain_account() takes records from them. */
static bool look_at(struct hwpmc_owner *o, unsigned int cpu, u64 now)
{
	struct merge_src *src = &o->log.merge.src[cpu];
	struct owner_ring *or = smp_load_acquire(&o->rings[cpu]);
	bool quiet = true;

	src->ring = or ? &or->ring : NULL;
	if (or) {
		quiet = look_at_ring(src, now);
		take_process_losses(or);
	}
	count_cpu(o, src, cpu, now);
	return quiet;
}

static void drain_look_at_rings(struct hwpmc_owner *o, u64 *horizon)
{
	bool quiet = true;
	unsigned int cpu;
	u64 now;

	now = ring_clock();
	rmb();			/* x86 orders RDTSC only by this */
	ring_mb();		/* pairs with A in ring.h */
	for_each_possible_cpu(cpu) {
		quiet &= look_at(o, cpu, now);
		cond_resched();
	}
	quiet &= look_at(o, RING_OF_IOCTLS, now);
	*horizon = hwpmc_merge_horizon(&o->log.merge, now);
	o->log.times.horizon = *horizon;
	o->log.acct.quiet = quiet;
}

/* Emits the look's records up to @upto.  Returns up to when the log is complete. */
static u64 drain_emit_upto(struct hwpmc_owner *o, u64 horizon, u64 upto)
{
	u64 samples = o->log.acct.samples_taken, records = o->log.acct.proc_taken;

	if (horizon > upto)
		horizon = upto;
	hwpmc_emit_news(o);
	hwpmc_emit_process_drops(o);
	hwpmc_merge_run(&o->log.merge, horizon, hwpmc_emit_ring_record, o);
	hwpmc_emit_drops(o, horizon);
	atomic64_inc(&o->log.totals.sweeps);
	samples = o->log.acct.samples_taken - samples;
	records = o->log.acct.proc_taken - records;
	if (samples || records)
		trace_hwpmc_pass(o, samples, records, o->log.acct.quiet);
	return horizon;
}

static u64 drain_run_pass(struct hwpmc_owner *o)
{
	u64 horizon;

	drain_look_at_rings(o, &horizon);
	return drain_emit_upto(o, horizon, U64_MAX);
}

/*
 * hwpmc_drain_upto - emit all records with a stamp of at most @upto, which is
 * past
 */
void hwpmc_drain_upto(struct hwpmc_owner *o, u64 upto)
{
	u64 horizon;

	/* the last look has found them all, and hwpmc_emit_news() has run since */
	if (upto <= o->log.times.horizon) {
		hwpmc_merge_run(&o->log.merge, upto, hwpmc_emit_ring_record, o);
		return;
	}
	do {
		drain_look_at_rings(o, &horizon);
		if (drain_emit_upto(o, horizon, upto) >= upto)
			break;
		usleep_range(50, 100);
	} while (!READ_ONCE(o->log.abort));
}

/*
 * The account since the owner was opened.  Records that are still in the rings are left
 * to the next log.  The counters of a PMC may be of an earlier pass than its last
 * records: then there are fewer than none in the rings, and the sums have these, too.
 */
void hwpmc_drain_account(struct hwpmc_owner *o, struct pmclog_account *a)
{
	struct hwpmc_log *log = &o->log;
	struct owner_ring *or;
	struct hwpmc_pmc *pmc;
	unsigned int row, cpu;
	struct pmc_cpu *pc;
	u64 in_rings;

	*a = log->acct.retired;
	for_each_pmc(o, row, pmc)
		for_each_pmc_cpu(pmc, cpu, pc)
			hwpmc_stats_add_count(a, &pc->seen);
	for_each_owner_ring(o, cpu, or)
		a->proc_dropped += or->proc_seen.dropped;
	a->proc_dropped += o->noring.told;
	in_rings = a->committed - log->acct.samples_taken;
	a->overflows -= in_rings;
	a->committed -= in_rings;
	a->proc_committed = log->acct.proc_taken;
	a->cut = log->acct.cut_taken;
	memcpy(a->cut_by, log->acct.cut_by_taken, sizeof(a->cut_by));
	a->late = log->acct.late_taken;
	a->late_answered = log->acct.late_answers_taken;
}

static bool is_counted_since(struct hwpmc_owner *o, u64 since)
{
	struct hwpmc_pmc *pmc;
	unsigned int row, cpu;
	struct pmc_cpu *pc;

	for_each_pmc(o, row, pmc) {
		for_each_pmc_cpu(pmc, cpu, pc)
			if (pc->counted_at <= since)
				return false;
		cond_resched();
	}
	return true;
}

/*
 * hwpmc_drain_cut - log all samples and losses so far, and take the account
 *
 * The account is exact once the counters of each PMC on each CPU have been taken over
 * since @began, while no handler ran there.
 */
void hwpmc_drain_cut(struct hwpmc_owner *o, struct pmclog_account *a)
{
	u64 began = ring_clock(), horizon;
	unsigned int i;

	for (i = 0; i < EXACT_TRIES; i++) {
		drain_look_at_rings(o, &horizon);
		drain_emit_upto(o, horizon, U64_MAX);
		if (horizon > began && is_counted_since(o, began))
			break;
		usleep_range(50, 100);
	}
	hwpmc_drain_account(o, a);
}

void hwpmc_drain_begin_log(struct hwpmc_owner *o, u64 tsc)
{
	struct hwpmc_log *log = &o->log;

	hwpmc_sink_begin(log);
	log->acct.samples_logged = 0;
	log->acct.lost_here = 0;
	log->acct.made = 0;
	log->told.all = false;
	hwpmc_emit_begin(o, tsc);
}

/* Ends the log with its account, from which the next log's account starts. */
void hwpmc_drain_end_log(struct hwpmc_owner *o)
{
	struct pmclog_account total, here;
	struct hwpmc_log *log = &o->log;
	u64 ahead;	/* at the cut, where the next log begins */

	hwpmc_drain_cut(o, &total);
	ahead = hwpmc_emit_wall_ahead();
	here = total;
	hwpmc_stats_sub_account(&here, &log->acct.base);
	log->acct.base = total;
	/* losses must be known before they are reported */
	hwpmc_sink_flush(o);
	here.written = log->acct.samples_logged - log->acct.lost_here;
	here.discarded = log->acct.lost_here;
	here.in_rings = 0;
	hwpmc_emit_all_rates(o);
	hwpmc_emit_end(o, &here);
	log->times.real_ahead = ahead;
	hwpmc_sink_flush(o);
}

/*
 * Called before a look, which then has the last counts of the PMCs that are marked.
 * A marked PMC leaves the array once its samples, drops and rates are in the log.
 */
static void mark_deleted(struct hwpmc_owner *o)
{
	struct hwpmc_pmc *pmc;
	unsigned int row;

	for_each_pmc(o, row, pmc) {
		if (pmc->folding ||
		    smp_load_acquire(&pmc->state) != PMC_DELETED)
			continue;
		pmc->folding = true;
		pmc->deleted_by = ring_clock();
	}
}

/* Are all samples of @pmc in the log?  The look after it was marked has its last drops. */
static bool is_seen_off(const struct hwpmc_log *log, const struct hwpmc_pmc *pmc)
{
	return log->times.horizon > pmc->deleted_by;
}

/*
 * Does not wait for fold_mutex while the log is open: its holder may be a
 * reader of statistics that rarely runs.
 */
static void fold_deleted(struct hwpmc_owner *o, bool log_open)
{
	struct hwpmc_pmc *pmc;
	unsigned int row;

	o->log.fold_later = false;
	for_each_pmc(o, row, pmc) {
		if (!pmc->folding)
			continue;
		if (log_open && !is_seen_off(&o->log, pmc)) {
			o->log.fold_later = true;
			continue;
		}
		if (log_open && !pmc->rates_told)
			hwpmc_emit_rates(o, pmc);
		pmc->rates_told = true;
		if (!hwpmc_pmc_fold(o, pmc, !log_open))
			o->log.fold_later = true;
	}
}

/*
 * Answers the requests made before this pass began.  @r was copied then, and all
 * earlier records are in the buffer by now.
 */
static void drain_answer_requests(struct hwpmc_owner *o,
				  const struct log_request *r)
{
	struct hwpmc_log *log = &o->log;
	struct log_place to = {};
	u64 rotated = 0;

	if (r->rotate.file) {
		spin_lock(&log->lock);
		swap(to, log->req.rotate);
		/* @r's request may have been withdrawn, and @to be of a later one */
		rotated = log->req.rotate_want;
		spin_unlock(&log->lock);
	}
	if (to.file)
		hwpmc_rotate_log(o, &to);
	if (r->dump_want != r->dump_done) {
		hwpmc_dump_news(o);
		/* reports processes that could not be dumped, before the first sample */
		hwpmc_drain_upto(o, ring_clock());
	}
	hwpmc_sink_flush(o);

	spin_lock(&log->lock);
	log->req.flush_done = r->flush_want;
	log->req.dump_done = r->dump_want;
	if (to.file)
		log->req.rotate_done = rotated;
	spin_unlock(&log->lock);
	wake_up_all(&log->waitq);
	/*
	 * pmcstat relies on this order: a second flush returns after the snapshot of a
	 * trigger that fired before the first one returned
	 */
	hwpmc_snapshot_answer(o);
}

static bool drain_copy_requests(struct hwpmc_log *log, struct log_request *r)
{
	spin_lock(&log->lock);
	*r = log->req;
	spin_unlock(&log->lock);
	return r->flush_want != r->flush_done || r->dump_want != r->dump_done ||
	       r->rotate.file || hwpmc_snapshot_wanted(log, r);
}

/* The thread may have run on other CPUs as well since the last call. */
static void count_writer_cost(struct hwpmc_owner *o, u64 ran)
{
	struct owner_ring *or = smp_load_acquire(&o->rings[raw_smp_processor_id()]);

	if (or)
		WRITE_ONCE(or->cost.writer, or->cost.writer + ran);
}

/* Charges the run time since the last call, also of workers; up to a tick is missing. */
static u64 drain_charge_time(struct hwpmc_owner *o)
{
	struct log_share *p = &o->log.share;
	/* the tick adds to it */
	u64 ran = READ_ONCE(current->se.sum_exec_runtime) - p->paid;

	p->paid += ran;
	ran += p->owed;
	p->owed = 0;
	if (READ_ONCE(o->budget.ppm))
		count_writer_cost(o, ran);
	return hwpmc_limit_run(o, LIMIT_WRITERS, ran);
}

static bool is_ending(struct hwpmc_log *log)
{
	bool close;

	spin_lock(&log->lock);
	close = log->req.close;
	spin_unlock(&log->lock);
	return close || READ_ONCE(log->abort) || signal_pending(current);
}

/*
 * hwpmc_drain_give_way - sleep if the user's writer threads have had their share of CPU
 * @begins: the sleep is for previous logs; the end of this log does not end it
 *
 * The rings fill meanwhile, and records that find no room are counted as lost.  The end
 * of a log is not delayed; its time delays the start of the next log.  After an expensive
 * pass the sleep takes many seconds.  The freezer would not wait that long, so the sleep
 * is freezable.
 */
void hwpmc_drain_give_way(struct hwpmc_owner *o, bool begins)
{
	u64 began = ktime_get_ns(), now = began, until = now + drain_charge_time(o);

	for (; now < until; now = ktime_get_ns()) {
		/* before the check: a closer sets its flag, then wakes this thread */
		set_current_state(TASK_INTERRUPTIBLE | TASK_FREEZABLE);
		if (begins ? READ_ONCE(o->log.abort) || signal_pending(current) :
			     is_ending(&o->log))
			break;
		schedule_timeout(nsecs_to_jiffies(until - now) + 1);
		try_to_freeze();
	}
	__set_current_state(TASK_RUNNING);
	o->log.pace.gave += now - began;
}

/* How many CPUs the thread has records of, more or less */
static unsigned int cpus_of_log(const struct hwpmc_log *log)
{
	return log->share.placed ? cpumask_weight(log->share.cpus) :
				   num_online_cpus();
}

/*
 * At a low rate, what the passes cost by themselves is more than what the samples do.
 * So a pass that had little to do, and left nothing to be done, is followed by a rest.
 */
static bool may_rest(struct hwpmc_log *log)
{
	struct log_pace *p = &log->pace;
	u64 taken = log->acct.samples_taken + log->acct.proc_taken;
	u64 records = taken - p->taken;
	bool news = p->news;

	p->taken = taken;
	p->news = false;
	return records <= (u64)FEW * cpus_of_log(log) && !news && !p->asking &&
	       !log->sink->prompt && !log->fold_later && !log->tee.on &&
	       !log->lost.n && !log->lost.due;
}

static long rest_time(const struct hwpmc_log *log)
{
	return log->out.file && log->out.seekable ? REST : REST_OF_PIPE;
}

/*
 * Sleeps until the interval is over, or there is work.  The next process record ends a
 * rest: its process may end soon, and its samples need unwind tables.
 */
static void drain_sleep(struct hwpmc_owner *o)
{
	struct hwpmc_log *log = &o->log;
	bool rest = may_rest(log);
	long timeout = MAX_SCHEDULE_TIMEOUT;

	if (READ_ONCE(o->hooks.hooked) || log->fold_later)
		timeout = rest ? rest_time(log) : DRAIN_INTERVAL;
	WRITE_ONCE(log->pace.resting, rest);
	set_current_state(TASK_INTERRUPTIBLE | TASK_FREEZABLE);
	if (!READ_ONCE(log->kick))
		schedule_timeout(timeout);
	__set_current_state(TASK_RUNNING);
	WRITE_ONCE(log->pace.resting, false);
	try_to_freeze();
}

/*
 * The kernel sets a thread's CPUs when it first runs, and gives it others when the last
 * of its CPUs goes offline; newer kernels also do when a CPU comes online.  So each pass
 * looks.  If none of the thread's CPUs is online, this fails, and the thread runs where
 * the kernel has put it.
 */
static void stay_in_place(const struct log_share *p)
{
	/* the kernel may change them right now: then the next pass sees that */
	if (p->placed && !data_race(cpumask_subset(current->cpus_ptr, p->cpus)))
		set_cpus_allowed_ptr(current, p->cpus);
}

static void drain_run(struct hwpmc_owner *o)
{
	struct hwpmc_log *log = &o->log;
	struct log_request r;
	bool asked;

	do {
		drain_sleep(o);
		stay_in_place(&log->share);
		hwpmc_drain_give_way(o, false);
		WRITE_ONCE(log->kick, false);
		smp_mb();	/* requests made before the kick are seen */
		asked = drain_copy_requests(log, &r);
		mark_deleted(o);
		if (asked)
			hwpmc_drain_upto(o, ring_clock());
		else
			drain_run_pass(o);
		log->pace.asking = hwpmc_unwind_tidy(o);
		fold_deleted(o, true);
		if (dump_is_over(o))
			hwpmc_sink_flush(o);
		hwpmc_dump_lost(o, r.close || r.rotate.file);
		hwpmc_sink_flush(o);
		hwpmc_sink_check_keeper(o);
		if (log->sink->tend)
			log->sink->tend(o);
		if (asked)
			drain_answer_requests(o, &r);
	} while (!r.close);
	hwpmc_dump_lost(o, true);	/* processes that the last dumps have put off */
	hwpmc_unwind_rest(o);
}

/* Leaves only if the thread has no deleted PMC left to fold. */
static bool drain_may_end(struct hwpmc_owner *o)
{
	struct hwpmc_pmc *pmc;
	unsigned int row;
	bool left = true;

	spin_lock(&o->log.lock);
	for_each_pmc(o, row, pmc)
		if (smp_load_acquire(&pmc->state) == PMC_DELETED)
			left = false;
	if (left) {
		hwpmc_limit_leave(o);
		complete_all(&o->log.done);
		/* the next log may begin, and use the completion again */
		smp_store_release(&o->log.state, LOG_NONE);
	}
	spin_unlock(&o->log.lock);
	return left;
}

/*
 * The CPUs that both the owner is for and the caller may use; if there is none, the
 * latter.
 */
static void share_cpus(const struct hwpmc_owner *o, struct cpumask *cpus)
{
	/* another task may change them right now: either value will do */
	(void)data_race(cpumask_and(cpus, &current->cpus_mask, owner_cpus(o)));
	if (cpumask_empty(cpus))
		(void)data_race(cpumask_and(cpus, &current->cpus_mask,
					    cpu_possible_mask));
}

/*
 * hwpmc_drain_share - the thread to be created gets no more CPU time than the
 * caller, and runs on the CPUs that the owner is for
 *
 * The thread stays in the root control group, because no exported function moves
 * a kernel thread to another.  For a privileged opener it therefore ranks as the
 * administrator's.  Otherwise it gets the caller's present nice value, policy (but
 * no real-time policy) and CPUs, and hwpmc_limit_run() limits its use of them.
 * -ENOMEM
 */
int hwpmc_drain_share(struct hwpmc_owner *o)
{
	struct log_share *p = &o->log.share;
	const bool bound = !hwpmc_access_privileged(o);

	memset(p, 0, sizeof(*p));
	if (!bound && !o->hp.only)
		return 0;
	if (!zalloc_cpumask_var(&p->cpus, HWPMC_GFP))
		return -ENOMEM;
	p->placed = true;
	if (!bound) {
		cpumask_copy(p->cpus, o->hp.only);
		return 0;
	}
	p->bound = true;
	p->nice = task_nice(current);
	/* another task may change it right now: either value will do */
	p->policy = data_race(current->policy);
	share_cpus(o, p->cpus);
	return 0;
}

/* Called before the thread runs, or by the thread. */
void hwpmc_drain_unshare(struct hwpmc_owner *o)
{
	if (o->log.share.placed)
		free_cpumask_var(o->log.share.cpus);
	o->log.share.placed = false;
}

/* Runs in the thread. */
static void take_share(struct hwpmc_owner *o)
{
	struct log_share *p = &o->log.share;
	struct sched_attr attr = {
		.size = sizeof(attr),
		.sched_policy = SCHED_NORMAL,
		.sched_nice = p->nice,
	};

	stay_in_place(p);
	if (!p->bound) {
		set_user_nice(current, THREAD_NICE);
		return;
	}
	if (p->policy == SCHED_BATCH || p->policy == SCHED_IDLE)
		attr.sched_policy = p->policy;
	sched_setattr_nocheck(current, &attr);
}

/*
 * hwpmc_drain_thread - body of the writer thread
 *
 * No task joins the thread.  It signals the completion, and drops the owner and
 * the module.
 */
int hwpmc_drain_thread(void *arg)
{
	struct hwpmc_owner *o = arg;
	struct hwpmc_log *log = &o->log;
	struct mem_cgroup *old_memcg = set_active_memcg(log->maker.memcg);

	/* only from break_off() and snapshot_cancel(): interrupts any wait of the thread */
	allow_kernel_signal(SIGKILL);
	take_share(o);
	log->times.real_ahead = hwpmc_emit_wall_ahead();
	hwpmc_drain_begin_log(o, ring_clock());
	hwpmc_dump_forget_lost(o);
	hwpmc_drain_give_way(o, true);
	drain_run(o);
	hwpmc_snapshot_forget(o);
	mark_deleted(o);
	hwpmc_drain_end_log(o);
	hwpmc_unwind_sync_lapsed(o);
	fold_deleted(o, false);
	set_active_memcg(old_memcg);
	hwpmc_sink_detach(log);
	log->sink->end(o);
	trace_hwpmc_log(o, "end", READ_ONCE(log->error));
	/* including the end of this log: the next starts at 0 */
	drain_charge_time(o);
	hwpmc_log_keep(o, NULL, false);
	hwpmc_drain_unshare(o);
	while (!drain_may_end(o)) {
		mark_deleted(o);
		fold_deleted(o, false);
	}
	wake_up_all(&log->waitq);
	owner_put(o);
	module_put_and_kthread_exit(0);
}
