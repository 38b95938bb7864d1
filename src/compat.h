/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Every difference between kernels, each as one named helper.
 *
 * HAVE_* come from compile probes (src/probe/) and from Module.symvers, made by
 * Kbuild with the flags of the real build: distributions backport, so version
 * numbers say little.
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
#include <trace/events/sched.h>
#include <trace/events/task.h>

#include "compat_probed.h"

#ifdef HAVE_TASK_EXEC_STATE
#include <linux/sched/exec_state.h>
#endif

/*
 * Text of a module: struct module_layout until 6.3, module_memory since.
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
 * perf's throttle has just stopped this event until the next tick.  The field
 * and its value (MAX_INTERRUPTS there) are private to perf; there is no other
 * sign a kernel counter could see.  NMI context: may interrupt the tick on its
 * plain write of the field, in which case either value will do.
 */
static inline bool compat_event_throttled(const struct perf_event *event)
{
	return data_race(event->hw.interrupts) == ~0ULL;
}

/*
 * Work that @task does on its way to user mode, or as it ends.  The function is
 * exported by distributions only; without it processes cannot be followed.
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
 * Lets go of a process' memory.  To take all of it apart may take long: a worker
 * does it where the kernel lets modules ask for that, which distributions' do.
 */
static inline void compat_mmput_later(struct mm_struct *mm)
{
#ifdef HAVE_MMPUT_ASYNC
	mmput_async(mm);
#else
	mmput(mm);
#endif
}

/* When its content was changed last, in nanoseconds. */
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
 * The path of a mapped file as its user has opened it: a file system that stacks on
 * others maps a file of theirs.
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
 * perf has taken this event off its task, for good.  The state is private to
 * perf: EXIT, and on newer kernels more below it.
 */
static inline bool compat_event_is_gone(const struct perf_event *event)
{
	return READ_ONCE(event->state) <= PERF_EVENT_STATE_EXIT;
}

/*
 * The count of an event of the current task, up to now.  Interrupts off: perf
 * has no exported reader that does not sleep.
 */
static inline u64 compat_event_count(struct perf_event *event)
{
	if (READ_ONCE(event->state) == PERF_EVENT_STATE_ACTIVE &&
	    READ_ONCE(event->oncpu) == smp_processor_id())
		event->pmu->read(event);
	return local64_read(&event->count);
}

/*
 * sched_process_exit tells since 6.16 whether the process ends with this
 * thread.  Before, threads that exit together may all find that nobody is left:
 * the first of them to put the process' key into the table is the one.  It stays
 * there until many others have ended: a thread can be held up for long between
 * its last breath and the tracepoint.  Process context; nobody else takes the lock.
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

/* Clone flags became u64 by 6.18. */
#ifdef HAVE_NEWTASK_U64
typedef u64 compat_clone_flags;
#else
typedef unsigned long compat_clone_flags;
#endif

/*
 * cgroup2's directory @fd is open at, referenced; and whether @t is in it or
 * below (any context, RCU read section).  Not all kernels have cgroups.
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

/* Tasks with memory but without user registers. */
#ifdef PF_USER_WORKER
#define COMPAT_NO_USER_REGS	(PF_KTHREAD | PF_IO_WORKER | PF_USER_WORKER)
#else
#define COMPAT_NO_USER_REGS	(PF_KTHREAD | PF_IO_WORKER)
#endif

/*
 * Threads that look after the works left with them only when a signal comes:
 * vhost's, which never go to user mode.  io_uring's look each time around.
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
 * mremap() makes a mapping longer where it is.  Later kernels' functions are known
 * to mm/ only, so that nothing can be compiled to tell them apart.
 */
#define COMPAT_VMA_GROWS	"vma_merge_extend"
#define COMPAT_VMA_GROWS_OLDER	"vma_merge"

/*
 * What is to grow, by @more bytes at its end, by the arguments of the function
 * that @kp is on: (iterator, vma, more), or until 6.6 (mm, vma, start, end, flags,
 * anon_vma, file, pgoff, ...), before them an iterator since 6.3.  That one is called
 * for other things too: with no vma, for others' memory (userfaultfd), and for what
 * lies behind the vma but does not go on with it.  mmap lock held for writing.
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
	/* of others' memory it cannot be told which argument is which */
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
	/* with the iterator, arm64 has no register for it */
	if (n || !vma->vm_file)
		return vma;
	return ARG(n + 7) == vma->vm_pgoff + vma_pages(vma) ? vma : NULL;
#undef ARG
}

/*
 * Whether @t's user may look into its memory, and the user namespace whose
 * privileged may all the same (referenced).  Kept with the memory until 7.x
 * gave it a place of its own.  False: it has no memory any more, or never had.
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
 * What perf_event_open() asks of current's credentials: sysctl
 * kernel.perf_event_paranoid, capabilities, and the security modules.  Not
 * exported before 6.12; until 7.x the first only, and for the other two nobody
 * but the privileged is good enough.  May sleep.
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
 * The CPUs for which an event on @cpu counts all the same, or NULL: only there.
 * Before 6.12 PMUs told nobody, and moved the event instead.
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
 * The raw fields of a tracepoint, or NULL.  Overflow handler.  perf hands them to
 * everybody until 6.11, and then to who asks with PERF_SAMPLE_RAW.
 */
static inline const struct perf_raw_record *
compat_raw(const struct perf_sample_data *data)
{
	return data->sample_flags & PERF_SAMPLE_RAW ? data->raw : NULL;
}

/* The function that calls a tracepoint's listeners if there are several, or 0. */
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
 * Who has hit a breakpoint goes on: x86 sees to it.  arm64 leaves it to whoever
 * handles overflows himself, so that the same instruction traps for ever.
 */
#ifdef CONFIG_X86
#define COMPAT_BREAKPOINT_GOES_ON	true
#else
#define COMPAT_BREAKPOINT_GOES_ON	false
#endif

/* Of a raw event: counts in the other threads of the core, too. */
#ifdef CONFIG_X86
#define COMPAT_RAW_ANY_THREAD	ARCH_PERFMON_EVENTSEL_ANY
#else
#define COMPAT_RAW_ANY_THREAD	0
#endif

#ifdef CONFIG_ARM64
#include <asm/cputype.h>
#endif

/* Whether the words of @t's program are of 32 bits. */
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

/* The processor in the form that FreeBSD's event tables are keyed by. */
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
