// SPDX-License-Identifier: GPL-2.0-only
/*
 * Changes of processes: tracepoints.  mapping.c has the probes of mappings.
 *
 * The probes run in process context where sleeping is not allowed, some with
 * the task's alloc_lock or the mmap lock held.  They commit small records and
 * take references to files.  The writer thread does all work that needs a
 * path.
 */
#include <linux/binfmts.h>
#include <linux/elf.h>
#include <linux/mm.h>
#include <linux/mmap_lock.h>
#include <linux/ptrace.h>
#include <linux/rhashtable.h>
#include <linux/tracepoint.h>
#include <linux/user_namespace.h>

#include "compat.h"
#include "hooks.h"
#include "hwpmc.h"
#include "log/area.h"
#include "sample/record.h"
#include "target.h"
#include "unwind/unwind.h"

static bool logs_child(const struct hwpmc_owner *o,
			   const struct hwpmc_target *t,
			   struct task_struct *child)
{
	return !t || READ_ONCE(o->hooks.follow_all) ||
	       same_thread_group(child, current) || READ_ONCE(t->descend);
}

/*
 * perf removes its counters from a program that its user may not inspect.  Only
 * an owner that follows all processes, or whose opener may inspect every
 * process, gets records of it.
 */
static bool logs_guarded(const struct hwpmc_owner *o,
			     const struct hwpmc_target *t)
{
	return !t || READ_ONCE(o->hooks.follow_all) || o->traces_all;
}

static void commit_name(struct hwpmc_owner *o, struct task_struct *task,
			const char *comm)
{
	u32 pid = owner_pid_of(o, task);

	if (thread_group_leader(task)) {
		struct pmclog_proc_create p = { .pid = pid };

		strscpy(p.comm, comm, sizeof(p.comm));
		hook_commit(o, pid, &p, PMCLOG_T_PROC_CREATE,
			      PMCLOG_PROC_CREATE_LEN);
	} else {
		struct pmclog_thr_create t = { .pid = pid };

		t.tid = owner_tid_of(o, task);
		strscpy(t.name, comm, sizeof(t.name));
		hook_commit(o, pid, &t, PMCLOG_T_THR_CREATE,
			      PMCLOG_THR_CREATE_LEN);
	}
}

/*
 * A parent that the owner's pid namespace does not have, because it has entered another
 * one for its children, is not in the log.  So the child is dumped.
 */
static void commit_fork(struct hwpmc_owner *o, struct task_struct *child)
{
	struct pmclog_procfork f = {
		.oldpid = owner_pid_of(o, current),
		.newpid = owner_pid_of(o, child),
	};

	if (f.oldpid == PMCLOG_PID_KERNEL && !(current->flags & PF_KTHREAD))
		hwpmc_record_lost(o, f.newpid);
	else
		hook_commit(o, f.newpid, &f, PMCLOG_T_PROCFORK, sizeof(f));
}

static void log_newtask(struct hwpmc_owner *o, struct hwpmc_target *t,
			 void *arg)
{
	struct task_struct *task = arg;

	if (owner_pid_of(o, task) == PMCLOG_PID_KERNEL ||
	    !logs_child(o, t, task))
		return;
	if (thread_group_leader(task))
		commit_fork(o, task);
	commit_name(o, task, task->comm);
}

/* The child has its pids and does not run yet. */
static void probe_newtask(void *data, struct task_struct *task,
			  compat_clone_flags clone_flags)
{
	struct rhlist_head *list;

	/* the child is in the kernel's lists; pairs with thread_new() */
	smp_mb();
	rcu_read_lock();
	preempt_disable();
	list = hwpmc_targets_find_rcu(task_tgid(current));
	/*
	 * first: hwpmc_follow_fork() notes which log is about to get the record
	 */
	if (list)
		hwpmc_follow_fork(task, list);
	hwpmc_hooks_each(list, log_newtask, task);
	preempt_enable();
	rcu_read_unlock();
}

struct renamed {
	struct task_struct *task;
	const char *comm;
};

