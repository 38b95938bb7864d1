// SPDX-License-Identifier: GPL-2.0-only
/*
 * User chains that the overflow handler could not read without faulting.
 *
 * The handler defers them to the task itself, as task work.  The task runs it
 * before it returns to user mode, while the registers that it entered the
 * kernel with are still in place.  One work item answers all samples that are
 * taken until it begins to write its record.
 *
 * Each queued work item holds a reference to the module.  A task that does not
 * return to user mode therefore keeps the module loaded.
 */
#include <linux/cred.h>
#include <linux/hash.h>
#include <linux/irq_work.h>
#include <linux/module.h>
#include <linux/percpu.h>
#include <linux/rcupdate.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>
#include <linux/uaccess.h>

#include "chain_frame.h"
#include "hwpmc.h"
#include "pmc/pmc.h"
#include "record.h"
#include "sample.h"
#include "unwind/unwind.h"

/* Per CPU: tasks sampled there that are still in the kernel, or faulting. */
#define DEFERRED_ITEMS	32
/* Of these, for tasks of one user, which can make them sleep in faults for any time. */
#define DEFERRED_OF_USER	24
/*
 * Samples of the kernel leave this many of both numbers free.  Their tasks may
 * sleep for long.  Samples of user mode are answered at once, and need items, too:
 * a new process gets its map by such an item.
 */
#define DEFERRED_FOR_USER_MODE	8

/* Frames that fit into the longest record. */
#define DEFERRED_CHAIN_MAX	((unsigned int)				\
	((PMCLOG_RECORD_MAX - sizeof(struct pmclog_ext_userchain)) / sizeof(u64)))

enum deferred_state {
	DEFERRED_FREE,
	DEFERRED_CLAIMED,		/* by a handler that is filling it in */
	DEFERRED_ASKED,		/* answers the samples that are taken now */
	DEFERRED_ANSWERED,		/* the task is writing the record */
};

/**
 * struct deferred - work of one task for one owner
 * @work:  on the task's list while ASKED
 * @state: handlers on the item's CPU, which may interrupt each other, change it
 *	from FREE to CLAIMED, then to ASKED or back to FREE; the work makes the
 *	other changes, on any CPU
 * @task:  set while CLAIMED; only compared, so not referenced
 * @mm:    the mm of @task at that time; likewise
 * @owner: set while CLAIMED; cleared with cmpxchg at the end of the owner's
 *	log.  Not referenced: read with preemption off, see
 *	hwpmc_chain_deferred_forget()
 * @uid:   set while CLAIMED; see user_of_current()
 * @pc:    set while CLAIMED; the first user address of the samples
 * @at:    set while CLAIMED; the place of the task in user mode at the samples.
 *	Its address differs from @pc if perf has replaced the latter
 * @first: set while CLAIMED; a time before that of the first sample
 * @of_user_mode: set while CLAIMED; the first sample was of user mode
 * @tables: a PMC that may walk this task by unwind tables has asked; set while CLAIMED, or
 *	later by a handler on the item's CPU.  @owner's other PMCs may sample tasks whose
 *	stacks its tables must not be used on
 *
 * Memory of a CPU, because KASAN allocates memory to record the history of heap objects.
 */
struct deferred {
	struct callback_head work;
	enum deferred_state state;
	struct task_struct *task;
	struct mm_struct *mm;
	struct hwpmc_owner *owner;
	kuid_t		uid;
	unsigned long	pc;
	struct user_place at;
	u64		first;
	bool		of_user_mode;
	bool		tables;
};

/*
 * Tasks that run deferred work.  The work may sleep and continue on another CPU,
 * whose pool does not have its item.  There are at least twice as many entries as items,
 * so that a user whose tasks sleep there leaves nearly all sets with free ones: he knows
 * neither the addresses of tasks nor their sets.
 */
#define WORKING_BITS	7	/* at least */
#define WORKING_WAYS	8

/**
 * struct working - a task within deferred_work()
 * @task: by hash; set with cmpxchg from NULL, and cleared, by that task only.  Handlers
 *	compare it with the task that they have interrupted
 * @item: the task's work; meaningful only to the task and to these handlers
 */
