// SPDX-License-Identifier: GPL-2.0-only
/*
 * Scans: the code that a process has mapped.  One of its tasks reads the mappings
 * when it returns to user mode.  unwind_map.c makes maps of scans.
 */
#include <linux/delay.h>
#include <linux/hash.h>
#include <linux/mm.h>
#include <linux/preempt.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>
#include <linux/timekeeping.h>

#include "compat.h"
#include "unwind.h"
#include "unwind_scan.h"

#define AREAS_MAX	4096
/* Areas that other threads may map before the scan gets the lock. */
#define MORE_AREAS	64
#define CHANGES_BITS	8
/* A scan tries the mmap lock this many times, every 100 to 200 us, and then waits. */
#define LOCK_TRIES	20
/* A walk waits for the mmap lock for this time in all, or once for longer. */
#define ASK_WAIT	NSEC_PER_MSEC

/*
 * How often code was mapped, by a hash of the mm.  Changed under its mmap lock.
 * Shows a task that publishes a map whether code was mapped since its scan began.
 */
static atomic_t changes[1 << CHANGES_BITS];

atomic_t *hwpmc_unwind_scan_changes(const struct mm_struct *mm)
{
	return &changes[hash_ptr(mm, CHANGES_BITS)];
}

static bool is_code(const struct vm_area_struct *vma)
{
	return vma->vm_flags & VM_EXEC;
}

static u64 bias_of(const struct vm_area_struct *vma)
{
	return (vma->vm_file ? (u64)vma->vm_pgoff << PAGE_SHIFT : 0) -
	       vma->vm_start;
}

/* mmap lock.  False: code without a file that can have a table */
static bool find_key(struct unwind_key *key, const struct vm_area_struct *vma)
{
	return unwind_may_have_object(vma) &&
	       hwpmc_unwind_key_of(key, vma->vm_file ?
				   file_inode(vma->vm_file) : NULL);
}

/* mmap lock */
static void see_object(struct unwind_seen *s, const struct vm_area_struct *vma)
{
	s->has_object = find_key(&s->key, vma);
	if (!s->has_object || !vma->vm_file)
		return;
	s->path = *compat_user_path(vma->vm_file);
	path_get(&s->path);
}

/*
 * There is too much code for a map.  JIT compilers can make any number of areas,
 * mostly below the libraries.  The map loses nothing without them, because such code
 * has no table.
 */
static void scan_cut(struct unwind_scan *scan)
{
	u32 i, n = 0;

	for (i = 0; i < scan->n; i++)
		if (scan->at[i].has_object)
			scan->at[n++] = scan->at[i];
	scan->n = n;
	scan->cut = true;
}

/*
 * mmap lock.  Adjacent areas of code without a file become one area.
 * @from: mappings below have been read
 */
static void scan_add(struct unwind_scan *scan, const struct vm_area_struct *vma,
		     unsigned long from)
{
	struct unwind_seen *s = &scan->at[scan->n];

	*s = (struct unwind_seen){
		.start = max(vma->vm_start, from),
		.end = vma->vm_end,
		.bias = bias_of(vma),
	};
	see_object(s, vma);
	if (!s->has_object && scan->n && !s[-1].has_object &&
	    s[-1].end == s->start)
		s[-1].end = s->end;
	else
		scan->n++;
}

void hwpmc_unwind_scan_free(struct unwind_scan *scan)
{
	u32 i;

	if (!scan)
		return;
	for (i = 0; i < scan->n; i++)
		path_put(&scan->at[i].path);	/* may be empty */
	kvfree(scan);
}

/*
 * Not charged to the sampled task's memory cgroup, because the owner wants the map.
 * The mmap lock is not held: the allocation may have to wait for memory.
 */
static struct unwind_scan *scan_new(struct mm_struct *mm)
{
	u32 room = min_t(u32, READ_ONCE(mm->map_count) + MORE_AREAS, AREAS_MAX);
	struct unwind_scan *scan;

	scan = kvmalloc(struct_size(scan, at, room),
			GFP_KERNEL | __GFP_NORETRY | __GFP_NOWARN);
	if (!scan)
		return NULL;
	scan->mm = mm;
	scan->began = ktime_get_ns();
	/* mappings from here on are noticed, wherever the scan is by then */
	scan->changes = atomic_read(hwpmc_unwind_scan_changes(mm));
	scan->room = room;
	scan->n = 0;
	scan->cut = false;
	return scan;
}

