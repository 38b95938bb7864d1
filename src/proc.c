// SPDX-License-Identifier: GPL-2.0-only
/*
 * Processes as they change: tracepoints, and kprobes where there are none.
 *
 * The probes run in process context in places that must not sleep, some with
 * the task's alloc_lock or the mmap lock held.  They commit small records and
 * take references to files; whatever needs a path is the writing thread's work.
 */
#include <linux/binfmts.h>
#include <linux/elf.h>
#include <linux/kprobes.h>
#include <linux/mm.h>
#include <linux/mman.h>
#include <linux/mmap_lock.h>
#include <linux/ptrace.h>
#include <linux/tracepoint.h>
#include <linux/user_namespace.h>

#include "compat.h"
#include "hooks.h"
#include "hwpmc.h"
#include "record.h"
#include "target.h"

#define commit_record(o, pid, rec, type, size) do {			\
	(rec)->h.header = PMCLOG_HEADER(type, size);			\
	record_commit(o, rec, size, pid);				\
} while (0)

/* What @o has attached to @task's process. */
static struct hwpmc_target *target_of(const struct hwpmc_owner *o,
				      struct task_struct *task)
{
	return target_find_rcu(o, task_tgid(task));
}

static bool tells_of(const struct hwpmc_owner *o, struct task_struct *task)
{
	return READ_ONCE(o->follow_all) || target_of(o, task);
}

static bool tells_of_child(const struct hwpmc_owner *o,
			   struct task_struct *child)
{
	const struct hwpmc_target *t;

	if (READ_ONCE(o->follow_all))
		return true;
	t = target_of(o, current);
	return t && (same_thread_group(child, current) ||
		     READ_ONCE(t->descend));
}

/*
 * perf removes its counters from a program that its user may not look into.  Only
 * an owner that follows all processes, or whose opener may look into every one,
 * has records of it.
 */
static bool tells_of_guarded(const struct hwpmc_owner *o,
			     struct task_struct *task)
{
	return READ_ONCE(o->follow_all) ||
	       (o->traces_all && target_of(o, task));
}