struct working {
	struct task_struct *task;
	struct deferred	*item;
};

/* Like deferred_cpus: set before the first PMC exists, freed after the last work. */
static struct working (*working)[WORKING_WAYS];
static unsigned int working_bits;

static struct working *working_set(void)
{
	return working[hash_ptr(current, working_bits)];
}

/*
 * Until working_end(), samples of the current task queue no work.  NULL: no entry
 * is free, because too many tasks sleep in their work.
 */
static struct working *working_begin(struct deferred *item)
{
	struct working *w = working_set();
	unsigned int i;

	for (i = 0; i < WORKING_WAYS; i++, w++)
		if (!cmpxchg(&w->task, NULL, current)) {
			WRITE_ONCE(w->item, item);
			return w;
		}
	return NULL;
}

static void working_end(struct working *w)
{
	WRITE_ONCE(w->item, NULL);
	smp_store_release(&w->task, NULL);
}

/* Overflow handler.  The entry of the current task, or NULL */
static struct working *working_find(void)
{
	struct working *w = working_set();
	unsigned int i;

	for (i = 0; i < WORKING_WAYS; i++, w++)
		if (READ_ONCE(w->task) == current)
			return w;
	return NULL;
}

/*
 * On its way to user mode, a task goes on after its work, and may be sampled again, for
 * example in rseq_update.  More work for that sample is followed by the same, and the
 * task would never come to user mode.  From here, that looks like a program that calls
 * the kernel from one place again and again.  So after AGAIN_MAX such answers there is no
 * work until the task has run for AGAIN_NS more.  It comes to user mode in this time,
 * however many events hit it on the way.  A sample of user mode shows that it was there,
 * and ends the series.
 *
 * The time is the task's own, because other tasks may run between its work and user
 * mode, and a slow machine may let it run for a few rounds only before they do.  The
 * scheduler adds to it at ticks and when another task runs.  A tick adds what has passed
 * since the last one, so the time may be shorter by a tick; then the next series has its
 * own.  A task that slept has left the way to user mode.
 */
#define AGAIN_MAX	16
#define AGAIN_NS	(4 * NSEC_PER_MSEC)
/* Answers that are further from each other do not count as one series. */
#define AGAIN_FAR_NS	(100 * NSEC_PER_MSEC)

/* Tasks that take turns on one CPU, none of which comes to user mode */
#define ANSWERED_TASKS	8

/**
 * struct answered - the last work of a task that ended on a CPU
 * @task:  whose; only compared
 * @sp:    of its samples in user mode
 * @fp:    likewise
 * @slept: how often the task had slept
 * @ran:   for so long had it run, when the scheduler last added to it
 * @when:  of ring_clock()
 * @n:     how many such have followed each other, since a sample of user mode
 *
 * Written with preemption off.  Handlers on that CPU read it in between as well: what
 * they then see may be of two works, and one sample more or less gets its chain.
 */
struct answered {
	struct task_struct *task;
	unsigned long	sp;
	unsigned long	fp;
	unsigned long	slept;
	u64		ran;
	u64		when;
	unsigned int	n;
};

/* @next: the entry that is replaced next; of note_answer() */
struct answered_tasks {
	struct answered	of[ANSWERED_TASKS];
	unsigned int	next;
};

/**
 * struct deferred_cpu - what the handlers of one CPU need for deferred work
 * @pool: their items: see struct deferred
 * @answered: what of them ended there: see struct answered
 * @nudge: sent by an NMI to its own CPU: see deferred_nudge()
 */
struct deferred_cpu {
	struct deferred	pool[DEFERRED_ITEMS];
	struct answered_tasks answered;
	struct irq_work	nudge;
};

/*
 * Allocated, because the static per-CPU variables of all modules share a few KiB.
 * Set before the first PMC exists, and freed after the last work has returned.
 */
static struct deferred_cpu __percpu *deferred_cpus;

/*
 * The current task, with user registers @at.  The scheduler may be adding to its
 * runtime, on another CPU, too.
 */
static struct answered answered_now(const struct user_place *at)
{
	return (struct answered){
		.task = current,
		.sp = at->sp,
		.fp = at->fp,
		.slept = data_race(current->nvcsw),
		.ran = data_race(READ_ONCE(current->se.sum_exec_runtime)),
		.when = ring_clock(),
		.n = 1,
	};
}

