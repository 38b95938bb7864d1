/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * All differences between kernels, each as one named helper.
 *
 * HAVE_* come from compile probes (src/probe/) and from Module.symvers.  Kbuild
 * runs the probes with the flags of the real build.  Version numbers would say
 * little, because distributions backport.
 */
#ifndef HWPMC_COMPAT_H
#define HWPMC_COMPAT_H

#include <linux/capability.h>
#include <linux/cgroup.h>
#include <linux/hash.h>
#include <linux/kprobes.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/perf_event.h>
#include <linux/sched/coredump.h>
#include <linux/sched/mm.h>
#include <linux/sched/signal.h>
#include <linux/task_work.h>
#include <linux/topology.h>
#include <linux/trace_events.h>
#include <linux/user_namespace.h>
#include <linux/workqueue.h>
#include <trace/events/sched.h>
#include <trace/events/task.h>

#include "compat_probed.h"

#ifdef HAVE_TASK_EXEC_STATE
#include <linux/sched/exec_state.h>
#endif

/*
 * The text of a module: struct module_layout until 6.3, module_memory since.
 */
static inline unsigned long compat_module_text(const struct module *mod,
					       unsigned long *len)
{
#ifdef HAVE_MODULE_MEMORY
	*len = mod->mem[MOD_TEXT].size;
	return (unsigned long)mod->mem[MOD_TEXT].base;
#else
	*len = mod->core_layout.text_size;
	return (unsigned long)mod->core_layout.base;
#endif
}

/*
 * The system's queue for work that any CPU may do.  7.3 warns of its old name.
 */
static inline struct workqueue_struct *compat_unbound_wq(void)
{
#ifdef HAVE_UNBOUND_WQ
	return system_dfl_wq;
#else
	return system_unbound_wq;
#endif
}

/*
 * Has perf's throttle just stopped this event until the next tick?  The field and
 * its value (MAX_INTERRUPTS there) are private to perf, but a kernel counter has no
 * other sign.  NMI context: the handler may interrupt the tick's plain write of
 * the field; either value will do then.
 */
static inline bool compat_event_throttled(const struct perf_event *event)
{
	return data_race(event->hw.interrupts) == ~0ULL;
}

/*
 * Queues work that @task runs when it returns to user mode or exits.  Only
 * distributions export the function; without it processes cannot be followed.
 */
static inline int compat_task_work_add(struct task_struct *task,
				       struct callback_head *work)
{
#ifdef HAVE_TASK_WORK
	return task_work_add(task, work, TWA_RESUME);
#else
	return -EOPNOTSUPP;
#endif
}

static inline bool compat_can_follow(void)
{
#ifdef HAVE_TASK_WORK
	return true;
#else
	return false;
#endif
}

/*
 * Drops a reference to an mm.  Tearing the mm down may take long: where the kernel
 * exports mmput_async(), as distributions' kernels do, a worker does it.
 */
static inline void compat_mmput_later(struct mm_struct *mm)
{
#ifdef HAVE_MMPUT_ASYNC
	mmput_async(mm);
#else
	mmput(mm);
#endif
}

/* When the file's content was last changed, in nanoseconds. */
static inline s64 compat_inode_mtime(const struct inode *inode)
{
#ifdef HAVE_INODE_MTIME
	struct timespec64 t = inode_get_mtime(inode);
#else
	struct timespec64 t = inode->i_mtime;
#endif
	return timespec64_to_ns(&t);
}

/*
 * The path of a mapped file as its user opened it: a stacking file system maps a
 * file of the file system below.
 */
static inline const struct path *compat_user_path(const struct file *file)
{
#ifdef HAVE_FILE_USER_PATH
	return file_user_path(file);
#else
	return &file->f_path;
#endif
}

/*
 * The inode of a mapped file that /proc/PID/maps shows: since 6.8 that of the file
 * that the user opened, before that of the file below.
 */
static inline const struct inode *compat_maps_inode(const struct file *file)
{
#ifdef HAVE_FILE_USER_INODE
	return file_user_inode(file);
#else
	return file_inode(file);
#endif
}

/*
 * Has perf removed this event from its task or CPU, permanently?  The state is private
 * to perf: EXIT, and on newer kernels also states below it.
 */
static inline bool compat_event_is_gone(const struct perf_event *event)
{
	return READ_ONCE(event->state) <= PERF_EVENT_STATE_EXIT;
}

/*
 * ... because the PMU was removed?  Before 6.15 no PMU is removed while it has
 * events.
 */
