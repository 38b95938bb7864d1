// SPDX-License-Identifier: GPL-2.0-only
/*
 * Mappings of code that come and go: kprobes, because there is no tracepoint.
 *
 * The probes run in process context where sleeping is not allowed, with the mmap
 * lock held for writing.  They commit small records and take references to files.
 * The writer thread does all work that needs a path.
 */
#include <linux/kprobes.h>
#include <linux/mm.h>
#include <linux/mmap_lock.h>
#include <linux/ptrace.h>

#include "compat.h"
#include "hooks.h"
#include "hwpmc.h"
#include "log/area.h"
#include "sample/record.h"
#include "target.h"
#include "unwind/unwind.h"

/* hwpmc_mapping_is_wanted - only sampling PMCs need the mappings of code */
bool hwpmc_mapping_is_wanted(const struct hwpmc_owner *o,
			     const struct hwpmc_target *t)
{
	return !t || READ_ONCE(o->hooks.follow_all) || READ_ONCE(t->sampled);
}

/*
 * Commits the record of a mapping of the current process, if @o's log has them.
 * @t: see hwpmc_hooks_each()
 */
void hwpmc_mapping_commit(struct hwpmc_owner *o, const struct hwpmc_target *t,
			  struct vm_area_struct *vma, const struct area *a)
{
	u32 pid = owner_pid_of(o, current);
	struct owner_ring *or;
	struct ring_map *m;
	u64 entered;

	if (pid == PMCLOG_PID_KERNEL || !hwpmc_mapping_is_wanted(o, t))
		return;
	m = hwpmc_record_begin(o, sizeof(*m), KIND_MAP, pid, &or, &entered);
	if (!m)
		return;
	hwpmc_area_fill(m, vma, a, pid);
	hwpmc_record_end(or, entered);
}

/*
 * hwpmc_mapping_commit_all - commit records of all mappings of the current process
 *
 * Process context.  False: its mmap lock is not free, or it exits.
 */
bool hwpmc_mapping_commit_all(struct hwpmc_owner *o, const struct hwpmc_target *t)
{
	struct mm_struct *mm = current->mm;
	struct vm_area_struct *vma;
	VMA_ITERATOR(vmi, mm, 0);

	if (!mm || !mmap_read_trylock(mm))
		return false;
	for_each_vma(vmi, vma) {
		struct area a = hwpmc_area_of(vma);

		cond_resched();
		if (!(vma->vm_flags & VM_EXEC))
			continue;
		preempt_disable();
		if (READ_ONCE(o->hooks.hooked))
			hwpmc_mapping_commit(o, t, vma, &a);
		preempt_enable();
	}
	mmap_read_unlock(mm);
	return true;
}

struct mapped {
	struct vm_area_struct *vma;
	struct area area;
};

static void log_mapped(struct hwpmc_owner *o, struct hwpmc_target *t, void *arg)
{
	const struct mapped *m = arg;

	hwpmc_mapping_commit(o, t, m->vma, &m->area);
}

/* mmap lock held for writing */
static void mapping_appears(struct vm_area_struct *vma, struct area a)
{
	struct mapped m = { .vma = vma, .area = a };

	if (!(vma->vm_flags & VM_EXEC) || vma->vm_mm != current->mm ||
	    current->in_execve)
		return;
	hwpmc_unwind_mapped(vma, a.start, a.start + a.len);
	rcu_read_lock();
	preempt_disable();
	hwpmc_hooks_each(hwpmc_targets_find_rcu(task_tgid(current)), log_mapped, &m);
	preempt_enable();
	rcu_read_unlock();
}

/* perf_event_mmap(vma): mmap, mprotect */
static int probe_mmap(struct kprobe *kp, struct pt_regs *regs)
{
	struct vm_area_struct *vma = (void *)regs_get_kernel_argument(regs, 0);

	mapping_appears(vma, hwpmc_area_of(vma));
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

	mapping_appears(*vma, a);
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
	a = hwpmc_area_of(vma);
	a.len += more;
	mapping_appears(vma, a);
	return 0;
}

struct unmapped {
	u64	start;
	u64	end;
};

static void log_unmapped(struct hwpmc_owner *o, struct hwpmc_target *t,
		       void *arg)
{
	const struct unmapped *u = arg;
	struct pmclog_map_out out = {
		.pid = owner_pid_of(o, current),
		.start = u->start,
		.end = u->end,
	};

	if (out.pid != PMCLOG_PID_KERNEL && hwpmc_mapping_is_wanted(o, t))
		hook_commit(o, out.pid, &out, PMCLOG_T_MAP_OUT, sizeof(out));
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
	if (hwpmc_hooks_nobody(list))
		goto out;
	now = mtree_load(&vma->vm_mm->mm_mt, u.start);
	if (!now || READ_ONCE(now->vm_file) != vma->vm_file)
		hwpmc_hooks_each(list, log_unmapped, &u);
out:
	preempt_enable();
	rcu_read_unlock();
	return 0;
}

/*
 * @older: the function's name in older kernels, if different
 * @missing: what is not logged on a kernel without the function, because of LTO
 *	    or missing uprobes; NULL: the function is required
 * @warned: the kernel log has a warning
 */
struct map_hook {
	struct kprobe	kp;
	const char	*name;
	const char	*older;
	const char	*missing;
	bool		registered;
	bool		warned;
};

static struct map_hook map_hooks[] = {
	{ { .pre_handler = probe_mmap },   .name = "perf_event_mmap" },
	{ { .pre_handler = probe_munmap }, .name = "uprobe_munmap",
	  .missing = "memory that is unmapped" },
	{ { .pre_handler = probe_move },   .name = "copy_vma",
	  .missing = "memory moved by mremap" },
	{ { .pre_handler = probe_grow },   .name = COMPAT_VMA_GROWS,
	  .older = COMPAT_VMA_GROWS_OLDER,
	  .missing = "memory made longer by mremap" },
};

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

static void warn_missing(struct map_hook *h, int err)
{
	if (!h->warned)
		pr_warn("no kprobe on %s: %d; %s is not logged\n", h->name, err,
			h->missing);
	h->warned = true;
}

int hwpmc_mapping_hooks_register(void)
{
	struct map_hook *h;
	int err;

	/* with LTO the functions may exist without being called by all users */
	if (IS_ENABLED(CONFIG_LTO_CLANG))
		pr_warn_once("this kernel was optimized as a whole (LTO): memory that is unmapped or moved may not be logged\n");
	for (h = map_hooks; h < map_hooks + ARRAY_SIZE(map_hooks); h++) {
		err = register_map(h, h->name);
		if (err && h->missing) {
			warn_missing(h, err);
			continue;
		}
		if (err) {
			pr_err("no kprobe on %s: %d\n", h->name, err);
			hwpmc_mapping_hooks_unregister();
			return err;
		}
	}
	return 0;
}

void hwpmc_mapping_hooks_unregister(void)
{
	struct map_hook *h;

	for (h = map_hooks; h < map_hooks + ARRAY_SIZE(map_hooks); h++) {
		if (h->registered)
			unregister_kprobe(&h->kp);
		h->registered = false;
	}
}