static struct answered *find_answered(struct answered_tasks *tasks)
{
	struct answered *a = tasks->of;
	unsigned int i;

	for (i = 0; i < ANSWERED_TASKS; i++, a++)
		if (READ_ONCE(a->task) == current)
			return a;
	return NULL;
}

/*
 * The task's own time from @a to @now.  As long as the scheduler has added nothing, the
 * task has kept the CPU; without a tick (nohz_full) that can be a second.
 */
static u64 time_between(const struct answered *a, const struct answered *now)
{
	return (now->ran - READ_ONCE(a->ran)) ?: now->when - READ_ONCE(a->when);
}

/* Is it the same place, less than @ns of the task's own time after the answer @a? */
static bool is_again(const struct answered *a, const struct answered *now, u64 ns)
{
	return READ_ONCE(a->sp) == now->sp && READ_ONCE(a->fp) == now->fp &&
	       READ_ONCE(a->slept) == now->slept && time_between(a, now) < ns;
}

/* @a: the current task's entry, or NULL; @began: when the work of @item began */
static void count_answer(struct answered_tasks *tasks, struct answered *a,
			 const struct deferred *item, const struct answered *began)
{
	struct answered now = answered_now(&item->at);
	unsigned int n;

	if (a) {
		/* work that was asked for before the last of AGAIN_MAX answers is one more */
		n = READ_ONCE(a->n);
		if (is_again(a, began, n < AGAIN_MAX ? AGAIN_FAR_NS : AGAIN_NS))
			now.n = n + 1;
	} else {
		a = &tasks->of[tasks->next++ % ANSWERED_TASKS];
	}
	WRITE_ONCE(a->task, now.task);
	WRITE_ONCE(a->sp, now.sp);
	WRITE_ONCE(a->fp, now.fp);
	WRITE_ONCE(a->slept, now.slept);
	WRITE_ONCE(a->ran, now.ran);
	WRITE_ONCE(a->when, now.when);
	WRITE_ONCE(a->n, now.n);
}

/*
 * The work of @item, which began at @began, has ended.  It may have slept, and have run
 * for long, itself.
 */
static void note_answer(const struct deferred *item, const struct answered *began)
{
	struct answered_tasks *tasks = &get_cpu_ptr(deferred_cpus)->answered;
	struct answered *a = find_answered(tasks);

	if (!item->of_user_mode)
		count_answer(tasks, a, item, began);
	else if (a)
		WRITE_ONCE(a->n, 0);
	put_cpu_ptr(deferred_cpus);
}

/* Overflow handler.  Has a sample of the kernel been answered too often? */
static bool answered_enough(const struct user_place *at)
{
	const struct answered *a = find_answered(&this_cpu_ptr(deferred_cpus)->answered);
	const struct answered now = answered_now(at);

	return a && READ_ONCE(a->n) >= AGAIN_MAX && is_again(a, &now, AGAIN_NS);
}

/*
 * The return from an NMI to user mode does not check for task work; the return
 * from an interrupt does, so an NMI sends one to its own CPU.
 */
static void deferred_nudge(struct irq_work *work)
{
}

static bool read_frame(struct late_stack *stack, unsigned long fp, bool is32,
		       unsigned long *next, unsigned long *ret)
{
	struct frame32 f32;
	struct frame64 f64;

	if (is32) {
		if (!hwpmc_chain_late_read(stack, &f32, fp - FRAME32_BACK,
					   sizeof(f32)))
			return false;
		*next = f32.next;
		*ret = f32.ret;
	} else {
		if (!hwpmc_chain_late_read(stack, &f64, fp, sizeof(f64)))
			return false;
		*next = f64.next;
		*ret = strip_pac(f64.ret);
	}
	return true;
}