static inline bool compat_event_lost_pmu(const struct perf_event *event)
{
#ifdef HAVE_EVENT_REVOKED
	return READ_ONCE(event->state) == PERF_EVENT_STATE_REVOKED;
#else
	return false;
#endif
}

/*
 * The present count of an event of the current task.  Interrupts off: all readers
 * that perf exports may sleep.
 */
static inline u64 compat_event_count(struct perf_event *event)
{
	if (READ_ONCE(event->state) == PERF_EVENT_STATE_ACTIVE &&
	    READ_ONCE(event->oncpu) == smp_processor_id())
		event->pmu->read(event);
	return local64_read(&event->count);
}

/*
 * Since 6.16 sched_process_exit says whether the process ends with this thread.
 * Before, threads that exit together may all find that no thread is left.  The
 * first of them that puts the process' key into the table counts as the last.  The
 * key stays until many other processes have ended, because a thread can be delayed
 * for long between the end of its process and the tracepoint.  Process context;
 * the lock is taken nowhere else.
 */
#ifdef HAVE_EXIT_GROUP_DEAD
#define COMPAT_EXIT_PROTO	struct task_struct *p, bool group_dead
static inline bool compat_exit_last(struct task_struct *p, bool group_dead)
{
	return group_dead;
}
#define compat_process_gone(p)	compat_exit_last(p, group_dead)
#else
#define COMPAT_EXIT_PROTO	struct task_struct *p
#define COMPAT_ENDED_BITS	6
#define COMPAT_ENDED_WAYS	32
static inline bool compat_process_gone(struct task_struct *p)
{
	static struct {
		unsigned int next;
		u64 key[COMPAT_ENDED_WAYS];
	} ended[1 << COMPAT_ENDED_BITS];
	static DEFINE_RAW_SPINLOCK(lock);
	u64 key = (u64)p->tgid << 32 ^ p->group_leader->start_time;
	unsigned int set = hash_64(key, COMPAT_ENDED_BITS), i;

	if (atomic_read(&p->signal->live))
		return false;
	raw_spin_lock(&lock);
	for (i = 0; i < COMPAT_ENDED_WAYS; i++)
		if (ended[set].key[i] == key)
			break;
	if (i == COMPAT_ENDED_WAYS)
		ended[set].key[ended[set].next++ % COMPAT_ENDED_WAYS] = key;
	raw_spin_unlock(&lock);
	return i == COMPAT_ENDED_WAYS;
}
#endif

/* Clone flags are u64 since 6.18 or earlier. */
#ifdef HAVE_NEWTASK_U64
typedef u64 compat_clone_flags;
#else
typedef unsigned long compat_clone_flags;
#endif

/*
 * The cgroup2 directory that @fd is open at, referenced; and whether @t is in that
 * cgroup or below (any context, RCU read section).  Not all kernels have cgroups.
 */
#if defined(HAVE_CGROUP_FROM_FD) && defined(CONFIG_CGROUPS)
static inline struct cgroup *compat_cgroup_get(int fd)
{
	return cgroup_get_from_fd(fd);
}

static inline void compat_cgroup_put(struct cgroup *cgroup)
{
	cgroup_put(cgroup);
}

static inline bool compat_in_cgroup(struct task_struct *t,
				    struct cgroup *cgroup)
{
	return task_under_cgroup_hierarchy(t, cgroup);
}
#else
static inline struct cgroup *compat_cgroup_get(int fd)
{
	return ERR_PTR(-EOPNOTSUPP);
}

static inline void compat_cgroup_put(struct cgroup *cgroup)
{
}

static inline bool compat_in_cgroup(struct task_struct *t,
				    struct cgroup *cgroup)
{
	return false;
}
#endif

/* Tasks that have memory but no user registers. */
#ifdef PF_USER_WORKER
#define COMPAT_NO_USER_REGS	(PF_KTHREAD | PF_IO_WORKER | PF_USER_WORKER)
#else
#define COMPAT_NO_USER_REGS	(PF_KTHREAD | PF_IO_WORKER)
#endif

/*
 * Threads that run queued task works only when a signal arrives: vhost's, which
 * never return to user mode.  io_uring's threads run them in each iteration.
 */
static inline bool compat_leaves_works(const struct task_struct *t)
{
#ifdef PF_USER_WORKER
	return (data_race(t->flags) & (PF_USER_WORKER | PF_IO_WORKER)) ==
	       PF_USER_WORKER;
#else
	return false;
#endif
}