static void log_rename(struct hwpmc_owner *o, struct hwpmc_target *t,
			void *arg)
{
	const struct renamed *r = arg;

	if (owner_pid_of(o, r->task) != PMCLOG_PID_KERNEL)
		commit_name(o, r->task, r->comm);
}

/*
 * @comm is the new name, and the task has the old one still.  task_lock is held, but not
 * since 6.14 or earlier: a dump may read the old name after this record there.
 */
static void probe_rename(void *data, struct task_struct *task, const char *comm)
{
	struct renamed r = { .task = task, .comm = comm };

	rcu_read_lock();
	preempt_disable();
	hwpmc_hooks_each(hwpmc_targets_find_rcu(task_tgid(task)), log_rename, &r);
	preempt_enable();
	rcu_read_unlock();
}

struct exited {
	struct task_struct *task;
	bool last;		/* last one of its process */
};

static void log_exit(struct hwpmc_owner *o, struct hwpmc_target *t, void *arg)
{
	const struct exited *e = arg;
	struct task_struct *p = e->task;
	u32 pid = owner_pid_of(o, p);

	if (pid == PMCLOG_PID_KERNEL)
		return;
	if (!thread_group_leader(p)) {
		struct pmclog_thr_exit x = { .tid = owner_tid_of(o, p) };

		hook_commit(o, pid, &x, PMCLOG_T_THR_EXIT, sizeof(x));
	}
	/*
	 * A target's SYSEXIT is logged after its counts, which are not complete
	 * yet.  Exception: a target that has just lost its last PMC.
	 */
	if (e->last && (!t || (test_and_set_bit(0, &t->ended) &&
			       READ_ONCE(o->hooks.follow_all)))) {
		struct pmclog_sysexit x = { .pid = pid };

		hook_commit(o, pid, &x, PMCLOG_T_SYSEXIT, sizeof(x));
	}
	if (e->last)
		hwpmc_trigger_exit(o, p, pid);
}

static void probe_exit(void *data, COMPAT_EXIT_PROTO)
{
	struct exited e = { .task = p, .last = compat_process_gone(p) };
	struct rhlist_head *list;

	rcu_read_lock();
	preempt_disable();
	list = hwpmc_targets_find_rcu(task_tgid(p));
	hwpmc_hooks_each(list, log_exit, &e);
	if (list)
		hwpmc_follow_exit(p);
	preempt_enable();
	rcu_read_unlock();
}

/*
 * Load address of the run-time loader, from the auxiliary vector of the
 * program.
 */
u64 hwpmc_proc_auxv_base(struct mm_struct *mm, bool is32)
{
	const u32 *v32 = (const u32 *)mm->saved_auxv;
	const unsigned long *v = mm->saved_auxv;
	unsigned int i;

	for (i = 0; i + 1 < ARRAY_SIZE(mm->saved_auxv); i += 2) {
		if ((is32 ? v32[i] : v[i]) == AT_NULL)
			break;
		if ((is32 ? v32[i] : v[i]) == AT_BASE)
			return is32 ? v32[i + 1] : v[i + 1];
	}
	return 0;
}

/*
 * The inode of the file that the user opened or mapped.  A mapped file of a stacking
 * file system has the inode of the file below in f_inode.  @file's reference to the
 * path keeps the dentry from losing its inode.
 */
static const struct inode *user_inode(const struct file *file)
{
	return d_inode(compat_user_path(file)->dentry);
}

/* Load address of a position-independent image: its file's first mapping. */
static u64 load_base(struct mm_struct *mm, struct file *file)
{
	struct vm_area_struct *vma;
	VMA_ITERATOR(vmi, mm, 0);

	for_each_vma(vmi, vma)
		if (vma->vm_file && user_inode(vma->vm_file) == user_inode(file))
			return vma->vm_start -
			       ((u64)vma->vm_pgoff << PAGE_SHIFT);
	return 0;
}

