// SPDX-License-Identifier: GPL-2.0-only
/*
 * Scans: what code a process has mapped, read from its mappings by one of its tasks
 * on the way to user mode.  unwind_map.c makes maps of scans.
 */
#include <linux/hash.h>
#include <linux/mm.h>
#include <linux/slab.h>
#include <linux/timekeeping.h>

#include "compat.h"
#include "unwind.h"
#include "unwind_scan.h"

#define AREAS_MAX	4096
#define CHANGES_BITS	8
/* A walk waits for the mmap lock for so long, or once for longer. */
#define ASK_WAIT	NSEC_PER_MSEC

/*
 * How often code was mapped, by a hash of the mm.  Changed under its mmap lock.
 * Shows to a task that publishes a map whether there are other mappings by now.
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
 * Too much code for a map.  Compilers at run time can make any number of areas, and
 * mostly below the libraries.  Without these areas a map says as much: such code has
 * no table.
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

/* mmap lock.  Adjacent areas of code without a file become one area. */
static void scan_add(struct unwind_scan *scan, const struct vm_area_struct *vma)
{
	struct unwind_seen *s = &scan->at[scan->n];

	*s = (struct unwind_seen){
		.start = vma->vm_start,
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
 * mmap lock.  Not charged to the sampled task's memory cgroup, because the owner
 * wants the map.
 */
static struct unwind_scan *scan_locked(struct mm_struct *mm)
{
	VMA_ITERATOR(vmi, mm, 0);
	u32 room = min_t(u32, mm->map_count, AREAS_MAX);
	struct vm_area_struct *vma;
	struct unwind_scan *scan;

	mmap_assert_locked(mm);
	scan = kvmalloc(struct_size(scan, at, room),
			GFP_KERNEL | __GFP_NORETRY | __GFP_NOWARN);
	if (!scan)
		return NULL;
	scan->mm = mm;
	scan->began = ktime_get_ns();
	scan->changes = atomic_read(hwpmc_unwind_scan_changes(mm));
	scan->room = room;
	scan->n = 0;
	scan->cut = false;
	for_each_vma(vmi, vma) {
		cond_resched();
		if (!is_code(vma) || (scan->cut && !unwind_may_have_object(vma)))
			continue;
		if (scan->n == room)
			scan_cut(scan);
		if (scan->n == room)
			break;
		scan_add(scan, vma);
	}
	return scan;
}

/*
 * hwpmc_unwind_scan_code - the mapped code of the current task's process
 *
 * May sleep; takes the mmap lock.  NULL: no memory; or the task is killed, which
 * does not matter then.
 */
struct unwind_scan *hwpmc_unwind_scan_code(struct mm_struct *mm)
{
	struct unwind_scan *scan;

	if (mmap_read_lock_killable(mm))
		return NULL;
	scan = scan_locked(mm);
	mmap_read_unlock(mm);
	return scan;
}

/*
 * May sleep.  False: the walk has waited for long enough, or the task is killed.  One
 * wait may take longer, as that of a page fault.
 */
static bool asked_lock(struct unwind_asked *asked, struct mm_struct *mm)
{
	u64 since;
	int err;

	if (mmap_read_trylock(mm))
		return true;
	if (asked->waited >= ASK_WAIT)
		return false;
	since = ktime_get_ns();
	err = mmap_read_lock_killable(mm);
	asked->waited += ktime_get_ns() - since;
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
	mmap_read_unlock(mm);
	return code;
}