/* As in chain_user.c, but absent pages of the stack are faulted in. */
static unsigned int walk_faulting_frames(u64 *pc, unsigned int max,
					 const struct user_place *at, bool is32,
					 unsigned int *end)
{
	const unsigned long top = is32 ? FRAME32_TOP : FRAME64_TOP;
	const size_t align = is32 ? sizeof(u32) : sizeof(u64);
	unsigned long below = at->sp - 1, fp = at->fp, next, ret;
	struct late_stack stack = { .sp = at->sp };
	unsigned int n = 0;

	pc[n++] = at->pc;
	for (; is_frame(fp, below, top, align); below = fp, fp = next) {
		if (n == max) {
			*end |= CUT(DEPTH);
			break;
		}
		if (!read_frame(&stack, fp, is32, &next, &ret)) {
			*end |= CUT(USER);
			break;
		}
		if (!is_user_code(ret))
			break;
		pc[n++] = ret;
	}
	if (n > 1)
		*end |= whole_if_start(fp);
	return n;
}

/*
 * Finds how the item's owner unwinds chains.  False: the owner's log has ended,
 * or the owner is being freed.
 * @u: its tables, referenced; or NULL for frame pointers
 */
static bool get_unwinder(struct deferred *item, struct unwinder **u)
{
	struct hwpmc_owner *o;

	preempt_disable();	/* see hwpmc_chain_deferred_forget() */
	o = READ_ONCE(item->owner);
	*u = o && READ_ONCE(item->tables) ? smp_load_acquire(&o->unwinder) : NULL;
	if (*u && !kref_get_unless_zero(&(*u)->ref)) {
		*u = NULL;
		o = NULL;
	}
	preempt_enable();
	return o;
}

/* 0: no chain. */
static unsigned int walk_for(struct deferred *item, u64 *pc, unsigned int max,
			     struct pt_regs *regs, unsigned int *end)
{
	const bool is32 = regs_are_32bit(regs);
	struct unwinder *u;
	unsigned int n;

	if (!get_unwinder(item, &u))
		return 0;
	n = u && !is32 ? hwpmc_chain_tables_walk_deferred(u, pc, max, &item->at,
							  regs, end) :
			 walk_faulting_frames(pc, max, &item->at, is32, end);
	if (u)
		hwpmc_unwind_put(u);
	return n;
}

static void deferred_commit(struct deferred *item,
			    struct pmclog_ext_userchain *rec, unsigned int n,
			    unsigned int end)
{
	u32 len = sizeof(*rec) + n * sizeof(u64);
	struct hwpmc_owner *o;

	rec->e.h.header = PMCLOG_HEADER(PMCLOG_T_USERDATA, len);
	rec->e.h.spare = 0;
	rec->e.cookie = PMCLOG_EXT_COOKIE;
	rec->e.subtype = PMCLOG_EXT_USERCHAIN;
	rec->e.version = 0;
	rec->e.flags = end >> 8;
	rec->first = item->first;
	preempt_disable();
	/* a sample taken from here on must queue a new item */
	smp_store_release(&item->state, DEFERRED_ANSWERED);
	o = READ_ONCE(item->owner);
	if (o) {
		rec->pid = owner_pid_of(o, current);
		rec->tid = owner_tid_of(o, current);
		hwpmc_record_commit_deferred(o, rec, len);
	}
	preempt_enable();
}

/*
 * Are the registers still those of the samples?  A uprobe may have moved the task to a
 * copy of the instruction, or have emulated a push or a call.  A system call may be
 * about to restart.  After an exec the frame pointer is 0, so that the old place does
 * not decide what is read from the new program's memory.
 */
static bool is_still_there(const struct user_place *at, struct pt_regs *regs)
{
	const struct user_place now = user_place_of(regs);

	return now.fp == at->fp &&
	       now.sp - at->sp + sizeof(u64) <= 2 * sizeof(u64);
}

/* If memory is short, the samples keep their cut chains. */
static void deferred_answer(struct deferred *item)
{
	struct pt_regs *regs = user_regs();
	struct pmclog_ext_userchain *rec;
	unsigned int max, n, end = 0;

	if (!READ_ONCE(item->owner) || !regs || !user_mode(regs))
		return;
	/*
	 * after an exec the sampled stack is gone; the new one may be private
	 */
	if (item->mm != current->mm || !is_still_there(&item->at, regs))
		return;
	max = min(hwpmc_param_chain_depth(), DEFERRED_CHAIN_MAX);
	rec = kmalloc(struct_size(rec, pc, max),
		      GFP_KERNEL | __GFP_NORETRY | __GFP_NOWARN);
	if (!rec)
		return;
	n = walk_for(item, rec->pc, max, regs, &end);
	rec->pc[0] = item->pc;	/* a reader finds the samples by it */
	/* a killed task gets no pages, so its walk has ended early */
	if (n && !fatal_signal_pending(current))
		deferred_commit(item, rec, n, end);
	kfree(rec);
}

