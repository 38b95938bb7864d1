// SPDX-License-Identifier: GPL-2.0-only
/*
 * Changes of processes: tracepoints, and kprobes where there is no tracepoint.
 *
 * The probes run in process context where sleeping is not allowed, some with
 * the task's alloc_lock or the mmap lock held.  They commit small records and
 * take references to files.  The writer thread does all work that needs a
 * path.
 */
#include <linux/binfmts.h>
#include <linux/elf.h>
#include <linux/kprobes.h>
#include <linux/mm.h>
#include <linux/mman.h>
#include <linux/mmap_lock.h>
#include <linux/ptrace.h>
#include <linux/rhashtable.h>
#include <linux/tracepoint.h>
#include <linux/user_namespace.h>

#include "compat.h"
#include "hooks.h"
#include "hwpmc.h"
#include "sample/record.h"
#include "target.h"
#include "unwind/unwind.h"

#define commit_record(o, pid, rec, type, size)                                 \
	do {                                                                   \
		(rec)->h.header = PMCLOG_HEADER(type, size);                   \
		hwpmc_record_commit(o, rec, size, pid);                        \
	} while (0)

/* @t: @o's target for the process; NULL: none, @o follows all processes */
typedef void (*tell_fn)(struct hwpmc_owner *o, struct hwpmc_target *t,
			void *arg);

/*
 * tell_owners - call @fn once for each owner whose log follows a process
 * @list: the process' targets
 *
 * RCU read section, preemption off.  Targets may come and go meanwhile, so each
 * owner is called from one place only.  If an owner begins to follow all
 * processes just now, its dump has what is left out here.
 */
static void tell_owners(struct rhlist_head *list, tell_fn fn, void *arg)
{
	struct hwpmc_target *t;
	struct rhlist_head *pos;
	struct hwpmc_owner *o;

	for_each_hook_follower(o)
		fn(o, hwpmc_target_among_rcu(list, o), arg);
	if (!list)
		return;
	/* hwpmc_hooks_follow(): owners in the list have follow_all */
	smp_rmb();
	for_each_target_rcu(t, pos, list)
		if (READ_ONCE(t->owner->hooks.hooked) &&
		    !READ_ONCE(t->owner->hooks.follow_all))
			fn(t->owner, t, arg);
}

static bool nobody_listens(const struct rhlist_head *list)
{
	return !list && list_empty(&hwpmc_hooks_followers);
}