/**
 * struct execed - an exec of the current task
 * @bprm: the arguments of the exec
 * @old_tid: what the task's tid was, in the first pid namespace; it is free by now
 * @base: load address of the run-time loader
 * @dyn: load address of a position-independent image, or 0
 * @guarded: see is_guarded()
 * @locked: the mmap lock is held, so that the mappings can be logged
 * @room: for this many mappings in the logs of the owners that are left
 */
struct execed {
	const struct linux_binprm *bprm;
	pid_t	old_tid;
	u64	base;
	u64	dyn;
	bool	guarded;
	bool	locked;
	int	room;
};

/*
 * A thread that execs takes over the tid of the first thread, which has ended.  No
 * struct pid has the old tid any more, so its number in another namespace is not known.
 */
static void commit_old_tid(struct hwpmc_owner *o, const struct execed *e)
{
	struct pmclog_thr_exit x = { .tid = e->old_tid };

	if (e->old_tid != current->pid && owner_sees_pids(o, current))
		hook_commit(o, owner_pid_of(o, current), &x, PMCLOG_T_THR_EXIT,
			    sizeof(x));
}

static void commit_exec(struct hwpmc_owner *o, const struct hwpmc_target *t,
			const struct execed *e)
{
	u32 pid = owner_pid_of(o, current);
	struct owner_ring *or;
	struct ring_exec *x;
	u64 entered;

	x = hwpmc_record_begin(o, sizeof(*x), KIND_EXEC, pid, &or, &entered);
	if (!x)
		return;
	x->file = get_file(e->bprm->file);	/* the exec itself holds a reference */
	x->base = e->base;
	x->dyn = e->dyn;
	x->pid = pid;
	x->pmcid = t ? READ_ONCE(t->first_id) : PMCLOG_PMCID_NONE;
	hwpmc_record_end(or, entered);
}

/*
 * Has perf just removed all counters from the current task? perf does so for a
 * program that its user may not inspect.  RCU read section.
 */
static bool is_guarded(void)
{
	struct user_namespace *ns;
	bool dumpable;

	if (!compat_memory_access(current, &dumpable, &ns))
		return true;
	put_user_ns(ns);
	return !dumpable;
}

/*
 * The logs of all owners get the mappings of a new image while preemption is disabled.
 * An image has a dozen.  Of one that is made to have many, a record is lost in the logs
 * for which there is no room, and their writer threads read it.
 */
#define EXEC_AREAS_MAX	256
#define EXEC_AREAS_ALL	1024

static void log_exec(struct hwpmc_owner *o, struct hwpmc_target *t, void *arg)
{
	struct execed *e = arg;
	struct vm_area_struct *vma;
	VMA_ITERATOR(vmi, current->mm, 0);

	if (owner_pid_of(o, current) == PMCLOG_PID_KERNEL)
		return;
	commit_old_tid(o, e);
	if (e->guarded && !logs_guarded(o, t))
		return;
	commit_exec(o, t, e);
	if (!hwpmc_mapping_is_wanted(o, t))
		return;
	if (!e->locked || current->mm->map_count > min(e->room, EXEC_AREAS_MAX)) {
		hwpmc_record_lost(o, owner_pid_of(o, current));
		return;
	}
	e->room -= current->mm->map_count;
	for_each_vma(vmi, vma) {
		struct area a = hwpmc_area_of(vma);

		if (vma->vm_flags & VM_EXEC)
			hwpmc_mapping_commit(o, t, vma, &a);
	}
}

static void log_image(struct rhlist_head *list, struct linux_binprm *bprm,
		      pid_t old_tid)
{
	const struct elf32_hdr *ehdr = (const void *)bprm->buf;
	bool elf = !memcmp(ehdr->e_ident, ELFMAG, SELFMAG);
	bool is32 = elf && ehdr->e_ident[EI_CLASS] == ELFCLASS32;
	struct mm_struct *mm = current->mm;
	struct execed e = {
		.bprm = bprm,
		.old_tid = old_tid,
		.base = hwpmc_proc_auxv_base(mm, is32),
		.guarded = is_guarded(),
		/* trace events of mmap_read_trylock() may sleep on PREEMPT_RT */
		.locked = down_read_trylock(&mm->mmap_lock),
		.room = EXEC_AREAS_ALL,
	};

	if (e.locked && elf && ehdr->e_type == ET_DYN)
		e.dyn = load_base(mm, bprm->file);
	hwpmc_hooks_each(list, log_exec, &e);
	if (e.locked)
		up_read(&mm->mmap_lock);
}