/* The task returns to user mode, or exits: then it has no mm to walk. */
static void deferred_work(struct callback_head *work)
{
	struct deferred *item = container_of(work, struct deferred, work);
	const struct answered began = answered_now(&item->at);
	struct working *w = working_begin(item);

	/* without an entry, samples of this work would not be recognized as such */
	if (w)
		deferred_answer(item);
	smp_store_release(&item->state, DEFERRED_ANSWERED);	/* or given up */
	note_answer(item, &began);
	/*
	 * before the item is free, because events may hit in module_put();
	 * hwpmc_exit() waits for the rest of this function
	 */
	module_put(THIS_MODULE);
	WRITE_ONCE(item->owner, NULL);
	smp_store_release(&item->state, DEFERRED_FREE);
	if (w)
		working_end(w);
}

/*
 * Does @item answer a sample that is taken now, of @o and of the current task at @pc?
 * Only current answers its own item.  The handler may interrupt current's exec or
 * exit while that sets mm.  A uprobe and a signal change the pc.
 */
static bool is_for(const struct deferred *item, struct hwpmc_owner *o,
		   unsigned long pc)
{
	return smp_load_acquire(&item->state) == DEFERRED_ASKED &&
	       READ_ONCE(item->task) == current &&
	       READ_ONCE(item->pc) == pc &&
	       READ_ONCE(item->mm) == data_race(current->mm) &&
	       READ_ONCE(item->owner) == o;
}

/*
 * The current task counts for the creator of its user namespace, because one user may
 * have several uids there.  In a namespace that root has created, each uid counts by
 * itself.  Namespaces are nested 32 deep at most.
 */
static kuid_t user_of_current(void)
{
	const struct cred *cred = current_real_cred();
	const struct user_namespace *ns = cred->user_ns;
	kuid_t uid = cred->uid;

	for (; ns->parent && !uid_eq(ns->owner, GLOBAL_ROOT_UID); ns = ns->parent)
		uid = ns->owner;
	return uid;
}

/*
 * Finds the item of @o for samples of the current task at @pc, or else a free one.  NULL:
 * none is free, or tasks of its user have too many.  Also NULL for a sample of deferred
 * work, for whichever owner: new work would be sampled in the same place, without end,
 * and the task would never return to user mode.
 * @spare: number of items that must stay free; not 0: for a sample of the kernel
 */
static struct deferred *find_item(struct hwpmc_owner *o, unsigned long pc,
				  const struct user_place *at,
				  unsigned int spare)
{
	struct deferred *item = this_cpu_ptr(deferred_cpus)->pool, *unused = NULL;
	unsigned int i, of_user = 0, used = 0;
	kuid_t uid = user_of_current();
	struct working *w = working_find();
	struct deferred *own = w ? READ_ONCE(w->item) : NULL;

	if (own && is_for(own, o, pc))
		return own;
	for (i = 0; i < DEFERRED_ITEMS; i++, item++) {
		enum deferred_state state = smp_load_acquire(&item->state);

		used += state != DEFERRED_FREE;
		of_user += state != DEFERRED_FREE && uid_eq(item->uid, uid);
		if (state == DEFERRED_FREE) {
			if (!unused)
				unused = item;
		} else if (is_for(item, o, pc)) {
			return item;
		}
	}
	if (w || used + spare >= DEFERRED_ITEMS ||
	    of_user + spare >= DEFERRED_OF_USER ||
	    (spare && answered_enough(at)))
		return NULL;
	/* a handler that interrupted this one may have taken the item */
	if (unused && cmpxchg(&unused->state, DEFERRED_FREE, DEFERRED_CLAIMED) !=
		      DEFERRED_FREE)
		unused = NULL;
	return unused;
}