static bool tells_of_child(const struct hwpmc_owner *o,
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
static bool tells_of_guarded(const struct hwpmc_owner *o,
			     const struct hwpmc_target *t)
{
	return !t || READ_ONCE(o->hooks.follow_all) || o->traces_all;
}

/* Only sampling PMCs need the mappings of code. */
static bool tells_of_maps(const struct hwpmc_owner *o,
			  const struct hwpmc_target *t)
{
	return !t || READ_ONCE(o->hooks.follow_all) || READ_ONCE(t->sampled);
}

static void commit_name(struct hwpmc_owner *o, struct task_struct *task,
			const char *comm)
{
	u32 pid = owner_pid_of(o, task);

	if (thread_group_leader(task)) {
		struct pmclog_proc_create p = { .pid = pid };

		strscpy(p.comm, comm, sizeof(p.comm));
		commit_record(o, pid, &p, PMCLOG_T_PROC_CREATE,
			      PMCLOG_PROC_CREATE_LEN);
	} else {
		struct pmclog_thr_create t = { .pid = pid };

		t.tid = owner_tid_of(o, task);
		strscpy(t.name, comm, sizeof(t.name));
		commit_record(o, pid, &t, PMCLOG_T_THR_CREATE,
			      PMCLOG_THR_CREATE_LEN);
	}
}

static void commit_fork(struct hwpmc_owner *o, struct task_struct *child)
{
	struct pmclog_procfork f = {
		.oldpid = owner_pid_of(o, current),
		.newpid = owner_pid_of(o, child),
	};

	commit_record(o, f.newpid, &f, PMCLOG_T_PROCFORK, sizeof(f));
}

static void tell_newtask(struct hwpmc_owner *o, struct hwpmc_target *t,
			 void *arg)
{
	struct task_struct *task = arg;

	if (owner_pid_of(o, task) == PMCLOG_PID_KERNEL ||
	    !tells_of_child(o, t, task))
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

	rcu_read_lock();
	preempt_disable();
	list = hwpmc_targets_find_rcu(task_tgid(current));
	/*
	 * first: hwpmc_follow_fork() notes which log is about to get the record
	 */
	if (list)
		hwpmc_follow_fork(task, list);
	tell_owners(list, tell_newtask, task);
	preempt_enable();
	rcu_read_unlock();
}

struct renamed {
	struct task_struct *task;
	const char *comm;
};

static void tell_rename(struct hwpmc_owner *o, struct hwpmc_target *t,
			void *arg)
{
	const struct renamed *r = arg;

	if (owner_pid_of(o, r->task) != PMCLOG_PID_KERNEL)
		commit_name(o, r->task, r->comm);
}

/* task_lock held; @comm is the new name. */
static void probe_rename(void *data, struct task_struct *task, const char *comm)
{
	struct renamed r = { .task = task, .comm = comm };

	rcu_read_lock();
	preempt_disable();
	tell_owners(hwpmc_targets_find_rcu(task_tgid(task)), tell_rename, &r);
	preempt_enable();
	rcu_read_unlock();
}

struct exited {
	struct task_struct *task;
	bool last;		/* last one of its process */
};

static void tell_exit(struct hwpmc_owner *o, struct hwpmc_target *t, void *arg)
{
	const struct exited *e = arg;
	struct task_struct *p = e->task;
	u32 pid = owner_pid_of(o, p);

	if (pid == PMCLOG_PID_KERNEL)
		return;
	if (!thread_group_leader(p)) {
		struct pmclog_thr_exit x = { .tid = owner_tid_of(o, p) };

		commit_record(o, pid, &x, PMCLOG_T_THR_EXIT, sizeof(x));
	}
	/*
	 * A target's SYSEXIT is logged after its counts, which are not complete
	 * yet.  Exception: a target that has just lost its last PMC.
	 */
	if (e->last && (!t || (test_and_set_bit(0, &t->ended) &&
			       READ_ONCE(o->hooks.follow_all)))) {
		struct pmclog_sysexit x = { .pid = pid };

		commit_record(o, pid, &x, PMCLOG_T_SYSEXIT, sizeof(x));
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
	tell_owners(list, tell_exit, &e);
	if (list)
		hwpmc_follow_exit(p);
	preempt_enable();
	rcu_read_unlock();
}

struct area hwpmc_proc_map_area(const struct vm_area_struct *vma)
{
	return (struct area) {
		.start = vma->vm_start,
		.len = vma->vm_end - vma->vm_start,
		.pgoff = vma->vm_pgoff,
	};
}

/*
 * Returns the file of a mapping, referenced, or NULL.  A log that nobody reads
 * keeps the file for long.  An io_uring can be mapped and could have the device
 * in its table; then neither would ever be released.
 */
struct file *hwpmc_proc_map_file(const struct vm_area_struct *vma)
{
	return vma->vm_file && !hwpmc_log_may_hold(vma->vm_file) ?
		       get_file(vma->vm_file) :
		       NULL;
}

/*
 * Fills in what the writer thread needs to know of a mapping, and references
 * its file.
 * @a: the place of the mapping, now or in the future
 */
void hwpmc_proc_map_fill(struct ring_map *m, struct vm_area_struct *vma,
			 const struct area *a, u32 pid)
{
	m->file = hwpmc_proc_map_file(vma);
	m->start = a->start;
	m->len = a->len;
	m->offset = (u64)a->pgoff << PAGE_SHIFT;
	m->pid = pid;
	m->prot = !!(vma->vm_flags & VM_READ) * PROT_READ |
		  !!(vma->vm_flags & VM_WRITE) * PROT_WRITE |
		  !!(vma->vm_flags & VM_EXEC) * PROT_EXEC;
	m->vdso = !vma->vm_file && compat_vma_is_vdso(vma);
	m->pad = 0;
}

static void commit_map(struct hwpmc_owner *o, const struct hwpmc_target *t,
		       struct vm_area_struct *vma, const struct area *a)
{
	u32 pid = owner_pid_of(o, current);
	struct owner_ring *or;
	struct ring_map *m;
	u64 entered;

	if (pid == PMCLOG_PID_KERNEL || !tells_of_maps(o, t))
		return;
	m = hwpmc_record_begin(o, sizeof(*m), KIND_MAP, pid, &or, &entered);
	if (!m)
		return;
	hwpmc_proc_map_fill(m, vma, a, pid);
	hwpmc_record_end(or, entered);
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
 * @base: load address of the run-time loader
 * @dyn: load address of a position-independent image, or 0
 * @guarded: see is_guarded()
 * @locked: the mmap lock is held, so that the mappings can be logged
 */
struct execed {
	const struct linux_binprm *bprm;
	u64	base;
	u64	dyn;
	bool	guarded;
	bool	locked;
};

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

static void tell_exec(struct hwpmc_owner *o, struct hwpmc_target *t, void *arg)
{
	const struct execed *e = arg;
	struct vm_area_struct *vma;
	VMA_ITERATOR(vmi, current->mm, 0);

	if (owner_pid_of(o, current) == PMCLOG_PID_KERNEL ||
	    (e->guarded && !tells_of_guarded(o, t)))
		return;
	commit_exec(o, t, e);
	if (!e->locked) {
		hwpmc_record_lost(o, owner_pid_of(o, current));
		return;
	}
	for_each_vma(vmi, vma) {
		struct area a = hwpmc_proc_map_area(vma);

		if (vma->vm_flags & VM_EXEC)
			commit_map(o, t, vma, &a);
	}
}

static void tell_image(struct rhlist_head *list, struct linux_binprm *bprm)
{
	const struct elf32_hdr *ehdr = (const void *)bprm->buf;
	bool elf = !memcmp(ehdr->e_ident, ELFMAG, SELFMAG);
	bool is32 = elf && ehdr->e_ident[EI_CLASS] == ELFCLASS32;
	struct mm_struct *mm = current->mm;
	struct execed e = {
		.bprm = bprm,
		.base = hwpmc_proc_auxv_base(mm, is32),
		.guarded = is_guarded(),
		.locked = mmap_read_trylock(mm),
	};

	if (e.locked && elf && ehdr->e_type == ET_DYN)
		e.dyn = load_base(mm, bprm->file);
	tell_owners(list, tell_exec, &e);
	if (e.locked)
		mmap_read_unlock(mm);
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
	if (!nobody_listens(list))
		tell_image(list, bprm);
	if (list)
		hwpmc_follow_exec(list);
	preempt_enable();
	rcu_read_unlock();
}

struct mapped {
	struct vm_area_struct *vma;
	struct area area;
};

static void tell_map(struct hwpmc_owner *o, struct hwpmc_target *t, void *arg)
{
	const struct mapped *m = arg;

	commit_map(o, t, m->vma, &m->area);
}

/* mmap lock held for writing */
static void tell_mapped(struct vm_area_struct *vma, struct area a)
{
	struct mapped m = { .vma = vma, .area = a };

	if (!(vma->vm_flags & VM_EXEC) || vma->vm_mm != current->mm ||
	    current->in_execve)
		return;
	hwpmc_unwind_mapped(vma, a.start, a.start + a.len);
	rcu_read_lock();
	preempt_disable();
	tell_owners(hwpmc_targets_find_rcu(task_tgid(current)), tell_map, &m);
	preempt_enable();
	rcu_read_unlock();
}

/* perf_event_mmap(vma): mmap, mprotect */
static int probe_mmap(struct kprobe *kp, struct pt_regs *regs)
{
	struct vm_area_struct *vma = (void *)regs_get_kernel_argument(regs, 0);

	tell_mapped(vma, hwpmc_proc_map_area(vma));
	return 0;
}

/*
 * copy_vma(&vma, start, len, pgoff, ...): mremap is about to create the new
 * place of a mapping.  If mremap fails, nothing is mapped there and nothing
 * runs there.
 */
static int probe_move(struct kprobe *kp, struct pt_regs *regs)
{
	struct vm_area_struct **vma = (void *)regs_get_kernel_argument(regs, 0);
	struct area a = {
		.start = regs_get_kernel_argument(regs, 1),
		.len = regs_get_kernel_argument(regs, 2),
		.pgoff = regs_get_kernel_argument(regs, 3),
	};

	tell_mapped(*vma, a);
	return 0;
}

/* mremap is about to extend a mapping in place.  If it fails: as above. */
static int probe_grow(struct kprobe *kp, struct pt_regs *regs)
{
	unsigned long more;
	struct vm_area_struct *vma = compat_vma_grows(kp, regs, &more);
	struct area a;

	if (!vma)
		return 0;
	a = hwpmc_proc_map_area(vma);
	a.len += more;
	tell_mapped(vma, a);
	return 0;
}

struct unmapped {
	u64	start;
	u64	end;
};

static void tell_unmap(struct hwpmc_owner *o, struct hwpmc_target *t,
		       void *arg)
{
	const struct unmapped *u = arg;
	struct pmclog_map_out out = {
		.pid = owner_pid_of(o, current),
		.start = u->start,
		.end = u->end,
	};

	if (out.pid != PMCLOG_PID_KERNEL && tells_of_maps(o, t))
		commit_record(o, out.pid, &out, PMCLOG_T_MAP_OUT, sizeof(out));
}

/*
 * uprobe_munmap(vma, start, end) runs each time a range of a mapped file loses
 * its pages.  It is an munmap if that file is no longer mapped at the place.
 * The end of a process and madvise also call it, with the mapping in place.
 */
static int probe_munmap(struct kprobe *kp, struct pt_regs *regs)
{
	struct vm_area_struct *vma = (void *)regs_get_kernel_argument(regs, 0);
	struct unmapped u = {
		.start = regs_get_kernel_argument(regs, 1),
		.end = regs_get_kernel_argument(regs, 2),
	};
	struct vm_area_struct *now;
	struct rhlist_head *list;

	if (!(vma->vm_flags & VM_EXEC) || vma->vm_mm != current->mm ||
	    u.start >= u.end)
		return 0;
	rcu_read_lock();
	preempt_disable();
	list = hwpmc_targets_find_rcu(task_tgid(current));
	if (nobody_listens(list))
		goto out;
	now = mtree_load(&vma->vm_mm->mm_mt, u.start);
	if (!now || READ_ONCE(now->vm_file) != vma->vm_file)
		tell_owners(list, tell_unmap, &u);
out:
	preempt_enable();
	rcu_read_unlock();
	return 0;
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

/*
 * @older: the function's name in older kernels, if different
 * @untold: what is not logged on a kernel without the function, because of LTO
 *	    or missing uprobes; NULL: the function is required
 * @warned: the kernel log has a warning
 */
struct map_hook {
	struct kprobe	kp;
	const char	*name;
	const char	*older;
	const char	*untold;
	bool		registered;
	bool		warned;
};

static struct map_hook map_hooks[] = {
	{ { .pre_handler = probe_mmap },   .name = "perf_event_mmap" },
	{ { .pre_handler = probe_munmap }, .name = "uprobe_munmap",
	  .untold = "memory that is unmapped" },
	{ { .pre_handler = probe_move },   .name = "copy_vma",
	  .untold = "memory moved by mremap" },
	{ { .pre_handler = probe_grow },   .name = COMPAT_VMA_GROWS,
	  .older = COMPAT_VMA_GROWS_OLDER,
	  .untold = "memory made longer by mremap" },
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

static int register_map(struct map_hook *h, const char *name)
{
	int err;

	/* register_kprobe() needs these fields reset */
	h->kp.addr = NULL;
	h->kp.flags = 0;
	h->kp.symbol_name = name;
	err = register_kprobe(&h->kp);
	if (err == -ENOENT && h->older && name != h->older)
		return register_map(h, h->older);
	h->registered = !err;
	return err;
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

static void warn_untold(struct map_hook *h, int err)
{
	if (!h->warned)
		pr_warn("no kprobe on %s: %d; %s is not told\n", h->name, err,
			h->untold);
	h->warned = true;
}

int hwpmc_proc_maps_register(void)
{
	struct map_hook *h;
	int err;

	/* with LTO the functions may exist without being called by all users */
	if (IS_ENABLED(CONFIG_LTO_CLANG))
		pr_warn_once("this kernel was optimized as a whole (LTO): memory that is unmapped or moved may not be told\n");
	for (h = map_hooks; h < map_hooks + ARRAY_SIZE(map_hooks); h++) {
		err = register_map(h, h->name);
		if (err && h->untold) {
			warn_untold(h, err);
			continue;
		}
		if (err) {
			pr_err("no kprobe on %s: %d\n", h->name, err);
			hwpmc_proc_maps_unregister();
			return err;
		}
	}
	return 0;
}

void hwpmc_proc_maps_unregister(void)
{
	struct map_hook *h;

	for (h = map_hooks; h < map_hooks + ARRAY_SIZE(map_hooks); h++) {
		if (h->registered)
			unregister_kprobe(&h->kp);
		h->registered = false;
	}
}