/* The vdso has neither a file nor an exported name. */
static inline bool compat_vma_is_vdso(const struct vm_area_struct *vma)
{
	return vma->vm_start == (unsigned long)vma->vm_mm->context.vdso;
}

/*
 * mremap() may extend a mapping in place.  The functions of later kernels are known
 * only inside mm/, so no compile probe can tell them apart.
 */
#define COMPAT_VMA_GROWS	"vma_merge_extend"
#define COMPAT_VMA_GROWS_OLDER	"vma_merge"

/*
 * The mapping that is about to grow by @more bytes at its end, from the arguments of
 * the function that @kp is on: (iterator, vma, more), or until 6.6 (mm, vma, start,
 * end, flags, anon_vma, file, pgoff, ...), since 6.3 preceded by an iterator.  The
 * older function has other callers, too: without a vma, for another process' memory
 * (userfaultfd), and for an area that follows the vma but does not continue it.
 * mmap lock held for writing.
 */
static inline struct vm_area_struct *
compat_vma_grows(const struct kprobe *kp, struct pt_regs *regs,
		 unsigned long *more)
{
	struct mm_struct *mm = current->mm;
	struct vm_area_struct *vma;
	unsigned long start, end;
	unsigned int n;

#define ARG(i)	regs_get_kernel_argument(regs, i)
	if (!strcmp(kp->symbol_name, COMPAT_VMA_GROWS)) {
		*more = ARG(2);
		return (void *)ARG(1);
	}
	n = ARG(0) != (unsigned long)mm;
	/* for another process' memory the arguments cannot be told apart */
	if (!mm || ARG(n) != (unsigned long)mm)
		return NULL;
	vma = (void *)ARG(n + 1);
	start = ARG(n + 2);
	end = ARG(n + 3);
	*more = end - start;
	if (!vma || vma->vm_end != start || mtree_load(&mm->mm_mt, start) ||
	    ARG(n + 4) != vma->vm_flags ||
	    ARG(n + 6) != (unsigned long)vma->vm_file)
		return NULL;
	/* with the iterator, arm64 has no register left for pgoff */
	if (n || !vma->vm_file)
		return vma;
	return ARG(n + 7) == vma->vm_pgoff + vma_pages(vma) ? vma : NULL;
#undef ARG
}

/*
 * Whether @t's user may read its memory, and the user namespace in which
 * privileged users may do so regardless (referenced).  Before 7.x both are in
 * the mm, since then in a structure of their own.  False: the task has no mm.
 * RCU read section and task_lock(); not for kernel threads.
 */
static inline bool compat_memory_access(struct task_struct *t, bool *dumpable,
					struct user_namespace **ns)
{
#ifdef HAVE_TASK_EXEC_STATE
	const struct task_exec_state *s = rcu_dereference(t->exec_state);

	if (!t->mm)
		return false;
	*dumpable = READ_ONCE(s->dumpable) == TASK_DUMPABLE_OWNER;
	*ns = get_user_ns(s->user_ns);
#else
	if (!t->mm)
		return false;
	*dumpable = get_dumpable(t->mm) == SUID_DUMP_USER;
	*ns = get_user_ns(t->mm->user_ns);
#endif
	return true;
}

/*
 * perf_event_open()'s checks of current's credentials: sysctl
 * kernel.perf_event_paranoid, capabilities, and the security modules.  Before 6.12
 * no function for them is exported.  Until 7.x only the first one below is, and the
 * other two helpers admit only privileged callers.  May sleep.
 */
#ifdef HAVE_PERF_ALLOW_KERNEL
#define COMPAT_PERF_RULES	true
#define compat_perf_allow_kernel()	perf_allow_kernel()
#else
#define COMPAT_PERF_RULES	false
#define compat_perf_allow_kernel()	(-EOPNOTSUPP)
#endif

static inline int compat_perf_allow_cpu(void)
{
#ifdef HAVE_PERF_ALLOW_CPU
	return perf_allow_cpu();
#else
	return perfmon_capable() ? 0 : -EACCES;
#endif
}

static inline int compat_perf_allow_tracepoint(void)
{
#ifdef HAVE_PERF_ALLOW_TRACEPOINT
	return perf_allow_tracepoint();
#else
	return perfmon_capable() ? 0 : -EPERM;
#endif
}

static inline bool compat_has_config3(void)
{
#ifdef HAVE_CONFIG3
	return true;
#else
	return false;
#endif
}