/* Where code lies is of interest to who samples. */
static bool tells_of_maps(const struct hwpmc_owner *o)
{
	const struct hwpmc_target *t;

	if (READ_ONCE(o->follow_all))
		return true;
	t = target_of(o, current);
	return t && READ_ONCE(t->sampled);
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

/* The child has its pids and does not run yet. */
static void probe_newtask(void *data, struct task_struct *task,
			  compat_clone_flags clone_flags)
{
	struct hwpmc_owner *o;

	rcu_read_lock();
	preempt_disable();
	/* first: it takes down which log is about to be told */
	follow_fork(task);
	for_each_hook_owner(o) {
		if (owner_pid_of(o, task) == PMCLOG_PID_KERNEL ||
		    !tells_of_child(o, task))
			continue;
		if (thread_group_leader(task))
			commit_fork(o, task);
		commit_name(o, task, task->comm);
	}
	preempt_enable();
	rcu_read_unlock();
}

/* task_lock held; @comm is the name to come. */
static void probe_rename(void *data, struct task_struct *task, const char *comm)
{
	struct hwpmc_owner *o;

	rcu_read_lock();
	preempt_disable();
	for_each_hook_owner(o)
		if (owner_pid_of(o, task) != PMCLOG_PID_KERNEL &&
		    tells_of(o, task))
			commit_name(o, task, comm);
	preempt_enable();
	rcu_read_unlock();
}

static void commit_exit(struct hwpmc_owner *o, struct task_struct *p, bool last)
{
	struct hwpmc_target *t = target_of(o, p);
	u32 pid = owner_pid_of(o, p);

	if (pid == PMCLOG_PID_KERNEL || !(t || READ_ONCE(o->follow_all)))
		return;
	if (!thread_group_leader(p)) {
		struct pmclog_thr_exit x = { .tid = owner_tid_of(o, p) };

		commit_record(o, pid, &x, PMCLOG_T_THR_EXIT, sizeof(x));
	}
	/*
	 * A target's comes behind its counts, which are not complete yet; but not
	 * if it has just lost its last PMC
	 */
	if (last && (!t || (test_and_set_bit(0, &t->ended) &&
			    READ_ONCE(o->follow_all)))) {
		struct pmclog_sysexit x = { .pid = pid };

		commit_record(o, pid, &x, PMCLOG_T_SYSEXIT, sizeof(x));
	}
	if (last)
		trigger_exit(o, p, pid);
}

static void probe_exit(void *data, COMPAT_EXIT_PROTO)
{
	bool last = compat_process_gone(p);
	struct hwpmc_owner *o;

	rcu_read_lock();
	preempt_disable();
	for_each_hook_owner(o)
		commit_exit(o, p, last);
	follow_exit(p);
	preempt_enable();
	rcu_read_unlock();
}

struct area map_area(const struct vm_area_struct *vma)
{
	return (struct area) {
		.start = vma->vm_start,
		.len = vma->vm_end - vma->vm_start,
		.pgoff = vma->vm_pgoff,
	};
}

/*
 * What the writing thread needs to know of a mapping; references its file.
 * @a: where it is, or where it is about to be
 */
void map_fill(struct ring_map *m, struct vm_area_struct *vma,
	      const struct area *a, u32 pid)
{
	m->file = vma->vm_file ? get_file(vma->vm_file) : NULL;
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

static void commit_map(struct hwpmc_owner *o, struct vm_area_struct *vma,
		       const struct area *a)
{
	u32 pid = owner_pid_of(o, current);
	struct owner_ring *or;
	struct ring_map *m;
	u64 entered;

	if (pid == PMCLOG_PID_KERNEL || !tells_of_maps(o))
		return;
	m = record_begin(o, sizeof(*m), KIND_MAP, pid, &or, &entered);
	if (!m)
		return;
	map_fill(m, vma, a, pid);
	record_end(or, entered);
}

/* Where the run-time loader sits, as the kernel has told the program. */
u64 auxv_base(struct mm_struct *mm, bool is32)
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

/* Where a position-independent image begins: its file's first mapping. */
static u64 load_base(struct mm_struct *mm, struct file *file)
{
	struct vm_area_struct *vma;
	VMA_ITERATOR(vmi, mm, 0);

	for_each_vma(vmi, vma)
		if (vma->vm_file &&
		    file_inode(vma->vm_file) == file_inode(file))
			return vma->vm_start -
			       ((u64)vma->vm_pgoff << PAGE_SHIFT);
	return 0;
}

static void commit_exec(struct hwpmc_owner *o, const struct linux_binprm *bprm,
			u64 base, u64 dyn)
{
	const struct hwpmc_target *t = target_of(o, current);
	u32 pid = owner_pid_of(o, current);
	struct owner_ring *or;
	struct ring_exec *x;
	u64 entered;

	x = record_begin(o, sizeof(*x), KIND_EXEC, pid, &or, &entered);
	if (!x)
		return;
	x->file = get_file(bprm->file);
	x->base = base;
	x->dyn = dyn;
	x->pid = pid;
	x->pmcid = t ? READ_ONCE(t->first_id) : PMCLOG_PMCID_NONE;
	record_end(or, entered);
}

/*
 * Has perf just taken all counters off the current task?  It does of what its user
 * may not look into.  RCU read section.
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
 * The new image is complete.  Its mappings were made during the exec, when the
 * reader would still have taken them for the old image's: they come now.
 */
static void probe_exec(void *data, struct task_struct *p, pid_t old_pid,
		       struct linux_binprm *bprm)
{
	const struct elf32_hdr *ehdr = (const void *)bprm->buf;
	bool elf = !memcmp(ehdr->e_ident, ELFMAG, SELFMAG);
	bool is32 = elf && ehdr->e_ident[EI_CLASS] == ELFCLASS32;
	struct mm_struct *mm = current->mm;
	struct vm_area_struct *vma;
	struct hwpmc_owner *o;
	bool locked, guarded;
	u64 dyn = 0;

	rcu_read_lock();
	preempt_disable();
	guarded = is_guarded();
	locked = mmap_read_trylock(mm);
	if (locked && elf && ehdr->e_type == ET_DYN)
		dyn = load_base(mm, bprm->file);
	for_each_hook_owner(o) {
		VMA_ITERATOR(vmi, mm, 0);

		if (owner_pid_of(o, current) == PMCLOG_PID_KERNEL ||
		    !(guarded ? tells_of_guarded(o, current) :
				tells_of(o, current)))
			continue;
		commit_exec(o, bprm, auxv_base(mm, is32), dyn);
		if (!locked) {
			record_lost(o, owner_pid_of(o, current));
			continue;
		}
		for_each_vma(vmi, vma) {
			struct area a = map_area(vma);

			if (vma->vm_flags & VM_EXEC)
				commit_map(o, vma, &a);
		}
	}
	if (locked)
		mmap_read_unlock(mm);
	follow_exec();
	preempt_enable();
	rcu_read_unlock();
}

/* mmap lock held for writing */
static void tell_mapped(struct vm_area_struct *vma, struct area a)
{
	struct hwpmc_owner *o;

	if (!(vma->vm_flags & VM_EXEC) || vma->vm_mm != current->mm ||
	    current->in_execve)
		return;
	rcu_read_lock();
	preempt_disable();
	for_each_hook_owner(o)
		commit_map(o, vma, &a);
	preempt_enable();
	rcu_read_unlock();
}

/* perf_event_mmap(vma): mmap, mprotect */
static int probe_mmap(struct kprobe *kp, struct pt_regs *regs)
{
	struct vm_area_struct *vma = (void *)regs_get_kernel_argument(regs, 0);

	tell_mapped(vma, map_area(vma));
	return 0;
}

/*
 * copy_vma(&vma, start, len, pgoff, ...): mremap is about to make the new place
 * of what it moves.  Should it fail, nothing is there: nothing runs there either.
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

/* mremap is about to make a mapping longer where it is, or fails: as above. */
static int probe_grow(struct kprobe *kp, struct pt_regs *regs)
{
	unsigned long more;
	struct vm_area_struct *vma = compat_vma_grows(kp, regs, &more);
	struct area a;

	if (!vma)
		return 0;
	a = map_area(vma);
	a.len += more;
	tell_mapped(vma, a);
	return 0;
}

/*
 * uprobe_munmap(vma, start, end): each time a mapped file's range loses its
 * pages.  It is an munmap if nothing of that file is mapped at the place any
 * more; the process' end and madvise come here too, with the mapping in place.
 */
static int probe_munmap(struct kprobe *kp, struct pt_regs *regs)
{
	struct vm_area_struct *vma = (void *)regs_get_kernel_argument(regs, 0);
	struct vm_area_struct *now;
	struct hwpmc_owner *o;

	if (!(vma->vm_flags & VM_EXEC) || vma->vm_mm != current->mm)
		return 0;
	rcu_read_lock();
	preempt_disable();
	now = mtree_load(&vma->vm_mm->mm_mt, regs_get_kernel_argument(regs, 1));
	if (now && READ_ONCE(now->vm_file) == vma->vm_file)
		goto out;
	for_each_hook_owner(o) {
		struct pmclog_map_out out = {
			.pid = owner_pid_of(o, current),
			.start = regs_get_kernel_argument(regs, 1),
			.end = regs_get_kernel_argument(regs, 2),
		};

		if (out.pid != PMCLOG_PID_KERNEL && out.start < out.end &&
		    tells_of_maps(o))
			commit_record(o, out.pid, &out, PMCLOG_T_MAP_OUT,
				      sizeof(out));
	}
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
	follow_switch(prev);
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

/* costs something at each switch: only while somebody asks for it */
static struct trace_hook switch_hook = {
	.name = "sched_switch", .probe = probe_switch,
};

/*
 * @older:    the function's name in older kernels, if it had another
 * @optional: a kernel built as one (LTO) may have the function no more; there,
 *	      code that mremap moves is not told, and the kernel's log says so
 */
struct map_hook {
	struct kprobe	kp;
	const char	*name;
	const char	*older;
	bool		optional;
	bool		registered;
};

static struct map_hook map_hooks[] = {
	{ { .pre_handler = probe_mmap },   .name = "perf_event_mmap" },
	{ { .pre_handler = probe_munmap }, .name = "uprobe_munmap" },
	{ { .pre_handler = probe_move },   .name = "copy_vma",
	  .optional = true },
	{ { .pre_handler = probe_grow },   .name = COMPAT_VMA_GROWS,
	  .older = COMPAT_VMA_GROWS_OLDER, .optional = true },
};

/* A probe with the wrong arguments would compile, and corrupt silently. */
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

	/* register_kprobe() wants them as new */
	h->kp.addr = NULL;
	h->kp.flags = 0;
	h->kp.symbol_name = name;
	err = register_kprobe(&h->kp);
	if (err == -ENOENT && h->older && name != h->older)
		return register_map(h, h->older);
	h->registered = !err;
	return err;
}

int proc_switch_register(void)
{
	return register_trace(&switch_hook);
}

void proc_switch_unregister(void)
{
	unregister_traces(&switch_hook, 1);
}

int proc_tasks_register(void)
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

void proc_tasks_unregister(void)
{
	unregister_traces(trace_hooks, ARRAY_SIZE(trace_hooks));
}

int proc_maps_register(void)
{
	struct map_hook *h;
	int err;

	for (h = map_hooks; h < map_hooks + ARRAY_SIZE(map_hooks); h++) {
		err = register_map(h, h->name);
		if (err && h->optional) {
			pr_warn_once("no kprobe on %s: %d; memory moved by mremap is not told\n",
				     h->name, err);
			continue;
		}
		if (err) {
			pr_err("no kprobe on %s: %d\n", h->name, err);
			proc_maps_unregister();
			return err;
		}
	}
	return 0;
}

void proc_maps_unregister(void)
{
	struct map_hook *h;

	for (h = map_hooks; h < map_hooks + ARRAY_SIZE(map_hooks); h++) {
		if (h->registered)
			unregister_kprobe(&h->kp);
		h->registered = false;
	}
}