/*
 * The new image is complete.  Its mappings were made during the exec, when a
 * reader of the log would still have attributed them to the old image.  So they
 * are logged now.
 */
static void probe_exec(void *data, struct task_struct *p, pid_t old_pid,
		       struct linux_binprm *bprm)
{
	struct rhlist_head *list;

	rcu_read_lock();
	preempt_disable();
	list = hwpmc_targets_find_rcu(task_tgid(current));
	if (!hwpmc_hooks_nobody(list))
		log_image(list, bprm, old_pid);
	if (list)
		hwpmc_follow_exec(list);
	preempt_enable();
	rcu_read_unlock();
}

/* Runqueue lock held. */
static void probe_switch(void *data, bool preempt, struct task_struct *prev,
			 struct task_struct *next, unsigned int prev_state)
{
	rcu_read_lock();
	hwpmc_follow_switch(prev);
	rcu_read_unlock();
}

struct trace_hook {
	const char *name;
	void *probe;
	struct tracepoint *tp;
};

static struct trace_hook trace_hooks[] = {
	{ .name = "task_newtask",	.probe = probe_newtask },
	{ .name = "task_rename",	.probe = probe_rename },
	{ .name = "sched_process_exec",	.probe = probe_exec },
	{ .name = "sched_process_exit",	.probe = probe_exit },
};

/* adds cost to each switch: registered only while an owner needs it */
static struct trace_hook switch_hook = {
	.name = "sched_switch", .probe = probe_switch,
};

/* Type check: a probe with wrong arguments would compile, and corrupt silently. */
static void __maybe_unused check_prototypes(void)
{
	check_trace_callback_type_task_newtask(probe_newtask);
	check_trace_callback_type_task_rename(probe_rename);
	check_trace_callback_type_sched_process_exec(probe_exec);
	check_trace_callback_type_sched_process_exit(probe_exit);
	check_trace_callback_type_sched_switch(probe_switch);
}

static void find_tracepoint(struct tracepoint *tp, void *priv)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(trace_hooks); i++)
		if (!strcmp(tp->name, trace_hooks[i].name))
			trace_hooks[i].tp = tp;
	if (!strcmp(tp->name, switch_hook.name))
		switch_hook.tp = tp;
}

static int register_trace(struct trace_hook *h)
{
	int err = -ENOENT;

	if (!h->tp)
		for_each_kernel_tracepoint(find_tracepoint, NULL);
	if (h->tp)
		err = tracepoint_probe_register(h->tp, h->probe, NULL);
	if (err)
		pr_err("cannot follow %s: %d\n", h->name, err);
	return err;
}

static void unregister_traces(struct trace_hook *h, unsigned int n)
{
	while (n--)
		tracepoint_probe_unregister(h[n].tp, h[n].probe, NULL);
	tracepoint_synchronize_unregister();
}

int hwpmc_proc_switch_register(void)
{
	return register_trace(&switch_hook);
}

void hwpmc_proc_switch_unregister(void)
{
	unregister_traces(&switch_hook, 1);
}

int hwpmc_proc_tasks_register(void)
{
	unsigned int n;
	int err;

	for (n = 0; n < ARRAY_SIZE(trace_hooks); n++) {
		err = register_trace(&trace_hooks[n]);
		if (err) {
			unregister_traces(trace_hooks, n);
			return err;
		}
	}
	return 0;
}

void hwpmc_proc_tasks_unregister(void)
{
	unregister_traces(trace_hooks, ARRAY_SIZE(trace_hooks));
}