/*
 * hwpmc_chain_deferred_ask - request that the current task logs its user chain for @pmc
 * @regs: user registers, or NULL for those that it entered the kernel with
 * @pc: the address of a sample of user mode, or NULL: of the kernel
 *
 * Called by the overflow handler.  False if that is impossible: the kernel does
 * not export task_work_add(), the task is about to end, it is doing such work or was
 * too often answered, or too many tasks sampled on this CPU, of its user or of all,
 * have not returned to user mode.
 */
bool hwpmc_chain_deferred_ask(const struct hwpmc_pmc *pmc, struct pt_regs *regs,
			      const u64 *pc)
{
	const unsigned int spare = pc ? 0 : DEFERRED_FOR_USER_MODE;
	const bool tables = pmc->flags & HWPMC_F_UNWIND;
	struct hwpmc_owner *o = pmc->owner;
	struct deferred *item;
	struct user_place at;
	unsigned long first;

	if (!regs)
		regs = user_regs();
	if (!compat_can_follow() || !regs)
		return false;
	at = user_place_of(regs);
	first = pc ? *pc : at.pc;
	item = find_item(o, first, &at, spare);
	if (!item)
		return false;
	if (READ_ONCE(item->state) == DEFERRED_ASKED) {
		if (tables)
			WRITE_ONCE(item->tables, true);
		return true;
	}
	WRITE_ONCE(item->task, current);
	/* the interrupted exec or exit may be about to set it */
	WRITE_ONCE(item->mm, data_race(current->mm));
	WRITE_ONCE(item->owner, o);
	item->uid = user_of_current();
	item->pc = first;
	item->at = at;
	item->first = ring_clock();
	item->of_user_mode = pc;
	WRITE_ONCE(item->tables, tables);
	init_task_work(&item->work, deferred_work);
	__module_get(THIS_MODULE);
	/* no lock, and no wakeup of current: safe in any context */
	if (compat_task_work_add(current, &item->work)) {
		WRITE_ONCE(item->owner, NULL);
		smp_store_release(&item->state, DEFERRED_FREE);
		module_put(THIS_MODULE);
		return false;
	}
	smp_store_release(&item->state, DEFERRED_ASKED);
	if (in_nmi())
		irq_work_queue(&this_cpu_ptr(deferred_cpus)->nudge);
	return true;
}

/*
 * hwpmc_chain_deferred_forget - after this returns, no chain is logged for @o
 * any more
 *
 * No handler of @o runs any more.  Queued work stays queued and does nothing.
 */
void hwpmc_chain_deferred_forget(struct hwpmc_owner *o)
{
	bool any = false;
	unsigned int cpu, i;

	for_each_possible_cpu(cpu) {
		struct deferred *item = per_cpu_ptr(deferred_cpus, cpu)->pool;

		for (i = 0; i < DEFERRED_ITEMS; i++)
			any |= cmpxchg(&item[i].owner, o, NULL) == o;
	}
	if (any)
		/* work that has seen @o has committed */
		synchronize_rcu();
}

/* -ENOMEM */
int hwpmc_chain_deferred_init(void)
{
	unsigned int cpu;

	working_bits = max(WORKING_BITS, order_base_2(2 * DEFERRED_ITEMS / WORKING_WAYS *
						      num_possible_cpus()));
	working = kvcalloc(1U << working_bits, sizeof(*working), GFP_KERNEL);
	deferred_cpus = alloc_percpu(struct deferred_cpu);
	if (!working || !deferred_cpus) {
		kvfree(working);
		free_percpu(deferred_cpus);
		return -ENOMEM;
	}
	for_each_possible_cpu(cpu)
		per_cpu_ptr(deferred_cpus, cpu)->nudge =
			IRQ_WORK_INIT_HARD(deferred_nudge);
	return 0;
}

/* Module exit: no event exists, and the last work function has returned. */
void hwpmc_chain_deferred_exit(void)
{
	unsigned int cpu;

	for_each_possible_cpu(cpu)
		irq_work_sync(&per_cpu_ptr(deferred_cpus, cpu)->nudge);
	free_percpu(deferred_cpus);
	kvfree(working);
}
