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

#include <linux/mm.h>
#include <linux/module.h>
#include <linux/perf_event.h>
#include <linux/sched/signal.h>
#include <trace/events/sched.h>
#include <trace/events/task.h>

#include "compat_probed.h"

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
 * sign a kernel counter could see.  NMI context.
 */
static inline bool compat_event_throttled(const struct perf_event *event)
{
	return READ_ONCE(event->hw.interrupts) == ~0ULL;
}

/*
 * sched_process_exit tells since 6.16 whether the process ends with this
 * thread.  Before, two threads that exit together may both find that nobody
 * is left: readers get the process' end twice.
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
static inline bool compat_process_gone(struct task_struct *p)
{
	return !atomic_read(&p->signal->live);
}
#endif

/* Clone flags became u64 by 7.3. */
#ifdef HAVE_NEWTASK_U64
typedef u64 compat_clone_flags;
#else
typedef unsigned long compat_clone_flags;
#endif

/* Tasks with memory but without user registers. */
#ifdef PF_USER_WORKER
#define COMPAT_NO_USER_REGS	(PF_KTHREAD | PF_IO_WORKER | PF_USER_WORKER)
#else
#define COMPAT_NO_USER_REGS	(PF_KTHREAD | PF_IO_WORKER)
#endif

/* The vdso has neither a file nor an exported name. */
static inline bool compat_vma_is_vdso(const struct vm_area_struct *vma)
{
	return vma->vm_start == (unsigned long)vma->vm_mm->context.vdso;
}

#ifdef CONFIG_ARM64
#include <asm/cputype.h>
#endif

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