static inline void compat_set_config3(struct perf_event_attr *attr, u64 value)
{
#ifdef HAVE_CONFIG3
	attr->config3 = value;
#endif
}

/*
 * The CPUs for which an event on @cpu counts as well, or NULL: only for @cpu.
 * Before 6.12 PMUs did not publish this, and moved the event instead.
 */
static inline const struct cpumask *compat_pmu_cpus(const struct pmu *pmu,
						    int cpu)
{
#ifdef HAVE_PMU_SCOPE
	switch (pmu->scope) {
	case PERF_PMU_SCOPE_CORE:
		return topology_sibling_cpumask(cpu);
	case PERF_PMU_SCOPE_DIE:
		return topology_die_cpumask(cpu);
	case PERF_PMU_SCOPE_CLUSTER:
		return topology_cluster_cpumask(cpu);
	case PERF_PMU_SCOPE_PKG:
		return topology_core_cpumask(cpu);
	case PERF_PMU_SCOPE_SYS_WIDE:
		return cpu_online_mask;
	}
#endif
	return NULL;
}

/*
 * The raw fields of a tracepoint, or NULL.  Overflow handler.  Until 6.11 perf
 * supplies them to every event, since then to events with PERF_SAMPLE_RAW.
 */
static inline const struct perf_raw_record *
compat_raw(const struct perf_sample_data *data)
{
	return data->sample_flags & PERF_SAMPLE_RAW ? data->raw : NULL;
}

/* The branches of a sample, or NULL.  Overflow handler. */
static inline const struct perf_branch_stack *
compat_branches(const struct perf_sample_data *data)
{
	return data->sample_flags & PERF_SAMPLE_BRANCH_STACK ? data->br_stack :
							       NULL;
}

/* PERF_SAMPLE_* of those fields of a sample's access to memory that are set. */
static inline u64 compat_access_fields(const struct perf_sample_data *data)
{
	return data->sample_flags & (PERF_SAMPLE_DATA_SRC | PERF_SAMPLE_WEIGHT_TYPE |
				     PERF_SAMPLE_ADDR);
}

/* The function that calls a tracepoint's probes if there are several, or 0. */
static inline unsigned long
compat_tracepoint_caller(const struct perf_event *event)
{
#ifdef CONFIG_EVENT_TRACING
	if (event->attr.type == PERF_TYPE_TRACEPOINT &&
	    (event->tp_event->flags & TRACE_EVENT_FL_TRACEPOINT))
		return (unsigned long)event->tp_event->tp->iterator;
#endif
	return 0;
}

/*
 * After a breakpoint, x86 lets the task continue.  arm64 leaves that to an overflow
 * handler that is not perf's own, so the same instruction traps forever.
 */
#ifdef CONFIG_X86
#define COMPAT_BREAKPOINT_GOES_ON	true
#else
#define COMPAT_BREAKPOINT_GOES_ON	false
#endif

/* Flag of a raw event: count in the other threads of the core, too. */
#ifdef CONFIG_X86
#define COMPAT_RAW_ANY_THREAD	ARCH_PERFMON_EVENTSEL_ANY
#else
#define COMPAT_RAW_ANY_THREAD	0
#endif

#ifdef CONFIG_ARM64
#include <asm/cputype.h>
#endif

/* Does @t's program use 32-bit words? */
static inline bool compat_task_is_32bit(struct task_struct *t)
{
#if defined(CONFIG_X86)
	return test_tsk_thread_flag(t, TIF_ADDR32);
#elif defined(CONFIG_ARM64)
	return test_tsk_thread_flag(t, TIF_32BIT);
#else
	return false;
#endif
}

/* The processor, in the form that FreeBSD's event tables use as key. */
static inline void compat_cpuid(char *buf, size_t len)
{
#if defined(CONFIG_X86)
	const struct cpuinfo_x86 *c = &boot_cpu_data;

	snprintf(buf, len, "%.16s-%u-%X-%X", c->x86_vendor_id, c->x86,
		 c->x86_model, c->x86_stepping);
#elif defined(CONFIG_ARM64)
	snprintf(buf, len, "0x%016x", read_cpuid_id());
#else
	snprintf(buf, len, "unknown");
#endif
}

#if defined(CONFIG_X86)
#define COMPAT_ELF_MACHINE	EM_X86_64
#elif defined(CONFIG_ARM64)
#define COMPAT_ELF_MACHINE	EM_AARCH64
#else
#error "hwpmc: this architecture has no call chains yet"
#endif

#endif /* HWPMC_COMPAT_H */
