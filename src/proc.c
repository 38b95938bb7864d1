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

#include "compat.h"
#include "hwpmc.h"

#define commit_record(o, pid, rec, type, size) do {			\
	(rec)->h.header = PMCLOG_HEADER(type, size);			\
	record_commit(o, rec, size, pid);				\
} while (0)

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
	for_each_hook_owner(o) {
		if (owner_pid_of(o, task) == PMCLOG_PID_KERNEL)
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
		if (owner_pid_of(o, task) != PMCLOG_PID_KERNEL)
			commit_name(o, task, comm);
	preempt_enable();
	rcu_read_unlock();
}

static void commit_exit(struct hwpmc_owner *o, struct task_struct *p, bool last)
{
	u32 pid = owner_pid_of(o, p);

	if (pid == PMCLOG_PID_KERNEL)
		return;
	if (!thread_group_leader(p)) {
		struct pmclog_thr_exit t = { .tid = owner_tid_of(o, p) };

		commit_record(o, pid, &t, PMCLOG_T_THR_EXIT, sizeof(t));
	}
	if (last) {
		struct pmclog_sysexit x = { .pid = pid };

		commit_record(o, pid, &x, PMCLOG_T_SYSEXIT, sizeof(x));
	}
}

static void probe_exit(void *data, COMPAT_EXIT_PROTO)
{
	bool last = compat_process_gone(p);
	struct hwpmc_owner *o;

	rcu_read_lock();
	preempt_disable();
	for_each_hook_owner(o)
		commit_exit(o, p, last);
	preempt_enable();
	rcu_read_unlock();
}

/* What the writing thread needs to know of a mapping; references its file. */
void map_fill(struct ring_map *m, struct vm_area_struct *vma, u32 pid)
{
	m->file = vma->vm_file ? get_file(vma->vm_file) : NULL;
	m->start = vma->vm_start;
	m->len = vma->vm_end - vma->vm_start;
	m->offset = (u64)vma->vm_pgoff << PAGE_SHIFT;
	m->pid = pid;
	m->prot = !!(vma->vm_flags & VM_READ) * PROT_READ |
		  !!(vma->vm_flags & VM_WRITE) * PROT_WRITE |
		  !!(vma->vm_flags & VM_EXEC) * PROT_EXEC;
	m->vdso = !vma->vm_file && compat_vma_is_vdso(vma);
	m->pad = 0;
}

static void commit_map(struct hwpmc_owner *o, struct vm_area_struct *vma)
{
	u32 pid = owner_pid_of(o, current);
	struct owner_ring *or;
	struct ring_map *m;
	unsigned int depth;

	if (pid == PMCLOG_PID_KERNEL)
		return;
	m = record_begin(o, sizeof(*m), KIND_MAP, pid, &or, &depth);
	if (!m)
		return;
	map_fill(m, vma, pid);
	record_end(or, depth);
}

/* Where the run-time loader sits, as the kernel has told the program. */
static u64 auxv_base(struct mm_struct *mm, bool is32)
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
	u32 pid = owner_pid_of(o, current);
	struct owner_ring *or;
	struct ring_exec *x;
	unsigned int depth;

	x = record_begin(o, sizeof(*x), KIND_EXEC, pid, &or, &depth);
	if (!x)
		return;
	x->file = get_file(bprm->file);
	x->base = base;
	x->dyn = dyn;
	x->pid = pid;
	x->pad = 0;
	record_end(or, depth);
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
	bool locked;
	u64 dyn = 0;

	rcu_read_lock();
	preempt_disable();
	locked = mmap_read_trylock(mm);
	if (locked && elf && ehdr->e_type == ET_DYN)
		dyn = load_base(mm, bprm->file);
	for_each_hook_owner(o) {
		VMA_ITERATOR(vmi, mm, 0);

		if (owner_pid_of(o, current) == PMCLOG_PID_KERNEL)
			continue;
		commit_exec(o, bprm, auxv_base(mm, is32), dyn);
		if (!locked) {
			record_lost(o, owner_pid_of(o, current));
			continue;
		}
		for_each_vma(vmi, vma)
			if (vma->vm_flags & VM_EXEC)
				commit_map(o, vma);
	}
	if (locked)
		mmap_read_unlock(mm);
	preempt_enable();
	rcu_read_unlock();
}

/* perf_event_mmap(vma): mmap, mprotect; mmap lock held for writing. */
static int probe_mmap(struct kprobe *kp, struct pt_regs *regs)
{
	struct vm_area_struct *vma = (void *)regs_get_kernel_argument(regs, 0);
	struct hwpmc_owner *o;

	if (!(vma->vm_flags & VM_EXEC) || vma->vm_mm != current->mm ||
	    current->in_execve)
		return 0;
	rcu_read_lock();
	preempt_disable();
	for_each_hook_owner(o)
		commit_map(o, vma);
	preempt_enable();
	rcu_read_unlock();
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

		if (out.pid != PMCLOG_PID_KERNEL && out.start < out.end)
			commit_record(o, out.pid, &out, PMCLOG_T_MAP_OUT,
				      sizeof(out));
	}
out:
	preempt_enable();
	rcu_read_unlock();
	return 0;
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

static struct kprobe kprobe_hooks[] = {
	{ .symbol_name = "perf_event_mmap",	.pre_handler = probe_mmap },
	{ .symbol_name = "uprobe_munmap",	.pre_handler = probe_munmap },
};

/* A probe with the wrong arguments would compile, and corrupt silently. */
static void __maybe_unused check_prototypes(void)
{
	check_trace_callback_type_task_newtask(probe_newtask);
	check_trace_callback_type_task_rename(probe_rename);
	check_trace_callback_type_sched_process_exec(probe_exec);
	check_trace_callback_type_sched_process_exit(probe_exit);
}

static void find_tracepoint(struct tracepoint *tp, void *priv)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(trace_hooks); i++)
		if (!strcmp(tp->name, trace_hooks[i].name))
			trace_hooks[i].tp = tp;
}

static void unregister_first(unsigned int ntrace, unsigned int nkprobe)
{
	while (nkprobe--) {
		struct kprobe *kp = &kprobe_hooks[nkprobe];

		unregister_kprobe(kp);
		/* register_kprobe() wants them as new */
		kp->addr = NULL;
		kp->flags = 0;
	}
	while (ntrace--)
		tracepoint_probe_unregister(trace_hooks[ntrace].tp,
					    trace_hooks[ntrace].probe, NULL);
	tracepoint_synchronize_unregister();
}

int proc_probes_register(void)
{
	unsigned int t, k = 0;
	int err;

	for_each_kernel_tracepoint(find_tracepoint, NULL);
	for (t = 0; t < ARRAY_SIZE(trace_hooks); t++) {
		err = trace_hooks[t].tp ?
		      tracepoint_probe_register(trace_hooks[t].tp,
						trace_hooks[t].probe, NULL) :
		      -ENOENT;
		if (err) {
			pr_err("no tracepoint %s: %d\n", trace_hooks[t].name,
			       err);
			goto fail;
		}
	}
	for (k = 0; k < ARRAY_SIZE(kprobe_hooks); k++) {
		err = register_kprobe(&kprobe_hooks[k]);
		if (err) {
			kprobe_hooks[k].addr = NULL;
			pr_err("no kprobe on %s: %d\n",
			       kprobe_hooks[k].symbol_name, err);
			goto fail;
		}
	}
	return 0;
fail:
	unregister_first(t, k);
	return err;
}

void proc_probes_unregister(void)
{
	unregister_first(ARRAY_SIZE(trace_hooks), ARRAY_SIZE(kprobe_hooks));
}