/* mmap lock.  False: there is no room for this or any more code. */
static bool scan_see(struct unwind_scan *scan, const struct vm_area_struct *vma,
		     unsigned long from)
{
	if (!is_code(vma) || (scan->cut && !unwind_may_have_object(vma)))
		return true;
	if (scan->n == scan->room)
		scan_cut(scan);
	if (scan->n == scan->room)
		return false;
	scan_add(scan, vma, from);
	return true;
}

/*
 * If a thread is preempted while it has the mmap lock, no thread of its process can
 * map memory until it runs again.  That may take long if other tasks have priority,
 * or if its control group has used up its time.  So it keeps the CPU while it has
 * the lock, and gives up both if another thread waits for the lock, or another task
 * for the CPU.
 *
 * On PREEMPT_RT that is not possible, because references to paths take locks that
 * sleep.
 */
static void keep_cpu(void)
{
	if (!IS_ENABLED(CONFIG_PREEMPT_RT))
		preempt_disable();
}

static void leave_cpu(void)
{
	if (!IS_ENABLED(CONFIG_PREEMPT_RT))
		preempt_enable();
	cond_resched();
}

static bool scan_trylock(struct mm_struct *mm)
{
	keep_cpu();
	if (mmap_read_trylock(mm))
		return true;
	leave_cpu();
	return false;
}

/*
 * Takes the mmap lock, and keeps the CPU.  -EINTR: the task is killed.
 *
 * A thread that queues for the lock may get it before it gets a CPU.  So it queues
 * only in a program whose threads never leave the lock free.
 */
static int scan_lock(struct mm_struct *mm)
{
	unsigned int i;
	int err;

	for (i = 0; i < LOCK_TRIES && !fatal_signal_pending(current); i++) {
		if (scan_trylock(mm))
			return 0;
		usleep_range(100, 200);
	}
	err = mmap_read_lock_killable(mm);
	if (!err)
		keep_cpu();
	return err;
}

static void scan_unlock(struct mm_struct *mm)
{
	mmap_read_unlock(mm);
	leave_cpu();
}

/*
 * Between scan_lock() and scan_unlock().  Reads mappings from @from on, until another
 * task waits for the lock or the CPU.  Returns where to continue; 0: all have been
 * read.
 */
static unsigned long scan_some(struct unwind_scan *scan, unsigned long from)
{
	VMA_ITERATOR(vmi, scan->mm, from);
	struct vm_area_struct *vma;

	mmap_assert_locked(scan->mm);
	for_each_vma(vmi, vma) {
		if (!scan_see(scan, vma, from))
			break;
		if (need_resched() || mmap_lock_is_contended(scan->mm))
			return vma->vm_end;
	}
	return 0;
}

/*
 * hwpmc_unwind_scan_code - the mapped code of the current task's process
 *
 * May sleep; takes the mmap lock.  NULL: no memory, or the task is killed and
 * needs no map.
 */
struct unwind_scan *hwpmc_unwind_scan_code(struct mm_struct *mm)
{
	struct unwind_scan *scan = scan_new(mm);
	unsigned long from = 0;

	if (!scan)
		return NULL;
	do {
		if (scan_lock(mm)) {
			hwpmc_unwind_scan_free(scan);
			return NULL;
		}
		from = scan_some(scan, from);
		scan_unlock(mm);
	} while (from);
	return scan;
}

/*
 * As scan_lock().  False: the walk has waited for long enough, or the task is killed.
 * One wait may take longer, as that of a page fault.
 */
static bool asked_lock(struct unwind_asked *asked, struct mm_struct *mm)
{
	u64 since;
	int err;

	if (scan_trylock(mm))
		return true;
	if (asked->waited >= ASK_WAIT)
		return false;
	since = ktime_get_ns();
	err = mmap_read_lock_killable(mm);
	asked->waited += ktime_get_ns() - since;
	if (!err)
		keep_cpu();
	return !err;
}

/*
 * hwpmc_unwind_is_code - is @pc in executable memory of the current task's process?
 * @asked: of the walk
 *
 * May sleep; takes the mmap lock.  Also false if the answer would take too long.
 */
bool hwpmc_unwind_is_code(struct unwind_asked *asked, struct mm_struct *mm,
			  u64 pc)
{
	const struct vm_area_struct *vma;
	bool code;

	might_sleep();
	if (asked->start <= pc && pc < asked->end)
		return true;
	if (!asked_lock(asked, mm))
		return false;
	vma = vma_lookup(mm, pc);
	code = vma && is_code(vma);
	if (code) {
		asked->start = vma->vm_start;
		asked->end = vma->vm_end;
		asked->bias = bias_of(vma);
		asked->has_object = find_key(&asked->key, vma);
	}
	scan_unlock(mm);
	return code;
}
